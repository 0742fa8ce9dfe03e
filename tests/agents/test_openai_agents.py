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
from agents.mcp import MCPServer, MCPServerStdio, MCPUtil
from agents.mcp.util import create_static_tool_filter
from mcp.types import Tool

from argfit import catalog
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


def text_of(result: Any) -> str:
    return str(result.content[0].text)


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


def test_a_listing_that_the_sdk_is_told_to_forget_is_forgotten_here_too(tmp_path: Path) -> None:
    changed = tmp_path / "changed"

    async def run() -> list[str]:
        async with fit(server(str(changed), cache_tools_list=True)) as target:
            await target.list_tools()
            texts = [await target.call_tool(NAME, {"line": 5.0})]
            changed.touch()
            texts.append(await target.call_tool(NAME, {"line": 5.0}))
            target.invalidate_tools_cache()
            texts.append(await target.call_tool(NAME, {"line": 5.0}))
            changed.unlink()
            target.invalidate_tools_cache()
            await target.list_tools()
            texts.append(await target.call_tool(NAME, {"line": 5.0}))
        return [text_of(one) for one in texts]

    assert asyncio.run(run()) == ['found {"line":5}', 'refused {"line":5}', 'refused {"line":5.0}', 'found {"line":5}']


def test_what_the_sdk_lists_counts_from_then_on(tmp_path: Path) -> None:
    changed = tmp_path / "changed"

    async def run() -> list[str]:
        texts: list[str] = []
        async with fit(server(str(changed))) as target:
            for _ in range(2):
                await target.list_tools()
                texts.append(text_of(await target.call_tool(NAME, {"line": 5.0})))
                changed.touch()
        return texts

    assert asyncio.run(run()) == ['found {"line":5}', 'refused {"line":5.0}']


def test_a_server_that_is_connected_again_is_listed_again(tmp_path: Path) -> None:
    changed = tmp_path / "changed"

    async def run() -> list[str]:
        target = fit(server(str(changed), cache_tools_list=True))
        texts: list[str] = []
        for _ in range(2):
            async with target:
                await target.list_tools()
                texts.append(text_of(await target.call_tool(NAME, {"line": 5.0})))
            changed.touch()
        return texts

    assert asyncio.run(run()) == ['found {"line":5}', 'refused {"line":5.0}']


def test_a_repair_is_made_by_what_is_listed_when_it_is_sent(tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    target = fit(server(str(changed), cache_tools_list=True), repairs=["unquote"])
    assert said(target, {"line": "5"}, changes=changed.touch) == ['found {"line":"5"}']


def test_a_listing_is_read_once_however_many_calls_go_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []
    as_listed = catalog._as_listed  # noqa: SLF001 - where a tool is read

    def noting(tool: Any) -> Any:
        read.append(tool.name)
        return as_listed(tool)

    monkeypatch.setattr(catalog, "_as_listed", noting)

    async def run() -> None:
        async with fit(server(cache_tools_list=True)) as target:
            for _ in range(3):
                await target.list_tools()
                await target.call_tool(NAME, {"line": 5.0})

    asyncio.run(run())
    assert sorted(read) == [NAME, "other"]


def test_a_server_that_keeps_no_listing_and_is_no_session_fits_too() -> None:
    class Own(MCPServer):
        """A server of one's own, that takes no `_meta`."""

        listed = 0

        async def connect(self) -> None: ...

        async def cleanup(self) -> None: ...

        @property
        def name(self) -> str:
            return "own"

        async def list_tools(self, *args: Any) -> Any:
            self.listed += 1
            return [Tool.model_validate({"name": NAME, "inputSchema": {"properties": {"line": {"type": "integer"}}}})]

        async def call_tool(self, tool_name: str, arguments: Any) -> Any:
            return arguments

        async def list_prompts(self) -> Any: ...

        async def get_prompt(self, *args: Any) -> Any: ...

    async def run() -> None:
        target = fit(Own())
        for listed in (1, 1):
            assert repr(await target.call_tool(NAME, {"line": 5.0})) == "{'line': 5}"
            assert target.listed == listed
        assert not hasattr(target, "invalidate_tools_cache")

    asyncio.run(run())


def test_many_calls_at_once_on_one_server_and_on_several(tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    changed.touch()

    async def run() -> tuple[list[str], list[str]]:
        async with fit(server()) as wholes, fit(server(str(changed))) as texts:
            calls = [one.call_tool(NAME, {"line": float(n)}) for n in range(20) for one in (wholes, texts)]
            came = [text_of(one) for one in await asyncio.gather(*calls)]
        return came[::2], came[1::2]

    assert asyncio.run(run()) == (
        [f'found {{"line":{n}}}' for n in range(20)],
        [f'refused {{"line":{float(n)}}}' for n in range(20)],
    )


def test_names_that_are_none_of_the_choices_are_errors_here_and_now() -> None:
    with pytest.raises(ValueError, match="on_misfit is one of"):
        fit(server(), on_misfit="explain")
