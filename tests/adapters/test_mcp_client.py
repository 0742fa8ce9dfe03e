"""`fit` on the official SDK's clients, with a real server in both eras."""

import asyncio
import logging
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from mcp import Client
from mcp_types import PaginatedRequestParams
from pydantic import BaseModel, Field
from tests.adapters.rows import SAYS
from tests.adapters.speaking import ERAS
from tests.adapters.strict_server import Strict

from argfit import dispatch
from argfit.adapters.mcp_client import fit
from argfit.core.refusal import PROBLEMS

NAME = "get_symbol_info"
REFUSED = SAYS.format(NAME, "line must be a whole number.")


def of_client(client: Client, **options: Any) -> Any:
    return fit(client, **options)


def of_session(client: Client, **options: Any) -> Any:
    return fit(client.session, **options)


SEAMS = pytest.mark.parametrize("seam", [of_client, of_session], ids=["Client", "ClientSession"])
BOTH = pytest.mark.parametrize("era", ERAS)


def said(strict: Strict, era: str, seam: Callable[..., Any], *calls: Any, **options: Any) -> list[tuple[bool, str]]:
    """What came of calls by one client."""

    async def speak() -> list[tuple[bool, str]]:
        async with Client(strict.server, mode=era) as client:
            caller = seam(client, **options)
            results = [await caller.call_tool(NAME, arguments) for arguments in calls]
        return [(bool(result.is_error), result.content[0].text) for result in results]

    return asyncio.run(speak())


@BOTH
@SEAMS
def test_what_a_struct_makes_of_a_call_is_sent_as_the_schema_takes_it(era: str, seam: Any) -> None:
    strict = Strict()
    sent = {"file": "a.go", "line": 5.0}
    assert said(strict, era, lambda client: client, sent) == [(True, "line must be of int, not 5.0")]
    assert said(strict, era, seam, sent, {"line": 6}) == [(False, "found"), (False, "found")]
    assert [repr(one) for one in strict.got[1:]] == ["{'file': 'a.go', 'line': 5}", "{'line': 6}"]
    assert sent == {"file": "a.go", "line": 5.0}


@BOTH
@SEAMS
def test_repairs_are_made_on_request_only(era: str, seam: Any) -> None:
    assert said(Strict(), era, seam, {"line": "5"}) == [(True, "line must be of int, not '5'")]
    assert said(Strict(), era, seam, {"line": "5"}, repairs=["unquote"]) == [(False, "found")]


@BOTH
@SEAMS
def test_a_call_that_does_not_fit_is_answered_here_where_that_is_asked_for(
    era: str, seam: Any, caplog: pytest.LogCaptureFixture
) -> None:
    strict = Strict()
    with caplog.at_level(logging.DEBUG, logger="argfit"):
        assert said(strict, era, seam, {"line": "s3cret"}, {"line": 5.0}, on_misfit="refuse") == [
            (True, REFUSED),
            (False, "found"),
        ]
    assert strict.got == [{"line": 5}]
    assert [f"{one.levelname} {one.getMessage()}" for one in caplog.records if one.name == "argfit"] == [
        f"INFO MCP tool {NAME} refused the call: argument line is invalid.",
        f"DEBUG MCP tool {NAME}: argument line fitted (whole-number).",
    ]


@SEAMS
def test_a_refusal_names_its_problems_as_data_too(seam: Any) -> None:
    async def speak() -> Any:
        async with Client(Strict().server) as client:
            return await seam(client, on_misfit="refuse").call_tool(NAME, {})

    assert asyncio.run(speak()).meta[PROBLEMS] == [{"path": ["line"], "code": "required", "words": "is required"}]


@BOTH
@SEAMS
def test_what_the_sdk_writes_as_json_is_taken_as_that(era: str, seam: Any) -> None:
    class Place(BaseModel):
        line: float
        file: Path | None = Field(default=None, serialization_alias="File")

    strict = Strict()
    calls = [
        MappingProxyType({"line": 5, "file": Path("a.go")}),
        {"line": 5, "at": (date(2026, 1, 1), Place(line=5.0))},
    ]
    for apply in (lambda client: client, partial(seam, on_misfit="refuse")):
        assert said(strict, era, apply, *calls) == [(False, "found")] * 2
    assert (
        strict.got[2:]
        == strict.got[:2]
        == [
            {"line": 5, "file": "a.go"},
            {"line": 5, "at": ["2026-01-01", {"line": 5.0}]},
        ]
    )


@BOTH
@SEAMS
def test_a_server_is_listed_once_and_again_before_a_refusal(era: str, seam: Any) -> None:
    strict = Strict()

    async def speak() -> list[str]:
        async with Client(strict.server, mode=era) as client:
            caller = seam(client, on_misfit="refuse")
            texts = [(await caller.call_tool(NAME, {"line": line})).content[0].text for line in (5.0, 6.0, 7)]
            assert strict.listed == 2  # pages
            strict.line = "string"
            texts.append((await caller.call_tool(NAME, {"line": "x"})).content[0].text)
            assert strict.listed == 4
            texts.append((await caller.call_tool(NAME, {"line": 5})).content[0].text)
            return texts

    assert asyncio.run(speak()) == ["found"] * 4 + [SAYS.format(NAME, "line must be text.")]


@BOTH
@SEAMS
def test_many_first_calls_at_once_list_a_server_once(era: str, seam: Any) -> None:
    strict = Strict()

    async def speak() -> None:
        async with Client(strict.server, mode=era) as client:
            caller = seam(client)
            await asyncio.gather(*(caller.call_tool(NAME, {"line": 5.0}) for _ in range(50)))

    asyncio.run(speak())
    assert [repr(one) for one in strict.got] == ["{'line': 5}"] * 50
    assert strict.listed == 2  # pages


@BOTH
@SEAMS
def test_a_listing_that_hangs_does_not_hold_a_call_for_ever(
    era: str, seam: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "LISTING_SECONDS", 0.05)
    monkeypatch.setattr(dispatch, "PAUSE_SECONDS", -1)

    class Hanging(Strict):
        hangs = True

        async def _list(self, ctx: Any, params: Any) -> Any:
            if self.hangs:
                await asyncio.Event().wait()
            return await super()._list(ctx, params)

    hanging = Hanging()

    async def speak() -> None:
        async with Client(hanging.server, mode=era) as client:
            caller = seam(client, on_misfit="refuse")
            await asyncio.wait_for(caller.call_tool(NAME, {"line": 5.0}), 30)
            hanging.hangs = False
            await caller.call_tool(NAME, {"line": 5.0})

    asyncio.run(speak())
    assert [repr(one) for one in hanging.got] == ["{'line': 5.0}", "{'line': 5}"]


@BOTH
@pytest.mark.parametrize("seam", [lambda client: client, of_client, of_session])
def test_what_its_caller_alters_while_a_call_is_on_its_way_goes_as_it_was(era: str, seam: Any) -> None:
    strict = Strict()

    async def speak() -> None:
        async with Client(strict.server, mode=era) as client:
            arguments, meta = {"line": 1}, {"by": 1}
            call = asyncio.create_task(seam(client).call_tool(NAME, arguments, meta=meta))
            await asyncio.sleep(0)
            arguments["line"] = meta["by"] = 2
            await call

    asyncio.run(speak())
    assert (strict.got, strict.meta["by"]) == ([{"line": 1}], 1)


@SEAMS
def test_what_the_program_lists_is_known_and_counts_from_then_on(seam: Any) -> None:
    strict = Strict()

    async def speak() -> None:
        async with Client(strict.server) as client:
            caller = seam(client)
            for line in ("integer", "string"):
                strict.line = line
                for cursor in (None, "2"):
                    of_session: dict[str, Any] = {"params": PaginatedRequestParams(cursor=cursor)}
                    await caller.list_tools(**(of_session if caller is client.session else {"cursor": cursor}))
                await caller.call_tool(NAME, {"line": 5.0})
                await caller.call_tool("other", {})

    asyncio.run(speak())
    assert [repr(one) for one in strict.got] == ["{'line': 5}", "{}", "{'line': 5.0}", "{}"]
    assert strict.listed == 4  # pages, by the program alone


@SEAMS
def test_a_tool_that_is_not_listed_and_arguments_that_are_none_go_as_they_came(seam: Any) -> None:
    strict = Strict()

    async def speak() -> None:
        async with Client(strict.server) as client:
            caller = seam(client)
            await caller.call_tool("hidden", {"line": 5.0})
            await caller.call_tool("other")

    asyncio.run(speak())
    assert strict.got == [{"line": 5.0}, None]


@SEAMS
def test_a_server_that_cannot_be_listed_is_called_all_the_same(seam: Any) -> None:
    strict = Strict()

    async def fails(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("s3cret")

    async def speak() -> str:
        async with Client(strict.server) as client:
            caller = seam(client, on_misfit="refuse")
            caller.list_tools = fails
            return str((await caller.call_tool(NAME, {"line": 5.0})).content[0].text)

    assert asyncio.run(speak()) == "line must be of int, not 5.0"


@SEAMS
def test_a_call_that_names_a_version_is_fitted_by_no_other(seam: Any) -> None:
    strict = Strict()

    async def speak() -> None:
        async with Client(strict.server) as client:
            caller = seam(client, on_misfit="refuse")
            for line in (5.0, "five"):
                await caller.call_tool(NAME, {"line": line}, meta={"fastmcp": {"version": "1"}})
            await caller.call_tool(NAME, {"line": 6.0}, meta={"fastmcp": {}})

    asyncio.run(speak())
    assert [repr(one) for one in strict.got] == ["{'line': 5.0}", "{'line': 'five'}", "{'line': 6}"]
    assert strict.listed == 2  # pages


def test_names_that_are_none_of_the_choices_are_errors_that_name_them() -> None:
    client = Client(Strict().server)
    with pytest.raises(ValueError, match="on_misfit is one of 'forward', 'refuse', not 'explain'"):
        fit(client, on_misfit="explain")
    with pytest.raises(ValueError, match="no repair 'unqote'; the nearest is 'unquote'"):
        fit(client, repairs=["unqote"])
