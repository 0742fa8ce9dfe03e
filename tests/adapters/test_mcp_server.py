"""`guard` on the official SDK's servers, with a real client in both eras."""

import json
import logging
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any
from uuid import UUID

import pytest
from mcp.server import MCPServer, Server
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field
from tests.adapters.speaking import ERAS, Said, call

from argfit.adapters.mcp_server import guard
from argfit.core.refusal import PROBLEMS

INT32 = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]


class Grade(BaseModel):
    grade: str
    quantity: INT32


def odd(value: Any) -> Any:
    return value.split(",") if isinstance(value, str) else value


def even(value: int) -> int:
    if value % 2:
        raise ValueError(f"{value} is odd")
    return value


def farm(**options: Any) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("farm")

    @server.tool()
    def list_flocks(limit: INT32 = 50, offset: int = 0) -> str:
        return repr((limit, offset))

    @server.tool()
    def list_entries(day: date, to: date | None = None, flock: str | None = None) -> str:
        if flock == "No Such Flock":
            raise ToolError(f"No flock is named {flock!r}.")
        return repr((day, to, flock))

    @server.tool()
    def list_orders(customerId: UUID) -> str:  # noqa: N803 - as published
        return repr(customerId)

    @server.tool()
    def record(day: date, grades: list[Grade]) -> str:
        return repr((day, grades))

    @server.tool()
    def tagged(tags: Annotated[list[str], BeforeValidator(odd)]) -> str:
        return repr(tags)

    @server.tool()
    def evens(n: Annotated[int, AfterValidator(even)]) -> str:
        return repr(n)

    return guard(server, **options)


SAYS = "An error occurred invoking '{}': {}"

ROWS: list[tuple[str, Any, str]] = [
    ("list_entries", {"day": "10/11/2026"}, "day must be a date, YYYY-MM-DD."),
    ("list_entries", {"day": 123}, "day must be a date, YYYY-MM-DD."),
    ("list_entries", {"day": "86400"}, "day must be a date, YYYY-MM-DD."),
    ("list_entries", {"day": "2026-01-01T00:00:00"}, "day must be a date, YYYY-MM-DD."),
    ("list_flocks", {"limit": "ten"}, "limit must be a whole number."),
    ("list_flocks", {"limit": None}, "limit must be a whole number."),
    ("list_flocks", {"limit": " 1"}, "limit must be a whole number."),
    ("list_flocks", {"limit": True}, "limit must be a whole number."),
    ("list_flocks", {"limit": 5.5}, "limit must be a whole number."),
    ("list_flocks", {"limit": 2147483648}, "limit must be a whole number from -2147483648 to 2147483647."),
    ("list_orders", {"customerId": "Acme"}, "customerId must be an id."),
    ("list_orders", {}, "customerId is required."),
    ("record", {"day": "2026-01-01", "grades": "invalid"}, "grades must be a list."),
    ("record", {"day": "2026-01-01", "grades": [1]}, "grades[0] must be an object."),
    (
        "record",
        {"day": "2026-01-01", "grades": [{"grade": "A", "quantity": "ten"}]},
        "grades[0].quantity must be a whole number.",
    ),
    (
        "record",
        {"day": "2026-01-01", "grades": [{"grade": "A", "Quantity": "ten"}]},
        "grades[0].quantity must be a whole number.",
    ),
    (
        "record",
        {"day": "2026-01-01", "grades": [{"grade": "A", "quantity": None}]},
        "grades[0].quantity must be a whole number.",
    ),
    ("record", {"grades": []}, "day is required."),
    ("tagged", {"tags": 5}, "tags must be a list."),
    ("evens", {"n": 3}, "n is not in an allowed form."),
    ("list_flocks", {"limit": "x", "offset": "y"}, "limit must be a whole number; offset must be a whole number."),
]


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
    [
        ("list_flocks", {"limit": "2"}, "(2, 0)"),
        ("list_flocks", {"limit": 2.0, "Offset": "1"}, "(2, 1)"),
        ("list_flocks", {"limit": 3, "else": 1}, "(3, 0)"),
        ("list_flocks", {}, "(50, 0)"),
        ("list_flocks", None, "(50, 0)"),
        ("list_entries", {"day": "2026-01-01", "flock": "null"}, "(datetime.date(2026, 1, 1), None, 'null')"),
        ("list_entries", {"day": "2026-01-01", "flock": '{"a":1}'}, "(datetime.date(2026, 1, 1), None, '{\"a\":1}')"),
        ("list_entries", {"day": "2026-01-01", "to": None}, "(datetime.date(2026, 1, 1), None, None)"),
        (
            "record",
            {"day": "2026-01-01", "grades": '[{"grade": "A", "quantity": 2.0}]'},
            "(datetime.date(2026, 1, 1), [Grade(grade='A', quantity=2)])",
        ),
        ("tagged", {"tags": "a,b"}, "['a', 'b']"),
        ("tagged", {"tags": '["a", "b"]'}, "['a', 'b']"),
        ("evens", {"n": 4.0}, "4"),
    ],
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
    assert "No Such Flock" not in logged(said)


def logged(said: Said, level: int = logging.INFO) -> str:
    """All that records hold, from a level on."""
    return "\n".join(repr(vars(record)) for record in said.records if record.levelno >= level)


class Strange:
    """What cannot be written as JSON."""

    __slots__ = ()


BODIES: dict[str, Callable[..., Any]] = {}


def body(function: Callable[..., Any]) -> Callable[..., Any]:
    BODIES[function.__name__] = function
    return function


@body
def value_error(n: int) -> str:
    raise ValueError("s3cret")


@body
def json_error(n: int) -> Any:
    return json.loads("s3cret")


@body
def type_error(n: int) -> str:
    raise TypeError("s3cret")


@body
def key_error(n: int) -> Any:
    return dict[str, int]()["s3cret"]


@body
def pydantic_error(n: int) -> str:
    return repr(Grade.model_validate({"s3cret": 1}))


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
    assert "s3cret" not in logged(said)


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
