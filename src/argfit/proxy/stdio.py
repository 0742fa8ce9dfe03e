"""The stdio relay: two blocking threads between a client and a server, and the session between them.

Rules
- Blocking reads and writes, so that a slow reader on one side stops the other side's writer and nothing
  piles up; O_NONBLOCK is never set, since it would leak into whoever shares the pipe.
- The client's thread alone writes to the server. It waits there itself while a call waits for its schema.
- The server's thread writes to the client. It holds the client's lock from deciding to having written, so that
  answers of ours, which the client's thread writes, fall between whole lines.
- One write per chunk read: a write per line halves the throughput.
"""

import os
import select
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import IO, cast

from argfit.proxy.process import exit_code
from argfit.wire.conversation import Log
from argfit.wire.session import Command, Deliver, Hold, Release, Session, ToClient, ToServer

CHUNK = 1 << 16  # a pipe's default capacity on Linux (pipe(7))
# After the child has ended, how long its stdout may stay open (held by a grandchild) without a byte coming.
LINGER = 1.0


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
        self._child = child
        self._server_stdin = cast("IO[bytes]", child.stdin)  # the pipes that `process.start` made
        self._server_stdout = cast("IO[bytes]", child.stdout)
        self._session = session
        self._log = log
        self._client_in = client_in
        self._client_out = client_out
        self._server_in = self._server_stdin.fileno()
        self._server_out = self._server_stdout.fileno()
        self._state = threading.Lock()
        self._to_client = threading.Lock()
        self._released = threading.Event()
        self._heard = 0  # chunks from the server, to see whether it still speaks
        self._listening = False  # nothing of what was heard is still to be written

    def run(self) -> int:
        """Relay until the server has ended; returns its exit code. To be called on the main thread."""
        threading.Thread(target=self._pump_client, daemon=True).start()
        server = threading.Thread(target=self._pump_server, daemon=True)
        server.start()
        code = exit_code(self._child.wait())
        heard = -1
        while server.is_alive() and not (self._listening and heard == self._heard):
            heard = self._heard
            server.join(LINGER)
        with self._to_client:
            with self._state:
                commands = self._session.server_end(code, monotonic())
            with suppress(OSError):
                self._carry_out_to_client(commands)
        return code

    # -- client to server -----------------------------------------------------------------------------

    def _pump_client(self) -> None:
        try:
            while chunk := _read(self._client_in):
                with self._state:
                    commands = self._session.client_bytes(chunk, monotonic())
                self._carry_out_to_server(commands)
            with self._state:
                commands = self._session.client_end(monotonic())
            self._carry_out_to_server(commands)
        except OSError:  # the server reads no more, or the client is gone: either way nothing more goes up
            pass
        with suppress(OSError):
            self._server_stdin.close()

    def _carry_out_to_server(self, commands: list[Command]) -> None:
        while commands:
            held: float | None = None
            for command in commands:
                if isinstance(command, ToServer):
                    _write(self._server_in, command.data)
                elif isinstance(command, Deliver):
                    self._deliver()
                elif isinstance(command, Hold):
                    held = command.until
                elif isinstance(command, Log):
                    self._log(command)
            if held is None:
                return
            self._released.wait(max(0.0, held - monotonic()))
            self._released.clear()
            with self._state:
                commands = self._session.resume(monotonic())

    def _deliver(self) -> None:
        with self._to_client:
            with self._state:
                answers = self._session.answers()
            _write(self._client_out, answers)

    # -- server to client -----------------------------------------------------------------------------

    def _pump_server(self) -> None:
        with suppress(OSError):
            while chunk := self._listen():
                with self._to_client:
                    with self._state:
                        commands = self._session.server_bytes(chunk, monotonic())
                    self._carry_out_to_client(commands)
        # a client that reads no more is gone: the server shall see that as if it had written to it itself
        with suppress(OSError):
            self._server_stdout.close()

    def _listen(self) -> bytes:
        self._listening = True
        chunk = _read(self._server_out)
        self._heard += 1
        self._listening = False
        return chunk

    def _carry_out_to_client(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, ToClient):
                _write(self._client_out, command.data)
            elif isinstance(command, Release):
                self._released.set()
            elif isinstance(command, Log):
                self._log(command)


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
