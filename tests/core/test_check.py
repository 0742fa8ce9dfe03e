"""Naming what is wrong. The words of each keyword are in tests/cases/words.json and unions.json."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.generated import arguments, outlines

from argfit import Fitter
from argfit.core.check import SUGGESTIONS, Walk
from argfit.core.engine import compile_engine

INTEGER = {"type": "integer"}
NULLABLE = {"type": ["integer", "null"]}
SENT = "what-the-caller-sent"


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def named(schema: Any, value: Any) -> list[str]:
    engine = compile_engine(schema)
    return [str(problem) for problem in Walk(engine.shapes, engine.types).problems(("#",), value, ())]


def test_all_problems_are_named_at_once_in_the_schemas_order() -> None:
    schema = closed(b=INTEGER, a={"items": INTEGER}, c={"type": "string"}) | {"required": ["x", "c"]}
    assert named(schema, {"zz": 1, "a": ["p", 1, "q"], "yy": 2, "b": "r"}) == [
        "b must be a whole number",
        "a[0] must be a whole number",
        "a[2] must be a whole number",
        "c is required",
        "x is required",
        "zz is not an argument of this tool",
        "yy is not an argument of this tool",
    ]


def test_a_value_of_the_wrong_type_has_one_problem() -> None:
    asked = {"type": "integer", "minimum": 5, "multipleOf": 2, "not": {"type": "string"}, "anyOf": [{"minimum": 9}]}
    assert named({"properties": {"n": asked}}, {"n": "x"}) == ["n must be a whole number"]


def test_a_value_of_the_right_type_has_all_of_its_problems() -> None:
    asked = {"type": "string", "minLength": 5, "pattern": "^a", "not": {"const": "b"}}
    assert named({"properties": {"n": asked}}, {"n": "b"}) == [
        "n must be at least 5 characters",
        "n must match the pattern ^a",
        "n is not in an allowed form",
    ]


def test_one_problem_found_in_two_ways_is_named_once() -> None:
    twice = {"allOf": [{"minLength": 2}, {"minLength": 2}], "anyOf": [{"minLength": 2}]}
    schema = {"allOf": [closed(n=INTEGER, t=twice), closed(n=INTEGER, t=twice)]}
    assert named(schema, {"n": "x", "m": 1, "t": "x"}) == [
        "n must be a whole number",
        "t must be at least 2 characters",
        "m is not an argument of this tool",
    ]


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        ({"properties": {"n": NULLABLE}}, {"n": "x"}, "n must be a whole number"),
        ({"properties": {"n": NULLABLE}, "required": ["n"]}, {"n": "x"}, "n must be a whole number or null"),
        ({"required": ["n"], "additionalProperties": NULLABLE}, {"n": "x"}, "n must be a whole number or null"),
        ({"additionalProperties": NULLABLE}, {"n": "x"}, "n must be a whole number"),
        ({"patternProperties": {"^n": NULLABLE}}, {"n": "x"}, "n must be a whole number"),
        ({"properties": {"l": {"items": NULLABLE}}}, {"l": ["x"]}, "l[0] must be a whole number or null"),
        ({"properties": {"l": {"prefixItems": [NULLABLE]}}}, {"l": ["x"]}, "l[0] must be a whole number or null"),
        ({"properties": {"n": {"anyOf": [NULLABLE, {"type": "array"}]}}}, {"n": "x"},
         "n must be a whole number or a list"),
        ({"properties": {"n": {"anyOf": [{"allOf": [NULLABLE, {"minimum": 3}]}]}}}, {"n": 1},
         "n must be a whole number of at least 3"),
        ({"properties": {"n": {"type": "null"}}}, {"n": "x"}, "n must be null"),
    ],
    ids=["optional", "required", "required-undeclared", "map-entry", "pattern", "item", "prefix-item", "union",
         "branch", "nothing-else"],
)  # fmt: skip
def test_null_is_named_only_where_a_value_is_owed(schema: Any, value: Any, words: str) -> None:
    assert named(schema, value) == [words]


def test_an_argument_that_is_declared_and_may_not_be_sent_is_not_unknown() -> None:
    assert named(closed(n=False), {"n": 1}) == ["n must not be sent"]


def test_an_argument_that_is_required_and_nowhere_declared_is_judged_by_what_closes_the_object() -> None:
    schema = {"required": ["n"], "unevaluatedProperties": INTEGER}
    assert named(schema, {"n": "x"}) == ["n must be a whole number"]


def test_what_an_inner_unevaluated_keyword_does_not_see_is_named() -> None:
    schema = {"properties": {"n": {}}, "allOf": [{"unevaluatedProperties": INTEGER}]}
    assert named(schema, {"n": "x"}) == ["n must be a whole number"]


def test_what_any_subschema_that_holds_looks_at_is_not_unevaluated() -> None:
    schema = {
        "$ref": "#/$defs/a",
        "allOf": [{"properties": {"b": {}}}],
        "anyOf": [{"properties": {"c": {}}, "required": ["c"]}, {"properties": {"x": {}}, "required": ["x"]}],
        "if": {"properties": {"d": {}}, "required": ["d"]},
        "then": {"properties": {"e": {}}},
        "else": {"properties": {"x": {}}},
        "dependentSchemas": {"a": {"properties": {"f": {}}}, "x": {"properties": {"x": {}}}},
        "patternProperties": {"^g": {}},
        "unevaluatedProperties": False,
        "$defs": {"a": {"properties": {"a": {}}}},
    }
    assert named(schema, dict.fromkeys("abcdefgh", 1)) == ["h is not an argument of this tool"]
    assert named(schema, {"c": 1, "f": 1}) == ["f is not an argument of this tool"]


def test_a_declared_name_that_propertynames_refuses_is_not_unknown() -> None:
    schema = {"properties": {"limit": {}}, "propertyNames": {"maxLength": 3}}
    assert named(schema, {"limit": 1, "limits": 2}) == [
        "limit is not in an allowed form",
        "limits is not an argument of this tool",
    ]


def test_suggestions_end_where_a_fit_can_no_longer_show_them() -> None:
    near = {f"limit_nam{letter}": 1 for letter in "abcdfghijklmnopqrstuvwxyz"}
    suggested = [("did you mean limit_name?" in words) for words in named(closed(limit_name=INTEGER), near)]
    assert suggested == [True] * SUGGESTIONS + [False] * (len(near) - SUGGESTIONS)


@pytest.mark.parametrize(
    "asked",
    [
        INTEGER,
        {"enum": ["a", "b"]},
        {"const": "a"},
        {"type": "string", "maxLength": 3},
        {"type": "string", "pattern": "^a"},
        {"not": {}},
        {"anyOf": [INTEGER, {"const": "a"}]},
        {"oneOf": [{"maxLength": 99}, {"minLength": 1}]},
        False,
    ],
    ids=str,
)
def test_the_words_never_hold_a_value_the_caller_sent(asked: Any) -> None:
    schema = {"properties": {"n": asked, "l": {"items": asked}, "o": {"properties": {"n": asked}}}}
    for value in (SENT, [SENT], {"deep": SENT}):
        message = Fitter(schema).fit({"n": value, "l": [value], "o": {"n": value}}).message
        assert message.startswith("n ")
        assert SENT not in message


@st.composite
def judged(draw: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    schema = draw(outlines())
    return schema, draw(arguments(schema))


@given(judged())
def test_a_walk_finds_problems_if_and_only_if_the_judge_refuses(drawn: tuple[dict[str, Any], dict[str, Any]]) -> None:
    schema, value = drawn
    engine = compile_engine(schema)
    assert bool(named(schema, value)) is not engine.judge.accepts(value)
