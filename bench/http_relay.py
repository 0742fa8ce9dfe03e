"""What a relay adds to a call over streamable HTTP, in both eras, with 1, 16 and 128 connections.

Every target is a process of its own before the same server; the rounds run in shuffled order, and a figure is the
median of the rounds. The bare stack is argfit serve that is told of another path, so that it reads nothing; FastMCP's
proxy has one connected client; PyPI's mcp-proxy turns HTTP into stdio, and is its own server there. The server and the
client of the bench cost as little as they can, so that the figures are the relays' own; all share the machine's cores.
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
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httptools
import uvloop
from client import PeerError
from guard import answer as wait_for
from report import Aim, Part, p99, table

ENDS = str(Path(__file__).with_name("http_ends.py"))
DIRECT, BARE, ARGFIT, FASTMCP = "direct", "bare stack", "argfit serve", "FastMCP proxy"
MCP_PROXY, NGINX = "mcp-proxy", "nginx"
LEGACY_ONLY = {MCP_PROXY}
CONNECTIONS = (1, 16, 128)
ADDED_LIMIT, CALLS_LIMIT, BARE_LIMIT = 0.08, 0.1, 1.2
ARGUMENTS = {"line": 5, "file": "src/main.go"}
PATIENCE = 60.0  # seconds for a round
STREAMS = 200
ARGFIT_COMMAND = (sys.executable, "-m", "argfit", "serve")
ACCEPT = "accept: application/json, text/event-stream"


@dataclass(frozen=True)
class Size:
    rounds: int
    seconds: float  # of a round


FULL, QUICK = Size(7, 0.6), Size(3, 0.3)


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


class Caller(asyncio.Protocol):
    """A connection that makes one call after the other until the time is up."""

    def __init__(self, request: bytes, until: float, took: list[float]) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.request = request
        self.until = until
        self.took = took
        self.parser = httptools.HttpResponseParser(self)
        self.body = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.call()

    def call(self) -> None:
        self.body = b""
        self.began = time.perf_counter()
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_body(self, data: bytes) -> None:
        self.body += data

    def on_message_complete(self) -> None:
        now = time.perf_counter()
        self.took.append(now - self.began)
        if self.parser.get_status_code() != 200 or b'"5"' not in self.body:
            self.end(PeerError(f"not the answer of the tool: {self.body[:200]!r}"))
        elif now < self.until:
            self.call()
        else:
            self.end()

    def connection_lost(self, error: Exception | None) -> None:
        self.end(PeerError("the connection was closed"))

    def end(self, error: Exception | None = None) -> None:
        if not self.ended.done():
            self.ended.set_exception(error) if error else self.ended.set_result(None)
        self.transport.close()


async def block(port: int, era: Era, connections: int, seconds: float) -> Took:
    """The calls of so many seconds, over so many connections; a session takes an id for one request at a time."""
    session = await era.session(port)
    took: list[float] = []
    began = time.perf_counter()
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(PATIENCE):
        callers = []
        for number in range(connections):
            request = era.call(session, number + 1)
            made = await loop.create_connection(
                lambda request=request: Caller(request, began + seconds, took), "127.0.0.1", port
            )
            callers.append(made[1].ended)
        await asyncio.gather(*callers)
    return Took(took, time.perf_counter() - began)


class Started:
    """Processes that each listen on a port, and end together."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self.stack = stack
        self.pids: dict[int, int] = {}

    def __call__(self, *command: str, conf: str = "") -> int:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if conf:
            folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
            (folder / "nginx.conf").write_text(conf.replace("PORT", str(port)).replace("FOLDER", str(folder)))
            command = (*command, str(folder / "nginx.conf"))
        words = [word.replace("PORT", str(port)) for word in command]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.stack.callback(process.wait)
        self.stack.callback(process.terminate)
        wait_for(port)
        self.pids[port] = process.pid
        return port


NGINX_CONF = """
daemon off; worker_processes 1; pid FOLDER/pid; error_log /dev/null;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 100000000;
  client_body_temp_path FOLDER/a; proxy_temp_path FOLDER/b; fastcgi_temp_path FOLDER/c;
  uwsgi_temp_path FOLDER/d; scgi_temp_path FOLDER/e;
  upstream server { server 127.0.0.1:SERVER; keepalive 256; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:PORT;
    location / {
      proxy_pass http://server; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;
    }
  }
}
"""


def peers(started: Started, server: int) -> tuple[dict[str, int], list[str]]:
    """Who else is there, and why others are not."""
    found, missing = {}, []
    url = f"http://127.0.0.1:{server}/mcp"
    mcp_proxy = Path(sys.prefix).with_name(".venv-mcp-proxy") / "bin" / "mcp-proxy"
    if mcp_proxy.exists():
        inner = ("--transport", "streamablehttp", url)
        found[MCP_PROXY] = started(str(mcp_proxy), "--port", "PORT", "--", str(mcp_proxy), *inner)
    else:
        missing.append("Not compared: mcp-proxy (it is not installed; make bench-http does that).")
    if shutil.which("nginx"):
        found[NGINX] = started("nginx", "-c", conf=NGINX_CONF.replace("SERVER", str(server)))
    else:
        missing.append("Not compared: nginx (it is not installed here).")
    return found, missing


def measured_streams(port: int, pid: int) -> float:
    """The KiB of memory that a stream of events takes, which stays open and silent."""

    async def opened() -> float:
        async def one() -> asyncio.StreamWriter:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\r\n")
            await reader.readuntil(b": open")
            return writer

        async with asyncio.timeout(PATIENCE):
            writers = [await one() for _ in range(10)]
            before = resident(pid)
            writers += [await one() for _ in range(STREAMS)]
            after = resident(pid)
        for writer in writers:
            writer.close()
        return (after - before) / STREAMS

    return asyncio.run(opened())


def resident(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def measured(ports: dict[str, int], era: Era, connections: int, size: Size) -> dict[str, list[Took]]:
    found: dict[str, list[Took]] = {name: [] for name in ports}
    for round_ in range(-1, size.rounds):
        names = list(ports)
        random.shuffle(names)
        for name in names:
            try:
                took = uvloop.run(block(ports[name], era, connections, size.seconds))
            except TimeoutError:
                raise PeerError(f"{name} did not answer over {connections} connections") from None
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
    with contextlib.ExitStack() as stack:
        started = Started(stack)
        server = started(sys.executable, ENDS, "server", "PORT")
        url = f"http://127.0.0.1:{server}/mcp"
        ports = {
            DIRECT: server,
            BARE: started(*ARGFIT_COMMAND, "--to", f"{url}/elsewhere", "--port", "PORT"),
            ARGFIT: started(*ARGFIT_COMMAND, "--to", url, "--port", "PORT"),
            FASTMCP: started(sys.executable, ENDS, "fastmcp", "PORT", url),
        }
        more, missing = peers(started, server)
        ports |= more
        for era in ERAS:
            rows = []
            there = {name: port for name, port in ports.items() if not (era.modern and name in LEGACY_ONLY)}
            for connections in CONNECTIONS:
                found = measured(there, era, connections, size)
                rows += [row(connections, name, found) for name in there]
                part.aims += aims(f"{era.name}, {connections} connections", connections, found)
            part.lines += [era.name, "", *table(("connections", "through", "added", "p99", "calls/s"), rows)]
        fresh = started(*ARGFIT_COMMAND, "--to", url, "--port", "PORT")
        size_of = measured_streams(fresh, started.pids[fresh])
        part.lines += [
            f"A stream of events that stays open takes {size_of:.0f} KiB of argfit serve ({STREAMS} of them)."
        ]
    part.lines += missing
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
