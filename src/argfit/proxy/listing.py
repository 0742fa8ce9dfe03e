"""Starting a server to ask it for its tools."""

import queue
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from time import monotonic
from typing import IO, Any, cast

from argfit.proxy import process
from argfit.wire.lines import Lines
from argfit.wire.listing import Listing

CHUNK = 1 << 16
FAREWELL = 2.0  # seconds a server has to end once its stdin is closed, and again once it is told to


class NoListing(Exception):
    """The server did not say which tools it has; the message says why and what to do next."""


def list_tools(command: Sequence[str], patience: float) -> list[Any]:
    """The tools that a server lists, as it lists them; OSError where it cannot be started, NoListing where it does not.

    `patience` is in seconds, for all of it.
    """
    child = process.start(command)
    listing = Listing(version("argfit"))
    heard: queue.Queue[bytes] = queue.Queue()
    ear = threading.Thread(target=_listen, args=(child.stdout, heard), daemon=True)
    ear.start()
    try:
        _converse(cast("IO[bytes]", child.stdin), heard, listing, patience)
    finally:
        _end(child)
        ear.join(FAREWELL)  # a grandchild may hold the pipe open for longer
    if listing.refusal:
        raise NoListing(f"the server refused to list its tools: {listing.refusal}")
    return listing.tools


def _converse(to_server: IO[bytes], heard: "queue.Queue[bytes]", listing: Listing, patience: float) -> None:
    until = monotonic() + patience
    lines = Lines()
    say = listing.opening()
    while True:
        with suppress(OSError):  # a server that reads no more may yet have said all
            to_server.write(say)
        say = b""
        try:
            chunk = heard.get(timeout=max(0.0, until - monotonic()))
        except queue.Empty:
            raise NoListing(f"the server did not list its tools in {patience:g} s; --wait gives it more") from None
        if not chunk:
            raise NoListing("the server ended before it had listed its tools; run its command by itself to see why")
        for line in lines.feed(chunk):
            if isinstance(line, bytes):
                say += listing.receive(line)
            else:
                raise NoListing("the server's answer is longer than 8 MiB; lint a file that holds it instead")
        if listing.over:
            return


def _listen(from_server: IO[bytes], heard: "queue.Queue[bytes]") -> None:
    with suppress(OSError), from_server:
        while chunk := from_server.read(CHUNK):
            heard.put(chunk)
    heard.put(b"")


def _end(child: "subprocess.Popen[bytes]") -> None:
    """End a server as MCP asks (2025-11-25, lifecycle, shutdown): close its stdin, then ask, then kill."""
    with suppress(OSError):
        cast("IO[bytes]", child.stdin).close()
    for harder in (child.terminate, child.kill):
        with suppress(subprocess.TimeoutExpired):
            child.wait(FAREWELL)
            return
        harder()
    child.wait()
