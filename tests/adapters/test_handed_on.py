"""A call that comes to its tool by another way is guarded as one that comes straight."""

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.transforms.search import RegexSearchTransform
from mcp import Client
from mcp.server import MCPServer, Server
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError as McpToolError
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool
from tests.adapters.rows import SAYS
from tests.adapters.speaking import ERAS, Said, call

from argfit.adapters import fastmcp_server, mcp_server
from argfit.core.guarding import Guarded

BOTH = pytest.mark.parametrize("era", ERAS)


def flocks(limit: int = 50) -> str:
    if limit == 13:
        raise ToolError("Not thirteen.")
    return f"{limit!r} flocks"


def searched(era: str, name: str, arguments: Any) -> Said:
    server: FastMCP[Any] = FastMCP("s")
    server.tool(flocks)
    server.add_transform(RegexSearchTransform())
    lowlevel = fastmcp_server.guard(server)._mcp_server  # noqa: SLF001 - no public way
    return call(lowlevel, era, "call_tool", {"name": name, "arguments": arguments})


@BOTH
@pytest.mark.parametrize(
    ("name", "arguments", "text", "lines"),
    [
        ("flocks", {"limit": "2"}, "2 flocks", []),
        ("flocks", '{"limit": 2.0}', "2 flocks", []),
        (
            "flocks",
            {"limit": "ten"},
            SAYS.format("flocks", "limit must be a whole number."),
            ["INFO MCP tool flocks refused the call: argument limit is invalid."],
        ),
        ("flocks", {"limit": 13}, "Not thirteen.", ["INFO MCP tool flocks refused the call."]),
        (
            "nope",
            {},
            "Error calling tool 'call_tool': Unknown tool: 'nope'",
            ["INFO MCP tool call_tool refused the call."],
        ),
    ],
)
def test_what_the_call_tool_of_a_search_hands_on_is_guarded(
    era: str, name: str, arguments: Any, text: str, lines: list[str]
) -> None:
    said = searched(era, name, arguments)
    assert (said.text, said.lines) == (text, lines)


def counts(items: list[int]) -> str:
    return f"{sum(items)}"


def of_official() -> Any:
    server: MCPServer[Any] = MCPServer("s")
    server.tool()(counts)
    return mcp_server.guard(server)


def of_lowlevel() -> Any:
    async def listed(ctx: Any, params: Any) -> ListToolsResult:
        items = {"type": "array", "items": {"type": "integer"}}
        schema = {"type": "object", "properties": {"items": items}}
        return ListToolsResult(tools=[Tool(name="counts", input_schema=schema)])

    async def tool(ctx: Any, params: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=counts(**params.arguments))])

    return mcp_server.guard(Server("s", on_list_tools=listed, on_call_tool=tool))


def of_fastmcp() -> Any:
    server: FastMCP[Any] = FastMCP("s")
    server.tool(counts)
    return fastmcp_server.guard(server)._mcp_server  # noqa: SLF001 - no public way


@BOTH
@pytest.mark.parametrize("made", [of_official, of_lowlevel, of_fastmcp])
def test_a_call_that_takes_long_to_fit_holds_up_no_other(era: str, made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = Guarded.fit
    threads: set[int] = set()

    def fit_here(self: Guarded, sent: Any) -> Any:
        threads.add(threading.get_ident())
        return fit(self, sent)

    monkeypatch.setattr(Guarded, "fit", fit_here)
    server = made()
    assert call(server, era, "counts", {"items": ["1"] * 5}).text == "5"
    assert threads == {threading.get_ident()}
    threads.clear()
    assert call(server, era, "counts", {"items": ["1"] * 1000}).text == "1000"
    assert len(threads) == 1
    assert threads != {threading.get_ident()}


class Hedging(MCPServer[Any]):
    """Calls each tool twice at once, with arguments of its own making."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        calls = (super(Hedging, self).call_tool(name, {**arguments}, context) for _ in range(2))
        return (await asyncio.gather(*calls))[1]


@BOTH
def test_two_calls_at_once_with_copied_arguments_are_both_guarded(era: str) -> None:
    got: list[Any] = []
    server = Hedging("s")

    @server.tool()
    async def t(note: str | None = None) -> str:
        got.append(note)
        await asyncio.sleep(0)
        return "fine"

    said = call(mcp_server.guard(server), era, "t", {"note": "null"})
    assert (said.text, got) == ("fine", ["null", "null"])


class Forgetting(MCPServer[Any]):
    """Hands on each call without its context, after a call of its own."""

    got: str = ""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        if context is not None:
            own: Any = await self.call_tool("noted", {"note": "null"})
            self.got = own.content[0].text
        return await super().call_tool(name, arguments)


@BOTH
def test_a_call_that_is_handed_on_without_its_context_is_guarded(era: str) -> None:
    server = Forgetting("s")
    server.tool()(flocks)

    @server.tool()
    def noted(note: str | None = None) -> str:
        return f"{note!r}"

    mcp_server.guard(server)
    said = call(server, era, "flocks", {"limit": "ten"})
    assert said.text == SAYS.format("flocks", "limit must be a whole number.")
    assert said.lines == ["INFO MCP tool flocks refused the call: argument limit is invalid."]
    assert call(server, era, "noted", {"note": "null"}).text == "'null'"
    assert server.got == "None"  # as the SDK reads text: its author's own call


class Recording:
    """A session with its author's own around it."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


@BOTH
def test_a_call_is_guarded_whatever_a_middleware_puts_around_its_session(era: str) -> None:
    async def records(ctx: Any, call_next: Any) -> Any:
        return await call_next(replace(ctx, session=Recording(ctx.session)))

    server: MCPServer[Any] = MCPServer("s", middleware=[records])
    server.tool()(flocks)
    said = call(mcp_server.guard(server), era, "flocks", {"limit": "ten"})
    assert said.text == SAYS.format("flocks", "limit must be a whole number.")
    assert said.lines == ["INFO MCP tool flocks refused the call: argument limit is invalid."]


@BOTH
def test_what_a_resource_calls_is_its_own_also_where_a_call_is_on_its_way(era: str) -> None:
    got: list[str] = []
    server: MCPServer[Any] = MCPServer("s")
    server.tool()(flocks)

    @server.resource("r://{x}")
    async def read(x: str, ctx: Context[Any, Any]) -> str:
        try:
            await server.call_tool("flocks", {"limit": "ten"}, ctx)
        except McpToolError as error:
            got.append(str(error).splitlines()[0])
        return ""

    async def looks(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/call":
            async with Client(server, mode=era) as client:
                for number in range(5):  # of which one has the number of the call
                    await client.read_resource(f"r://{number}")
        return await call_next(ctx)

    mcp_server.guard(server).middleware.append(looks)
    assert call(server, era, "flocks", {"limit": "2"}).text == "2 flocks"
    assert got == ["Error executing tool flocks: 1 validation error for flocksArguments"] * 5


class Looking(MCPServer[Any]):
    """Looks at the arguments of each call, and keeps what it sees."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.seen: list[tuple[type, bool]] = []

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        self.seen.append((type(arguments), bool(arguments)))
        return await super().call_tool(name, arguments, context)


@BOTH
def test_what_looks_at_arguments_on_their_way_sees_a_plain_object(era: str) -> None:
    server = Looking("s")
    server.tool()(flocks)
    assert call(mcp_server.guard(server), era, "flocks", {}).text == "50 flocks"
    assert call(server, era, "flocks", {"limit": "2"}).text == "2 flocks"
    assert server.seen == [(dict, False), (dict, True)]


@BOTH
def test_what_a_tool_calls_with_its_own_context_is_its_own(era: str) -> None:
    server: MCPServer[Any] = MCPServer("s")

    @server.tool()
    async def inner(note: str | None = None) -> str:
        return f"{note!r}"

    @server.tool()
    async def outer(ctx: Context[Any, Any]) -> str:
        result: Any = await server.call_tool("inner", {"note": "null"}, ctx)
        return str(result.content[0].text)

    said = call(mcp_server.guard(server), era, "outer", {})
    assert (said.text, said.lines) == ("None", [])  # as the SDK reads text, and nobody decides on it
