"""What a server's author put around a guard, or calls by themselves, works as if there were no guard."""

import asyncio
from datetime import date
from typing import Annotated, Any

import pytest
from fastmcp import Client as FastClient
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError as FastToolError
from fastmcp.server.middleware import Middleware
from fastmcp.server.middleware.caching import ResponseCachingMiddleware
from fastmcp.server.middleware.tool_injection import ToolInjectionMiddleware
from fastmcp.server.transforms import ToolTransform, Transform
from fastmcp.server.transforms.search import RegexSearchTransform
from fastmcp.tools import FunctionTool
from fastmcp.tools import Tool as FastTool
from fastmcp.tools.tool_transform import ToolTransformConfig
from mcp import Client
from mcp.server import MCPServer, Server
from mcp.server.extension import Extension
from mcp.server.mcpserver import Context as McpContext
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools.base import Tool as McpTool
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, SecretStr, Tag
from tests.adapters.rows import SAYS
from tests.adapters.speaking import ERAS, Said, call
from tests.adapters.test_in_between import sent

from argfit.adapters import fastmcp_server, mcp_server

BOTH = pytest.mark.parametrize("era", ERAS)
DAY = date(2026, 1, 1)
NO_OBJECT = "arguments must be an object."


def fast(server: FastMCP[Any], era: str, name: str, arguments: Any) -> Said:
    return call(server._mcp_server, era, name, arguments)  # noqa: SLF001 - no public way


def said_in(result: Any) -> str:
    return "".join(part.text for part in result.content)


def on(day: date, n: int = 0) -> str:
    return f"{day!r} {n}"


def amount(n: int = 0) -> str:
    return f"{n!r}"


# -- what the official SDK's authors put around ----------------------------------------------------------------


async def inner(server: MCPServer[Any], got: list[str]) -> None:
    for day in (DAY, "s3cret"):
        try:
            got.append(said_in(await server.call_tool("on", {"day": day})))
        except ToolError as error:
            got.append(str(error).splitlines()[0])


AS_EVER = [f"{DAY!r} 0", "Error executing tool on: 1 validation error for onArguments"]


@BOTH
def test_what_a_middleware_calls_in_process_is_its_own(era: str) -> None:
    got: list[str] = []
    server: MCPServer[Any] = MCPServer("s")
    server.tool()(on)
    server.tool()(amount)

    async def asks(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/call":
            await inner(server, got)
        return await call_next(ctx)

    server.middleware.append(asks)
    said = call(mcp_server.guard(server), era, "amount", {"n": "5"})
    assert (said.text, got, said.lines) == ("5", AS_EVER, [])


@BOTH
def test_what_an_extension_calls_in_process_is_its_own(era: str) -> None:
    got: list[str] = []

    class Asks(Extension):
        identifier = "io.example/asks"

        async def intercept_tool_call(self, params: Any, ctx: Any, call_next: Any) -> Any:
            await inner(server, got)
            return await call_next(ctx)

    server: MCPServer[Any] = MCPServer("s", extensions=[Asks()])
    server.tool()(on)
    server.tool()(amount)
    said = call(mcp_server.guard(server), era, "amount", {"n": "five"})
    assert said.text == SAYS.format("amount", "n must be a whole number.")
    assert got == AS_EVER


class Adding(MCPServer[Any]):
    """Fills in an argument that no client could send."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Any = None, *, user: str = "nobody"
    ) -> Any:
        return await super().call_tool(name, {**arguments, "day": DAY}, context)


@BOTH
def test_a_value_that_is_no_json_is_the_binders_and_the_rest_is_guarded(era: str) -> None:
    server = Adding("s")
    server.tool()(on)
    mcp_server.guard(server)
    assert call(server, era, "on", {"n": "5"}).text == f"{DAY!r} 5"
    assert call(server, era, "on", {"n": "five"}).text == SAYS.format("on", "n must be a whole number.")
    assert asyncio.run(server.call_tool("on", {"n": 1}, user="me")).content[0].text == f"{DAY!r} 1"


@BOTH
def test_a_value_that_a_fastmcp_middleware_fills_in_is_the_binders(era: str) -> None:
    class Fills(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            context.message.arguments["day"] = DAY
            return await call_next(context)

    server: FastMCP[Any] = FastMCP("s", middleware=[Fills()])
    server.tool(on)
    fastmcp_server.guard(server)
    assert fast(server, era, "on", {"n": "5"}).text == f"{DAY!r} 5"
    assert fast(server, era, "on", {"n": "five"}).text == SAYS.format("on", "n must be a whole number.")


@BOTH
@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lax"])
def test_a_secret_that_a_middleware_fills_in_arrives_whole(era: str, strict: bool) -> None:
    class Fills(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            context.message.arguments["key"] = SecretStr("hush")
            return await call_next(context)

    def opens(key: SecretStr, n: int = 0) -> str:
        return f"{key.get_secret_value()} {n}"

    server: FastMCP[Any] = FastMCP("s", middleware=[Fills()], strict_input_validation=strict)
    server.tool(opens)
    fastmcp_server.guard(server)
    assert fast(server, era, "opens", {}).text == "hush 0"
    assert fast(server, era, "opens", {"n": "5"}).text == "hush 5"
    assert fast(server, era, "opens", {"n": "five"}).text == SAYS.format("opens", "n must be a whole number.")


class Sets(McpTool):
    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:  # noqa: FBT002 - the SDK's
        arguments["n"] = 9
        return await super().run(arguments, context, convert_result=convert_result)


class Drops(McpTool):
    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:  # noqa: FBT002 - the SDK's
        arguments.pop("n", None)
        return await super().run(arguments, context, convert_result=convert_result)


@pytest.mark.parametrize(("kind", "text"), [(Sets, "9"), (Drops, "0")])
def test_a_tool_that_alters_its_arguments_in_place_is_called_with_what_it_made_of_them(
    kind: type[McpTool], text: str
) -> None:
    server: MCPServer[Any] = MCPServer("s", tools=[kind.from_function(amount)])
    assert call(mcp_server.guard(server), "auto", "amount", {"n": "5"}).text == text


class Copies(McpTool):
    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:  # noqa: FBT002 - the SDK's
        changed = {"n": "five"} if arguments.get("n") == 5 else {}
        return await super().run({**arguments, **changed}, context, convert_result=convert_result)


@BOTH
def test_arguments_that_a_tool_copies_are_bound_once_and_as_they_were_sent(era: str) -> None:
    validated: list[str] = []

    def noted(note: Annotated[str | None, AfterValidator(validated.append)] = None, n: int = 0) -> str:
        return f"{validated} {n!r}"

    server: MCPServer[Any] = MCPServer("s", tools=[Copies.from_function(noted)])
    assert call(mcp_server.guard(server), era, "noted", {"note": "null", "n": "7"}).text == "['null'] 7"
    validated.clear()
    assert call(server, era, "noted", {"note": "[1]"}).text == "['[1]'] 0"
    said = call(server, era, "noted", {"n": "5"})
    assert said.text == SAYS.format("noted", "n must be a whole number.")
    assert said.lines == ["INFO MCP tool noted refused the call: argument n is invalid."]


@BOTH
def test_what_a_tool_calls_that_copies_its_arguments_is_its_own(era: str) -> None:
    async def again(ctx: McpContext[Any, Any], note: str | None = None) -> str:
        if note is None:
            return "none"
        return said_in(await server.call_tool("again", {"note": note}, ctx))

    server: MCPServer[Any] = MCPServer("s", tools=[Copies.from_function(again)])
    assert call(mcp_server.guard(server), era, "again", {"note": "null"}).text == "none"  # as the SDK reads text


def test_a_tool_that_runs_again_gets_what_was_sent_and_not_what_its_first_run_left() -> None:
    runs: list[list[int]] = []

    class Again(McpTool):
        async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:  # noqa: FBT002 - the SDK's
            try:
                return await super().run(arguments, context, convert_result=convert_result)
            except Exception:  # noqa: BLE001 - as the author has it
                return await super().run(arguments, context, convert_result=convert_result)

    def last(items: list[int]) -> str:
        runs.append(list(items))
        items.pop()
        if len(runs) == 1:
            raise ValueError("not at first")
        return f"{items}"

    server: MCPServer[Any] = MCPServer("s", tools=[Again.from_function(last)])
    assert call(mcp_server.guard(server), "auto", "last", {"items": "[1, 2.0]"}).text == "[1]"
    assert runs == [[1, 2], [1, 2]]


@pytest.mark.parametrize("config", [ConfigDict(frozen=True), ConfigDict(validate_assignment=True)])
def test_a_tool_is_not_written_into(config: ConfigDict) -> None:
    kind: Any = type("Kept", (McpTool,), {"model_config": config, "__module__": __name__})
    tool = kind.from_function(amount)
    binder = tool.fn_metadata
    server: MCPServer[Any] = MCPServer("s", tools=[tool])
    assert call(mcp_server.guard(server), "auto", "amount", {"n": "5"}).text == "5"
    assert tool.fn_metadata is binder


class Circle(BaseModel):
    r: int = 1


class Square(BaseModel):
    a: int = 1


def drawn(
    shape: Annotated[
        Annotated[Circle, Tag("r")] | Annotated[Square, Tag("a")],
        Discriminator(lambda value: "a" if "a" in value else "r"),
    ],
    n: int = 0,
) -> str:
    return f"{shape!r} {n!r}"


@BOTH
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"shape": {"a": 5}, "n": "2"}, "Square(a=5) 2"),
        ({"shape": {}}, "Circle(r=1) 0"),
        ({"shape": {"r": "x"}}, SAYS.format("drawn", "shape.r must be a whole number.")),
    ],
)
def test_shapes_that_their_author_tells_apart_by_code_may_overlap(era: str, arguments: Any, text: str) -> None:
    official: MCPServer[Any] = MCPServer("s")
    official.tool()(drawn)
    server: FastMCP[Any] = FastMCP("s")
    server.tool(drawn)
    assert call(mcp_server.guard(official), era, "drawn", arguments).text == text
    assert fast(fastmcp_server.guard(server), era, "drawn", arguments).text == text


def test_an_argument_by_another_name_is_its_validators_own() -> None:
    def split(value: Any) -> Any:
        return value.split(",") if isinstance(value, str) else value

    def takes(n: Annotated[list[str], BeforeValidator(split)] = Field(validation_alias="items")) -> str:  # noqa: B008 - as it is written
        return f"{n}"

    server: MCPServer[Any] = MCPServer("s")
    server.tool()(takes)
    assert call(mcp_server.guard(server), "auto", "takes", {"items": "a,b"}).text == "['a', 'b']"


def test_a_tool_that_is_said_to_destroy_after_its_first_call_gets_no_repair_that_widens() -> None:
    server: MCPServer[Any] = MCPServer("s")
    server.tool()(amount)
    mcp_server.guard(server, repairs="all")
    tool = server._tool_manager.get_tool("amount")  # noqa: SLF001 - no public way
    assert tool is not None
    assert call(server, "auto", "amount", {"n": None}).text == "0"
    tool.annotations = ToolAnnotations(destructive_hint=True)
    assert call(server, "auto", "amount", {"n": None}).is_error


def test_a_fastmcp_tool_that_is_said_to_destroy_after_its_first_call_gets_no_repair_that_widens() -> None:
    server: FastMCP[Any] = FastMCP("s")
    tool = FunctionTool.from_function(amount, annotations=ToolAnnotations(destructive_hint=False))
    server.add_tool(tool)
    fastmcp_server.guard(server, repairs="all")
    assert fast(server, "auto", "amount", {"n": None}).text == "0"
    assert tool.annotations is not None
    tool.annotations.destructive_hint = True
    assert fast(server, "auto", "amount", {"n": None}).is_error


# -- handlers of a lowlevel server -----------------------------------------------------------------------------

INTEGER = {"type": "object", "properties": {"n": {"type": "integer"}}}


async def listed(ctx: Any, params: Any) -> ListToolsResult:
    return ListToolsResult(tools=[Tool(name=name, input_schema=INTEGER) for name in ("relay", "delete")])


def said_by(who: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=who)])


@BOTH
def test_what_a_tool_calls_in_process_goes_through_the_policies_added_after_the_guard(era: str) -> None:
    way: list[str] = []

    async def tool(ctx: Any, params: Any) -> CallToolResult:
        way.append(f"tool {params.name}")
        if params.name == "relay":
            again = server.get_request_handler("tools/call")
            assert again is not None
            return await again.handler(ctx, CallToolRequestParams(name="delete", arguments={}))  # type: ignore[return-value]
        return said_by(f"{params.arguments}")

    server: Server[Any] = Server("s", on_list_tools=listed, on_call_tool=tool)
    mcp_server.guard(server)
    before = server.get_request_handler("tools/call")
    assert before is not None

    async def policy(ctx: Any, params: Any) -> Any:
        way.append(f"policy {params.name}")
        if params.name == "delete":
            raise MCPError(-32600, "Forbidden")
        return await before.handler(ctx, params)

    server.add_request_handler("tools/call", CallToolRequestParams, policy)
    said = call(server, era, "relay", {"n": 5.0})
    assert "Forbidden" in said.text
    assert way == ["policy relay", "tool relay", "policy delete"]


@BOTH
def test_what_a_lowlevel_tool_calls_in_process_goes_as_it_is(era: str) -> None:
    async def tool(ctx: Any, params: Any) -> Any:
        again = server.get_request_handler("tools/call")
        if params.name == "relay" and again is not None:
            return await again.handler(ctx, CallToolRequestParams(name="delete", arguments={"n": "five"}))
        return said_by(f"{params.arguments}")

    server: Server[Any] = Server("s", on_list_tools=listed, on_call_tool=tool)
    assert call(mcp_server.guard(server), era, "relay", {"n": 5.0}).text == "{'n': 'five'}"


def test_a_dict_that_cannot_be_written_is_a_fault_in_both_eras() -> None:
    class Broken:
        def __repr__(self) -> str:
            return "s3cret"

    async def tool(ctx: Any, params: Any) -> Any:
        return {"content": [], "structuredContent": {"a": Broken()}}

    for era in ERAS:
        server: Server[Any] = Server("s", on_list_tools=listed, on_call_tool=tool)
        said = call(mcp_server.guard(server), era, "relay", {})
        assert (said.is_error, said.text) == (True, "An error occurred invoking 'relay'.")


# -- what is no object, whoever answers ------------------------------------------------------------------------


class Answering(MCPServer[Any]):
    """Answers a call itself."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        return said_by(f"wiped {arguments}")


class Intercepting(Extension):
    identifier = "io.example/answers"

    async def intercept_tool_call(self, params: Any, ctx: Any, call_next: Any) -> Any:
        return said_by(f"wiped {params.arguments}")


async def answering(ctx: Any, call_next: Any) -> Any:
    if ctx.method == "tools/call" and isinstance(ctx.params["arguments"], dict):
        return {"content": [{"type": "text", "text": "wiped"}], "resultType": "complete"}
    return await call_next(ctx)


def with_middleware() -> Any:
    server: MCPServer[Any] = MCPServer("s")
    server.middleware.append(answering)
    return mcp_server.guard(server)


def injected() -> Any:
    server: FastMCP[Any] = FastMCP("s", middleware=[ToolInjectionMiddleware([FastTool.from_function(amount)])])
    return fastmcp_server.guard(server)._mcp_server  # noqa: SLF001 - no public way


def cached() -> Any:
    server: FastMCP[Any] = FastMCP("s", middleware=[ResponseCachingMiddleware()])
    server.tool(amount)
    lowlevel = fastmcp_server.guard(server)._mcp_server  # noqa: SLF001 - no public way
    assert call(lowlevel, "auto", "amount", {}).text == "0"
    return lowlevel


@BOTH
@pytest.mark.parametrize("arguments", [["x"], "x", 5, True])
@pytest.mark.parametrize(
    "made",
    [
        lambda: mcp_server.guard(Answering("s")),
        lambda: mcp_server.guard(MCPServer("s", extensions=[Intercepting()])),
        with_middleware,
        injected,
        cached,
    ],
    ids=["call_tool", "extension", "middleware", "injected", "cached"],
)
def test_what_is_no_object_is_refused_also_where_no_tool_would_be_reached(made: Any, arguments: Any, era: str) -> None:
    said = call(sent(made(), arguments), era, "amount", {})
    assert (said.is_error, said.text) == (True, SAYS.format("amount", NO_OBJECT))
    [line] = [one for one in said.lines if "MCP tool" in one]
    assert line.endswith("refused the call: argument arguments is invalid.")
    assert all("x" not in one for one in said.lines)


@BOTH
@pytest.mark.parametrize(("item", "text"), [("5", "5"), ("five", SAYS.format("amount", "n must be a whole number."))])
def test_a_middleware_that_makes_an_object_of_what_was_sent_is_believed(era: str, item: str, text: str) -> None:
    async def mends(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/call":
            ctx.params["arguments"] = {"n": ctx.params["arguments"][0]}
        return await call_next(ctx)

    server: MCPServer[Any] = MCPServer("s")
    server.tool()(amount)
    mcp_server.guard(server).middleware.append(mends)
    assert call(sent(server, [item]), era, "amount", {}).text == text


# -- what FastMCP's authors put around ---------------------------------------------------------------------------


@pytest.mark.parametrize("same", [True, False], ids=["itself", "another"])
@pytest.mark.parametrize("how", ["fastmcp", *ERAS])
def test_a_client_that_a_tool_opens_meets_the_guard_of_its_server(how: str, same: bool) -> None:
    server: FastMCP[Any] = FastMCP("s")
    server.tool(amount)
    fastmcp_server.guard(server)
    outer = server if same else fastmcp_server.guard(FastMCP("o"))

    @outer.tool
    async def relay(n: str) -> str:
        if how == "fastmcp":
            async with FastClient(server) as client:
                return said_in(await client.call_tool_mcp("amount", {"n": n}))
        async with Client(server._mcp_server, mode=how) as speaker:  # noqa: SLF001 - no public way
            await speaker.list_tools()
            return said_in(await speaker.call_tool("amount", {"n": n}))

    assert fast(outer, "auto", "relay", {"n": "5"}).text == "5"
    assert fast(outer, "auto", "relay", {"n": "five"}).text == SAYS.format("amount", "n must be a whole number.")


async def asked(server: FastMCP[Any], got: list[str]) -> None:
    for arguments in ({"day": DAY}, {"day": "s3cret"}):
        try:
            result = await server.call_tool("on", arguments)
            got.append(f"returned {result.is_error}")
        except Exception as error:  # noqa: BLE001 - what an author may do
            got.append(type(error).__name__)


ITS_OWN = ["returned False", "ValidationError"]  # as FastMCP answers a program


def test_what_a_resource_and_a_prompt_call_in_process_is_their_own() -> None:
    got: list[str] = []
    server: FastMCP[Any] = fastmcp_server.guard(FastMCP("s"))
    server.tool(on)

    @server.resource("r://x")
    async def resource(ctx: Context) -> str:
        await asked(ctx.fastmcp, got)
        return ""

    @server.prompt
    async def prompt(ctx: Context) -> str:
        await asked(ctx.fastmcp, got)
        return ""

    async def read() -> None:
        async with FastClient(server) as client:
            await client.read_resource("r://x")
            await client.get_prompt("prompt")

    asyncio.run(read())
    assert got == ITS_OWN * 2


@BOTH
def test_what_an_auth_check_calls_in_process_is_its_own(era: str) -> None:
    got: list[str] = []
    server: FastMCP[Any] = FastMCP("s")
    server.tool(on)

    async def check(ctx: Any) -> bool:
        got.clear()
        await asked(server, got)
        return True

    server.tool(amount, auth=check)
    assert fast(fastmcp_server.guard(server), era, "amount", {"n": "5"}).text == "5"
    assert got == ITS_OWN


@BOTH
def test_what_a_transform_calls_in_process_is_its_own(era: str) -> None:
    got: list[str] = []
    server: FastMCP[Any] = FastMCP("s")
    server.tool(on)
    server.tool(amount)

    class Asks(Transform):
        async def get_tool(self, name: str, call_next: Any, *, version: Any = None) -> Any:
            if name == "amount":
                got.clear()
                await asked(server, got)
            return await call_next(name, version=version)

    server.add_transform(Asks())
    assert fast(fastmcp_server.guard(server), era, "amount", {"n": "five"}).is_error
    assert got == ITS_OWN


@BOTH
def test_a_search_that_is_added_after_the_guard_is_guarded_and_hands_on_what_is(era: str) -> None:
    server: FastMCP[Any] = FastMCP("s")
    server.tool(amount)
    fastmcp_server.guard(server).add_transform(RegexSearchTransform())
    said = fast(server, era, "call_tool", {"name": "amount", "arguments": {"n": "five"}})
    assert said.text == SAYS.format("amount", "n must be a whole number.")
    assert fast(server, era, "call_tool", {"name": 5}).text == SAYS.format("call_tool", "name must be text.")


def test_a_transform_that_is_added_to_a_mounted_server_after_its_guard_is_guarded() -> None:
    child: FastMCP[Any] = FastMCP("c")
    child.tool(on)
    fastmcp_server.guard(child).add_transform(ToolTransform({"on": ToolTransformConfig(name="at")}))
    parent: FastMCP[Any] = FastMCP("p")
    parent.mount(child, namespace="c")
    said = fast(parent, "auto", "c_at", {"day": "86400"})
    assert said.text == SAYS.format("at", "day must be a date, YYYY-MM-DD.")


def test_a_tool_that_looks_at_its_arguments_sees_them_as_they_are_sent() -> None:
    seen: list[Any] = []

    class Looks(FunctionTool):
        async def _run(self, arguments: dict[str, Any]) -> Any:
            seen.append(arguments)
            return await super()._run(arguments)

    described = FunctionTool.from_function(on)
    server: FastMCP[Any] = FastMCP("s")
    server.add_tool(Looks(**described.model_dump(exclude={"fn"}), fn=on))
    assert fast(fastmcp_server.guard(server), "auto", "on", {"day": "2026-01-01", "n": "5"}).text == f"{DAY!r} 5"
    assert seen == [{"day": "2026-01-01", "n": 5}]


@pytest.mark.parametrize("era", ERAS)
def test_a_refusal_that_is_tried_again_is_one_line(era: str) -> None:
    class Tries(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            for _ in range(2):
                try:
                    return await call_next(context)
                except Exception:  # noqa: BLE001, S110 - as the author has it
                    pass
            return await call_next(context)

    server: FastMCP[Any] = FastMCP("s", middleware=[Tries()])
    server.tool(amount)
    said = fast(fastmcp_server.guard(server), era, "amount", {"n": "five"})
    assert said.lines == ["INFO MCP tool amount refused the call: argument n is invalid."]


def test_a_result_that_fastmcp_cannot_send_is_a_fault_also_behind_its_authors_own_look_at_it() -> None:
    class Looks(FunctionTool):
        def convert_result(self, raw_value: Any) -> Any:
            return super().convert_result(raw_value)

    def none() -> float:
        return float("nan")

    def half() -> str:
        return "\ud800"

    for kind in (FunctionTool, Looks):
        for odd in (none, half):
            server: FastMCP[Any] = FastMCP("s")
            described: Any = FunctionTool.from_function(odd)
            server.add_tool(kind(**described.model_dump(exclude={"fn"}), fn=odd, return_type=described.return_type))
            name = odd.__name__
            said = fast(fastmcp_server.guard(server), "auto", name, {})
            assert (said.text, said.lines) == (
                f"An error occurred invoking '{name}'.",
                [f"ERROR Error calling tool '{name}'"],
            )


def test_a_tool_that_refuses_to_show_its_result_says_so_itself() -> None:
    class Shy(FunctionTool):
        def convert_result(self, raw_value: Any) -> Any:
            raise FastToolError("This is not for showing.")

    server: FastMCP[Any] = FastMCP("s")
    server.add_tool(Shy(**FunctionTool.from_function(amount).model_dump(exclude={"fn"}), fn=amount))
    said = fast(fastmcp_server.guard(server), "auto", "amount", {"n": "5"})
    assert (said.text, said.lines) == ("This is not for showing.", ["INFO MCP tool amount refused the call."])


def test_a_tools_own_words_that_begin_as_fastmcps_do_are_told() -> None:
    def pump() -> str:
        try:
            return str(1 / 0)
        except ZeroDivisionError as error:
            raise FastToolError("Error calling tool pump: out of fuel") from error

    server: FastMCP[Any] = FastMCP("s")
    server.tool(pump)
    said = fast(fastmcp_server.guard(server), "auto", "pump", {})
    assert (said.text, said.lines) == (
        "Error calling tool pump: out of fuel",
        ["INFO MCP tool pump refused the call."],
    )
