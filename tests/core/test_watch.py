"""The quick way never decides otherwise than the close look.

Whatever it says is held against `spelling.changes`: `quiet` only where there is nothing to change, `respell` as
the close look would, or not at all.
"""

from collections import OrderedDict
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.generated import INTEGER, NUMBER, SPELLINGS, arguments, outlines

from argfit.core.engine import Engine, compile_engine
from argfit.core.fit import fit_value
from argfit.core.quick import CLOSER, LookCloser
from argfit.core.spelling import Change, apply

ANY: dict[str, Any] = {}
NULLABLE = {"type": ["integer", "null"]}
LISTED = {"enum": [1, 2.0, {"a": 1}, [1, 2.0]]}

# Each with two places to fill.
PLACES: dict[str, Any] = {
    "properties": lambda x, y: {"properties": {"n": x, "m": y}},
    "additional": lambda x, y: {"properties": {"n": x}, "additionalProperties": y},
    "pattern": lambda x, y: {"patternProperties": {"^n": x}, "additionalProperties": y},
    "unevaluated": lambda x, y: {"properties": {"n": x}, "unevaluatedProperties": y},
    "items": lambda x, y: {"properties": {"n": {"items": x, "contains": y}}},
    "prefix": lambda x, y: {"properties": {"n": {"prefixItems": [x], "items": y}}},
    "two prefixes": lambda x, y: {"properties": {"n": {"prefixItems": [x, y]}}},
    "unevaluated items": lambda x, y: {"properties": {"n": {"prefixItems": [x], "unevaluatedItems": y}}},
    "two prefixes of two": lambda x, y: {"properties": {"n": {"prefixItems": [x], "allOf": [{"items": y}]}}},
    "allOf": lambda x, y: {"properties": {"n": {"allOf": [x, y]}}},
    "anyOf": lambda x, y: {"properties": {"n": {"anyOf": [x, y]}}},
    "oneOf": lambda x, y: {"properties": {"n": {"oneOf": [x, {"type": "array", "items": y}]}}},
    "object or list": lambda x, y: {"properties": {"n": {"anyOf": [{"properties": {"a": x}}, {"items": y}]}}},
    "if": lambda x, y: {"properties": {"n": {"if": x, "then": y, "else": INTEGER}}},
    "dependent": lambda x, y: {"properties": {"n": x}, "dependentSchemas": {"n": {"properties": {"m": y}}}},
    "reference": lambda x, y: {"properties": {"n": {"$ref": "#/$defs/a"}, "m": y}, "$defs": {"a": x}},
    "recursion": lambda x, y: {"properties": {"n": x, "m": {"anyOf": [{"$ref": "#"}, y]}}},
}
FILLED = (
    INTEGER,
    NUMBER,
    ANY,
    NULLABLE,
    LISTED,
    {"const": {"a": 1}},
    {"const": [1.0]},
    {"type": "array", "items": INTEGER},
)
SENT = (1.0, 2, 0.5, "x", None, float("nan"), {"a": 1.0}, {"n": 1.0, "m": 2.0}, [1.0], [1, 2], [1.0, 2.0, 3.0], [[1.0]])


def closely(engine: Engine, value: Any) -> list[Change]:
    return engine.respellings(value)


def quickly(engine: Engine, value: Any) -> list[Change] | None:
    """What the quick way changes; None where it asks for a close look."""
    made: list[Change] = []
    if engine.watch is None:
        return made
    try:
        respelled = engine.watch.respell(value, (), made)
    except LookCloser:
        return None
    assert repr(respelled) == repr(apply(value, made))
    assert (respelled is value) is (made == [])
    return made


def by_path(made: list[Change]) -> dict[Any, tuple[str, str]]:
    return {change.path: (change.rule, repr(change.after)) for change in made}


def disagreements(schema: Any, values: Iterator[Any]) -> Iterator[tuple[Any, str]]:
    engines = [compile_engine(schema), compile_engine(schema, repairs=["plain-number"])]
    for value, engine in product(values, engines):
        before = repr(value)
        wanted = by_path(closely(engine, value))
        quick = quickly(engine, value)
        if wanted and (engine.watch is None or engine.watch.quiet(value)):
            yield value, "a change is hidden"
        if quick is not None and by_path(quick) != wanted:
            yield value, "another change is made"
        if repr(value) != before:
            yield value, "the value is altered"


@pytest.mark.parametrize("place", PLACES)
def test_the_quick_way_agrees_with_the_close_look_at_every_kind_of_place(place: str) -> None:
    found = [
        (schema, *wrong)
        for schema in (PLACES[place](x, y) for x, y in product(FILLED, FILLED))
        for wrong in disagreements(schema, ({"n": n, "m": 3.0} for n in SENT))
    ]
    assert found == []


@st.composite
def spelled(draw: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    schema = draw(outlines(SPELLINGS))
    return schema, draw(arguments(schema))


@given(spelled())
def test_the_quick_way_agrees_with_the_close_look(drawn: tuple[dict[str, Any], dict[str, Any]]) -> None:
    schema, value = drawn
    assert list(disagreements(schema, iter([value]))) == []


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"properties": {"n": INTEGER}}, {"n": 5, "m": 1.5}),
        ({"properties": {"n": NUMBER}}, {"n": 5.0}),
        ({"properties": {"l": {"items": INTEGER}}}, {"l": [1, 2, "x"]}),
        ({"properties": {"l": {"prefixItems": [NUMBER], "items": INTEGER}}}, {"l": [1.0, 2]}),
        ({"properties": {"n": {"anyOf": [INTEGER, {"type": "null"}]}}}, {"n": None}),
        ({"properties": {"n": INTEGER}, "additionalProperties": INTEGER}, {"n": 1, "m": True}),
    ],
    ids=str,
)
def test_a_call_that_is_spelled_right_is_quiet(schema: Any, value: Any) -> None:
    watch = compile_engine(schema).watch
    assert watch is None or watch.quiet(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"n": INTEGER, "l": {"items": NULLABLE}}},
        {"additionalProperties": {"properties": {"n": INTEGER}}},
        {"properties": {"n": {"anyOf": [INTEGER, {"type": "string"}]}, "l": {"prefixItems": [NUMBER, INTEGER]}}},
        {"properties": {"n": {"allOf": [{"$ref": "#/$defs/N"}]}}, "$defs": {"N": INTEGER}},
    ],
    ids=["members", "map", "union", "reference"],
)
def test_plain_wishes_are_met_without_a_close_look(schema: Any) -> None:
    value = {"n": 1.0, "l": [1.0, 2.0], "m": {"n": 3.0}}
    if "additionalProperties" in schema:
        value = {"m": {"n": 3.0}}
    engine = compile_engine(schema)
    quick = quickly(engine, value)
    assert quick
    assert by_path(quick) == by_path(closely(engine, value))


def test_a_plan_that_asks_for_no_spelling_has_no_watch() -> None:
    assert compile_engine({"properties": {"n": NUMBER, "m": {"enum": ["a"]}}, "required": ["n"]}).watch is None


class Share(float):
    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "fitted"),
    [
        (OrderedDict(n=5.0), {"n": 5}),
        ({"n": Share(5.0)}, {"n": 5}),
        ({"l": [Share(5.0)]}, {"l": [5]}),
        ({"o": OrderedDict(n=5.0)}, {"o": {"n": 5}}),
    ],
    ids=["root", "number", "item", "member"],
)
def test_what_is_more_than_a_plain_json_value_is_looked_at_closely(value: Any, fitted: Any) -> None:
    inner = {"properties": {"n": INTEGER}}
    engine = compile_engine({**inner, "properties": {"n": INTEGER, "l": {"items": INTEGER}, "o": inner}})
    fit = fit_value(engine, value)
    assert repr(fit.arguments) == repr(fitted)
    assert len(fit.changes) == 1


def test_overlapping_recursion_is_not_worked_out_beforehand() -> None:
    last = 14  # from d0, each `a` may lead on or not: 2 to the power of 14 sets of places
    definitions: dict[str, Any] = {f"d{i}": both_to(f"d{i + 1}") for i in range(1, last)}
    definitions["d0"] = {"properties": {"a": {"allOf": [to("d0"), to("d1")]}, "b": to("d0")}}
    engine = compile_engine({**to("d0"), "$defs": {**definitions, f"d{last}": {"properties": {"n": INTEGER}}}})
    assert engine.watch is CLOSER
    value: Any = {"n": 1.0}
    for _ in range(last):
        value = {"a": value}
    assert len(fit_value(engine, value).changes) == 1


def to(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def both_to(name: str) -> dict[str, Any]:
    return {"properties": {"a": to(name), "b": to(name)}}
