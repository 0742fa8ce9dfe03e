"""The processes of the HTTP bench: a server, and what stands before it.

python bench/http_ends.py server|bare|fastmcp PORT [URL [LOOP PARSER]]
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any
from urllib.parse import urlsplit

import httptools
import msgspec
import uvloop

QUIET = {  # as `argfit serve` sets it
    "log_level": "critical",
    "access_log": False,
    "date_header": False,
    "server_header": False,
    "proxy_headers": False,
}

# What the official SDK's lowlevel server (mcp 2.3.0) answers, but for listings that live long.
STAMP = b'"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench","version":""}}'
SCHEMA = b'{"type":"object","properties":{"line":{"type":"integer"},"file":{"type":"string"}}}'
TOOLS = b'"tools":[{"inputSchema":%b,"name":"goto"}]' % SCHEMA
SAID = b'"content":[{"text":"5","type":"text"}],"isError":false'
CAN = b'"capabilities":{"tools":{"listChanged":false}}'
LIVES = b'"cacheScope":"private","ttlMs":3600000'
LEGACY = {
    "initialize": b'{%b,"protocolVersion":"2025-11-25","serverInfo":{"name":"bench","version":""}}' % CAN,
    "tools/list": b"{%b}" % TOOLS,
    "tools/call": b"{%b}" % SAID,
}
MODERN = {
    "server/discover": b'{%b,"supportedVersions":["2026-07-28"],%b,%b}' % (CAN, LIVES, STAMP),
    "tools/list": b"{%b,%b,%b}" % (TOOLS, LIVES, STAMP),
    "tools/call": b"{%b,%b}" % (SAID, STAMP),
}
EVENTS = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nmcp-session-id: bench\r\ntransfer-encoding: chunked\r\n\r\n"
)
EVENT = b'event: message\r\ndata: {"jsonrpc":"2.0","id":%b,"result":%b}\r\n\r\n'
BODY = b'{"jsonrpc":"2.0","id":%b,"result":%b}'
ERROR = b'{"jsonrpc":"2.0","id":%b,"error":{"code":-32601,"message":"Method not found"}}'
JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
EMPTY = b"HTTP/1.1 %b\r\ncontent-length: 0\r\n\r\n"


class Asked(msgspec.Struct):
    method: str
    id: msgspec.Raw = msgspec.Raw()


class Server(asyncio.Protocol):
    """A server that costs next to nothing: what it says is written down, and it speaks HTTP by itself."""

    decode = msgspec.json.Decoder(Asked).decode

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_message_begin(self) -> None:
        self.body = b""

    def on_body(self, data: bytes) -> None:
        self.body += data

    def on_message_complete(self) -> None:
        self.transport.write(self.answer(self.parser.get_method()))

    def answer(self, method: bytes) -> bytes:
        if method == b"GET":  # a stream that stays
            return EVENTS + b"a\r\n: open\r\n\r\n\r\n"
        if method != b"POST":
            return EMPTY % b"200 OK"
        asked = self.decode(self.body)
        id = bytes(asked.id)
        if not id:
            return EMPTY % b"202 Accepted"
        is_modern = b"io.modelcontextprotocol/protocolVersion" in self.body
        result = (MODERN if is_modern else LEGACY).get(asked.method)
        if is_modern or result is None:
            body = BODY % (id, result) if result else ERROR % id
            return JSON % (len(body), body)
        event = EVENT % (id, result)
        return EVENTS + b"%x\r\n%b\r\n0\r\n\r\n" % (len(event), event)


async def server(port: int) -> None:
    listening = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", port, backlog=1024)
    await listening.serve_forever()


def bare(url: str) -> Any:
    """Argfit's stack, which reads nothing: the server's own path is said to be another."""
    from argfit.proxy.http import app

    parts = urlsplit(url)
    return app(f"{parts.scheme}://{parts.netloc}/elsewhere")


async def fastmcp(url: str, port: int) -> None:
    """FastMCP's proxy with one connected client."""
    import fastmcp
    from fastmcp import Client
    from fastmcp.server import create_proxy

    fastmcp.settings.check_for_updates = "off"  # the bench asks nothing of the network
    async with Client(url) as client:
        proxy = create_proxy(client)
        await proxy.run_http_async(show_banner=False, host="127.0.0.1", port=port, log_level="critical")


def main(role: str, port: str, url: str = "", loop: str = "auto", parser: str = "auto") -> None:
    """Serve as one of them."""
    if role == "server":
        uvloop.run(server(int(port)))
    elif role == "fastmcp":
        asyncio.run(fastmcp(url, int(port)))
    else:
        import uvicorn

        uvicorn.run(bare(url), host="127.0.0.1", port=int(port), loop=loop, http=parser, **QUIET)


if __name__ == "__main__":
    main(*sys.argv[1:])
