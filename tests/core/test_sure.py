from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.generated import JUDGEMENTS, arguments, outlines

from argfit.core.engine import Engine, compile_engine

INTEGER, NUMBER, TEXT = {"type": "integer"}, {"type": "number"}, {"type": "string"}
OPTIONAL = {"anyOf": [INTEGER, {"type": "null"}]}
LEAVES = (
    *{str(leaf): leaf for leaf in JUDGEMENTS}.values(),
    {"type": ["string", "null"]},
    {"type": ["integer", "number"]},
    {"enum": ["a", ""]},
    {"type": "integer", "minimum": 1, "maximum": 2},
    {"type": "integer", "exclusiveMinimum": 1},
    {"type": "array", "items": {"type": "string"}},
    {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False},
    {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    {"anyOf": [{"properties": {"n": INTEGER}}, {"properties": {"n": NUMBER}}]},
)


def is_right_looked_at_closely(engine: Engine, value: Any) -> bool:
    return engine.judge.accepts(value) and not engine.respellings(value)


@st.composite
def drawn(draw: Any) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    schema = draw(outlines(LEAVES))
    return schema, draw(arguments(schema)), draw(st.sampled_from([[], ["plain-number"]]))


@given(drawn())
def test_what_is_sure_is_valid_and_spelled_right(case: tuple[dict[str, Any], dict[str, Any], list[str]]) -> None:
    schema, value, repairs = case
    engine = compile_engine(schema, repairs=repairs)
    assert not engine.is_sure(value) or is_right_looked_at_closely(engine, value)


VALUES: tuple[Any, ...] = (
    *(1, 2, 3, 5, 5.0, 1.5, float("inf"), True, None, "a", "", "x"),
    *([], ["a"], [1], [1.0], {}, {"n": 1}, {"n": 1.0}, {"m": 1}),
)
SENT = [{name: one} for one in VALUES for name in ("n", "m")] + [{"n": [one]} for one in VALUES]


@pytest.mark.parametrize("leaf", LEAVES, ids=str)
def test_what_is_sure_of_two_leaves_is_valid_and_spelled_right(leaf: Any) -> None:
    for beside in LEAVES:
        places: tuple[Any, ...] = (
            {"properties": {"n": leaf, "m": beside}},
            {"properties": {"n": {"anyOf": [leaf, beside]}}, "required": ["n"]},
            {"properties": {"n": leaf}, "additionalProperties": beside},
            {"properties": {"n": {"items": leaf}, "m": {"$ref": "#/$defs/d"}}, "$defs": {"d": beside}},
        )
        for place, repairs in product(places, ([], ["plain-number"])):
            engine = compile_engine(place, repairs=repairs)
            assert [one for one in SENT if engine.is_sure(one) and not is_right_looked_at_closely(engine, one)] == []


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (
            {"properties": {"n": INTEGER, "m": NUMBER, "s": TEXT, "b": {"type": "boolean"}}},
            {"n": 5, "m": 1.5, "s": "x"},
        ),
        ({"properties": {"n": OPTIONAL}, "required": ["n"], "additionalProperties": False}, {"n": None}),
        ({"properties": {"l": {"type": "array", "items": TEXT}}}, {"l": ["a", "b"]}),
        ({"properties": {"e": {"enum": ["a", "b"]}, "c": {"const": "x"}}}, {"e": "b", "c": "x"}),
        ({"properties": {"n": {"type": "integer", "minimum": 0, "exclusiveMaximum": 10}}}, {"n": 9}),
        ({"properties": {"o": {"$ref": "#/$defs/o"}}, "$defs": {"o": {"properties": {"n": INTEGER}}}}, {"o": {"n": 1}}),
        ({"properties": {"p": {"type": "string", "pattern": "^a"}, "n": INTEGER}}, {"n": 1}),
        ({"title": "t", "description": "d", "properties": {"n": {**INTEGER, "default": 5, "title": "N"}}}, {"n": 2}),
    ],
    ids=str,
)
def test_plain_calls_are_sure(schema: Any, value: Any) -> None:
    assert compile_engine({"type": "object", **schema}).is_sure(value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"properties": {"p": {"type": "string", "pattern": "^a"}}}, {"p": "abc"}),
        ({"properties": {"n": {"anyOf": [INTEGER, NUMBER]}}}, {"n": 5.0}),
        ({"properties": {"n": {"type": "integer", "minimum": 2**60}}}, {"n": 2**61}),
        ({"allOf": [{"properties": {"n": INTEGER}}]}, {"n": 5}),
        (True, "text"),
        ({"anyOf": [{"type": "string"}, {"type": "object"}]}, "text"),
        ({"$ref": "#/$defs/t", "$defs": {"t": {"type": "string"}}}, "text"),
        ({"enum": ["text"]}, "text"),
    ],
    ids=str,
)
def test_what_asks_for_more_is_left_to_the_judge(schema: Any, value: Any) -> None:
    assert not compile_engine(schema).is_sure(value)


def test_names_to_leave_out_are_looked_for() -> None:
    engine = compile_engine({"properties": {"n": INTEGER}}, strip=["x"])
    assert not engine.is_sure({"n": 1})
    assert not engine.is_right({"n": 1, "x": 2})
