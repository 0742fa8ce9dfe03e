"""An MCP client made of bytes: one child process, one request at a time, blocking pipes.

Rules:

1. Nothing but `os.write`, `os.read` and the clock between the two time stamps.
2. Every answer is checked after the clock has stopped: an error is never a fast answer.
3. A child gets its own session, so ending its group ends what it started.
4. Waiting is bounded by `deadline`, an interval timer: a `select` before each read would be
   measured with the relay. POSIX only, like the whole bench.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from calls import TOOL

PROTOCOL = "2025-11-25"
CHUNK = 65536

INITIALIZE = {
    "protocolVersion": PROTOCOL,
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


class PeerError(Exception):
    """A target did not start, did not answer in time, or answered with an error."""


@contextlib.contextmanager
def deadline(seconds: float, what: str) -> Iterator[None]:
    def expired(_signal: int, _frame: FrameType | None) -> None:
        raise PeerError(f"{what}: no answer within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def request(number: int, method: str, params: dict[str, Any]) -> bytes:
    text = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    return text.encode() + b"\n"


class Peer:
    """A running server, or a server behind a relay."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        self.stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the peer
        self.child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            bufsize=0,
            start_new_session=True,
        )
        assert self.child.stdin  # noqa: S101 - tells the type checker what PIPE means
        assert self.child.stdout  # noqa: S101 - likewise
        self.pipes = (self.child.stdin, self.child.stdout)
        self.to_child, self.from_child = (pipe.fileno() for pipe in self.pipes)
        self.number = 0
        self.killed = False

    def exchange(self, line: bytes) -> tuple[int, bytes]:
        """Nanoseconds until the answer's line was whole, and the answer."""
        to_child, from_child = self.to_child, self.from_child
        start = time.perf_counter_ns()
        os.write(to_child, line)
        answer = os.read(from_child, CHUNK)
        while answer[-1:] != b"\n":
            chunk = os.read(from_child, CHUNK)
            if not chunk:
                raise PeerError(self.complaint("ended in the middle of a call"))
            answer += chunk
        return time.perf_counter_ns() - start, answer

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self.number += 1
        _, answer = self.exchange(request(self.number, method, params))
        message = json.loads(answer)
        if message.get("id") != self.number or "result" not in message:
            raise PeerError(self.complaint(f"answered {method} with {answer[:300]!r}"))
        return message["result"]

    def greet(self) -> None:
        """The handshake, and the list every client asks for first."""
        self.ask("initialize", INITIALIZE)
        os.write(self.to_child, INITIALIZED)
        tools = self.ask("tools/list", {})["tools"]
        if TOOL not in [tool["name"] for tool in tools]:
            raise PeerError(self.complaint(f"lists no {TOOL}"))

    def call(self, arguments: bytes) -> int:
        """One timed `tools/call`, in nanoseconds."""
        self.number += 1
        name = b"%d" % self.number
        spent, answer = self.exchange(
            b'{"jsonrpc":"2.0","id":' + name + b',"method":"tools/call","params":{"name":"'
            + TOOL.encode() + b'","arguments":' + arguments + b"}}\n"
        )  # fmt: skip
        ours = b'"id":' + name + b"," in answer or json.loads(answer)["id"] == self.number
        if not ours or b'"result"' not in answer or b'"isError":true' in answer:
            raise PeerError(self.complaint(f"answered a call with {answer[:300]!r}"))
        return spent

    def complaint(self, what: str) -> str:
        self.stderr.seek(0, os.SEEK_END)
        self.stderr.seek(max(0, self.stderr.tell() - 1500))
        said = self.stderr.read().decode("utf-8", "replace").strip()
        return f"{self.name} {what}" + (f"; on stderr:\n{said}" if said else "")

    def close(self) -> None:
        """Close stdin, as a client does; what has not ended two seconds later is killed."""
        for pipe in self.pipes:
            pipe.close()
        try:
            self.child.wait(2)
        except subprocess.TimeoutExpired:
            self.killed = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        self.stderr.close()
