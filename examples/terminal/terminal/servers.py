"""Servers that are connected, and connected again when they went away.

Rules
- A connection lives in a task of its own, for it must be closed where it was opened.
- That a server has ended is seen where its output ends, and not by the next call; nor by the code of an error, for a
  server that lives may answer with any. One that is spoken to by HTTP has no such end: there each request stands for
  itself, until the connection breaks or the server says by its status that it has forgotten the session.
- A call during which a server goes away is not made again: it may have done its work. The next one finds the server
  connected again.
"""

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, NamedTuple, Self, TextIO

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client
from pydantic import ValidationError

from argfit import ToolCatalog
from argfit.dispatch import all_tools
from terminal.config import Entry

PATIENCE = 30.0  # seconds for a server to start, and to end
LAST_WORDS = 4096  # bytes in which they are looked for
TIMEOUT = httpx2.Timeout(30, read=300)  # as the SDK has it
CLOSED = (-32000, "Connection closed")  # what the SDK makes of a call whose connection ended
FORGOTTEN = (400, 404)  # of a request within a session: 404 by the specification, 400 by the TypeScript SDK's examples


class GoneError(Exception):
    """The server went away, or cannot be reached; the message says which and why."""


class _Connection(NamedTuple):
    """A connection that was opened: `closing` is for us to set, `ended` is set when the server is gone."""

    client: Client
    closing: asyncio.Event
    ended: asyncio.Event
    task: asyncio.Task[None]


class Servers:
    """The servers of a session, and the catalog of their tools."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = {entry.name: entry for entry in entries}
        self.catalog = ToolCatalog(repairs="all")
        self.tools: dict[str, list[Any]] = {}
        self._last_words: dict[str, str] = {}  # of the servers that ended
        self._live: dict[str, _Connection] = {}

    def gone(self) -> list[str]:
        """The servers that were connected, and have ended since."""
        return [name for name, connection in self._live.items() if connection.ended.is_set()]

    def is_connected(self, name: str) -> bool:
        """Whether a server is there to be called."""
        return name in self._live and name not in self.gone()

    async def connect(self, name: str) -> list[Any]:
        """Connect a server, and list its tools; GoneError where that fails."""
        await self.disconnect(name)
        opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        closing, ended = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(self._live_on(name, opened, closing, ended))
        try:
            client = await asyncio.wait_for(asyncio.shield(opened), PATIENCE)
            listing = all_tools(lambda cursor: client.list_tools(cursor=cursor, cache_mode="refresh"))
            listed = await asyncio.wait_for(listing, PATIENCE)
        except BaseException as error:
            closing.set()
            task.cancel()
            await asyncio.wait([task], timeout=PATIENCE)  # so that no server is left behind
            if isinstance(error, Exception):
                raise GoneError(f"{name} cannot be reached: {why(error)}{self._last_words.pop(name, '')}") from None
            raise  # the user left
        self._live[name] = _Connection(client, closing, ended, task)
        self.tools[name] = listed
        self.catalog.update(name, listed)
        return listed

    async def call(self, name: str, tool: str, arguments: Any) -> Any:
        """Call a tool of a server that is connected, with arguments as they are; GoneError where it went away."""
        connection = self._live[name]
        try:
            return await connection.client.call_tool(tool, arguments)
        except MCPError as error:
            if not connection.ended.is_set():
                raise
            if (error.code, error.message) == CLOSED:
                what = "went away during the call, which may or may not have been made"
            elif self.entries[name].command is None:
                what = f"does not take calls on this connection any more ({error.message})"
            else:
                raise  # its own last words
            await self.disconnect(name)
            raise GoneError(f"{name} {what}{self._last_words.pop(name, '')}") from None

    async def disconnect(self, name: str) -> None:
        """Close a connection, if there is one."""
        if name in self._live:
            connection = self._live.pop(name)
            connection.closing.set()
            with contextlib.suppress(Exception, asyncio.CancelledError):
                await asyncio.wait_for(connection.task, PATIENCE)

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.gather(*map(self.disconnect, list(self._live)))

    async def _live_on(
        self, name: str, opened: "asyncio.Future[Client]", closing: asyncio.Event, ended: asyncio.Event
    ) -> None:
        with tempfile.TemporaryFile("w+") as errlog:
            try:
                async with _client(self.entries[name], errlog, ended) as client:
                    opened.set_result(client)
                    try:
                        await closing.wait()
                    finally:
                        ended.set()  # before the calls that are under way hear of it
            except Exception as error:  # noqa: BLE001 - told to who waits for it
                if not opened.done():
                    opened.set_exception(error)
            finally:
                self._last_words[name] = _last_words(errlog.fileno())


def _last_words(errlog: int) -> str:
    """The last line that a server wrote about itself."""
    size = os.fstat(errlog).st_size
    tail = os.pread(errlog, LAST_WORDS, max(0, size - LAST_WORDS)).decode("utf-8", "replace")
    said = [words for words in tail.splitlines() if words.strip()]
    return f"; its last words: {said[-1].strip()}" if said else ""


@contextlib.asynccontextmanager
async def _client(entry: Entry, errlog: TextIO, ended: asyncio.Event) -> AsyncIterator[Client]:
    if entry.command is None:
        if entry.speaks == "sse":
            raise ValueError('it is of the type "sse", and this client speaks streamable HTTP')
        async with (
            httpx2.AsyncClient(headers=entry.headers, timeout=TIMEOUT) as http,
            Client(streamable_http_client(str(entry.url), http_client=http)) as client,
        ):
            http.event_hooks = {"response": [partial(_see, ended)]}
            yield client
        return
    environment = {**os.environ, **entry.env}
    parameters = StdioServerParameters(
        command=entry.command,
        args=entry.args,
        env=environment,
        cwd=entry.cwd,
        encoding_error_handler="replace",  # by "strict", a byte that is no text leaves the call waiting for ever
    )
    async with Client(_watched(stdio_client(parameters, errlog=errlog), ended)) as client:
        yield client


async def _see(ended: asyncio.Event, response: httpx2.Response) -> None:
    request = response.request
    if response.status_code in FORGOTTEN and request.method == "POST" and MCP_SESSION_ID in request.headers:
        ended.set()


@contextlib.asynccontextmanager
async def _watched(transport: Any, ended: asyncio.Event) -> AsyncIterator[tuple[Any, Any]]:
    """A transport that notes when the server ends it."""
    async with transport as (read, write):
        yield _Watched(read, ended), write


class _Watched:
    """What a server says, to its end."""

    def __init__(self, stream: Any, ended: asyncio.Event) -> None:
        self._stream = stream
        self._ended = ended

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def receive(self) -> Any:
        try:
            return await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._ended.set()
            raise

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()


def why(error: BaseException) -> str:
    """What went wrong, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, ValidationError):
        first, *more = error.errors(include_url=False, include_input=False)
        place = ".".join(str(one) for one in first["loc"])
        return f"{error.title} is not as it should be: {place}: {first['msg']}" + (
            f" ({len(more)} more)" if more else ""
        )
    if isinstance(error, TimeoutError):
        return f"no answer within {PATIENCE:.0f} seconds"
    return str(error) or type(error).__name__
