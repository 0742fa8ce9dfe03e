"""`fit` on Pydantic AI's MCP toolset, in an agent whose model is a script."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.agents.conftest import NAME, REFUSED, SERVER

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed: `make adapters`")

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import CombinedToolset, FunctionToolset

from argfit.adapters.pydantic_ai import fit


def own(line: float) -> str:
    """A tool of the agent's own."""
    return f"own {line!r}"


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


@pytest.mark.parametrize(
    "around",
    [
        lambda one: CombinedToolset([FunctionToolset([own]), one]),
        lambda one: CombinedToolset([CombinedToolset([one.filtered(lambda ctx, tool: tool.name == NAME)])]),
        lambda one: one.prefixed("p").renamed({NAME: f"p_{NAME}"}),
    ],
    ids=["combined", "nested", "renamed"],
)
def test_a_server_behind_other_toolsets_is_listed_again_too(around: Any, tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    for options, line in (({"on_misfit": "refuse"}, "five"), ({"repairs": ["unquote"]}, "5")):
        fitting = fit(around(toolset(str(changed))), **options)
        assert said(fitting, {"line": line}, changes=changed) == [f'found {{"line":"{line}"}}']
        changed.unlink()


def test_many_calls_at_once_are_fitted_each_by_itself() -> None:
    told: list[str] = []

    def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        told.extend(str(part.content) for part in messages[-1].parts if part.part_kind == "tool-return")
        calls = [ToolCallPart(NAME, {"line": float(n) if n % 2 else str(n)}) for n in range(20)]
        return ModelResponse(parts=[TextPart("done")] if told else calls)

    async def run() -> None:
        async with Agent(FunctionModel(script), toolsets=[fit(toolset(), repairs=["unquote"])]) as agent:
            await agent.run("go")

    asyncio.run(run())
    assert told == [f'found {{"line":{n}}}' for n in range(20)]


def test_runs_at_once_are_each_judged_by_what_is_listed_to_them() -> None:
    class PerRun(FunctionToolset[Any]):
        async def get_tools(self, ctx: Any) -> Any:
            await asyncio.sleep(0)  # so that the other one is at it, too
            return {NAME: tool_of(ctx.deps)}

        async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
            return repr(tool_args)

    def tool_of(kind: str) -> Any:
        schema = {"properties": {"line": {"type": kind}}}
        return SimpleNamespace(tool_def=ToolDefinition(name=NAME, parameters_json_schema=schema))

    async def run() -> list[Any]:
        fitting = fit(PerRun(), on_misfit="refuse")
        runs: list[Any] = [SimpleNamespace(run_id=kind, deps=kind) for kind in ("integer", "string")]
        calls = [fitting.call_tool(NAME, {"line": "five"}, ctx, tool_of("integer")) for ctx in runs]
        return [str(one) for one in await asyncio.gather(*calls, return_exceptions=True)]

    assert asyncio.run(run()) == [REFUSED, "{'line': 'five'}"]


def test_the_librarys_own_test_model_calls_what_it_is_shown() -> None:
    async def run() -> str:
        async with Agent(TestModel(call_tools=[NAME]), toolsets=[fit(toolset(), on_misfit="refuse")]) as agent:
            return (await agent.run("go")).output

    assert "found" in asyncio.run(run())


def test_names_that_are_none_of_the_choices_are_errors_here_and_now() -> None:
    with pytest.raises(ValueError, match="on_misfit is one of"):
        fit(toolset(), on_misfit="explain")
