"""Starting a server to ask it for its tools.

Rules
- Reading and writing have a thread each, and queues with a bound: a server that floods us, or reads nothing, costs no
  more than the time it was given.
- The server is in a group of its own, which is ended with it: nothing that was started for us is left.
"""

import queue
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from time import monotonic
from types import FrameType
from typing import IO

from argfit.proxy import process
from argfit.wire.lines import Lines, Part
from argfit.wire.listing import Listing

CHUNK = 1 << 16
AHEAD = 64  # chunks, or answers, that may wait for whoever is slower
FAREWELL = 2.0  # seconds a server has to end once its stdin is closed, and again once it is told to

Pipe = IO[bytes]
Chunks = queue.Queue[bytes]


class NoListing(Exception):
    """The server did not say which tools it has; the message says why and what to do next."""


def list_tools(command: Sequence[str], patience: float) -> Listing:
    """A server's listing, as far as it goes; OSError where the server cannot be started, NoListing where it says none.

    `patience` is in seconds, for all of it.
    """
    listing = Listing(version("argfit"))
    with _ended_by_signals():
        child = process.start(command, group=True)
        heard: queue.Queue[bytes] = queue.Queue(AHEAD)
        to_say: queue.Queue[bytes] = queue.Queue(AHEAD)
        ear = threading.Thread(target=_listen, args=(child.stdout, heard), daemon=True)
        mouth = threading.Thread(target=_speak, args=(child.stdin, to_say), daemon=True)
        try:
            ear.start()
            mouth.start()
            _converse(to_say, heard, listing, patience)
        finally:
            with suppress(queue.Full):
                to_say.put_nowait(b"")
            _end(child, heard)
    if listing.refusal:
        raise NoListing(f"the server refused to list its tools: {listing.refusal}")
    return listing


def _converse(to_say: Chunks, heard: Chunks, listing: Listing, patience: float) -> None:
    until = monotonic() + patience
    lines = Lines()
    to_say.put(listing.opening())
    while not listing.over:
        chunk = _heard_by(until, heard)
        if chunk is None:
            raise NoListing(f"the server did not list its tools in {patience:g} s; --wait gives it more")
        say = b"".join(_received(listing, line) for line in (lines.feed(chunk) if chunk else lines.rest()))
        if say:
            with suppress(queue.Full):  # a server that does not read is not waited for
                to_say.put_nowait(say)
        if not chunk and not listing.over:
            raise NoListing("the server ended before it had listed its tools; run its command by itself to see why")


def _heard_by(until: float, heard: Chunks) -> bytes | None:
    """The next chunk, empty at the end; None where there is none in time."""
    left = until - monotonic()
    with suppress(queue.Empty):
        return heard.get(timeout=left) if left > 0 else None
    return None


def _received(listing: Listing, line: bytes | Part) -> bytes:
    if isinstance(line, Part):
        raise NoListing("the server's answer is longer than 8 MiB; lint a file that holds it instead")
    return listing.receive(line)


def _listen(from_server: Pipe, heard: Chunks) -> None:
    with suppress(OSError), from_server:
        while chunk := from_server.read(CHUNK):
            heard.put(chunk)
    heard.put(b"")


def _speak(to_server: Pipe, to_say: Chunks) -> None:
    with suppress(OSError), to_server:
        while chunk := to_say.get():
            to_server.write(chunk)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """What asks us to stop ends us in order, so that the server is ended, too."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    numbers = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(child: "subprocess.Popen[bytes]", heard: Chunks) -> None:
    """End a server as MCP asks (2025-11-25, lifecycle, shutdown): close its stdin, then ask, then kill its group."""
    try:
        with suppress(subprocess.TimeoutExpired):
            _wait(child, heard)
            return
        child.terminate()
        with suppress(subprocess.TimeoutExpired):
            _wait(child, heard)
    finally:  # also when we are told a second time to stop
        process.kill_group(child)
        child.wait()


def _wait(child: "subprocess.Popen[bytes]", heard: Chunks) -> None:
    """Wait for a child that may first have to be rid of what it still says."""
    until = monotonic() + FAREWELL
    while child.poll() is None:
        with suppress(queue.Empty):
            while True:
                heard.get_nowait()
        if monotonic() >= until:
            raise subprocess.TimeoutExpired(child.args, FAREWELL)
        with suppress(subprocess.TimeoutExpired):
            child.wait(0.05)
