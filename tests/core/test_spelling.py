"""What the rule changes, and above all what it leaves alone. Every depth is in tests/cases/depths.json."""

from decimal import Decimal
from typing import Any

import pytest

from argfit.core.check import Walk
from argfit.core.choices import WHOLE_NUMBER
from argfit.core.engine import compile_engine
from argfit.core.spelling import STRIP, Change, apply, at_path, changes, respelled

INTEGER, NUMBER, TEXT = {"type": "integer"}, {"type": "number"}, {"type": "string"}


def spelled(asked: Any, value: Any, **beside: Any) -> Any:
    """The value as the exact rule spells it, where `asked` looks at it."""
    engine = compile_engine({"properties": {"n": asked}, **beside})
    walk = Walk(engine.shapes, engine.types_for_spelling)
    return apply({"n": value}, changes(walk, {"n": value}))["n"]


@pytest.mark.parametrize(
    ("asked", "before", "after"),
    [
        (INTEGER, 5.0, 5),
        (INTEGER, 1e3, 1000),
        (INTEGER, -0.0, 0),
        (INTEGER, -(2.0**63), -(2**63)),
        (INTEGER, Decimal("9007199254740993.0"), 9007199254740993),
        ({"type": ["integer", "null"]}, 5.0, 5),
        ({"enum": [1, 2]}, 2.0, 2),
        ({"const": 2}, 2.0, 2),
        ({"const": 2.0}, 2, 2.0),
        ({"enum": ["a", 2]}, 2.0, 2),
        ({"const": {"a": [1, 2.0]}}, {"a": [1.0, 2]}, {"a": [1, 2.0]}),
        ({"enum": [{"a": 1.0}, {"a": 2}]}, {"a": 2.0}, {"a": 2}),
        ({"type": "number", "const": 2}, 2.0, 2),
        ({"type": "integer", "const": 2.0}, 2, 2),
        ({"type": "integer", "const": 2.0}, 2.0, 2),
        ({"type": "integer", "const": 10**20}, 1e20, 10**20),
        ({"allOf": [NUMBER, INTEGER]}, 5.0, 5),
        ({"allOf": [{"const": 5.0}, INTEGER]}, 5.0, 5),
        ({"const": 5.0, "anyOf": [INTEGER, TEXT]}, 5.0, 5),
        ({"anyOf": [INTEGER, TEXT]}, 5.0, 5),
        ({"anyOf": [INTEGER, {"const": 5}]}, 5.0, 5),
        ({"anyOf": [{"type": "integer", "minimum": 9}, TEXT]}, 5.0, 5),
        ({"type": "integer", "minimum": 9}, 5.0, 5),
    ],
    ids=str,
)
def test_a_number_is_spelled_as_the_schema_wants_it(asked: Any, before: Any, after: Any) -> None:
    assert repr(spelled(asked, before)) == repr(after)


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        (INTEGER, 5),
        (INTEGER, 5.5),
        (INTEGER, 1e20),
        (INTEGER, 2.0**63),
        (INTEGER, float("inf")),
        (INTEGER, True),
        (INTEGER, "5.0"),
        (INTEGER, None),
        (INTEGER, [5.0]),
        (INTEGER, {"a": 5.0}),
        (INTEGER, Decimal("5.0000000000000001")),
        (NUMBER, 1.0),
        (NUMBER, 1),
        (TEXT, "1.0"),
        ({}, 5.0),
        (True, 5.0),
        ({"type": ["integer", "number"]}, 5.0),
        ({"minimum": 1}, 5.0),
        ({"multipleOf": 1}, 5.0),
        ({"enum": [1, True]}, True),
        ({"enum": [1, 2]}, 3.0),
        ({"type": "integer", "const": 1e20}, 10**20),
        ({"enum": [5.0, 5]}, 5.0),
        ({"enum": [5.0, 5]}, 5),
        ({"const": [1]}, [1.0, 2.0]),
        ({"const": 9007199254740993}, 9007199254740992.0),
        ({"not": INTEGER}, 5.0),
        ({"if": INTEGER, "then": {"minimum": 0}}, 5.0),
        ({"contains": INTEGER}, [5.0]),
        ({"anyOf": [INTEGER, NUMBER]}, 5.0),
        ({"anyOf": [{"const": 5}, NUMBER]}, 5.0),
        ({"anyOf": [INTEGER, {}]}, 5.0),
        ({"anyOf": [{"type": "integer", "minimum": 9}, {"type": "number", "minimum": 9}]}, 5.0),
        ({"anyOf": [{"type": "integer", "minimum": 9}, {"type": "integer", "minimum": 8}]}, 5.0),
    ],
    ids=str,
)
def test_what_is_not_asked_for_is_left_alone(asked: Any, value: Any) -> None:
    sent = {"n": value}
    engine = compile_engine({"properties": {"n": asked}})
    assert changes(Walk(engine.shapes, engine.types_for_spelling), sent) == []


def test_changes_are_told_in_the_values_order_with_before_and_after() -> None:
    engine = compile_engine({"properties": {"a": INTEGER, "b": {"items": INTEGER}}})
    walk = Walk(engine.shapes, engine.types_for_spelling)
    assert changes(walk, {"b": [1.0, 2, 3.0], "a": 4.0}) == [
        Change(("b", 0), WHOLE_NUMBER, 1.0, 1),
        Change(("b", 2), WHOLE_NUMBER, 3.0, 3),
        Change(("a",), WHOLE_NUMBER, 4.0, 4),
    ]


def test_changes_are_applied_to_a_copy_that_shares_what_they_do_not_touch() -> None:
    untouched = {"deep": [1.0]}
    value = {"a": [{"n": 1.0, "m": 2.0}, untouched], "b": untouched, "gone": 1}
    before = repr(value)
    made = [Change(("a", 0, "n"), WHOLE_NUMBER, 1.0, 1), Change(("gone",), STRIP, 1, None)]
    fitted = apply(value, made)
    assert fitted == {"a": [{"n": 1, "m": 2.0}, untouched], "b": untouched}
    assert fitted["a"][1] is fitted["b"] is untouched
    assert repr(value) == before


def test_without_changes_the_value_is_the_same_object() -> None:
    value = {"a": [1.0]}
    assert apply(value, []) is value


def test_a_part_is_found_by_its_path() -> None:
    assert at_path({"a": [{"b": 1}]}, ("a", 0, "b")) == 1


def test_the_quick_spelling_is_the_same_rule() -> None:
    out: list[Change] = []
    assert [repr(respelled(value, ("n",), out)) for value in (5.0, 5.5, 1e20)] == ["5", "5.5", "1e+20"]
    assert out == [Change(("n",), WHOLE_NUMBER, 5.0, 5)]
