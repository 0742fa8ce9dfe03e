"""Both ends of the HTTP relay, at the level of bytes: a server that does as it is told, and a client that looks on."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import uvicorn
from tests.proxy.running import PATIENCE

from argfit.core.text import encoded
from argfit.proxy.http import app
from argfit.proxy.incoming import Incoming
from argfit.wire.conversation import Settings


class Seen:
    """One request as the server saw it."""

    def __init__(self, head: bytes, body: bytes) -> None:
        first, *lines = head.split(b"\r\n")
        self.method, self.target, _ = first.decode().split(" ")
        self.headers = [
            (name.decode().lower(), value.strip().decode("latin-1"))
            for name, _, value in (one.partition(b":") for one in lines)
        ]
        self.body = body

    def header(self, name: str) -> str | None:
        return next((value for known, value in self.headers if known == name), None)


Handler = Callable[[Seen, asyncio.StreamWriter], Awaitable[None]]


class Upstream:
    """A server of which each request is answered by `handler`; `gone` is set where a client left in the middle."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self.seen: list[Seen] = []
        self.gone = asyncio.Event()
        self.port = 0
        self._talks = set[asyncio.Task[None] | None]()

    async def end(self) -> None:
        """Give up the connections that are still there."""
        for task in filter(None, self._talks):
            task.cancel()
            await asyncio.wait({task})

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._talks.add(asyncio.current_task())
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                seen = await read_request(reader)
                self.seen.append(seen)
                work = asyncio.ensure_future(self._handler(seen, writer))
                more = asyncio.ensure_future(reader.read(1))
                await asyncio.wait({work, more}, return_when=asyncio.FIRST_COMPLETED)
                if more.done() and not work.done():
                    self.gone.set()
                    work.cancel()
                    break
                more.cancel()
                with suppress(asyncio.CancelledError):
                    await more
                await work
        writer.close()
        with suppress(OSError, asyncio.CancelledError):
            await writer.wait_closed()


async def read_request(reader: asyncio.StreamReader) -> Seen:
    head = (await reader.readuntil(b"\r\n\r\n"))[:-4]
    seen = Seen(head, b"")
    if seen.header("transfer-encoding") == "chunked":
        while size := int(await reader.readline(), 16):
            seen.body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
    else:
        seen.body = await reader.readexactly(int(seen.header("content-length") or 0))
    return seen


async def answer(writer: asyncio.StreamWriter, body: Any, media_type: str = "application/json", *more: str) -> None:
    data = body if isinstance(body, bytes) else encoded(body)
    head = ["HTTP/1.1 200 OK", f"content-type: {media_type}", f"content-length: {len(data)}", *more]
    writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + data)
    await writer.drain()


@asynccontextmanager
async def upstream(handler: Handler) -> AsyncIterator[Upstream]:
    """A server of these answers, on a port of its own."""
    made = Upstream(handler)
    server = await asyncio.start_server(made.talk, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        await made.end()


@asynccontextmanager
async def relayed(port: int, settings: Settings | None = None, **options: Any) -> AsyncIterator[int]:
    """The relay before the server at a port; gives its own."""
    made = app(f"http://127.0.0.1:{port}/mcp", settings, **options)
    async with serving(made) as own:
        yield own


@asynccontextmanager
async def serving(application: Any) -> AsyncIterator[int]:
    """An ASGI application, served on a port of its own in this loop."""
    listening = socket.socket(
        socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )  # so that asyncio sets TCP_NODELAY
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    config = uvicorn.Config(  # as argfit serve has it
        application, http=Incoming, ws="none", log_level="critical", date_header=False, server_header=False
    )
    server = uvicorn.Server(config)
    task = asyncio.ensure_future(server.serve([listening]))
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        await asyncio.wait_for(task, PATIENCE)


def post(body: bytes, *headers: str, path: str = "/mcp") -> bytes:
    """A request as it stands on the wire."""
    head = [
        f"POST {path} HTTP/1.1",
        "host: localhost",
        "content-type: application/json",
        f"content-length: {len(body)}",
    ]
    return "\r\n".join([*head, *headers]).encode() + b"\r\n\r\n" + body


class Client:
    """A connection to a server, at the level of bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def ask(self, request: bytes) -> tuple[int, dict[str, str], bytes]:
        """Send a request, and read its answer whole."""
        self.writer.write(request)
        return await self.answer()

    async def head(self) -> tuple[int, dict[str, str]]:
        first, *lines = (await self.reader.readuntil(b"\r\n\r\n"))[:-4].decode("latin-1").split("\r\n")
        if first == "HTTP/1.1 100 Continue":
            return await self.head()
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return int(first.split(" ")[1]), headers

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        status, headers = await self.head()
        if "content-length" in headers:
            return status, headers, await self.reader.readexactly(int(headers["content-length"]))
        body = b""
        while part := await self.chunk():
            body += part
        return status, headers, body

    async def chunk(self) -> bytes:
        """The next chunk of a body; empty at its end."""
        size = int(await self.reader.readuntil(b"\r\n"), 16)
        return (await self.reader.readexactly(size + 2))[:-2]


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()


def run(story: Awaitable[None]) -> None:
    """Perform a story, which ends in time or fails."""
    asyncio.run(asyncio.wait_for(story, PATIENCE))
