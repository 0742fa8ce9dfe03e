"""The tools of many servers: which schema counts for a call, and what is shown of it."""

import copy
import inspect
import json
import logging
import pickle
import sys
import threading
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCRequest, ListToolsResult, Tool, ToolAnnotations

from argfit import Fitter, ToolCatalog, catalog, log


def tool(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "properties": arguments}}


INTEGER, NUMBER, TEXT = {"type": "integer"}, {"type": "number"}, {"type": "string"}


@pytest.mark.parametrize(
    ("declared", "sent", "fitted"),
    [
        ({"line": INTEGER}, {"line": 5.0}, '{"line":5}'),
        ({"line": INTEGER}, {"line": 5.5}, '{"line":5.5}'),
        ({"temp": NUMBER}, {"temp": 1.0}, '{"temp":1.0}'),
        ({"name": TEXT}, {"name": "foo"}, '{"name":"foo"}'),
        (None, {"x": 1.0}, '{"x":1.0}'),
        ({"line": INTEGER, "file": TEXT}, {"line": 5.0, "file": "f.go"}, '{"line":5,"file":"f.go"}'),
        ({"n": INTEGER}, {"n": 1e20}, '{"n":1e+20}'),
    ],
)
def test_the_papers_seven_rows_go_and_are_shown_as_stated(declared: Any, sent: Any, fitted: str) -> None:
    known = ToolCatalog()
    known.update("s", [{"name": "t", "inputSchema": {} if declared is None else tool("t", **declared)["inputSchema"]}])
    assert json.dumps(known.fit("t", sent).arguments, separators=(",", ":")) == fitted
    assert known.render("t", sent) == f"MCP Tool: t ({fitted})"


def test_the_server_that_is_named_counts_else_the_first_added_that_has_the_tool() -> None:
    known = ToolCatalog()
    known.update("a", [tool("other")])
    known.update("b", [tool("t", n=INTEGER)])
    known.update("c", [tool("t", n=TEXT)])
    assert known.input_schema("t") == known.input_schema("t", "b") != known.input_schema("t", "c")
    assert known.input_schema("t", "a") is known.input_schema("t", "gone") is known.input_schema("nothing") is None
    assert known.render("t", {"n": 5.0}) == known.render("t", {"n": 5.0}, "b") == 'MCP Tool: t ({"n":5})'
    assert known.render("t", {"n": 5.0}, "c") == 'MCP Tool: t ({"n":5.0})'
    known.update("b", [tool("t", n=NUMBER)])  # keeps its place
    assert known.render("t", {"n": 5.0}) == 'MCP Tool: t ({"n":5.0})'
    known.update("b", [tool("t", n=INTEGER)])
    known.remove("b")
    assert known.input_schema("t") == known.input_schema("t", "c")
    known.update("b", [tool("t", n=INTEGER)])  # and comes last when it is added again
    assert known.input_schema("t") == known.input_schema("t", "c")


def test_where_a_server_is_gone_a_call_goes_and_is_shown_as_it_came() -> None:
    known = ToolCatalog()
    known.update("s", [tool("t", n=INTEGER)])
    known.remove("s")
    known.remove("s")
    sent = {"n": 5.0}
    fit = known.fit("t", sent)
    assert (fit.ok, fit.arguments is sent, fit.changes) == (True, True, ())
    assert known.render("t", sent) == 'MCP Tool: t ({"n":5.0})'
    assert known.fit("t", None, "s").arguments is None


def test_no_arguments_are_shown_as_none() -> None:
    known = ToolCatalog()
    known.update("s", [tool("t", n=INTEGER)])
    assert (known.render("t", None), known.render("t", {})) == ("MCP Tool: t", "MCP Tool: t ({})")
    assert known.fit("t", None).arguments == {}


def test_tools_are_taken_as_dicts_and_as_objects_of_either_generation() -> None:
    schema = tool("t", n=INTEGER)["inputSchema"]
    hints = ToolAnnotations(destructive_hint=True)
    shapes: list[Any] = [
        {"name": "t", "inputSchema": schema, "annotations": {"destructiveHint": True}},
        {"name": "t", "input_schema": schema, "annotations": {"destructiveHint": True}},
        Tool(name="t", input_schema=schema, annotations=hints),
        SimpleNamespace(name="t", inputSchema=schema, annotations=SimpleNamespace(destructiveHint=True)),
    ]
    for shape in shapes:
        known = ToolCatalog(repairs="all")
        known.update("s", [shape, {"name": "t", "inputSchema": {}}, {"inputSchema": {}}, None])
        assert known.input_schema("t") == schema
        assert known.fit("t", {"n": "5"}).arguments == {"n": 5}
        assert not known.fit("t", {"n": None}).ok  # what is dropped may widen a call that destroys


@pytest.mark.parametrize("schema", [None, 5, "x", [], object()])
def test_a_tool_whose_schema_is_none_is_called_as_it_is(schema: Any) -> None:
    known = ToolCatalog()
    known.update("s", [{"name": "t", "inputSchema": schema}])
    assert known.fit("t", {"n": 5.0}).arguments == {"n": 5.0}
    assert known.render("t", {"n": 5.0}) == 'MCP Tool: t ({"n":5.0})'


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The schemas that are compiled, as they are."""
    schemas: list[Any] = []

    class Counting(Fitter):
        def __init__(self, schema: Any, **options: Any) -> None:
            schemas.append(schema)
            super().__init__(schema, **options)

    monkeypatch.setattr(catalog, "Fitter", Counting)
    return schemas


def test_a_schema_is_compiled_once_however_many_have_it(compiled: list[Any]) -> None:
    known = ToolCatalog()
    known.update("a", [tool("t", n=INTEGER), tool("u", n=INTEGER)])
    known.update("b", [tool("t", n=INTEGER)])
    assert compiled == []
    for name, server in (("t", "a"), ("u", "a"), ("t", "b"), ("t", None)):
        assert known.fit(name, {"n": 5.0}, server).arguments == {"n": 5}
    known.update("a", [tool("t", n=INTEGER)])
    known.remove("b")
    known.fit("t", {"n": 5.0})
    known.looked_at("t", {"n": 5.0}, at_hand=tool("t", n=INTEGER))
    assert len(compiled) == 1


def test_a_tool_that_is_listed_in_turn_with_two_schemas_has_each_compiled_once(compiled: list[Any]) -> None:
    known = ToolCatalog()
    for _ in range(3):
        known.update("s", [tool("t", n=INTEGER)])
        assert known.fit("t", {"n": 5.0}).arguments == {"n": 5}
        known.update("s", [tool("t", n=TEXT)])
        assert not known.fit("t", {"n": 5.0}).ok
    assert len(compiled) == 2


def test_of_schemas_that_none_lists_only_the_last_few_stay_compiled(
    compiled: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "_SPARE", 2)
    known = ToolCatalog()
    known.update("s", [tool("listed", n=INTEGER)])
    known.fit("listed", {})
    for count in (0, 1, 2, 3, 3, 2, 0):
        known.looked_at("t", {}, at_hand=tool("t", n={"const": count}))
    known.fit("listed", {})
    assert [schema["properties"]["n"].get("const") for schema in compiled] == [None, 0, 1, 2, 3, 0]


def test_what_is_done_to_a_schema_after_it_was_listed_changes_nothing() -> None:
    known = ToolCatalog()
    listed = tool("t", n=INTEGER)
    known.update("s", [listed])
    listed["inputSchema"]["properties"]["n"] = TEXT
    assert known.fit("t", {"n": 5.0}).arguments == {"n": 5}


def test_what_a_caller_does_to_a_schema_it_was_given_changes_nothing() -> None:
    known = ToolCatalog()
    known.update("s", [tool("t", n=INTEGER)])
    known.input_schema("t")["properties"]["n"] = TEXT
    assert known.input_schema("t") == tool("t", n=INTEGER)["inputSchema"]
    assert known.fit("t", {"n": 5.0}).arguments == {"n": 5}


@pytest.mark.parametrize("odd", [{"maximum": 10**30}, {"description": "half of one: \ud800"}, {"default": 1e300}])
def test_a_schema_is_kept_with_all_its_digits_and_letters(odd: Any) -> None:
    known = ToolCatalog()
    known.update("s", [tool("t", n={**INTEGER, **odd})])
    assert known.input_schema("t") == tool("t", n={**INTEGER, **odd})["inputSchema"]
    assert known.fit("t", {"n": 5.0}).arguments == {"n": 5}


def test_a_schema_that_is_no_json_is_none() -> None:
    looped: dict[str, Any] = {"type": "object"}
    looped["properties"] = {"n": looped}
    known = ToolCatalog()
    known.update("s", [{"name": "t", "inputSchema": looped}, {"name": "u", "inputSchema": {"enum": [object()]}}])
    assert known.input_schema("t") is known.input_schema("u") is None
    assert known.fit("t", {"n": 5.0}).arguments == {"n": 5.0}
    assert known.render("u", {"n": 5.0}) == 'MCP Tool: u ({"n":5.0})'


def test_a_whole_result_is_taken_as_its_tools() -> None:
    schema = tool("t", n=INTEGER)["inputSchema"]
    results: list[Any] = [
        {"tools": [tool("t", n=INTEGER)], "nextCursor": "2"},
        ListToolsResult(tools=[Tool(name="t", input_schema=schema)]),
        SimpleNamespace(tools=(SimpleNamespace(name="t", inputSchema=schema),)),
        iter([tool("t", n=INTEGER)]),
    ]
    for result in results:
        known = ToolCatalog()
        known.update("s", result)
        assert known.input_schema("t") == schema
    known.update("s", ListToolsResult(tools=[]))
    assert known.input_schema("t") is None


@pytest.mark.parametrize(
    "odd",
    [{}, tool("t"), Tool(name="t", input_schema={}), "tools", b"tools", None, 5, {"tools": 5}, {"tools": "t"}],
    ids=repr,
)
def test_what_is_neither_tools_nor_a_result_is_an_error_that_says_so_and_changes_nothing(odd: Any) -> None:
    known = ToolCatalog()
    known.update("s", [tool("t", n=INTEGER)])
    with pytest.raises(TypeError, match="tools are a list of them or a tools/list result, not "):
        known.update("s", odd)
    assert known.input_schema("t") is not None


@pytest.mark.parametrize("odd", [["t"], {"t": 1}, None, 5], ids=str)
def test_nothing_goes_by_a_name_that_is_no_text(odd: Any) -> None:
    known = ToolCatalog()
    known.update("s", [{**tool("t", n=INTEGER), "name": odd}, tool("t", n=INTEGER)])
    for server in (None, "s", ["s"]):
        assert known.input_schema(odd, server) is None  # type: ignore[arg-type]
        assert known.fit(odd, {"n": 5.0}, server).arguments == {"n": 5.0}  # type: ignore[arg-type]
        assert known.render(odd, {"n": 5.0}, server) == f'MCP Tool: {odd} ({{"n":5.0}})'  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a server's id is text, not list"):
        known.update(["s"], [])  # type: ignore[arg-type]


def test_text_is_fitted_by_its_own_digits_and_every_other_byte_stays() -> None:
    known = ToolCatalog()
    known.update("s", [tool("t", n=INTEGER, x=NUMBER)])
    fit = known.fit_json("t", '{"n": 9007199254740993.0, "x": 1.10}')
    assert (fit.ok, fit.arguments, fit.json) == (
        True,
        {"n": 9007199254740993, "x": 1.1},
        b'{"n": 9007199254740993, "x": 1.10}',
    )
    assert known.render("t", fit.arguments) == 'MCP Tool: t ({"n":9007199254740993,"x":1.1})'  # as the SDK sends it
    assert known.fit_json("t", b'{"n": 5.0000000000000001}', "s").message == "n must be a whole number."
    assert known.fit_json("t", "{").message == "arguments must be an object."


def test_text_for_which_there_is_no_schema_is_right_as_it_came() -> None:
    known = ToolCatalog()
    fit = known.fit_json("t", '{"n": 5.0, "n": 1.10, "h": "\ud800"}')
    assert (fit.ok, fit.arguments, fit.changes) == (True, {"n": 1.1, "h": "\ud800"}, ())
    assert fit.json == '{"n": 5.0, "n": 1.10, "h": "\ud800"}'.encode("utf-8", "surrogatepass")
    assert known.fit_json("t", "[", "gone").message == "arguments must be an object."


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_is_shown_as_the_null_that_is_sent(odd: float) -> None:
    sent = {"a": [odd, "NaN, -Infinity"]}
    request = JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/call", params={"arguments": sent})
    assert ToolCatalog().render("t", sent) == 'MCP Tool: t ({"a":[null,"NaN, -Infinity"]})'
    assert '{"arguments":{"a":[null,"NaN, -Infinity"]}}' in request.model_dump_json(by_alias=True, exclude_unset=True)


def test_a_change_is_one_line_at_debug_and_what_is_shown_is_none(caplog: pytest.LogCaptureFixture) -> None:
    known = ToolCatalog()
    known.update("s", [tool("t", n=INTEGER, id=INTEGER)])
    with caplog.at_level(logging.DEBUG, logger="argfit"):
        known.render("t", {"n": 5.0})
        known.fit("t", {"n": 5})
        known.fit("t", {"n": 5.0, "id": 2.0**60})
        known.fit("t", {"id": 2.0**60})
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        ("DEBUG", "MCP tool t: argument n fitted (whole-number)."),
        ("DEBUG", "MCP tool t: argument id fitted (whole-number)."),
        ("WARNING", "MCP tool t: argument id may have lost digits before it came here."),
        ("DEBUG", "MCP tool t: argument id fitted (whole-number)."),
    ]


def test_a_catalog_that_changes_while_calls_run_gives_each_call_one_listing_or_another() -> None:
    known = ToolCatalog()
    ended = threading.Event()
    seen: set[str] = set()

    def call() -> None:
        while not ended.is_set():
            seen.add(json.dumps(known.fit("t", {"n": 5.0}).arguments) + known.render("t", {"n": 7.0}))

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for count in range(300):
        known.update("s", [tool("t", n=INTEGER, other={"const": count})])
        known.update("s", [tool("t", n=NUMBER)])
        known.remove("s")
    ended.set()
    for caller in callers:
        caller.join()
    shown = {(fitted, drawn) for fitted in ('{"n": 5}', '{"n": 5.0}') for drawn in ('({"n":7})', '({"n":7.0})')}
    assert seen <= {f"{fitted}MCP Tool: t {drawn}" for fitted, drawn in shown}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(), parts, max_size=3),
    )
)
def test_what_is_shown_is_what_the_official_sdk_writes(value: Any) -> None:
    request = JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/call", params={"arguments": {"a": value}})
    written = request.model_dump_json(by_alias=True, exclude_unset=True)
    shown = ToolCatalog().render("t", {"a": value}).removeprefix("MCP Tool: t (").removesuffix(")")
    assert f'"arguments":{shown}}}' in written


@pytest.mark.parametrize("odd", [{1, 2}, object(), b"x", float("nan"), "\ud800", msgspec.UNSET])
def test_what_is_no_json_is_shown_all_the_same(odd: Any) -> None:
    ToolCatalog().render("t", {"a": odd}).encode()


def test_what_holds_itself_or_nests_too_deep_is_not_shown() -> None:
    looped: dict[str, Any] = {}
    looped["a"] = looped
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert ToolCatalog().render("t", looped) == ToolCatalog().render("t", {"a": deep}) == "MCP Tool: t (…)"


@pytest.mark.parametrize("below", [200, 120, 60, 30])
def test_a_deep_stack_costs_a_call_its_fit_and_nothing_else(below: int) -> None:
    schema: Any = INTEGER
    for _ in range(300):
        schema = {"items": schema}
    known = ToolCatalog()
    known.update("s", [tool("t", n=schema)])
    sent = {"n": [[5.0]]}

    def at_the_bottom() -> list[Any]:
        fits = [known.fit("t", sent).arguments, known.fit_json("t", b'{"n": [[5.0]]}').arguments]
        return [*fits, known.render("t", sent), known.input_schema("t")]

    def down(levels: int) -> list[Any]:
        return down(levels - 1) if levels else at_the_bottom()

    left = sys.getrecursionlimit() - len(inspect.stack(0))
    expected = [sent, sent, 'MCP Tool: t ({"n":[[5.0]]})', tool("t", n=schema)["inputSchema"]]
    assert down(left - below) == expected


@pytest.mark.parametrize("below", [200, 100, 60])
def test_a_schema_comes_to_the_same_however_deep_it_is_first_needed(
    below: int, caplog: pytest.LogCaptureFixture
) -> None:
    schema: Any = INTEGER
    for _ in range(60):
        schema = {"items": schema}
    known = ToolCatalog()
    known.update("s", [tool("t", n=INTEGER, deep=schema)])

    def down(levels: int) -> Any:
        return down(levels - 1) if levels else known.fit("t", {"n": 5.0})

    down(sys.getrecursionlimit() - len(inspect.stack(0)) - below)
    assert repr(known.fit("t", {"n": 5.0}).arguments) == "{'n': 5}"
    assert caplog.records == []


def test_where_there_is_no_stack_to_compile_on_a_call_goes_as_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    known = ToolCatalog()
    known.update("s", [tool("t", n=INTEGER)])

    def none_left(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", none_left)
        assert repr(known.fit("t", {"n": 5.0}).arguments) == "{'n': 5.0}"
        assert known.fit_json("t", b'{"n": 5.0}').json == b'{"n": 5.0}'
    assert repr(known.fit("t", {"n": 5.0}).arguments) == "{'n': 5}"


def test_a_key_that_is_no_text_means_no_name() -> None:
    known = ToolCatalog(repairs="all")
    known.update("s", [{"name": "t", "inputSchema": {"properties": {"n": INTEGER}, "additionalProperties": False}}])
    for odd in (1, None, ("n",)):
        assert known.fit("t", {odd: 2.0}).arguments == {odd: 2.0}
        assert known.fit("t", {odd: 2.0, "N": 2.0}).arguments == {odd: 2.0, "n": 2}
        known.render("t", {odd: 2.0})


def test_what_is_told_once_is_told_once_for_all_elements_of_an_argument(caplog: pytest.LogCaptureFixture) -> None:
    known = ToolCatalog()
    rows = {"items": {"properties": {"id": INTEGER}}}
    known.update("s", [tool("t", ids={"items": INTEGER}, rows=rows)])
    for count in (3, 5):
        known.fit("t", {"ids": [2.0**60] * count, "rows": [{"id": 2.0**60}] * count})
    assert [one.getMessage() for one in caplog.records] == [
        f"MCP tool t: argument {name} may have lost digits before it came here." for name in ("ids[0]", "rows[0].id")
    ]


def test_what_is_told_once_is_told_of_each_servers_tool(caplog: pytest.LogCaptureFixture) -> None:
    known = ToolCatalog()
    for server in "xy":
        known.update(server, [tool("t", n=INTEGER, odd={"type": "int"})])
    for server in "xyxy":
        known.fit("t", {"n": 2.0**60}, server)
        known.fit_json("t", b'{"n": 5.0}', server)
    assert [one.getMessage().partition(": ")[2] for one in caplog.records] == [
        "schema at #/properties/odd/type is not usable.",
        "argument n may have lost digits before it came here.",
    ] * 2


def test_of_a_schema_with_very_many_faults_the_first_are_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(log, "_KEPT", 15)
    known = ToolCatalog()
    known.update("s", [tool("t", **{f"n{number}": {"type": "int"} for number in range(20)})])
    for _ in range(3):
        known.fit("t", {})
    assert [one.getMessage() for one in caplog.records] == [
        f"MCP tool t: schema at #/properties/n{number}/type is not usable." for number in range(10)
    ]


def test_what_was_told_is_forgotten_some_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(log, "_KEPT", 2)
    known = ToolCatalog()
    known.update("s", [tool(name, n=INTEGER) for name in "abc"])
    for name in "aabbccaa":
        known.fit(name, {"n": 2.0**60})
    assert [one.args[0] for one in caplog.records if isinstance(one.args, tuple)] == ["a", "b", "c", "a"]


def test_a_page_is_taken_beside_what_is_known() -> None:
    known = ToolCatalog()
    known.add("s", [tool("t", n=TEXT), tool("u", n=INTEGER)])
    known.add("s", [tool("t", n=INTEGER)])
    assert [repr(known.fit(name, {"n": 5.0}, "s").arguments) for name in "tu"] == ["{'n': 5}"] * 2
    with pytest.raises(TypeError, match="a server's id is text"):
        known.add(5, [])  # type: ignore[arg-type]


def test_a_catalog_goes_elsewhere_with_what_it_knows() -> None:
    first = ToolCatalog(repairs=["unquote"], formats=["date"])
    first.update("s", [tool("t", n=INTEGER, day={"type": "string", "format": "date"})])
    first.fit("t", {"n": "5"})
    for known in (pickle.loads(pickle.dumps(first)), copy.deepcopy(first), first):  # noqa: S301 - its own
        assert known.fit("t", {"n": "5"}).arguments == {"n": 5}
        assert known.fit("t", {"day": "x"}).message == "day must be a date, YYYY-MM-DD."
        known.update("s", [])
        assert known.fit("t", {"n": "5"}).arguments == {"n": "5"}
