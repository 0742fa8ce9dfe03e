"""What FastMCP has around a tool, and hands out of it, works with a guard as it does without one."""

import asyncio
from typing import Annotated, Any

import pytest
from fastmcp import Context, FastMCP, FastMCPApp
from fastmcp.exceptions import PromptError, ResourceError, ToolError, ValidationError
from fastmcp.server.middleware import Middleware
from fastmcp.server.middleware.error_handling import ErrorHandlingMiddleware
from fastmcp.server.middleware.tool_injection import ToolInjectionMiddleware
from fastmcp.server.providers.addressing import hashed_backend_name
from fastmcp.server.transforms import ToolTransform, VersionFilter
from fastmcp.server.transforms.search import RegexSearchTransform
from fastmcp.tools import Tool
from fastmcp.tools.tool_transform import ArgTransform, ArgTransformConfig, ToolTransformConfig, forward
from mcp.shared.exceptions import MCPError
from pydantic import BeforeValidator
from tests.adapters.rows import SAYS
from tests.adapters.speaking import ERAS, Said, call

from argfit.adapters import fastmcp_server

BOTH = pytest.mark.parametrize("era", ERAS)
MISFIT = "n must be a whole number."
ONE_LINE = "INFO MCP tool amount refused the call: argument n is invalid."


def amount(n: int = 0) -> str:
    return f"{n!r}"


def broken() -> str:
    raise ValueError("s3cret")


def refusing() -> str:
    raise ToolError("Not today.")


def with_tools(*middleware: Middleware, **options: Any) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("s", middleware=middleware, **options)
    for tool in (amount, broken, refusing):
        server.tool(tool)
    return server


def guarded(server: FastMCP[Any], era: str, name: str, arguments: Any) -> Said:
    return call(fastmcp_server.guard(server)._mcp_server, era, name, arguments)  # noqa: SLF001 - no public way


# -- tools that a server hands out ---------------------------------------------------------------------------


def test_a_tool_that_a_program_asks_for_is_the_tool_itself() -> None:
    server: FastMCP[Any] = fastmcp_server.guard(FastMCP("s"))
    tool = Tool.from_function(amount)
    server.add_tool(tool)
    assert guarded(server, "auto", "amount", {"n": "5"}).text == "5"

    async def change() -> None:
        found = await server.get_tool("amount")
        assert found is tool
        found.description = "How much."
        server.add_tool(found.model_copy(update={"name": "copied"}))

    asyncio.run(change())
    assert [one.description for one in asyncio.run(server.list_tools())] == ["How much.", "How much."]
    assert guarded(server, "auto", "copied", {"n": "5"}).text == "5"
    assert guarded(server, "auto", "copied", {"n": "x"}).text == SAYS.format("copied", MISFIT)


def test_a_tool_of_which_the_newest_version_may_not_be_seen_is_guarded_in_the_one_before() -> None:
    server: FastMCP[Any] = FastMCP("s")
    server.add_tool(Tool.from_function(amount, version="1"))
    server.add_tool(Tool.from_function(broken, name="amount", version="2", auth=lambda _: False))
    assert guarded(server, "auto", "amount", {"n": "5"}).text == "5"
    assert guarded(server, "auto", "amount", {"n": "x"}).lines == [ONE_LINE]


class Providing(FastMCP[Any]):
    """Has a tool that it lists nowhere."""

    async def get_tool(self, name: str, version: Any = None) -> Tool | None:
        return Tool.from_function(amount) if name == "amount" else await super().get_tool(name, version)


def injecting() -> FastMCP[Any]:
    tools = [Tool.from_function(one) for one in (amount, broken, refusing)]
    return FastMCP("s", middleware=[ToolInjectionMiddleware(tools)])


@BOTH
@pytest.mark.parametrize("made", [injecting, lambda: Providing("s")], ids=["injected", "of its own class"])
def test_a_tool_is_guarded_wherever_its_server_has_it_from(era: str, made: Any) -> None:
    server = made()
    assert guarded(server, era, "amount", {"n": "5"}).text == "5"
    said = guarded(server, era, "amount", {"n": "x"})
    assert said.text == SAYS.format("amount", MISFIT)
    assert [line.replace("(none of its tools)", "amount") for line in said.lines] == [ONE_LINE]


@BOTH
def test_an_injected_tools_refusal_is_one_quiet_line_and_its_fault_tells_nothing(era: str) -> None:
    server = injecting()
    said = guarded(server, era, "refusing", {})
    assert (said.text, said.lines) == ("Not today.", ["INFO MCP tool refusing refused the call."])
    said = guarded(server, era, "broken", {})
    assert (said.text, said.lines) == ("An error occurred invoking 'broken'.", ["ERROR Error calling tool 'broken'"])


@BOTH
def test_a_tool_that_a_caller_may_not_see_is_one_quiet_line(era: str) -> None:
    server: FastMCP[Any] = FastMCP("s")
    server.tool(amount, auth=lambda _: False)
    said = guarded(server, era, "amount", {"n": "x"})
    assert (said.is_error, said.text) == (True, "Unknown tool: 'amount'")
    assert said.lines == ["INFO MCP tool (none of its tools) refused the call."]


# -- tools under other names for their arguments ---------------------------------------------------------------


def split(value: Any) -> Any:
    return value.split(",") if isinstance(value, str) else value


def listing(n: Annotated[list[str], BeforeValidator(split)], m: int = 0) -> str:
    return f"{n!r} {m!r}"


def given(name: str, **arguments: Any) -> ToolTransform:
    return ToolTransform({"listing": ToolTransformConfig(name=name, arguments=arguments)})


def renamed() -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("s")
    server.tool(listing)
    server.add_transform(given("t", n=ArgTransformConfig(name="items")))
    return server


def renamed_twice() -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("s")
    inner = Tool.from_tool(Tool.from_function(listing), name="inner", transform_args={"n": ArgTransform(name="words")})
    server.add_tool(Tool.from_tool(inner, name="t", transform_args={"words": ArgTransform(name="items")}))
    return server


def swapped_and_mounted() -> FastMCP[Any]:
    child: FastMCP[Any] = FastMCP("c")
    swap = {"n": ArgTransform(name="m"), "m": ArgTransform(name="n")}
    child.add_tool(Tool.from_tool(Tool.from_function(listing), name="t", transform_args=swap))
    server: FastMCP[Any] = FastMCP("s")
    server.mount(child)
    server.add_transform(ToolTransform({"t": ToolTransformConfig(arguments={"m": ArgTransformConfig(name="items")})}))
    return server


def forwarding() -> FastMCP[Any]:
    async def on(**kwargs: Any) -> Any:
        return await forward(**kwargs)

    server: FastMCP[Any] = FastMCP("s")
    renaming = {"n": ArgTransform(name="items")}
    server.add_tool(Tool.from_tool(Tool.from_function(listing), name="t", transform_fn=on, transform_args=renaming))
    return server


@BOTH
@pytest.mark.parametrize("made", [renamed, renamed_twice, swapped_and_mounted, forwarding])
def test_an_argument_that_was_renamed_is_still_its_validators_own(era: str, made: Any) -> None:
    assert guarded(made(), era, "t", {"items": "a,b"}).text == "['a', 'b'] 0"
    assert guarded(made(), era, "t", {"items": 5}).text == SAYS.format("t", "items must be a list.")


def words(n: list[str], m: int = 0) -> str:
    return f"{n!r} {m!r}"


@BOTH
def test_what_binds_behind_a_mount_is_the_version_that_is_called(era: str) -> None:
    child: FastMCP[Any] = FastMCP("c")
    child.add_tool(Tool.from_function(words, name="t", version="1"))
    child.add_tool(Tool.from_function(listing, name="t", version="2"))
    child.add_tool(Tool.from_function(listing, name="u", version="1"))
    child.add_tool(Tool.from_function(words, name="u", version="2"))
    server: FastMCP[Any] = FastMCP("s")
    server.mount(child)
    server.add_transform(VersionFilter(version_lt="2"))
    assert guarded(server, era, "t", {"n": "a,b"}).text == SAYS.format("t", "n must be a list.")
    assert guarded(server, era, "u", {"n": "a,b"}).text == "['a', 'b'] 0"


@BOTH
def test_a_tool_that_is_called_by_its_hash_is_bound_behind_a_mount(era: str) -> None:
    app = FastMCPApp("a")
    app.tool()(listing)
    child: FastMCP[Any] = FastMCP("c", providers=[app])
    server: FastMCP[Any] = FastMCP("s")
    server.mount(child, namespace="c")
    name = hashed_backend_name("a", "listing")
    assert guarded(server, era, name, {"n": "a,b"}).text == "['a', 'b'] 0"
    assert guarded(server, era, name, {"n": 5}).text == SAYS.format(name, "n must be a list.")


@BOTH
@pytest.mark.parametrize("is_mounted", [False, True], ids=["here", "mounted"])
def test_what_a_search_hands_on_is_guarded_also_where_it_is_called_otherwise(era: str, is_mounted: bool) -> None:
    server: FastMCP[Any] = FastMCP("s")
    server.tool(amount)
    server.add_transform(RegexSearchTransform())
    if is_mounted:
        child = fastmcp_server.guard(server)
        server = FastMCP("p")
        server.mount(child)
    server.add_transform(ToolTransform({"call_tool": ToolTransformConfig(name="use")}))
    said = guarded(server, era, "use", {"name": "amount", "arguments": {"n": "x"}})
    assert (said.text, said.lines) == (SAYS.format("amount", MISFIT), [ONE_LINE])


def test_what_is_transformed_for_each_call_is_compiled_once() -> None:
    server = renamed()
    for _ in range(3):
        assert guarded(server, "auto", "t", {"items": ["a"]}).text == "['a'] 0"
    tools: Any = server.get_tool
    assert [len(one) for one in tools.__self__._known.values()] == [1]  # noqa: SLF001 - what is kept


def test_a_hidden_argument_is_unknown_also_where_it_has_a_validator() -> None:
    server: FastMCP[Any] = FastMCP("s")
    server.tool(listing)
    server.add_transform(given("t", n=ArgTransformConfig(hide=True, default="a,b")))
    assert guarded(server, "auto", "t", {"m": "5"}).text == "['a', 'b'] 5"
    assert guarded(server, "auto", "t", {"n": "x"}).text == SAYS.format("t", "n is not an argument of this tool.")


# -- middleware ------------------------------------------------------------------------------------------------


@BOTH
def test_a_middleware_meets_a_refusal_of_arguments_as_fastmcps_own(era: str) -> None:
    met: list[type[BaseException]] = []

    class Helping(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            try:
                return await call_next(context)
            except ValidationError as error:
                met.append(type(error))
                if context.message.arguments == {"n": "x"}:
                    raise ToolError("See the manual.") from error
                raise

    server = with_tools(Helping())
    said = guarded(server, era, "amount", {"n": "x"})
    assert (said.text, said.lines) == ("See the manual.", [ONE_LINE])
    said = guarded(server, era, "amount", {"n": "y"})
    assert (said.text, said.lines) == (SAYS.format("amount", MISFIT), [ONE_LINE])
    assert "io.github.argfit/problems" in said.meta
    assert met == [ValidationError, ValidationError]


@BOTH
def test_what_makes_protocol_errors_of_errors_names_the_argument_and_tells_nothing_of_a_fault(era: str) -> None:
    server = with_tools(ErrorHandlingMiddleware())
    said = guarded(server, era, "amount", {"n": "x"})
    assert said.text == f"-32602: Invalid params: {SAYS.format('amount', MISFIT)}"
    assert guarded(server, era, "broken", {}).text == "-32602: Invalid params: An error occurred invoking 'broken'."
    assert guarded(server, era, "refusing", {}).text == "-32603: Internal error: Not today."


@BOTH
@pytest.mark.parametrize("kind", [ToolError, ResourceError, PromptError])
def test_what_fastmcp_tells_of_a_tools_own_errors_is_told_and_one_quiet_line(era: str, kind: type[Exception]) -> None:
    def closed() -> str:
        raise kind("No such flock.")

    server: FastMCP[Any] = FastMCP("s", mask_error_details=True)
    server.tool(closed)
    said = guarded(server, era, "closed", {})
    assert (said.is_error, said.text) == (True, "No such flock.")
    assert said.lines == ["INFO MCP tool closed refused the call."]


@BOTH
def test_a_fault_of_a_resource_that_a_tool_reads_is_a_fault_of_the_tool(era: str) -> None:
    server: FastMCP[Any] = FastMCP("s")

    @server.resource("r://x")
    def broken_resource() -> str:
        raise KeyError("s3cret")

    @server.tool
    async def reads(ctx: Context) -> str:
        return str(await ctx.read_resource("r://x"))

    said = guarded(server, era, "reads", {})
    assert said.text == "An error occurred invoking 'reads'."
    assert said.lines[-1] == "ERROR MCP tool reads failed."


class Closed(Middleware):
    def __init__(self, error: Exception) -> None:
        self.error = error

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        raise self.error


@BOTH
@pytest.mark.parametrize(
    ("error", "text"), [(MCPError(-32600, "Closed."), "-32600: Closed."), (ValidationError("Closed."), "Closed.")]
)
def test_a_refusal_of_a_middleware_is_told_as_it_is_and_one_quiet_line(era: str, error: Exception, text: str) -> None:
    said = guarded(with_tools(Closed(error)), era, "amount", {"n": "x"})
    assert (said.is_error, said.text, said.lines) == (True, text, ["INFO MCP tool amount refused the call."])
