"""`fit` on an MCP server of the OpenAI Agents SDK, called as the SDK calls it."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.agents.conftest import NAME, REFUSED, SERVER

pytest.importorskip("agents", reason="openai-agents is not installed: `make adapters`")

from agents import Agent, RunContextWrapper
from agents.mcp import MCPServerStdio, MCPUtil
from agents.mcp.util import create_static_tool_filter

from argfit.adapters.openai_agents import fit


def server(*words: str, **options: Any) -> MCPServerStdio:
    return MCPServerStdio({"command": SERVER[0], "args": [*SERVER[1:], *words]}, **options)


def said(target: MCPServerStdio, *calls: Any, changes: Callable[[], Any] = lambda: None) -> list[str]:
    """What the model is told of its calls; `changes` is done before them."""

    async def run() -> list[str]:
        async with target:
            agent: Agent[Any] = Agent(name="a")
            context: RunContextWrapper[Any] = RunContextWrapper(None)
            listed = await target.list_tools(context, agent)
            (tool,) = [one for one in listed if one.name == NAME]
            changes()
            told = [await MCPUtil.invoke_mcp_tool(target, tool, context, json.dumps(call)) for call in calls]
            return [str(one["text"] if isinstance(one, dict) else one) for one in told]

    return asyncio.run(run())


@pytest.mark.parametrize("options", [{}, {"cache_tools_list": True}], ids=str)
def test_what_a_struct_makes_of_a_call_is_sent_as_the_schema_takes_it(options: Any) -> None:
    sent = {"line": 5.0, "file": "a.go"}
    assert said(server(**options), sent) == ['refused {"line":5.0,"file":"a.go"}']
    assert said(fit(server(**options)), sent, {"line": 6.0}) == ['found {"line":5,"file":"a.go"}', 'found {"line":6}']


def test_a_filter_that_asks_for_the_agent_does_not_stand_in_the_way() -> None:
    def only(context: Any, tool: Any) -> bool:
        return bool(context.agent) and tool.name == NAME

    assert said(fit(server(tool_filter=only)), {"line": 5.0}) == ['found {"line":5}']
    named = create_static_tool_filter(allowed_tool_names=[NAME])
    assert said(fit(server(tool_filter=named)), {"line": 5.0}) == ['found {"line":5}']


def test_repairs_are_made_on_request_only() -> None:
    assert said(fit(server()), {"line": "5"}) == ['refused {"line":"5"}']
    assert said(fit(server(), repairs=["unquote"]), {"line": "5"}) == ['found {"line":5}']


def test_a_call_that_does_not_fit_is_answered_here_where_that_is_asked_for() -> None:
    assert said(fit(server(), on_misfit="refuse"), {"line": "five"}, {"line": 7.0}) == [REFUSED, 'found {"line":7}']


def test_a_server_is_listed_again_before_a_call_is_refused(tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    target = fit(server(str(changed), cache_tools_list=True), on_misfit="refuse")
    assert said(target, {"line": "five"}, changes=changed.touch) == ['found {"line":"five"}']


def test_names_that_are_none_of_the_choices_are_errors_here_and_now() -> None:
    with pytest.raises(ValueError, match="on_misfit is one of"):
        fit(server(), on_misfit="explain")
