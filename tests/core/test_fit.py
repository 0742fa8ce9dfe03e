"""What comes out of a fit: from values, from text, with arguments to leave out, at any depth."""

import copy
import json
import math
from typing import Any

import pytest

from argfit.core.check import COUNTED
from argfit.core.choices import WHOLE_NUMBER
from argfit.core.engine import Engine, compile_engine
from argfit.core.fit import PROBLEMS_HELD, Fit, fit_text, fit_value
from argfit.core.problem import missing, other
from argfit.core.spelling import STRIP, Change

INTEGER = {"type": "integer"}
TOOL = {"type": "object", "properties": {"line": INTEGER, "file": {"type": "string"}, "rows": {"items": INTEGER}}}
DEEP = 10_000


def tree(leaf: Any) -> dict[str, Any]:
    """A schema of values of any depth."""
    node = {"anyOf": [leaf, {"type": "array", "items": {"$ref": "#/$defs/T"}}]}
    return {"properties": {"n": {"$ref": "#/$defs/T"}}, "$defs": {"T": node}}


def nested(depth: int, leaf: Any) -> Any:
    for _ in range(depth):
        leaf = [leaf]
    return leaf


# -- from values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"line": 5, "file": "f.go"},
        {"rows": [1, 2], "other": [1.0, {"deep": 2.0}]},
        {"line": "x"},
        {"line": 5.5, "rows": [None]},
        [1.0],
        "text",
        5.0,
        True,
    ],
    ids=str,
)
def test_arguments_that_need_no_change_come_back_as_the_same_object(arguments: Any) -> None:
    fit = fit_value(compile_engine(TOOL), arguments)
    assert fit.arguments is arguments
    assert fit.changes == ()
    assert fit.json is None


def test_the_callers_object_is_not_altered_and_what_is_not_touched_is_shared() -> None:
    sent = {"line": 5.0, "rows": [1.0, 2], "other": {"deep": [1.0]}}
    before = copy.deepcopy(sent)
    fit = fit_value(compile_engine(TOOL), sent)
    assert repr(sent) == repr(before)
    assert repr(fit.arguments) == "{'line': 5, 'rows': [1, 2], 'other': {'deep': [1.0]}}"
    assert fit.arguments["other"] is sent["other"]


def test_the_changes_say_where_by_which_rule_and_from_what_to_what() -> None:
    assert fit_value(compile_engine(TOOL), {"line": 5.0, "rows": [1, 2.0]}).changes == (
        Change(("line",), WHOLE_NUMBER, 5.0, 5),
        Change(("rows", 1), WHOLE_NUMBER, 2.0, 2),
    )


def test_no_arguments_are_an_empty_object() -> None:
    assert fit_value(compile_engine(TOOL), None) == Fit(True, {})
    assert fit_value(compile_engine({"required": ["a"]}), None) == Fit(False, {}, problems=(missing(("a",)),))


@pytest.mark.parametrize("arguments", [[], [{}], "", "{}", 0, 1.5, False, float("nan")], ids=repr)
def test_what_is_no_object_is_no_arguments(arguments: Any) -> None:
    for schema in (TOOL, True, {"type": "array"}):
        fit = fit_value(compile_engine(schema), arguments)
        assert (fit.ok, fit.message) == (False, "arguments must be an object.")


@pytest.mark.parametrize(
    ("value", "at_risk"),
    [
        (5.0, False),
        (2.0**53 - 1, False),
        (-(2.0**53) + 1, False),
        (2.0**53, True),
        (-(2.0**53), True),
        (2.0**53 + 2, True),
        (-(2.0**53) - 2, True),
        (1e18, True),
        (-1e18, True),
    ],
)
def test_a_float_from_2_to_the_53rd_on_is_at_risk_as_a_value_and_never_from_text(value: float, at_risk: bool) -> None:
    for schema in (TOOL, {"properties": {"line": {"enum": [int(value), "a"]}}}):
        engine = compile_engine(schema)
        for found, marked in (
            (fit_value(engine, {"line": value}), at_risk),
            (fit_text(engine, f'{{"line": {value!r}}}'.encode()), False),
            (fit_text(engine, f'{{"line": {int(value)}.0}}'.encode()), False),
        ):
            assert [(change.after, change.at_risk) for change in found.changes] == [(int(value), marked)]


@pytest.mark.parametrize(("count", "more"), [(1, 0), (PROBLEMS_HELD, 0), (PROBLEMS_HELD + 1, 1), (25, 15)])
def test_ten_problems_are_held_and_the_rest_counted(count: int, more: int) -> None:
    fit = fit_value(compile_engine({"required": [f"n{i}" for i in range(count)]}), {})
    assert len(fit.problems) == min(count, 10)
    assert fit.more == more
    assert fit.problems[-1].path == (f"n{min(count, 10) - 1}",)
    assert fit.message.endswith(f"; and {more} more." if more else " is required.")


def test_a_message_is_empty_when_the_arguments_fit() -> None:
    assert fit_value(compile_engine(TOOL), {"line": 5.0}).message == ""


def test_nan_is_a_problem_only_where_the_schema_says_something() -> None:
    number, null, integer = {"type": "number"}, {"type": "null"}, {"type": "integer"}
    names = {"n": {"type": ["number", "null"]}, "u": {"anyOf": [number, null]}, "i": integer, "m": {"const": None}}
    engine = compile_engine({"properties": names})
    assert fit_value(engine, {"n": math.nan}).message == "n is not in an allowed form."
    assert fit_value(engine, {"u": math.inf}).message == "u is not in an allowed form."
    assert fit_value(engine, {"i": math.nan}).message == "i must be a whole number."
    assert fit_value(engine, {"m": math.inf}).message == "m must be null."
    assert fit_value(engine, {"other": math.nan}).ok
    assert fit_value(engine, {"n": None, "m": None}).ok


def test_in_draft_4_a_call_that_is_valid_as_it_came_is_not_broken() -> None:
    schema = {"properties": {"n": {"enum": [5], "not": INTEGER}}}
    sent = {"n": 5.0}
    draft_4 = compile_engine({"$schema": "http://json-schema.org/draft-04/schema#", **schema})
    assert fit_value(draft_4, sent) == Fit(True, sent)
    assert fit_value(draft_4, sent).arguments is sent
    assert not fit_value(compile_engine(schema), sent).ok


# -- from text ----------------------------------------------------------------------------------------


def test_text_that_needs_no_change_comes_back_as_the_same_bytes() -> None:
    for text in (b' {"line":5 , "file":"\\u0061"}\r\n', b'{"line": "x", "n": 1.0}', b"[1.0]", b"null", b"no JSON", b""):
        assert fit_text(compile_engine(TOOL), text).json is text


def test_from_text_the_arguments_hold_plain_json_values_only() -> None:
    text = b'{"line": 5.0000000000000001, "rows": [9007199254740993.0], "x": 9007199254740993.0, "y": %s}' % (
        b"9" * 30_000
    )
    fit = fit_text(compile_engine(TOOL), text)
    assert repr(fit.arguments) == repr(
        {"line": 5.0, "rows": [9007199254740993], "x": 9007199254740992.0, "y": math.inf}
    )
    assert fit.json == text.replace(b"993.0]", b"993]")


def test_from_text_an_integer_too_long_to_be_read_is_an_infinity_by_itself_too() -> None:
    fit = fit_text(compile_engine(TOOL), b'{"x": %s}' % (b"9" * 30_000))
    assert type(fit.arguments["x"]) is float


def test_text_with_a_doubled_key_is_not_judged() -> None:
    engine = compile_engine({**TOOL, "additionalProperties": False}, strip=["z"])
    for text in (b'{"line":"x","line":5.0}', b'{"z":1,"line":5.0,"rows":[{"a":1,"a":2}]}'):
        fit = fit_text(engine, text)
        assert (fit.ok, fit.changes, fit.problems, fit.json) == (True, (), (), text)


def test_text_with_a_doubled_key_that_is_broken_further_on_is_no_json() -> None:
    fit = fit_text(compile_engine(TOOL), b'{"line":1,"line":2')
    assert (fit.ok, fit.arguments, fit.message) == (False, None, "arguments must be an object.")


@pytest.mark.parametrize(
    ("text", "fitted"),
    [
        (b'\xef\xbb\xbf{"line": 5.0}', b'\xef\xbb\xbf{"line": 5}'),
        (b'{"t": "\xff", "line": 5.0}', b'{"t": "\xff", "line": 5}'),
        (b'{"\xff": "\xed\xa0\xbd", "line": 5.0}', b'{"\xff": "\xed\xa0\xbd", "line": 5}'),
        (b'{"t": NaN, "line": 5.0}', b'{"t": NaN, "line": 5}'),
        (b'{"d": ' + b"[" * DEEP + b"]" * DEEP + b', "line": 5.0}',
         b'{"d": ' + b"[" * DEEP + b"]" * DEEP + b', "line": 5}'),
    ],
    ids=["byte-order-mark", "no-utf-8", "mixed", "nan", "deep"],
)  # fmt: skip
def test_what_a_strict_decoder_refuses_keeps_its_bytes_too(text: bytes, fitted: bytes) -> None:
    assert fit_text(compile_engine(TOOL), text).json == fitted


@pytest.mark.parametrize(
    "text",
    [
        b'{"a": 2}',
        b'{"\\ud83d": 2}',
        b'{"\xed\xa0\xbd": 2}',
        b'{"\xff": 2}',
        b'{"\xed\xa0\xbd": 2, "t": "\xff"}',
        b'{"\xed\xa0\xbd\xff": 2}',
        b'{"\xef\xbb\xbfa": 2}',
        b'\xef\xbb\xbf{"\xef\xbb\xbfa": 2, "t": "\xff"}',
    ],
    ids=ascii,
)
def test_an_integer_that_is_to_be_a_float_is_found_by_its_key_however_that_is_written(text: bytes) -> None:
    engine = compile_engine({"additionalProperties": {"anyOf": [{"const": 2.0}, {"type": "string"}]}})
    assert fit_text(engine, text).json == text.replace(b": 2", b": 2.0")


# -- leaving out --------------------------------------------------------------------------------------

STRIPPED: list[tuple[bytes, bytes]] = [
    (b'{"x": 1, "line": 5.0}', b'{"line": 5}'),
    (b'{"line": 5, "x": 1.0, "y": 2}', b'{"line": 5}'),
    (b'{"y": {"x": 1}, "line": 5, "x": [1]}', b'{"line": 5}'),
    (b'{"x": 1}', b"{}"),
    (b'{"line": 5.0}', b'{"line": 5}'),
    (b'{"z": {"x": 1}, "file": "x"}', b'{"z": {"x": 1}, "file": "x"}'),
]


@pytest.mark.parametrize(("text", "left"), STRIPPED, ids=["first", "last", "around", "only", "none", "inner"])
def test_undeclared_names_are_left_out_at_the_top(text: bytes, left: bytes) -> None:
    engine = compile_engine(TOOL, strip=["x", "y", "file"])
    assert fit_text(engine, text).json == left
    fit = fit_value(engine, json.loads(text))
    assert repr(fit.arguments) == repr(json.loads(left))
    gone = [change for change in fit.changes if change.rule == STRIP]
    assert [(change.path, change.after) for change in gone] == [
        ((name,), None) for name in json.loads(text) if name in ("x", "y")
    ]


def test_names_that_the_schema_declares_stay() -> None:
    schema = {
        "properties": {"a": {}},
        "patternProperties": {"^p": {}},
        "allOf": [{"properties": {"b": {}}}],
        "additionalProperties": False,
    }
    fit = fit_value(compile_engine(schema, strip=["a", "b", "p1", "c"]), {"a": 1, "b": 2, "p1": 3, "c": 4})
    assert list(fit.arguments) == ["a", "b", "p1"]
    assert [change.path for change in fit.changes] == [("c",)]


def test_the_callers_object_keeps_what_is_left_out() -> None:
    sent = {"x": 1, "line": 5}
    assert fit_value(compile_engine(TOOL, strip=["x"]), sent).arguments == {"line": 5}
    assert sent == {"x": 1, "line": 5}


def test_names_are_left_out_behind_a_byte_order_mark() -> None:
    fit = fit_text(compile_engine(TOOL, strip=["x"]), b'\xef\xbb\xbf{"x": 1, "line": 5}')
    assert fit.json == b'\xef\xbb\xbf{"line": 5}'


# -- depth --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [50, 300, 1_000, 6_000, DEEP, 100_000])
@pytest.mark.parametrize(
    "schema",
    [
        True,
        TOOL,
        tree(INTEGER),
        {"properties": {"n": INTEGER}},
        {"properties": {"n": {"uniqueItems": True}}},
        {"properties": {"n": {"const": []}}},
        {"properties": {"n": {"not": {"type": "string"}}}},
        {"properties": {"n": {"unevaluatedItems": INTEGER}}},
    ],
    ids=["true", "other", "recursive", "flat", "unique", "const", "not", "unevaluated"],
)
def test_nothing_is_too_deep_to_be_answered(schema: Any, depth: int) -> None:
    engine = compile_engine(schema)
    text = b'{"n": ' + b"[" * depth + b"1.0" + b"]" * depth + b"}"
    for fit in (fit_value(engine, {"n": nested(depth, 1.0)}), fit_text(engine, text)):
        assert fit.ok is (fit.problems == ())


def test_two_deep_values_to_be_compared_are_named_as_a_problem() -> None:
    engine = compile_engine({"properties": {"n": {"uniqueItems": True}}})
    fit = fit_value(engine, {"n": [nested(300, 1), nested(300, 1)]})
    assert fit.problems == (other(()),)


def test_a_deep_call_that_the_judge_takes_is_right() -> None:
    assert is_right_at(2_000, compile_engine(tree(INTEGER)))


def test_a_call_deeper_than_the_judge_may_be_shown_is_named_as_a_problem() -> None:
    assert not is_right_at(6_000, compile_engine(tree(INTEGER)))


def is_right_at(depth: int, engine: Engine) -> bool:
    sent = {"n": nested(depth, 1)}
    fit = fit_value(engine, sent)
    assert fit.arguments is sent
    assert fit.ok or fit.problems == (other(()),)
    return fit.ok


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"properties": {"l": {"items": {"type": "string"}}}}, {"l": [1] * (COUNTED + 5)}),
        ({"additionalProperties": {"type": "string"}}, {f"n{count}": 1 for count in range(COUNTED + 5)}),
    ],
    ids=["list", "object"],
)
def test_of_very_many_problems_no_more_are_counted_than_can_be_at_once(schema: Any, value: Any) -> None:
    fit = fit_value(compile_engine(schema), value)
    assert len(fit.problems) + fit.more == COUNTED
