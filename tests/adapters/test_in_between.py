"""What stands between the wire and a tool sees what the tool will get; what is called in process is the caller's own.

Found by an attack on the guards: policies that were gone round, tools whose own calls were answered in their stead.
"""

import asyncio
import enum
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Annotated, Any, cast

import pytest
from fastmcp import Context, FastMCP
from fastmcp.dependencies import CallArgument, Depends
from fastmcp.exceptions import AuthorizationError, ToolError
from fastmcp.server.middleware import Middleware
from fastmcp.server.transforms import ToolTransform
from fastmcp.tools import FunctionTool
from fastmcp.tools import Tool as FastTool
from fastmcp.tools.tool_transform import ToolTransformConfig
from mcp import Client
from mcp.server import MCPServer, Server
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool
from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, Field, TypeAdapter
from tests.adapters.rows import SAYS
from tests.adapters.speaking import ERAS, Said, call

from argfit.adapters import fastmcp_server, mcp_server

BOTH = pytest.mark.parametrize("era", ERAS)


def fast(server: FastMCP[Any], era: str, name: str, arguments: Any) -> Said:
    return call(server._mcp_server, era, name, arguments)  # noqa: SLF001 - no public way


def sent(server: Any, arguments: Any) -> Any:
    """A server that is sent these arguments, whatever they are: a client would look at them first."""

    async def send(ctx: Any, call_next: Any) -> Any:
        as_sent = {**ctx.params, "arguments": arguments} if ctx.method == "tools/call" else ctx.params
        return await call_next(replace(ctx, params=as_sent))

    server.middleware.insert(0, send)
    return server


# -- a policy on the way -------------------------------------------------------------------------------------

FORBIDDEN = "/etc/pw"


def reads(path: str = "nothing") -> str:
    return f"read {path}"


async def policy(ctx: Any, call_next: Any) -> Any:
    if ctx.method == "tools/call" and (ctx.params.get("arguments") or {}).get("path") == FORBIDDEN:
        raise MCPError(-32600, "Forbidden")
    return await call_next(ctx)


class Policy(Middleware):
    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        if (context.message.arguments or {}).get("path") == FORBIDDEN:
            raise AuthorizationError("Forbidden")
        return await call_next(context)


def read_mcp(era: str, arguments: Any) -> Said:
    server: MCPServer[Any] = MCPServer("s", middleware=[policy])
    server.tool()(reads)
    return call(sent(mcp_server.guard(server), arguments), era, "reads", {})


def read_low(era: str, arguments: Any, *, listed: bool = True) -> Said:
    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        schema = {"type": "object", "properties": {"path": {"type": "string"}}}
        return ListToolsResult(tools=[Tool(name="reads", input_schema=schema)] if listed else [])

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=reads(**params.arguments))])

    server: Server[Any] = Server("low", on_list_tools=list_tools, on_call_tool=call_tool)
    server.middleware.append(policy)
    return call(sent(mcp_server.guard(server), arguments), era, "reads", {})


def read_fast(era: str, arguments: Any) -> Said:
    server: FastMCP[Any] = FastMCP("s", middleware=[Policy()])
    server.tool(reads)
    lowlevel = fastmcp_server.guard(server)._mcp_server  # noqa: SLF001 - no public way
    return call(sent(lowlevel, arguments), era, "reads", {})


@BOTH
@pytest.mark.parametrize("read", [read_mcp, read_low, read_fast])
@pytest.mark.parametrize("arguments", ['{"path": "/etc/pw"}', {"path": FORBIDDEN}], ids=["text", "object"])
def test_a_policy_sees_the_object_that_a_text_spells(era: str, read: Callable[..., Said], arguments: Any) -> None:
    said = read(era, arguments)
    assert said.is_error
    assert said.text.endswith("Forbidden")


@BOTH
@pytest.mark.parametrize("read", [read_mcp, read_low, read_fast])
def test_a_text_that_the_policy_lets_pass_is_the_object_for_the_tool_too(era: str, read: Callable[..., Said]) -> None:
    assert read(era, '{"path": "a"}').text == "read a"


@BOTH
@pytest.mark.parametrize("sent", [[1, 2], "words", 5, '{"path": "a", "path": "b"}'], ids=str)
def test_what_is_no_object_is_refused_also_where_no_tool_is_listed(era: str, sent: Any) -> None:
    said = read_low(era, sent, listed=False)
    assert (said.is_error, said.text) == (True, SAYS.format("reads", "arguments must be an object."))


def test_no_key_carries_arguments_past_a_policy() -> None:
    said = read_fast("auto", {"io.github.argfit/arguments": {"path": FORBIDDEN}})
    assert said.text == SAYS.format("reads", '["io.github.argfit/arguments"] is not an argument of this tool.')


@BOTH
def test_a_middleware_that_calls_on_twice_is_guarded_twice(era: str) -> None:
    got: list[Any] = []

    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
        return ListToolsResult(tools=[Tool(name="t", input_schema=schema)])

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        got.append(params.arguments)
        return CallToolResult(content=[])

    async def twice(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/call":
            await call_next(ctx)
        return await call_next(ctx)

    server: Server[Any] = Server("low", on_list_tools=list_tools, on_call_tool=call_tool)
    server.middleware.append(twice)
    call(mcp_server.guard(server), era, "t", {"n": "5"})
    assert got == [{"n": 5}, {"n": 5}]


def test_a_tool_that_middleware_hides_is_hidden_from_the_guard() -> None:
    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        schema = {"type": "object", "properties": {"launch_code": {"type": "string"}}, "required": ["launch_code"]}
        return ListToolsResult(tools=[Tool(name="launch", input_schema=schema)])

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        raise MCPError(-32602, "Unknown tool")

    async def hide(ctx: Any, call_next: Any) -> Any:
        result = await call_next(ctx)
        if ctx.method == "tools/list":
            result = {**result, "tools": []}
        return result

    server: Server[Any] = Server("low", on_list_tools=list_tools, on_call_tool=call_tool)
    server.middleware.append(hide)
    assert call(mcp_server.guard(server), "auto", "launch", {}).text == "-32602: Unknown tool"


# -- in process ----------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("arguments", [{"amount": 5}, {"amount": "five"}], ids=str)
def test_a_tool_that_calls_a_tool_sees_it_fail(era: str, arguments: Any) -> None:
    server: FastMCP[Any] = FastMCP("s")

    @server.tool
    def pay(amount: int) -> str:
        raise ToolError("no funds")

    @server.tool
    async def outer(ctx: Context) -> str:
        await ctx.fastmcp.call_tool("pay", arguments)
        return "PAID"

    said = fast(fastmcp_server.guard(server), era, "outer", {})
    assert said.is_error
    assert "PAID" not in said.text


def test_values_of_python_go_in_process() -> None:
    server: FastMCP[Any] = FastMCP("s")

    @server.tool
    def on(day: date) -> str:
        return repr(day)

    fastmcp_server.guard(server)
    result = asyncio.run(server.call_tool("on", {"day": date(2026, 1, 1)}))
    assert cast("Any", result.content[0]).text == "datetime.date(2026, 1, 1)"


def test_values_of_python_go_from_a_tool_to_a_tool() -> None:
    server: FastMCP[Any] = FastMCP("s")

    @server.tool
    def on(day: date) -> str:
        return repr(day)

    @server.tool
    async def today(ctx: Context) -> str:
        return str(cast("Any", await ctx.fastmcp.call_tool("on", {"day": date(2026, 1, 1)})).content[0].text)

    assert fast(fastmcp_server.guard(server), "auto", "today", {}).text == "datetime.date(2026, 1, 1)"


def test_a_tool_that_is_transformed_after_the_guard_binds_as_ever() -> None:
    server: FastMCP[Any] = FastMCP("s")

    @server.tool
    def on(day: date) -> str:
        return repr(day)

    fastmcp_server.guard(server).add_transform(ToolTransform({"on": ToolTransformConfig(name="at")}))
    assert fast(server, "auto", "at", {"day": "2026-01-01"}).text == "datetime.date(2026, 1, 1)"
    assert fast(server, "auto", "at", {"day": "tomorrow"}).is_error


def test_what_retries_a_tools_refusal_sees_it() -> None:
    tries: list[int] = []

    class Retry(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            try:
                return await call_next(context)
            except ToolError:
                return await call_next(context)

    server: FastMCP[Any] = FastMCP("s", middleware=[Retry()])

    @server.tool
    def flaky() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise ToolError("try again")
        return "fine"

    said = fast(fastmcp_server.guard(server), "auto", "flaky", {})
    assert (said.text, len(tries)) == ("fine", 2)


def test_what_a_tool_depends_on_sees_the_values_and_may_refuse_them() -> None:
    def allow(path: str = CallArgument("path")) -> None:
        if path == FORBIDDEN:
            raise ToolError("forbidden")

    server: FastMCP[Any] = FastMCP("s")

    @server.tool
    def rd(path: str, _allowed: Any = Depends(allow)) -> str:  # noqa: B008 - as FastMCP has it
        return f"read {path}"

    fastmcp_server.guard(server)
    assert fast(server, "auto", "rd", {"path": FORBIDDEN}).text == "forbidden"
    assert fast(server, "auto", "rd", {"path": "a"}).text == "read a"


def test_what_a_middleware_calls_in_process_is_its_own() -> None:
    class Asks(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            if context.message.name == "opened":
                await context.fastmcp_context.fastmcp.call_tool("may", {"day": date(2026, 1, 1), "who": "x"})
            return await call_next(context)

    server: FastMCP[Any] = FastMCP("s")

    @server.tool
    def may(day: date, who: str) -> str:
        raise AuthorizationError("denied")

    @server.tool
    def opened(n: int) -> str:
        return "opened"

    fastmcp_server.guard(server).add_middleware(Asks())
    for arguments in ({"n": 5}, {"n": "x"}):
        said = fast(server, "auto", "opened", arguments)
        assert (said.is_error, said.text) == (True, "denied")


def test_two_calls_on_at_once_are_both_guarded() -> None:
    got: list[Any] = []

    class Hedge(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            return (await asyncio.gather(call_next(context), call_next(context)))[0]

    server: FastMCP[Any] = FastMCP("s", middleware=[Hedge()])

    @server.tool
    async def t(n: int) -> str:
        await asyncio.sleep(0)
        got.append(n)
        return repr(n)

    assert fast(fastmcp_server.guard(server, repairs=()), "auto", "t", {"n": "7"}).is_error
    assert got == []


def test_a_tool_that_is_run_in_its_own_way_gets_the_arguments() -> None:
    class Own(FunctionTool):
        async def run(self, arguments: dict[str, Any]) -> Any:
            return await super().run({"n": 9, **arguments})

    def t(n: int = 0) -> str:
        return repr(n)

    server: FastMCP[Any] = FastMCP("s")
    server.add_tool(Own(**FunctionTool.from_function(t).model_dump(exclude={"fn"}), fn=t))
    fastmcp_server.guard(server)
    assert fast(server, "auto", "t", {}).text == "9"
    assert fast(server, "auto", "t", {"n": "5"}).text == "5"


def test_a_guarded_server_is_guarded_where_it_is_mounted_in_one_that_is_not() -> None:
    child: FastMCP[Any] = FastMCP("c")
    child.tool(aliased)
    server: FastMCP[Any] = FastMCP("s")
    server.mount(fastmcp_server.guard(child), namespace="c")
    assert fast(server, "auto", "c_aliased", {"from": "5"}).text == "5"
    said = fast(server, "auto", "c_aliased", {"from": "x"})
    assert (said.is_error, said.text) == (True, SAYS.format("aliased", "from must be a whole number."))


def test_a_listing_whose_cursor_never_ends_is_left() -> None:
    pages: list[int] = []

    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        pages.append(1)
        return ListToolsResult(tools=[Tool(name="other", input_schema={"type": "object"})], next_cursor=str(len(pages)))

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text="answered")])

    server = mcp_server.guard(Server("low", on_list_tools=list_tools, on_call_tool=call_tool))

    async def speak() -> Any:
        async with Client(server) as client:
            return await client.session.send_request(
                CallToolRequest(params=CallToolRequestParams(name="t", arguments={})), CallToolResult
            )

    assert asyncio.run(speak()).content[0].text == "answered"
    assert len(pages) == 100


def test_a_listing_that_fails_leaves_the_one_before() -> None:
    listed: list[int] = []

    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        listed.append(1)
        if len(listed) > 1:
            raise MCPError(-32000, "too many")
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
        return ListToolsResult(tools=[Tool(name="t", input_schema=schema)])

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        return CallToolResult(content=[])

    said = call(
        mcp_server.guard(Server("low", on_list_tools=list_tools, on_call_tool=call_tool)), "auto", "t", {"n": "x"}
    )
    assert said.text == SAYS.format("t", "n must be a whole number.")


def test_a_handler_that_is_wrapped_around_the_guard_is_called_once() -> None:
    calls: list[str] = []

    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="t", input_schema={"type": "object"})])

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        calls.append("tool")
        return CallToolResult(content=[])

    server: Server[Any] = mcp_server.guard(Server("low", on_list_tools=list_tools, on_call_tool=call_tool))
    call(server, "auto", "t", {})
    entry = server.get_request_handler("tools/call")
    assert entry is not None
    inner = entry.handler

    async def around(ctx: Any, params: Any) -> Any:
        calls.append("around")
        return await inner(ctx, params)

    server.add_request_handler("tools/call", entry.params_type, around)
    assert not call(server, "auto", "t", {}).is_error
    assert calls == ["tool", "around", "tool"]


# -- what is bound once --------------------------------------------------------------------------------------


class Colour(enum.StrEnum):
    RED = "red"


class Cat(BaseModel):
    kind: str = "cat"


class Node(BaseModel):
    n: int = 0
    next: "Node | None" = None


def split(value: Any) -> Any:
    return value.split(",") if isinstance(value, str) else value


def aliased(start: int = Field(alias="from")) -> str:
    return repr(start)


def strict_one(n: int = Field(strict=True)) -> str:
    return repr(n)


def made(path: Annotated[str, AfterValidator(lambda given: "/srv/data/" + given)] = Field(max_length=8)) -> str:
    return path


def of_two(n: Annotated[list[str], BeforeValidator(split)], node: Node | None = None) -> str:
    return repr(n)


def json_too(m: Annotated[Cat, BeforeValidator(TypeAdapter(Cat).validate_json)]) -> str:
    return repr(m)


CHOICES = AliasChoices("n", "m")


def choices(n: Annotated[list[str], BeforeValidator(split)] = Field(validation_alias=CHOICES)) -> str:  # noqa: B008
    return repr(n)


def blocking(n: Annotated[int, AfterValidator(lambda given: asyncio.run(asyncio.sleep(0)) or given)]) -> str:
    return repr(n)


BOUND: list[tuple[Callable[..., str], Any, str]] = [
    (aliased, {"from": "5"}, "5"),
    (strict_one, {"n": 5}, "5"),
    (made, {"path": "a"}, "/srv/data/a"),
    (of_two, {"n": "a,b"}, "['a', 'b']"),
    (json_too, {"m": '{"kind": "tom"}'}, "Cat(kind='tom')"),
    (choices, {"n": "a,b"}, "['a', 'b']"),
    (blocking, {"n": "5"}, "5"),
]


@pytest.mark.parametrize(("tool", "arguments", "answer"), BOUND, ids=[tool.__name__ for tool, _, _ in BOUND])
def test_what_was_bound_is_what_a_function_gets(tool: Any, arguments: Any, answer: str) -> None:
    server: FastMCP[Any] = FastMCP("s")
    server.tool(tool)
    said = fast(fastmcp_server.guard(server), "auto", tool.__name__, arguments)
    assert (said.is_error, said.text) == (False, answer)


@pytest.mark.parametrize("tool", [of_two], ids=lambda tool: tool.__name__)
def test_a_nested_models_field_is_not_taken_for_an_argument_of_its_name(tool: Any) -> None:
    server: MCPServer[Any] = MCPServer("s")
    server.tool()(tool)
    assert call(mcp_server.guard(server), "auto", tool.__name__, {"n": "a,b"}).text == "['a', 'b']"


def test_strict_input_gives_an_enum_as_one() -> None:
    server: FastMCP[Any] = FastMCP("s", strict_input_validation=True)

    @server.tool
    def paint(colour: Colour) -> str:
        return repr(colour)

    said = fast(fastmcp_server.guard(server), "auto", "paint", {"colour": "red"})
    assert said.text == "<Colour.RED: 'red'>"


@pytest.mark.parametrize("way", ["mounted", "transformed"])
def test_an_authors_validator_counts_behind_a_mount_and_a_transform(way: str) -> None:
    child: FastMCP[Any] = FastMCP("c")
    child.tool(of_two)
    server: FastMCP[Any] = FastMCP("s")
    if way == "mounted":
        server.mount(child, namespace="c")
        name = "c_of_two"
    else:
        server.add_tool(FastTool.from_tool(FastTool.from_function(of_two), name="other"))
        name = "other"
    said = fast(fastmcp_server.guard(server), "auto", name, {"n": "a,b"})
    assert (said.is_error, said.text) == (False, "['a', 'b']")
    assert fast(server, "auto", name, {"n": 5}).text == SAYS.format(name, "n must be a list.")


# -- logs and words ------------------------------------------------------------------------------------------


def test_a_name_that_a_caller_made_up_is_in_no_log() -> None:
    server: MCPServer[Any] = MCPServer("s")
    server.tool()(reads)
    said = call(mcp_server.guard(server), "auto", "s3cret\nERROR forged", {})
    ours = [one.getMessage() for one in said.records if one.name == "argfit" and one.levelno >= logging.INFO]
    assert ours == ["MCP tool (none of its tools) refused the call."]


def test_a_refusal_of_a_mounted_tool_is_one_line_however_many_guards_there_are() -> None:
    child: FastMCP[Any] = FastMCP("c")

    @child.tool
    def pay(amount: int) -> str:
        raise ToolError("no funds")

    @child.tool
    def boom(n: int) -> str:
        raise ValueError("s3cret")

    server: FastMCP[Any] = FastMCP("s")
    server.mount(fastmcp_server.guard(child), namespace="c")
    fastmcp_server.guard(server)
    assert fast(server, "auto", "c_pay", {"amount": "x"}).lines == [
        "INFO MCP tool c_pay refused the call: argument amount is invalid."
    ]
    said = fast(server, "auto", "c_boom", {"n": 1})
    assert said.text == "An error occurred invoking 'c_boom'."
    assert not any("refused" in line for line in said.lines)


def test_a_refusal_of_a_middleware_is_one_quiet_line() -> None:
    class Closed(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            raise ToolError("Not now.")

    server: FastMCP[Any] = FastMCP("s", middleware=[Closed()])
    server.tool(reads)
    said = fast(fastmcp_server.guard(server), "auto", "reads", {})
    assert (said.text, said.lines) == ("Not now.", ["INFO MCP tool reads refused the call."])


@BOTH
def test_a_result_that_cannot_be_written_is_a_fault(era: str) -> None:
    class Broken:
        def __repr__(self) -> str:
            return "s3cret"

    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="t", input_schema={"type": "object"})])

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        return CallToolResult(content=[], structured_content={"a": Broken()})

    said = call(mcp_server.guard(Server("low", on_list_tools=list_tools, on_call_tool=call_tool)), era, "t", {})
    assert (said.is_error, said.text, said.lines) == (
        True,
        "An error occurred invoking 't'.",
        ["ERROR MCP tool t failed."],
    )


def test_a_binders_contract_refuses_unknown_names_where_the_author_says_so() -> None:
    server: MCPServer[Any] = MCPServer("s")
    server.tool()(reads)
    guarded = mcp_server.guard(server, contract="binder", unknown="refuse")
    assert call(guarded, "auto", "reads", {"paths": "a"}).text == SAYS.format(
        "reads", "paths is not an argument of this tool (did you mean path?)."
    )


def test_a_tool_whose_binder_is_replaced_is_guarded_by_the_new_one() -> None:
    server: MCPServer[Any] = MCPServer("s")
    server.tool()(reads)
    mcp_server.guard(server)
    assert call(server, "auto", "reads", {"path": 5}).is_error
    tool = server._tool_manager.get_tool("reads")  # noqa: SLF001 - no public way
    assert tool is not None
    tool.fn_metadata = tool.fn_metadata.model_copy()
    assert call(server, "auto", "reads", {"path": "a"}).text == "read a"


@pytest.mark.parametrize(
    ("guard", "server", "other"),
    [
        (mcp_server.guard, MCPServer("s"), FastMCP("s")),
        (fastmcp_server.guard, FastMCP("s"), MCPServer("s")),
    ],
    ids=["mcp", "fastmcp"],
)
def test_a_guard_says_what_it_is_not_for_and_that_it_was_set_otherwise(guard: Any, server: Any, other: Any) -> None:
    with pytest.raises(TypeError, match=r"_server\.guard"):
        guard(other)
    guard(server)
    guard(server)
    with pytest.raises(ValueError, match="guarded already"):
        guard(server, repairs="all")
