"""`fit` on Pydantic AI's MCP toolset, in an agent whose model is a script."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.agents.conftest import NAME, REFUSED, SERVER

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed: `make adapters`")

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from argfit.adapters.pydantic_ai import fit


def toolset(*words: str) -> MCPToolset[Any]:
    return MCPToolset(StdioTransport(command=SERVER[0], args=[*SERVER[1:], *words]))


def said(tools: Any, *calls: Any, changes: Path | None = None) -> list[str]:
    """What the model is told of its calls."""
    told: list[str] = []

    def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        told.extend(
            str(part.content) for part in messages[-1].parts if part.part_kind in ("tool-return", "retry-prompt")
        )
        if changes is not None:
            changes.touch()  # the server, before the first call is made
        if len(told) < len(calls):
            return ModelResponse(parts=[ToolCallPart(NAME, calls[len(told)])])
        return ModelResponse(parts=[TextPart("done")])

    async def run() -> None:
        async with Agent(FunctionModel(script), toolsets=[tools]) as agent:
            await agent.run("go")

    asyncio.run(run())
    return told


def test_what_a_struct_makes_of_a_call_is_sent_as_the_schema_takes_it() -> None:
    sent = {"line": 5.0, "file": "a.go"}
    assert 'refused {"line":5.0,"file":"a.go"}' in said(toolset(), sent)[0]
    assert said(fit(toolset()), sent, '{"line": 6.0}') == ['found {"line":5,"file":"a.go"}', 'found {"line":6}']


def test_repairs_are_made_on_request_only() -> None:
    assert 'refused {"line":"5"}' in said(fit(toolset()), {"line": "5"})[0]
    assert said(fit(toolset(), repairs=["unquote"]), {"line": "5"}) == ['found {"line":5}']


def test_a_call_that_does_not_fit_is_answered_here_as_often_as_it_comes() -> None:
    fitting = fit(toolset(), on_misfit="refuse")
    told = said(fitting, {"line": "five"}, {"line": "six"}, {"line": None}, {"line": 7.0})
    assert told == [REFUSED, REFUSED, REFUSED, 'found {"line":7}']


def test_a_server_is_listed_again_before_a_call_is_refused(tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    fitting = fit(toolset(str(changed)), on_misfit="refuse")
    assert said(fitting, {"line": "five"}, changes=changed) == ['found {"line":"five"}']


def test_names_that_are_none_of_the_choices_are_errors_here_and_now() -> None:
    with pytest.raises(ValueError, match="on_misfit is one of"):
        fit(toolset(), on_misfit="explain")
