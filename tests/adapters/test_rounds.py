"""Calls of which a server asks more (2026-07-28): each round is fitted as the first was, or its state is refused."""

import asyncio
from typing import Any

import pytest
from fastmcp import Client as FastClient
from mcp import Client, MCPError
from mcp.server import Server
from mcp.server.mcpserver import MCPServer, RequestStateBoundary
from mcp.server.request_state import RequestStateSecurity
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ListToolsResult,
    Tool,
)
from tests.adapters.strict_server import Strict

from argfit.adapters import fastmcp_client, mcp_client

NAME = "get_symbol_info"
SENT = {"file": "a.go", "line": 5.0}
WENT = "{'file': 'a.go', 'line': 5}"


class Asking(Strict):
    """A strict server that asks whether one is sure, and holds the answer's state against the arguments."""

    def __init__(self) -> None:
        super().__init__()
        security = RequestStateSecurity.ephemeral()
        self.server.middleware += [self._keep, RequestStateBoundary(security, default_audience="strict")]
        self.rounds: list[str] = []

    async def _keep(self, ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/call":
            self.rounds.append(repr(CallToolRequestParams.model_validate(ctx.params).arguments))
        return await call_next(ctx)

    async def _call(self, ctx: Any, params: Any) -> Any:
        if params.request_state is None:
            asked = ElicitRequestFormParams(message="Sure?", requested_schema={"type": "object", "properties": {}})
            return InputRequiredResult(input_requests={"sure": ElicitRequest(params=asked)}, request_state="open")
        return await super()._call(ctx, params)


async def sure(context: Any = None, params: Any = None) -> ElicitResult:
    return ElicitResult(action="accept", content={})


def text_of(result: Any) -> str:
    assert isinstance(result, CallToolResult)
    return str(getattr(result.content[0], "text", ""))


def test_the_official_client_sends_each_round_as_it_sent_the_first() -> None:
    asking = Asking()

    async def speak() -> str:
        async with mcp_client.fit(Client(asking.server, elicitation_callback=sure)) as client:
            return text_of(await client.call_tool(NAME, SENT))

    assert asyncio.run(speak()) == "found"
    assert asking.rounds == [WENT] * 2


def test_fastmcps_client_sends_each_round_as_it_sent_the_first() -> None:
    asking = Asking()

    async def speak() -> str:
        served: MCPServer[Any] = MCPServer("strict")
        served._lowlevel_server = asking.server  # noqa: SLF001 - its client takes no lowlevel server
        async with fastmcp_client.fit(FastClient(served, elicitation_handler=lambda *args: sure())) as client:
            return text_of(await client.call_tool_mcp(NAME, SENT))

    assert asyncio.run(speak()) == "found"
    assert asking.rounds == [WENT] * 2


def test_a_caller_that_makes_the_rounds_has_each_sent_as_the_first_was() -> None:
    asking = Asking()

    async def speak() -> str:
        async with Client(asking.server) as client:
            session: Any = mcp_client.fit(client.session)
            first = await session.call_tool(NAME, SENT, allow_input_required=True)
            asking.line = "string"
            await session.call_tool("hidden", {}, allow_input_required=True)  # is not known: the server is listed again
            other = await session.call_tool(NAME, SENT, allow_input_required=True)
            answers = {"sure": await sure()}
            asking.line = "integer"
            with pytest.raises(MCPError, match="Invalid or expired requestState"):  # it is held against the arguments
                await session.call_tool(NAME, {}, input_responses=answers, request_state=first.request_state)
            assert isinstance(other, InputRequiredResult)
            return text_of(
                await session.call_tool(NAME, SENT, input_responses=answers, request_state=first.request_state)
            )

    assert asyncio.run(speak()) == "found"
    assert asking.rounds == [WENT, "{}", repr(SENT), "{}", WENT]


def test_a_round_is_not_refused_where_the_first_was_sent() -> None:
    asking = Asking()

    async def speak() -> str:
        async with Client(asking.server) as client:
            session: Any = mcp_client.fit(client.session, on_misfit="refuse")
            first = await session.call_tool(NAME, SENT, allow_input_required=True)
            asking.line = "string"
            assert (await session.call_tool(NAME, {}, allow_input_required=True)).is_error  # listed again
            asking.line = "integer"
            answers = {"sure": await sure()}
            return text_of(
                await session.call_tool(NAME, SENT, input_responses=answers, request_state=first.request_state)
            )

    assert asyncio.run(speak()) == "found"
    assert asking.rounds == [WENT] * 2


@pytest.mark.parametrize("on_misfit", ["forward", "refuse"])
def test_rounds_that_a_clients_session_began_go_on_as_they_began(on_misfit: str) -> None:
    asking = Asking()
    asking.line = "string" if on_misfit == "refuse" else "integer"

    async def speak() -> str:
        async with mcp_client.fit(Client(asking.server, elicitation_callback=sure), on_misfit=on_misfit) as client:
            first = await client.session.call_tool(NAME, SENT, allow_input_required=True)
            assert isinstance(first, InputRequiredResult)
            answers: Any = {"sure": await sure()}
            resumed = await client.call_tool(NAME, SENT, input_responses=answers, request_state=first.request_state)
            return text_of(resumed)

    assert asyncio.run(speak()).startswith("line must be of")  # as the server says it
    assert asking.rounds == [repr(SENT)] * 2


def test_a_caller_that_alters_its_arguments_between_the_rounds_has_them_sent_as_altered() -> None:
    got: list[str] = []

    async def call(ctx: Any, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        got.append(repr(params.arguments))
        if params.request_state is None:
            asked = ElicitRequestFormParams(message="Sure?", requested_schema={"type": "object", "properties": {}})
            return InputRequiredResult(input_requests={"sure": ElicitRequest(params=asked)}, request_state="open")
        return CallToolResult(content=[])

    async def listing(ctx: Any, params: Any) -> ListToolsResult:
        schema = {"properties": {"lines": {"items": {"type": "integer"}}}}
        return ListToolsResult(tools=[Tool(name="t", input_schema={"type": "object", **schema})])

    async def speak() -> None:
        async with Client(Server("s", on_list_tools=listing, on_call_tool=call)) as client:
            session = mcp_client.fit(client.session)
            answers: Any = {"sure": await sure()}
            arguments: dict[str, Any] = {"lines": [5.0], "more": [1]}
            await session.call_tool("t", arguments, allow_input_required=True)
            for alter in (lambda: None, lambda: arguments["more"].append(2), lambda: arguments["lines"].append(6.0)):
                alter()
                await session.call_tool("t", arguments, input_responses=answers, request_state="open")

    asyncio.run(speak())
    once = "{'lines': [5], 'more': [1]}"
    assert got == [once, once, "{'lines': [5], 'more': [1, 2]}", "{'lines': [5, 6], 'more': [1, 2]}"]
