"""The stdio relay: two blocking threads between a client and a server, and the session between them.

Rules
- Blocking reads and writes, so that a slow reader on one side stops the other side's writer and nothing
  piles up; O_NONBLOCK is never set, since it would leak into whoever shares the pipe.
- The client's thread alone writes to the server. It waits there itself while a call waits for its schema.
- The server's thread writes to the client. It holds the client's lock from deciding to having written, so that
  answers of ours, which the client's thread writes, fall between whole lines.
- One write per chunk read: a write per line halves the throughput.
"""

import math
import os
import select
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import IO, cast

from argfit.core.record import Log
from argfit.proxy.process import Signals, refuse_more
from argfit.wire.session import Command, Deliver, Hold, Release, Session, ToClient, ToServer

CHUNK = 1 << 16  # a pipe's default capacity on Linux (pipe(7))
# Seconds that a child's stdout may stay open after its end (held by a grandchild) without a byte coming.
LINGER = 1.0
# And how long the client may be quiet before what it has sent counts as all that it sent to that child.
DRAIN = 0.05


class Relay:
    """Relays between the client at `client_in`/`client_out` (descriptors) and a started child."""

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        session: Session,
        log: Callable[[Log], None],
        client_in: int = 0,
        client_out: int = 1,
    ) -> None:
        self._signals = Signals(child)
        self._session = session
        self._log = log
        self._client_in = client_in
        self._client_out = client_out
        self._server_stdin = cast("IO[bytes]", child.stdin)  # the pipes that `process.start` made
        self._server_stdout = cast("IO[bytes]", child.stdout)
        self._server_in = self._server_stdin.fileno()
        self._server_out = self._server_stdout.fileno()
        self._state = threading.Lock()
        self._to_client = threading.Lock()
        self._released = threading.Event()
        self._gone = threading.Event()
        self._from_client = _Ear(self._client_in)
        self._from_server = _Ear(self._server_out)

    def run(self) -> int:
        """Relay until the server has ended; returns its exit code. To be called on the main thread."""
        client = threading.Thread(target=self._pump_client, daemon=True)
        server = threading.Thread(target=self._pump_server, daemon=True)
        client.start()
        server.start()
        code = self._signals.wait()
        self._from_server.until_quiet(server, LINGER)
        with self._to_client:
            with self._state:
                commands = self._session.server_end(code, monotonic())
            with suppress(OSError):
                self._carry_out_to_client(commands)
        self._gone.set()
        self._from_client.until_quiet(client, DRAIN, at_most=LINGER)
        return code

    # -- client to server -----------------------------------------------------------------------------

    def _pump_client(self) -> None:
        reached = True
        while chunk := self._from_client.listen():
            with self._state:
                commands = self._session.client_bytes(chunk, monotonic())
            reached = reached and self._carry_out_to_server(commands)
            if not reached and not self._answer_for_the_dead(commands):
                refuse_more(self._client_in)
                break
        else:
            with self._state:
                commands = self._session.client_end(monotonic())
            if not (reached and self._carry_out_to_server(commands)):
                self._answer_for_the_dead(commands)
        with suppress(OSError):
            self._server_stdin.close()

    def _answer_for_the_dead(self, commands: list[Command]) -> bool:
        """Answer what still comes for a server that is gone; False where it lives on and only reads no more."""
        return self._gone.wait(LINGER) and (Deliver() not in commands or self._deliver())

    def _carry_out_to_server(self, commands: list[Command]) -> bool:
        """Carry out commands, waiting where one says so; False where the server, or the client, reads no more."""
        while True:
            held: float | None = None
            for command in commands:
                if isinstance(command, ToServer):
                    try:
                        _write(self._server_in, command.data)
                    except OSError:
                        return False
                elif isinstance(command, Deliver):
                    if not self._deliver():
                        return False
                elif isinstance(command, Hold):
                    held = command.until
                elif isinstance(command, Log):
                    self._log(command)
            if held is None:
                return True
            self._released.wait(max(0.0, held - monotonic()))
            self._released.clear()
            with self._state:
                commands = self._session.resume(monotonic())

    def _deliver(self) -> bool:
        """Write our own answers to the client; False where it reads no more."""
        with self._to_client:
            with self._state:
                answers = self._session.answers()
            try:
                _write(self._client_out, answers)
            except OSError:
                return False
        return True

    # -- server to client -----------------------------------------------------------------------------

    def _pump_server(self) -> None:
        with suppress(OSError):
            while chunk := self._from_server.listen():
                with self._to_client:
                    with self._state:
                        commands = self._session.server_bytes(chunk, monotonic())
                    self._carry_out_to_client(commands)
        # a client that reads no more is gone: the server shall see that as if it had written to it itself
        with suppress(OSError):
            self._server_stdout.close()

    def _carry_out_to_client(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, ToClient):
                _write(self._client_out, command.data)
            elif isinstance(command, Release):
                self._released.set()
            elif isinstance(command, Log):
                self._log(command)


class _Ear:
    """Reads one descriptor, and knows whether it is still being spoken to."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._heard = 0
        self._listening = False  # nothing of what was heard is still being carried out

    def listen(self) -> bytes:
        """The next chunk; empty at the end, or where the other side is gone (a terminal hung up)."""
        self._listening = True
        try:
            chunk = _read(self._descriptor)
        except OSError:
            return b""
        self._heard += 1
        self._listening = False
        return chunk

    def until_quiet(self, thread: threading.Thread, seconds: float, at_most: float = math.inf) -> None:
        """Wait until the thread that listens here has ended, or has heard nothing for so long; `at_most` in all."""
        heard = -1
        end = monotonic() + at_most
        while thread.is_alive() and not (self._listening and heard == self._heard) and monotonic() < end:
            heard = self._heard
            thread.join(seconds)


def _read(descriptor: int) -> bytes:
    while True:
        try:
            return os.read(descriptor, CHUNK)
        except BlockingIOError:  # whoever shares the pipe has made it non-blocking
            select.select([descriptor], [], [])


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            select.select([], [descriptor], [])
