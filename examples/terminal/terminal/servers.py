"""Servers that are connected, and connected again when they went away.

Rules
- A connection lives in a task of its own, for it must be closed where it was opened.
- A call during which a server goes away is not made again: it may have done its work. The next one finds the server
  connected again.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from typing import Any, TextIO

from mcp import Client, MCPError, StdioServerParameters, stdio_client

from argfit import ToolCatalog
from terminal.config import Entry

PATIENCE = 30.0  # seconds for a server to start, and to end
CLOSED = -32000  # the SDK's code for a connection that is gone


class GoneError(Exception):
    """The server went away, or cannot be reached; the message says which and why."""


class Servers:
    """The servers of a session, and the catalog of their tools."""

    def __init__(self, entries: list[Entry], errlog: TextIO) -> None:
        self.entries = {entry.name: entry for entry in entries}
        self.catalog = ToolCatalog(repairs="all")
        self.tools: dict[str, list[Any]] = {}
        self._errlog = errlog
        self._live: dict[str, tuple[Client, asyncio.Event, asyncio.Task[None]]] = {}

    async def connect(self, name: str) -> list[Any]:
        """Connect a server, and list its tools; GoneError where that fails."""
        await self.disconnect(name)
        opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        ended = asyncio.Event()
        task = asyncio.create_task(self._live_on(name, opened, ended))
        try:
            client = await asyncio.wait_for(asyncio.shield(opened), PATIENCE)
            listed = await _all_tools(client)
        except BaseException as error:
            ended.set()
            task.cancel()
            await asyncio.wait([task], timeout=PATIENCE)  # so that no server is left behind
            if isinstance(error, Exception):
                raise GoneError(f"{name} cannot be reached: {_why(error)}") from None
            raise  # the user left
        self._live[name] = (client, ended, task)
        self.tools[name] = listed
        self.catalog.update(name, listed)
        return listed

    async def call(self, name: str, tool: str, arguments: Any) -> Any:
        """Call a tool with arguments as they are; GoneError where the server went away meanwhile."""
        if name not in self._live:
            await self.connect(name)
        client, _, task = self._live[name]
        if task.done():  # it went away between two calls: nothing was sent yet
            client = (await self.connect(name) and self._live[name])[0]
        try:
            return await client.call_tool(tool, arguments)
        except (MCPError, OSError, RuntimeError) as error:
            if isinstance(error, MCPError) and error.code != CLOSED:
                raise
            await self.disconnect(name)
            raise GoneError(f"{name} went away during the call, which may or may not have been made") from None

    async def disconnect(self, name: str) -> None:
        """Close a connection, if there is one."""
        if name in self._live:
            _, ended, task = self._live.pop(name)
            ended.set()
            with contextlib.suppress(Exception, asyncio.CancelledError):
                await asyncio.wait_for(task, PATIENCE)

    async def close(self) -> None:
        """Close all connections."""
        for name in list(self._live):
            await self.disconnect(name)

    async def _live_on(self, name: str, opened: "asyncio.Future[Client]", ended: asyncio.Event) -> None:
        try:
            async with _client(self.entries[name], self._errlog) as client:
                opened.set_result(client)
                await ended.wait()
        except Exception as error:  # noqa: BLE001 - told to who waits for it
            if not opened.done():
                opened.set_exception(error)


@contextlib.asynccontextmanager
async def _client(entry: Entry, errlog: TextIO) -> AsyncIterator[Client]:
    if entry.command is None:
        async with Client(str(entry.url)) as client:
            yield client
        return
    environment = {**os.environ, **entry.env}
    parameters = StdioServerParameters(command=entry.command, args=entry.args, env=environment, cwd=entry.cwd)
    async with Client(stdio_client(parameters, errlog=errlog)) as client:
        yield client


async def _all_tools(client: Client) -> list[Any]:
    found: list[Any] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor, cache_mode="refresh")
        found += page.tools
        cursor = page.next_cursor
        if cursor is None:
            return found


def _why(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
