"""What a relay adds to a call over streamable HTTP, in both eras, with 1, 16 and 128 connections.

Every target is a process of its own before the same server; the rounds run in shuffled order, and a figure is the
median of the rounds. `bare` is argfit's own stack, reading nothing; FastMCP's proxy has one connected client.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from client import PeerError
from guard import answer as wait_for
from report import Aim, Part, p99, table

ENDS = str(Path(__file__).with_name("http_ends.py"))
DIRECT, BARE, ARGFIT, FASTMCP = "direct", "bare stack", "argfit serve", "FastMCP proxy"
CONNECTIONS = (1, 16, 128)
ADDED_LIMIT, CALLS_LIMIT, BARE_LIMIT = 0.08, 0.1, 1.2
ARGUMENTS = {"line": 5, "file": "src/main.go"}
PATIENCE = 60.0  # seconds for a round
ACCEPT = "accept: application/json, text/event-stream"


@dataclass(frozen=True)
class Size:
    rounds: int
    calls: int  # of a round, over all connections


FULL, QUICK = Size(7, 640), Size(2, 128)


@dataclass
class Took:
    seconds: list[float]
    whole: float

    @property
    def per_second(self) -> float:
        return len(self.seconds) / self.whole


class Era:
    """How a client speaks: the headers of its calls, and what it says first."""

    def __init__(self, name: str, *, modern: bool) -> None:
        self.name = name
        self.modern = modern

    def call(self, session: str, id: int) -> bytes:
        params: dict[str, object] = {"name": "goto", "arguments": ARGUMENTS}
        headers = ["mcp-protocol-version: 2025-11-25", f"mcp-session-id: {session}"]
        if self.modern:
            version = "2026-07-28"
            meta = "io.modelcontextprotocol"
            params["_meta"] = {f"{meta}/protocolVersion": version, f"{meta}/clientCapabilities": {}}
            headers = [f"mcp-protocol-version: {version}", "mcp-method: tools/call", "mcp-name: goto"]
        return post({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}, *headers)

    async def session(self, port: int) -> str:
        """The session that calls are made in; none in the modern era."""
        if self.modern:
            return ""
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head, _ = await ask(reader, writer, post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}))
        session = head["mcp-session-id"]
        done = post({"jsonrpc": "2.0", "method": "notifications/initialized"}, f"mcp-session-id: {session}")
        await ask(reader, writer, done)
        writer.close()
        return session


ERAS = (Era("2025-11-25", modern=False), Era("2026-07-28", modern=True))


def post(message: object, *headers: str) -> bytes:
    body = json.dumps(message).encode()
    lines = ["POST /mcp HTTP/1.1", "host: 127.0.0.1:80", "content-type: application/json", ACCEPT, *headers]
    return "\r\n".join([*lines, f"content-length: {len(body)}"]).encode() + b"\r\n\r\n" + body


async def ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> tuple[dict[str, str], bytes]:
    """One request and its answer; PeerError where that is no success."""
    writer.write(request)
    first, *lines = (await reader.readuntil(b"\r\n\r\n"))[:-4].decode("latin-1").split("\r\n")
    head = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if "transfer-encoding" in head:
        body = b""
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readexactly(2)
    else:
        body = await reader.readexactly(int(head.get("content-length", "0")))
    if not first.startswith("HTTP/1.1 2"):
        raise PeerError(f"{first}: {body[:200]!r}")
    return head, body


async def block(port: int, era: Era, connections: int, calls: int) -> Took:
    """So many calls over so many connections."""
    session = await era.session(port)
    took: list[float] = []

    async def client(number: int, each: int) -> None:
        request = era.call(session, number + 1)  # a session takes each id for one request at a time
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        _, body = await ask(reader, writer, request)
        if b'"5"' not in body:
            raise PeerError(f"not the answer of the tool: {body[:200]!r}")
        for _ in range(each):
            began = time.perf_counter()
            await ask(reader, writer, request)
            took.append(time.perf_counter() - began)
        writer.close()

    began = time.perf_counter()
    each = max(1, calls // connections)
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(client(number, each) for number in range(connections)))
    return Took(took, time.perf_counter() - began)


@contextlib.contextmanager
def targets() -> Iterator[dict[str, int]]:
    """The ports of the server and of what stands before it."""
    with contextlib.ExitStack() as stack:

        def started(*command: str) -> int:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = int(probe.getsockname()[1])
            words = [word.replace("PORT", str(port)) for word in command]
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            wait_for(port)
            return port

        server = started(sys.executable, ENDS, "server", "PORT")
        url = f"http://127.0.0.1:{server}/mcp"
        yield {
            DIRECT: server,
            BARE: started(sys.executable, ENDS, "bare", "PORT", url),
            ARGFIT: started(sys.executable, "-m", "argfit", "serve", "--to", url, "--port", "PORT"),
            FASTMCP: started(sys.executable, ENDS, "fastmcp", "PORT", url),
        }


def measured(ports: dict[str, int], era: Era, connections: int, size: Size) -> dict[str, list[Took]]:
    found: dict[str, list[Took]] = {name: [] for name in ports}
    for round_ in range(-1, size.rounds):
        names = list(ports)
        random.shuffle(names)
        for name in names:
            try:
                took = asyncio.run(block(ports[name], era, connections, size.calls))
            except TimeoutError:
                raise PeerError(f"{name} did not answer {size.calls} calls over {connections} connections") from None
            if round_ >= 0:
                found[name].append(took)
    return found


def median_of(found: list[Took]) -> float:
    return statistics.median(statistics.median(one.seconds) for one in found)


def calls_of(found: list[Took]) -> float:
    return statistics.median(one.per_second for one in found)


def run(*, quick: bool) -> Part:
    """The tables of both eras."""
    size = QUICK if quick else FULL
    part = Part("http: what a relay adds to one call over streamable HTTP")
    with targets() as ports:
        for era in ERAS:
            rows = []
            for connections in CONNECTIONS:
                found = measured(ports, era, connections, size)
                rows += [row(connections, name, found) for name in ports]
                part.aims += aims(f"{era.name}, {connections} connections", connections, found)
            part.lines += [era.name, "", *table(("connections", "through", "added", "p99", "calls/s"), rows)]
    part.lines += ["Not compared: mcp-proxy (it needs another version of the SDK)."]
    if shutil.which("nginx") is None:
        part.lines += ["Not compared: nginx (it is not installed here)."]
    return part


def row(connections: int, name: str, found: dict[str, list[Took]]) -> list[str]:
    added = (median_of(found[name]) - median_of(found[DIRECT])) * 1e6
    worst = statistics.median(p99(one.seconds) for one in found[name]) * 1e6
    said = f"{median_of(found[name]) * 1e6:.0f} us in all" if name == DIRECT else f"{added:+.0f} us"
    return [str(connections), name, said, f"{worst:.0f} us", f"{calls_of(found[name]):.0f}"]


def aims(where: str, connections: int, found: dict[str, list[Took]]) -> list[Aim]:
    direct = median_of(found[DIRECT])
    added = {name: median_of(took) - direct for name, took in found.items()}
    if connections == 1:
        return [
            Aim(f"{where}: added, to FastMCP's", added[ARGFIT] / added[FASTMCP], ADDED_LIMIT, " x"),
            Aim(f"{where}: added, to the bare stack's", added[ARGFIT] / added[BARE], BARE_LIMIT, " x"),
        ]
    if connections == CONNECTIONS[1]:
        calls = calls_of(found[FASTMCP]) / calls_of(found[ARGFIT])
        return [Aim(f"{where}: FastMCP's calls a second, to argfit's", calls, CALLS_LIMIT, " x")]
    return []
