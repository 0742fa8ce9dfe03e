"""What `guard` adds to one call inside a server, per framework: in memory, and over streamable HTTP.

A round runs a block of calls against every server, in shuffled order, over connections that stay open; a ratio is
that of two medians of the same round. Every bare server is there twice: what the second shows is noise.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import random
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

from client import PeerError
from report import Aim, Part, table

BARE, AGAIN, GUARDED = "bare", "bare, again", "guarded"
WAYS = (BARE, AGAIN, GUARDED)
CALL = ("list_flocks", {"limit": 50, "offset": 0, "houses": ["north", "south"], "active": True})
MEMORY_LIMIT, MEMORY_STRETCH = 1.05, 1.02
STARTED_WITHIN = 30.0  # seconds


@dataclass(frozen=True)
class Size:
    rounds: int
    block: int


FULL, QUICK = Size(40, 60), Size(4, 10)


def list_flocks(limit: int, offset: int, houses: list[str], *, active: bool) -> str:
    return "two flocks"


def mcp_server(*, guarded: bool) -> Any:
    from mcp.server import MCPServer

    from argfit.adapters.mcp_server import guard

    server: Any = MCPServer("bench", log_level="WARNING")
    server.tool()(list_flocks)
    return guard(server) if guarded else server


def lowlevel_server(*, guarded: bool) -> Any:
    from mcp.server import Server
    from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

    from argfit.adapters.mcp_server import guard

    schema = {
        "type": "object",
        "properties": {
            "limit": {"type": "integer"},
            "offset": {"type": "integer"},
            "houses": {"type": "array", "items": {"type": "string"}},
            "active": {"type": "boolean"},
        },
    }

    async def listed(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="list_flocks", input_schema=schema)])

    async def called(ctx: Any, params: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=list_flocks(**params.arguments))])

    server: Any = Server("bench", on_list_tools=listed, on_call_tool=called)
    return guard(server) if guarded else server


def fastmcp_server(*, guarded: bool) -> Any:
    from fastmcp import FastMCP

    from argfit.adapters.fastmcp_server import guard

    server: Any = FastMCP("bench")
    server.tool(list_flocks)
    return guard(server) if guarded else server


SERVERS: dict[str, Callable[..., Any]] = {
    "MCPServer": mcp_server,
    "lowlevel Server": lowlevel_server,
    "FastMCP": fastmcp_server,
}


def application(kind: str, *, guarded: bool) -> Any:
    """The server as an ASGI application."""
    server = SERVERS[kind](guarded=guarded)
    return server.http_app() if kind == "FastMCP" else server.streamable_http_app()


@contextlib.asynccontextmanager
async def connected(kind: str, to: Any) -> AsyncIterator[Any]:
    """A client of the kind's own framework, connected."""
    if kind == "FastMCP":
        from fastmcp import Client as FastMCPClient

        async with FastMCPClient(to) as fastmcp_client:
            yield fastmcp_client
    else:
        from mcp import Client

        async with Client(to) as client:
            yield client


async def block(client: Any, calls: int) -> float:
    """The median seconds of one call; the first ones are not counted."""
    took = []
    for _ in range(calls):
        began = time.perf_counter()
        await client.call_tool(*CALL)
        took.append(time.perf_counter() - began)
    return statistics.median(took[len(took) // 5 :])


async def compared(kind: str, targets: dict[str, Any], size: Size) -> dict[str, list[float]]:
    """The medians of all rounds, by way."""
    found: dict[str, list[float]] = {way: [] for way in targets}
    async with contextlib.AsyncExitStack() as stack:
        clients = {way: await stack.enter_async_context(connected(kind, to)) for way, to in targets.items()}
        for round_ in range(-1, size.rounds):
            ways = list(clients)
            random.shuffle(ways)
            for way in ways:
                gc.collect()
                took = await block(clients[way], size.block)
                if round_ >= 0:
                    found[way].append(took)
    return found


def ratio(found: dict[str, list[float]], way: str) -> float:
    return statistics.median(one / bare for one, bare in zip(found[way], found[BARE], strict=True))


@contextlib.contextmanager
def served(kind: str, way: str) -> Iterator[str]:
    """The URL of a server in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, __file__, kind, way, str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            answer(port)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


def answer(port: int) -> None:
    """Wait until a server takes connections."""
    until = time.monotonic() + STARTED_WITHIN
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > until:
                raise PeerError("the HTTP server did not start") from None
            time.sleep(0.05)
        else:
            return


def serve(kind: str, way: str, port: int) -> None:
    import uvicorn

    uvicorn.run(application(kind, guarded=way == GUARDED), host="127.0.0.1", port=port, log_level="critical")


def run(*, quick: bool) -> Part:
    """Both tables."""
    logging.disable(logging.CRITICAL)
    size = QUICK if quick else FULL
    part = Part("guard: what it adds to one call inside a server")
    rows = []
    for kind, make in SERVERS.items():
        targets = {way: make(guarded=way == GUARDED) for way in WAYS}
        found = asyncio.run(compared(kind, targets, size))
        rows.append(row(f"{kind}, in memory", found))
        part.aims.append(Aim(f"{kind}, in memory", ratio(found, GUARDED), MEMORY_LIMIT, " x bare", MEMORY_STRETCH))
    for kind in SERVERS:
        with contextlib.ExitStack() as stack:
            urls = {way: stack.enter_context(served(kind, way)) for way in WAYS}
            found = asyncio.run(compared(kind, urls, size))
        rows.append(row(f"{kind}, over HTTP", found))
        noise = max(abs(one / bare - 1) for one, bare in zip(found[AGAIN], found[BARE], strict=True))
        part.aims.append(Aim(f"{kind}, over HTTP", ratio(found, GUARDED), 1 + noise, " x bare"))
    part.lines += table(("one call", BARE, AGAIN, GUARDED), rows)
    logging.disable(logging.NOTSET)
    return part


def row(name: str, found: dict[str, list[float]]) -> list[str]:
    bare = statistics.median(found[BARE]) * 1e6
    return [name, f"{bare:.0f} us", *(f"{ratio(found, way):.3f} x" for way in (AGAIN, GUARDED))]


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], int(sys.argv[3]))
