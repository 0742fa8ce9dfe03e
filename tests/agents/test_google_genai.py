"""google-genai calls a session that is given to it: `mcp_client.fit` is the adapter for it."""

import asyncio
from typing import Any

import pytest
from tests.agents.conftest import NAME, REFUSED, SERVER

pytest.importorskip("google.genai", reason="google-genai is not installed: `make adapters`")

from google.genai._adapters import McpToGenAiToolAdapter
from google.genai.types import FunctionCall
from mcp import Client, StdioServerParameters, stdio_client

from argfit.adapters.mcp_client import fit


def said(arguments: Any, **options: Any) -> str:
    """What comes of a call of the model."""

    async def run() -> str:
        transport = stdio_client(StdioServerParameters(command=SERVER[0], args=SERVER[1:]))
        async with Client(transport) as client:
            session = fit(client.session, **options)
            adapter = McpToGenAiToolAdapter(session, await session.list_tools())
            result: Any = await adapter.call_tool(FunctionCall(name=NAME, args=arguments))
            return str(result.content[0].text)

    return asyncio.run(run())


def test_what_a_struct_makes_of_a_call_is_sent_as_the_schema_takes_it() -> None:
    assert said({"line": 5.0, "file": "a.go"}) == 'found {"line":5,"file":"a.go"}'


def test_repairs_are_made_on_request_only() -> None:
    assert said({"line": "5"}) == 'refused {"line":"5"}'
    assert said({"line": "5"}, repairs=["unquote"]) == 'found {"line":5}'


def test_a_call_that_does_not_fit_is_answered_here_where_that_is_asked_for() -> None:
    assert said({"line": "five"}, on_misfit="refuse") == REFUSED
