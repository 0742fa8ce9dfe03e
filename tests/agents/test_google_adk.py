"""`fit` as a callback of Google's Agent Development Kit, in an agent whose model is a script."""

import asyncio
import copy
import pickle
from collections.abc import AsyncGenerator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.agents.conftest import NAME, REFUSED, SERVER

pytest.importorskip("google.adk", reason="google-adk is not installed: `make adapters`")

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.mcp_tool import McpTool, McpToolset
from google.adk.tools.mcp_tool.mcp_session_manager import StdioConnectionParams
from google.genai.types import Content, FunctionCall, Part
from mcp import StdioServerParameters
from mcp.types import Tool

from argfit.adapters.google_adk import fit


def own(line: float) -> str:
    """A tool of the agent's own."""
    return f"own {line!r}"


class Script(BaseLlm):
    """A model that makes the calls it was given, one by one."""

    calls: list[Any]
    changes: Path | None = None  # the server, before the first call is made
    at_once: bool = False

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT002 - as the kit has it
    ) -> AsyncGenerator[LlmResponse, None]:
        made = sum(1 for content in llm_request.contents for part in content.parts or () if part.function_response)
        parts = [Part(text="done")]
        if made < len(self.calls):
            if self.changes is not None:
                self.changes.touch()
            calls = self.calls[made:] if self.at_once else [self.calls[made]]
            parts = [Part(function_call=FunctionCall(name=name, args=arguments)) for name, arguments in calls]
        yield LlmResponse(content=Content(role="model", parts=parts))


def toolset(*words: str, **options: Any) -> McpToolset:
    parameters = StdioServerParameters(command=SERVER[0], args=[*SERVER[1:], "one page", *words])  # it reads no second
    return McpToolset(connection_params=StdioConnectionParams(server_params=parameters), **options)


def said(
    *calls: Any, callback: Any = None, name: str = NAME, tools: Any = None, changes: Path | None = None
) -> list[str]:
    """What the model is told of its calls."""
    model = Script(model="script", calls=[(name, call) for call in calls], changes=changes)
    return told(model, callback, tools or toolset())


def told(model: Script, callback: Any, *tools: McpToolset) -> list[str]:
    """What a model is told by an agent with these tools and one of its own."""

    async def run() -> list[str]:
        agent = LlmAgent(name="a", model=model, tools=[*tools, own], before_tool_callback=callback)
        runner = InMemoryRunner(agent=agent, app_name="app")
        session = await runner.session_service.create_session(app_name="app", user_id="u")
        heard: list[str] = []
        asked = Content(role="user", parts=[Part(text="go")])
        async for event in runner.run_async(user_id="u", session_id=session.id, new_message=asked):
            for part in (event.content.parts if event.content else None) or ():
                if part.function_response:
                    response = part.function_response.response
                    heard.append(response["content"][0]["text"] if "content" in response else str(response["result"]))
        for one in tools:
            await one.close()
        return heard

    return asyncio.run(run())


def test_what_a_struct_makes_of_a_call_is_sent_as_the_schema_takes_it() -> None:
    sent = {"line": 5.0, "file": "a.go"}
    assert said(sent) == ['refused {"line":5.0,"file":"a.go"}']
    assert said(sent, {"line": 6.0}, callback=fit()) == ['found {"line":5,"file":"a.go"}', 'found {"line":6}']


def test_repairs_are_made_on_request_only() -> None:
    assert said({"line": "5"}, callback=fit()) == ['refused {"line":"5"}']
    assert said({"line": "5"}, callback=fit(repairs=["unquote"])) == ['found {"line":5}']


def test_a_call_that_does_not_fit_is_answered_here_where_that_is_asked_for() -> None:
    heard = said({"line": "five"}, {"line": 7.0}, callback=fit(on_misfit="refuse"))
    assert heard == [REFUSED, 'found {"line":7}']


@pytest.mark.parametrize(
    "options", [{}, {"tool_list_cache_ttl_seconds": 600}, {"tool_name_prefix": "p"}], ids=["plain", "cached", "prefix"]
)
def test_a_server_is_listed_again_before_a_call_is_refused(options: Any, tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    tools = toolset(str(changed), **options)
    name = f"p_{NAME}" if "tool_name_prefix" in options else NAME
    heard = said({"line": "five"}, callback=fit(on_misfit="refuse"), name=name, tools=tools, changes=changed)
    assert heard == ['found {"line":"five"}']


def test_two_servers_tools_of_one_name_are_told_apart_also_at_once(tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    changed.touch()
    wholes, texts = toolset(tool_name_prefix="a"), toolset(str(changed), tool_name_prefix="b")
    calls = [(f"{prefix}_{NAME}", {"line": [1]}) for prefix in "ab"]
    model = Script(model="script", calls=calls, at_once=True)
    assert told(model, fit(on_misfit="refuse"), wholes, texts) == [REFUSED, REFUSED.replace("a whole number", "text")]


def test_a_repair_is_made_by_what_is_listed_when_it_is_sent(tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    heard = said({"line": "5"}, callback=fit(repairs=["unquote"]), tools=toolset(str(changed)), changes=changed)
    assert heard == ['found {"line":"5"}']


def test_many_calls_at_once_are_fitted_each_by_itself() -> None:
    calls = [(NAME, {"line": float(n) if n % 2 else str(n)}) for n in range(10)]
    model = Script(model="script", calls=calls, at_once=True)
    assert told(model, fit(repairs=["unquote"]), toolset()) == [f'found {{"line":{n}}}' for n in range(10)]


def test_calls_of_several_users_at_once_are_each_judged_by_what_is_listed_to_them() -> None:
    class PerUser(McpToolset):
        async def get_tools(self, readonly_context: Any = None) -> Any:
            await asyncio.sleep(0)  # so that the other one is at it, too
            return [self.tool_of(readonly_context.invocation_id)]

        def tool_of(self, kind: str) -> McpTool:
            schema = {"type": "object", "properties": {"line": {"type": kind}}}
            listed = Tool.model_validate({"name": NAME, "inputSchema": schema})
            return McpTool(mcp_tool=listed, mcp_session_manager=self._mcp_session_manager)

    tools = PerUser(connection_params=StdioServerParameters(command="none"))
    agent = SimpleNamespace(tools=[tools])
    contexts = [
        SimpleNamespace(invocation_id=kind, get_invocation_context=lambda: SimpleNamespace(agent=agent))
        for kind in ("integer", "string")
    ]

    async def run() -> list[Any]:
        fitting = fit(on_misfit="refuse")
        return await asyncio.gather(*(fitting(tools.tool_of("integer"), {"line": "five"}, one) for one in contexts))

    refused, sent = asyncio.run(run())
    assert (refused["content"][0]["text"], sent) == (REFUSED, None)


def test_an_agent_goes_elsewhere_with_what_fits_its_calls() -> None:
    fitting = fit(repairs=["unquote"])
    assert said({"line": "5"}, callback=fitting) == ['found {"line":5}']
    agent = LlmAgent(name="a", model="m", tools=[toolset()], before_tool_callback=fitting)
    sent = pickle.loads(pickle.dumps(agent.before_tool_callback))  # noqa: S301 - its own
    for other in (sent, copy.deepcopy(fitting), agent.clone().before_tool_callback):
        assert said({"line": "5"}, {"line": 6.0}, callback=other) == ['found {"line":5}', 'found {"line":6}']


def test_the_agents_own_tools_are_left_alone() -> None:
    assert said({"line": 5.0}, callback=fit(on_misfit="refuse"), name="own") == ["own 5.0"]


def test_names_that_are_none_of_the_choices_are_errors_here_and_now() -> None:
    with pytest.raises(ValueError, match="on_misfit is one of"):
        fit(on_misfit="explain")
