"""`guard` on FastMCP servers, with a real client in both eras."""

import logging
from typing import Annotated, Any

import pytest
from fastmcp import Context, FastMCP
from fastmcp.dependencies import Depends
from fastmcp.exceptions import AuthorizationError, ToolError
from fastmcp.server.middleware import Middleware
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import AfterValidator, Field
from tests.adapters.rows import BODIES, FITS, ROWS, SAYS, add_farm
from tests.adapters.speaking import ERAS, call

from argfit.adapters.fastmcp_server import guard
from argfit.core.refusal import PROBLEMS


def speak(server: FastMCP[Any], era: str, name: str, arguments: Any) -> Any:
    return call(server._mcp_server, era, name, arguments)  # noqa: SLF001 - the official client speaks to the SDK's


def farm(**options: Any) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("farm")
    add_farm(server.tool, ToolError)
    return guard(server, **options)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("tool", "arguments", "words"), ROWS, ids=str)
def test_a_bad_argument_is_named_and_logged_in_one_quiet_line(era: str, tool: str, arguments: Any, words: str) -> None:
    said = speak(farm(), era, tool, arguments)
    assert (said.is_error, said.text) == (True, SAYS.format(tool, words))
    (line,) = said.lines
    assert line.startswith(f"INFO MCP tool {tool} refused the call: argument ")
    assert line.endswith(" is invalid.")
    assert said.meta[PROBLEMS][0]["words"] in words


CLOSED_HERE = {"else"}  # FastMCP publishes closed schemas


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    [row for row in FITS if CLOSED_HERE.isdisjoint(row[1] or ())],
    ids=str,
)
def test_what_fits_or_can_be_fitted_runs_with_what_was_bound(era: str, tool: str, arguments: Any, answer: str) -> None:
    if tool == "tagged" and arguments["tags"].startswith("["):
        answer = repr(arguments["tags"].split(","))  # FastMCP reads no JSON in text, for whoever binds it
    said = speak(farm(), era, tool, arguments)
    assert (said.is_error, said.text) == (False, answer)
    assert said.lines == []


def test_a_name_that_is_not_declared_is_refused_and_the_nearest_is_named() -> None:
    said = speak(farm(), "auto", "list_flocks", {"limits": 3})
    assert said.text == SAYS.format("list_flocks", "limits is not an argument of this tool (did you mean limit?).")


@pytest.mark.parametrize("era", ERAS)
def test_the_tools_own_refusal_keeps_its_text_and_its_text_stays_out_of_the_log(era: str) -> None:
    said = speak(farm(), era, "list_entries", {"day": "2026-01-01", "flock": "No Such Flock"})
    assert (said.is_error, said.text) == (True, "No flock is named 'No Such Flock'.")
    assert said.lines == ["INFO MCP tool list_entries refused the call."]
    assert "No Such Flock" not in said.logged


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", BODIES)
def test_a_fault_of_the_tool_stays_an_error_with_its_traceback_and_tells_the_caller_nothing(
    era: str, name: str
) -> None:
    server: FastMCP[Any] = FastMCP("probes")
    server.tool(BODIES[name])
    said = speak(guard(server), era, name, {"n": 1})
    assert (said.is_error, said.text) == (True, f"An error occurred invoking '{name}'.")
    (record,) = [record for record in said.records if record.levelno >= logging.INFO]
    assert (record.levelname, record.exc_info is not None) == ("ERROR", True)
    assert speak(guard(server), era, name, {"n": "x"}).text == SAYS.format(name, "n must be a whole number.")


def test_a_protocol_error_that_a_tool_raises_stays_what_fastmcp_makes_of_it() -> None:
    def made(*, guarded: bool) -> Any:
        server: FastMCP[Any] = FastMCP("probes")

        @server.tool
        def protocol_error(n: int) -> str:
            raise MCPError(-32042, "not now")

        return speak(guard(server) if guarded else server, "auto", "protocol_error", {"n": 1}).text

    assert made(guarded=True) == made(guarded=False)


def test_a_refusal_that_a_tool_returns_is_one_quiet_line_too() -> None:
    server: FastMCP[Any] = FastMCP("probes")

    @server.tool
    def returns(n: int) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text="not s3cret")], is_error=True)

    said = speak(guard(server), "auto", "returns", {"n": 1})
    assert (said.is_error, said.text, said.lines) == (True, "not s3cret", ["INFO MCP tool returns refused the call."])


def test_a_binder_that_has_effects_binds_once() -> None:
    bound: list[Any] = []

    def note(value: int) -> int:
        bound.append(value)
        return value

    server: FastMCP[Any] = FastMCP("probes")

    @server.tool
    def noted(n: Annotated[int, AfterValidator(note)]) -> str:
        return repr(n)

    assert speak(guard(server), "auto", "noted", {"n": 5}).text == "5"
    assert bound == [5]


def test_a_tool_gets_what_fastmcp_injects_and_its_names_under_other_keys() -> None:
    server: FastMCP[Any] = FastMCP("probes")

    @server.tool
    async def injected(start: Annotated[int, Field(alias="from")], ctx: Context, step: int = 2) -> str:
        return f"{start} {step} {type(ctx).__name__}"

    said = speak(guard(server), "auto", "injected", {"from": "7"})
    assert said.text == "7 2 Context"


@pytest.mark.parametrize("era", ERAS)
def test_a_bad_argument_is_named_before_what_a_tool_depends_on_is_made(era: str) -> None:
    made: list[int] = []

    def open_store() -> str:
        made.append(1)
        raise RuntimeError("s3cret")

    server: FastMCP[Any] = FastMCP("probes")

    @server.tool
    def stored(n: int, store: str = Depends(open_store)) -> str:
        return f"{n} {store}"

    said = speak(guard(server), era, "stored", {"n": "x"})
    assert (said.text, made) == (SAYS.format("stored", "n must be a whole number."), [])
    said = speak(server, era, "stored", {"n": 1})
    assert (said.is_error, said.text, made) == (True, "An error occurred invoking 'stored'.", [1])
    (record,) = [record for record in said.records if record.levelno >= logging.INFO]
    assert (record.levelname, record.exc_info is not None) == ("ERROR", True)


def test_a_caller_who_may_not_call_learns_nothing_and_is_one_quiet_line() -> None:
    class Closed(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            raise AuthorizationError("Not for you.")

    server = farm()
    server.add_middleware(Closed())
    said = speak(server, "auto", "list_flocks", {"limit": "ten"})
    assert (said.is_error, said.text) == (True, "Not for you.")
    assert said.lines == ["INFO MCP tool list_flocks refused the call."]


def test_with_the_binders_contract_only_what_the_binder_refuses_is_refused() -> None:
    server = farm(contract="binder")
    assert speak(server, "auto", "list_flocks", {"limit": " 1"}).text == "(1, 0)"
    said = speak(server, "auto", "list_flocks", {"limit": "ten"})
    assert said.text == SAYS.format("list_flocks", "limit must be a whole number.")


def test_a_server_is_guarded_once() -> None:
    server = farm()
    count = len(server.middleware)
    assert guard(server) is server
    assert len(server.middleware) == count


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("result", [float("nan"), "\ud800"], ids=["nan", "half a pair"])
def test_a_result_that_cannot_be_sent_is_a_fault_and_not_the_tools_own_refusal(era: str, result: Any) -> None:
    server: FastMCP[Any] = FastMCP("probes")

    @server.tool
    def t(n: int) -> dict[str, float | str]:
        return {"s3cret": result}

    said = speak(guard(server), era, "t", {"n": 1})
    assert (said.is_error, said.text) == (True, "An error occurred invoking 't'.")
    (record,) = [record for record in said.records if record.levelno >= logging.INFO]
    assert (record.levelname, record.exc_info is not None) == ("ERROR", True)


@pytest.mark.parametrize("destroys", [True, False])
def test_a_tool_that_destroys_gets_no_repair_that_may_widen_its_call(destroys: bool) -> None:
    server: FastMCP[Any] = FastMCP("farm")

    @server.tool(annotations=ToolAnnotations(destructive_hint=destroys))
    def sell(flock: int | str = "none", limit: int = 50) -> str:
        return repr((flock, limit))

    said = speak(guard(server, repairs="all"), "auto", "sell", {"limit": None})
    assert said.text == (SAYS.format("sell", "limit must be a whole number.") if destroys else "('none', 50)")
