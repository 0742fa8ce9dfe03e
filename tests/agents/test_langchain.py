"""`fit` on langchain-mcp-adapters, with its own tools, by themselves and in a graph."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.agents.conftest import NAME, REFUSED, SERVER

pytest.importorskip("langchain_mcp_adapters", reason="langchain-mcp-adapters is not installed: `make adapters`")

import langchain_mcp_adapters.client
from langchain_core.messages import AIMessage
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.interceptors import MCPToolCallRequest
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from mcp.types import ListToolsResult, Tool

from argfit import Fitter, catalog
from argfit.adapters.langchain import fit


def client(*words: str, **options: Any) -> MultiServerMCPClient:
    server = {"command": SERVER[0], "args": [*SERVER[1:], *words], "transport": "stdio"}
    return MultiServerMCPClient({"s": server}, **options)


async def alone(made: MultiServerMCPClient, arguments: Any, changes: Callable[[], Any] = lambda: None) -> str:
    """A tool that is called by itself, after `changes`."""
    tools = {tool.name.removeprefix("s_"): tool for tool in await made.get_tools()}
    changes()
    call = {"name": NAME, "args": arguments, "id": "1", "type": "tool_call"}
    message = await tools[NAME].ainvoke(call)
    return f"{message.status}: {message.content[0]['text']}"


async def in_a_graph(made: MultiServerMCPClient, arguments: Any, changes: Callable[[], Any] = lambda: None) -> str:
    """A tool that a graph calls, after `changes`."""
    tools = await made.get_tools()
    changes()
    name = next(tool.name for tool in tools if tool.name.endswith(NAME))
    return await called_in_a_graph(tools, name, arguments)


async def called_in_a_graph(tools: Any, name: str, arguments: Any) -> str:
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    asked = AIMessage(content="", tool_calls=[{"name": name, "args": arguments, "id": "1", "type": "tool_call"}])
    said = await graph.compile().ainvoke({"messages": [asked]})
    message = said["messages"][-1]
    return f"{message.status}: {message.content[0]['text']}"


WAYS = pytest.mark.parametrize("way", [alone, in_a_graph])


@WAYS
@pytest.mark.parametrize("prefix", [False, True])
def test_what_a_struct_makes_of_a_call_is_sent_as_the_schema_takes_it(way: Any, prefix: bool) -> None:
    sent = {"line": 5.0, "file": "a.go"}
    bare = asyncio.run(way(client(tool_name_prefix=prefix), sent))
    assert bare == 'error: refused {"line":5.0,"file":"a.go"}'
    assert asyncio.run(way(fit(client(tool_name_prefix=prefix)), sent)) == 'success: found {"line":5,"file":"a.go"}'


@WAYS
def test_repairs_are_made_on_request_only(way: Any) -> None:
    assert asyncio.run(way(fit(client()), {"line": "5"})) == 'error: refused {"line":"5"}'
    assert asyncio.run(way(fit(client(), repairs=["unquote"]), {"line": "5"})) == 'success: found {"line":5}'


@WAYS
def test_a_call_that_does_not_fit_is_answered_here_where_that_is_asked_for(way: Any) -> None:
    assert asyncio.run(way(fit(client(), on_misfit="refuse"), {"line": "five"})) == f"error: {REFUSED}"


@WAYS
def test_a_server_is_listed_again_before_a_call_is_refused(way: Any, tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    made = fit(client(str(changed)), on_misfit="refuse")
    assert asyncio.run(way(made, {"line": "five"}, changed.touch)) == 'success: found {"line":"five"}'


def test_what_a_program_hides_of_a_schema_and_fills_in_is_fitted_too() -> None:
    async def fill_in(request: MCPToolCallRequest, handler: Any) -> Any:
        return await handler(request.override(args={**request.args, "line": 5.0}))

    made = fit(client(tool_interceptors=[fill_in]))

    async def run() -> str:
        (tool,) = [tool for tool in await made.get_tools() if tool.name == NAME]
        assert isinstance(tool.args_schema, dict)
        del tool.args_schema["properties"]["line"]
        return str((await tool.ainvoke({"name": NAME, "args": {}, "id": "1", "type": "tool_call"})).content[0]["text"])

    assert asyncio.run(run()) == 'found {"line":5}'


def test_two_servers_tools_of_one_name_are_told_apart(tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    changed.touch()
    servers: dict[str, Any] = {
        name: {"command": SERVER[0], "args": [*SERVER[1:], *words], "transport": "stdio"}
        for name, words in (("a", ()), ("b", (str(changed),)))
    }
    made = fit(MultiServerMCPClient(servers), on_misfit="refuse")

    async def run() -> list[str]:
        tools = [tool for name in "abab" for tool in await made.get_tools(server_name=name) if tool.name == NAME]
        call = {"name": NAME, "args": {"line": 5.0}, "id": "1", "type": "tool_call"}
        return [(await tool.ainvoke(call)).content[0]["text"] for tool in tools]

    assert asyncio.run(run()) == ['found {"line":5}', REFUSED.replace("a whole number", "text")] * 2


@pytest.mark.parametrize("options", [{}, {"on_misfit": "refuse"}, {"repairs": ["unquote"]}], ids=repr)
def test_a_tool_that_is_renamed_in_the_graph_is_fitted_as_the_one_it_is(options: Any, tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    changed.touch()
    servers: dict[str, Any] = {
        name: {"command": SERVER[0], "args": [*SERVER[1:], *words], "transport": "stdio"}
        for name, words in (("wholes", ()), ("texts", (str(changed),)))
    }
    made = fit(MultiServerMCPClient(servers), **options)

    async def run() -> str:
        wholes, texts = [
            next(tool for tool in await made.get_tools(server_name=name) if tool.name == NAME) for name in servers
        ]
        texts.name = "find_by_text"
        return await called_in_a_graph([wholes, texts], "find_by_text", {"line": "5"})

    assert asyncio.run(run()) == 'success: found {"line":"5"}'


@WAYS
def test_a_tool_that_was_given_out_is_listed_no_more_for_its_spelling(
    way: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = fit(client(tool_name_prefix=True))

    async def run() -> str:
        tools = await made.get_tools()
        monkeypatch.setattr(made, "get_tools", lambda: asyncio.sleep(0, tools))
        monkeypatch.setattr(MultiServerMCPClient, "session", None)
        return str(await way(made, {"line": 5.0}))

    assert asyncio.run(run()) == 'success: found {"line":5}'


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_a_server_is_listed_with_the_headers_of_the_call(transport: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []

    class Session:
        def __init__(self, tenant: str) -> None:
            self.kind = {"a": "integer", "b": "string"}.get(tenant, "number")

        async def initialize(self) -> None: ...

        async def list_tools(self, cursor: Any = None) -> ListToolsResult:
            schema = {"properties": {"line": {"type": self.kind}}}
            return ListToolsResult(tools=[Tool.model_validate({"name": NAME, "inputSchema": schema})])

    @asynccontextmanager
    async def create(connection: Any, **options: Any) -> AsyncIterator[Session]:
        opened.append(connection.get("headers"))
        yield Session((connection.get("headers") or {}).get("tenant", ""))

    monkeypatch.setattr(langchain_mcp_adapters.client, "create_session", create)
    connection: Any = {"transport": transport, **({"url": "http://x/mcp"} if transport == "http" else {"command": "x"})}
    if transport == "http":
        connection["headers"] = {"own": "1"}
    (fitting,) = fit(MultiServerMCPClient({"s": connection}), on_misfit="refuse").tool_interceptors

    async def went(request: Any) -> str:
        return repr(request.args)

    async def run() -> list[str]:
        requests = [
            MCPToolCallRequest(name=NAME, args={"line": 5.0}, server_name="s", headers=tenant and {"tenant": tenant})
            for tenant in ("a", "a", None, "b")
        ]
        results = await asyncio.gather(*(fitting(one, went) for one in requests))
        return [one if isinstance(one, str) else one.content[0].text for one in results]

    if transport == "stdio":  # which has none
        assert asyncio.run(run()) == ["{'line': 5.0}"] * 4
        assert opened == [None] * 3
    else:
        text = REFUSED.replace("a whole number", "text")
        assert asyncio.run(run()) == ["{'line': 5}", "{'line': 5}", "{'line': 5.0}", text]
        own = {"own": "1"}
        assert opened == [{**own, "tenant": "a"}, own, {**own, "tenant": "b"}]


def test_servers_that_list_one_schema_share_what_is_compiled_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Any] = []

    class Counting(Fitter):
        def __init__(self, schema: Any, **options: Any) -> None:
            compiled.append(schema)
            super().__init__(schema, **options)

    monkeypatch.setattr(catalog, "Fitter", Counting)
    server = {"command": SERVER[0], "args": SERVER[1:], "transport": "stdio"}
    made = fit(MultiServerMCPClient({"a": server, "b": server}, tool_name_prefix=True))

    async def run() -> list[str]:
        tools = [tool for tool in await made.get_tools() if tool.name.endswith(NAME)]
        calls = [{"name": tool.name, "args": {"line": 5.0}, "id": "1", "type": "tool_call"} for tool in tools]
        messages = [await tool.ainvoke(call) for tool, call in zip(tools, calls, strict=True)]
        return [message.content[0]["text"] for message in messages]

    assert asyncio.run(run()) == ['found {"line":5}'] * 2
    assert len(compiled) == 1


def test_names_that_are_none_of_the_choices_are_errors_here_and_now() -> None:
    with pytest.raises(ValueError, match="nearest is 'unquote'"):
        fit(client(), repairs=["unqote"])
