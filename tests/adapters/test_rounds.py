"""Calls of which a server asks more (2026-07-28): each round is fitted as the first was, or its state is refused."""

import asyncio
from typing import Any

import pytest
from fastmcp import Client as FastClient
from mcp import Client, MCPError
from mcp.server.mcpserver import MCPServer, RequestStateBoundary
from mcp.server.request_state import RequestStateSecurity
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
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
