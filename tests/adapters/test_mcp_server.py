"""`guard` on the official SDK's servers, with a real client in both eras."""

import asyncio
import logging
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from mcp import Client
from mcp.server import MCPServer, Server
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver import Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations
from pydantic import AfterValidator
from tests.adapters.rows import BODIES, FITS, ROWS, SAYS, add_farm
from tests.adapters.speaking import ERAS, call

from argfit.adapters.mcp_server import guard
from argfit.core.refusal import PROBLEMS


def farm(**options: Any) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("farm")
    add_farm(server.tool(), ToolError)
    return guard(server, **options)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("tool", "arguments", "words"), ROWS, ids=str)
def test_a_bad_argument_is_named_and_logged_in_one_quiet_line(era: str, tool: str, arguments: Any, words: str) -> None:
    said = call(farm(), era, tool, arguments)
    assert (said.is_error, said.text) == (True, SAYS.format(tool, words))
    (line,) = said.lines
    assert line.startswith(f"INFO MCP tool {tool} refused the call: argument ")
    assert line.endswith(" is invalid.")
    assert said.meta[PROBLEMS][0]["words"] in words
    assert not any(record.exc_info for record in said.records)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    FITS,
    ids=str,
)
def test_what_fits_or_can_be_fitted_runs_with_what_was_bound(era: str, tool: str, arguments: Any, answer: str) -> None:
    said = call(farm(), era, tool, arguments)
    assert (said.is_error, said.text) == (False, answer)
    assert said.lines == []


@pytest.mark.parametrize("era", ERAS)
def test_the_tools_own_refusal_keeps_its_text_and_its_text_stays_out_of_the_log(era: str) -> None:
    said = call(farm(), era, "list_entries", {"day": "2026-01-01", "flock": "No Such Flock"})
    assert (said.is_error, said.text) == (True, "Error executing tool list_entries: No flock is named 'No Such Flock'.")
    assert said.lines == ["INFO MCP tool list_entries refused the call."]
    assert "No Such Flock" not in said.logged


def probes(**options: Any) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("probes")
    for function in BODIES.values():
        server.tool()(function)
    return guard(server, **options)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", BODIES)
def test_a_fault_of_the_tool_stays_an_error_with_its_traceback_and_tells_the_caller_nothing(
    era: str, name: str
) -> None:
    said = call(probes(), era, name, {"n": 1})
    assert (said.is_error, said.text) == (True, f"An error occurred invoking '{name}'.")
    (record,) = [record for record in said.records if record.levelno >= logging.INFO]
    assert (record.levelname, record.exc_info is not None) == ("ERROR", True)


@pytest.mark.parametrize("era", ERAS)
def test_a_bad_argument_is_named_before_a_tool_can_fail(era: str) -> None:
    said = call(probes(), era, "value_error", {"n": "x"})
    assert said.text == SAYS.format("value_error", "n must be a whole number.")
    assert said.lines == ["INFO MCP tool value_error refused the call: argument n is invalid."]


@pytest.mark.parametrize("era", ERAS)
def test_a_protocol_error_that_a_tool_raises_stays_one(era: str) -> None:
    server: MCPServer[Any] = MCPServer("probes")

    @server.tool()
    def protocol_error(n: int) -> str:
        raise MCPError(-32042, "not now")

    said = call(guard(server), era, "protocol_error", {"n": 1})
    assert (said.text, said.lines) == ("-32042: not now", [])


@pytest.mark.parametrize("era", ERAS)
def test_a_refusal_that_a_tool_returns_is_one_quiet_line_too(era: str) -> None:
    server: MCPServer[Any] = MCPServer("probes")

    @server.tool()
    def returns(n: int) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text="not s3cret")], is_error=True)

    said = call(guard(server), era, "returns", {"n": 1})
    assert (said.is_error, said.text, said.lines) == (True, "not s3cret", ["INFO MCP tool returns refused the call."])
    assert "s3cret" not in said.logged


def test_a_binder_that_has_effects_binds_once() -> None:
    bound: list[Any] = []

    def note(value: int) -> int:
        bound.append(value)
        return value

    server: MCPServer[Any] = MCPServer("probes")

    @server.tool()
    def noted(n: Annotated[int, AfterValidator(note)]) -> str:
        return repr(n)

    assert call(guard(server), "auto", "noted", {"n": 5}).text == "5"
    assert bound == [5]


@pytest.mark.parametrize("era", ERAS)
def test_a_binder_that_fails_is_the_hosts_to_log(era: str) -> None:
    def fail(value: int) -> int:
        raise RuntimeError("s3cret")

    server: MCPServer[Any] = MCPServer("probes")

    @server.tool()
    def failing(n: Annotated[int, AfterValidator(fail)]) -> str:
        return repr(n)

    said = call(guard(server), era, "failing", {"n": 5})
    assert said.text == "An error occurred invoking 'failing'."
    assert [line.partition(" ")[0] for line in said.lines] == ["ERROR"]
    assert call(guard(server), era, "failing", {"n": "x"}).text == SAYS.format("failing", "n must be a whole number.")


@pytest.mark.parametrize("era", ERAS)
def test_a_bad_argument_is_named_before_what_a_tool_depends_on_is_made(era: str) -> None:
    made: list[int] = []

    def open_store() -> str:
        made.append(1)
        raise RuntimeError("s3cret")

    server: MCPServer[Any] = MCPServer("probes")

    @server.tool()
    def stored(n: int, store: Annotated[str, Resolve(open_store)]) -> str:
        return f"{n} {store}"

    said = call(guard(server), era, "stored", {"n": "x"})
    assert (said.text, made) == (SAYS.format("stored", "n must be a whole number."), [])
    said = call(server, era, "stored", {"n": 1})
    assert (said.is_error, said.text, made) == (True, "An error occurred invoking 'stored'.", [1])
    (record,) = [record for record in said.records if record.levelno >= logging.INFO]
    assert (record.levelname, record.exc_info is not None) == ("ERROR", True)


def test_unknown_arguments_are_refused_where_the_author_says_so() -> None:
    said = call(farm(unknown="refuse"), "auto", "list_flocks", {"limits": 5})
    assert said.text == SAYS.format("list_flocks", "limits is not an argument of this tool (did you mean limit?).")
    assert said.lines == ["INFO MCP tool list_flocks refused the call: argument arguments is invalid."]


def test_with_the_binders_contract_only_what_the_binder_refuses_is_refused() -> None:
    server = farm(contract="binder")
    assert call(server, "auto", "list_flocks", {"limit": " 1"}).text == "(1, 0)"
    assert call(server, "auto", "list_flocks", {"limit": True}).text == "(1, 0)"
    said = call(server, "auto", "list_flocks", {"limit": "ten"})
    assert said.text == SAYS.format("list_flocks", "limit must be a whole number.")


def test_names_that_are_none_of_the_choices_are_errors_that_name_them() -> None:
    with pytest.raises(ValueError, match="contract is one of 'schema', 'binder', not 'both'"):
        farm(contract="both")
    with pytest.raises(ValueError, match="unknown is one of 'published', 'refuse', not 'drop'"):
        farm(unknown="drop")
    with pytest.raises(ValueError, match="there is no repair 'mend'"):
        farm(repairs=["mend"])


def test_a_server_is_guarded_once() -> None:
    server = farm()
    count = len(server.middleware)
    assert guard(server) is server
    assert len(server.middleware) == count


@pytest.mark.parametrize("era", ERAS)
def test_a_caller_who_may_not_call_learns_nothing_of_the_arguments(era: str) -> None:
    async def closed(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/call":
            raise MCPError(-32600, "Forbidden")
        return await call_next(ctx)

    for before in (True, False):
        server = farm()
        server.middleware.insert(0 if before else len(server.middleware), closed)
        said = call(server, era, "list_flocks", {"limit": "ten"})
        assert said.text == "-32600: Forbidden"
        assert said.lines == ([] if before else ["INFO MCP tool list_flocks refused the call."])


# -- lowlevel -----------------------------------------------------------------------------------------------

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "id": {"type": "string", "format": "uuid"},
        "day": {"type": "string", "format": "date"},
    },
    "additionalProperties": False,
}


def lowlevel(run: Callable[[dict[str, Any] | None], Any], listings: list[int] | None = None) -> Server[Any]:
    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        if listings is not None:
            listings.append(1)
        return ListToolsResult(tools=[Tool(name="t", input_schema=SCHEMA)])

    async def call_tool(ctx: Any, params: Any) -> Any:
        return run(params.arguments)

    return guard(Server("low", on_list_tools=list_tools, on_call_tool=call_tool))


def answering(arguments: Any) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=repr(arguments))])


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("arguments", "is_error", "text"),
    [
        ({"n": "5"}, False, "{'n': 5}"),
        ({"n": 5.0}, False, "{'n': 5}"),
        ({}, False, "{}"),
        ({"n": "x"}, True, SAYS.format("t", "n must be a whole number.")),
        ({"id": "Acme"}, True, SAYS.format("t", "id must be an id.")),
        ({"day": "tomorrow"}, True, SAYS.format("t", "day must be a date, YYYY-MM-DD.")),
        ({"x": 1}, True, SAYS.format("t", "x is not an argument of this tool.")),
    ],
    ids=str,
)
def test_a_lowlevel_server_is_guarded_by_its_listing(era: str, arguments: Any, is_error: bool, text: str) -> None:
    said = call(lowlevel(answering), era, "t", arguments)
    assert (said.is_error, said.text) == (is_error, text)
    assert len(said.lines) == is_error


@pytest.mark.parametrize("era", ERAS)
def test_a_fault_of_a_lowlevel_tool_is_logged_with_its_traceback_and_tells_nothing(era: str) -> None:
    def fail(arguments: Any) -> Any:
        raise ValueError("s3cret")

    said = call(lowlevel(fail), era, "t", {"n": 1})
    assert (said.is_error, said.text) == (True, "An error occurred invoking 't'.")
    assert said.lines == ["ERROR MCP tool t failed."]
    assert said.records[-1].exc_info is not None


@pytest.mark.parametrize("era", ERAS)
def test_a_result_that_cannot_be_sent_is_a_fault(era: str) -> None:
    said = call(lowlevel(lambda arguments: "s3cret"), era, "t", {"n": 1})
    assert (said.is_error, said.text) == (True, "An error occurred invoking 't'.")
    assert said.lines == ["ERROR MCP tool t failed."]

    server: MCPServer[Any] = MCPServer("probes")

    @server.tool()
    def t(n: int) -> Any:
        looped: dict[str, Any] = {}
        looped["s3cret"] = looped
        return looped

    said = call(guard(server), era, "t", {"n": 1})
    assert (said.is_error, said.text) == (True, "An error occurred invoking 't'.")
    assert [line.split()[0] for line in said.lines] == ["ERROR"]


@pytest.mark.parametrize("destroys", [True, False])
def test_a_tool_that_destroys_gets_no_repair_that_may_widen_its_call(destroys: bool) -> None:
    server: MCPServer[Any] = MCPServer("farm")

    @server.tool(annotations=ToolAnnotations(destructive_hint=destroys))
    def sell(flock: int | str = "none", limit: int = 50) -> str:
        return repr((flock, limit))

    said = call(guard(server, repairs="all"), "auto", "sell", {"limit": None})
    assert said.text == (SAYS.format("sell", "limit must be a whole number.") if destroys else "('none', 50)")


def test_a_listing_that_differs_by_caller_is_kept_for_each() -> None:
    listings: list[str] = []

    def caller() -> str:
        user = auth_context_var.get()
        return user.access_token.client_id if user else ""

    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        listings.append(caller())
        kind = {"clerk": "integer", "owner": "string"}[caller()]
        return ListToolsResult(
            tools=[Tool(name="t", input_schema={"type": "object", "properties": {"n": {"type": kind}}})]
        )

    async def call_tool(ctx: Any, params: Any) -> Any:
        return answering(params.arguments)

    server: Server[Any] = guard(Server("low", on_list_tools=list_tools, on_call_tool=call_tool))

    async def unlisted(arguments: Any) -> str:
        async with Client(server) as client:
            return str(getattr((await client.call_tool("t", arguments)).content[0], "text", ""))

    def as_(who: str, arguments: Any) -> str:
        token = auth_context_var.set(AuthenticatedUser(AccessToken(token=who, client_id=who, scopes=[])))
        try:
            return asyncio.run(unlisted(arguments))
        finally:
            auth_context_var.reset(token)

    for _ in range(2):
        assert as_("clerk", {"n": "5"}) == "{'n': 5}"
        assert as_("owner", {"n": "5"}) == "{'n': '5'}"
        assert as_("owner", {"n": 5}) == SAYS.format("t", "n must be text.")
    asked = [listings.count(who) for who in ("clerk", "owner")]
    # by the client after each call that went well; by the guard once for each caller, and before a change or a refusal
    assert asked == [2 + 2, 2 + 1 + 2]
