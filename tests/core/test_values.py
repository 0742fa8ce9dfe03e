from datetime import date
from decimal import Decimal
from enum import IntEnum
from typing import Any

import pytest

from argfit.core.values import is_json, is_large, is_number, is_of_type, key_of, same, type_of, whole

NAN, INFINITY = float("nan"), float("inf")


class Colour(IntEnum):
    RED = 1


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "boolean"),
        (0, "integer"),
        (0.0, "number"),
        (Decimal("0.1"), "number"),
        ("", "string"),
        ([], "array"),
        ((), "array"),
        ({}, "object"),
        (Colour.RED, "integer"),
        (Text("a"), "string"),
    ],
)
def test_a_value_has_one_json_type(value: Any, name: str) -> None:
    assert type_of(value) == name


@pytest.mark.parametrize(
    ("value", "integer"),
    [
        (5.0, 5),
        (-7.0, -7),
        (-0.0, 0),
        (1e3, 1000),
        (2.0**53, 2**53),
        (-(2.0**63), -(2**63)),
        (Decimal("9007199254740993.0"), 9007199254740993),
        (Decimal("9223372036854775807.0"), 2**63 - 1),
        (Decimal("1e3"), 1000),
    ],
)
def test_a_number_without_a_fraction_spells_an_integer(value: Any, integer: int) -> None:
    assert (whole(value), type(whole(value))) == (integer, int)


@pytest.mark.parametrize(
    "value",
    [
        5.5,
        1e20,
        2.0**63,
        NAN,
        INFINITY,
        -INFINITY,
        Decimal("5.0000000000000001"),
        Decimal("1e-400"),
        Decimal("9223372036854775808.0"),
        Decimal("-9223372036854775809.0"),
        Decimal("1e999999999"),  # an integer of a billion digits, if it were made
    ],
    ids=str,
)
def test_a_fraction_and_what_is_outside_64_bits_spell_none(value: Any) -> None:
    assert whole(value) is None


@pytest.mark.parametrize(
    ("value", "types", "draft_4_types"),
    [
        (5, {"integer", "number"}, {"integer", "number"}),
        (5.0, {"integer", "number"}, {"number"}),
        (1e20, {"integer", "number"}, {"number"}),
        (5.5, {"number"}, {"number"}),
        (Decimal("9007199254740993.0"), {"integer", "number"}, {"number"}),
        (Decimal("5.0000000000000001"), {"number"}, {"number"}),
        (True, {"boolean"}, {"boolean"}),
        (NAN, set(), set()),
        (INFINITY, set(), set()),
        ("5", {"string"}, {"string"}),
        (None, {"null"}, {"null"}),
    ],
    ids=str,
)
def test_a_whole_float_is_an_integer_but_in_draft_4(value: Any, types: set[str], draft_4_types: set[str]) -> None:
    names = ("null", "boolean", "integer", "number", "string", "array", "object")
    assert {name for name in names if is_of_type(value, name, whole_float_is_integer=True)} == types
    assert {name for name in names if is_of_type(value, name, whole_float_is_integer=False)} == draft_4_types


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (0.0, -0.0),
        (Decimal("9007199254740993.0"), 9007199254740993),
        ([1, {"a": 2.0}], [1.0, {"a": 2}]),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1.0}),
        (True, True),
        (None, None),
        ("a", "a"),
    ],
    ids=str,
)
def test_equal_values_are_the_same_whatever_their_spelling(one: Any, other: Any) -> None:
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (False, 0.0),
        (None, False),
        ("1", 1),
        ([1], [True]),
        ([1], [1, 1]),
        ({"a": 1}, {"a": 1, "b": 1}),
        ({"a": 1}, {"a": True}),
        ([], {}),
        (5, Decimal("5.0000000000000001")),
        (9007199254740992.0, 9007199254740993),
        (NAN, NAN),
    ],
    ids=str,
)
def test_values_that_differ_are_not_the_same(one: Any, other: Any) -> None:
    assert not same(one, other)
    assert not same(other, one)


def test_two_scalars_share_a_key_if_and_only_if_they_are_the_same_value() -> None:
    scalars = [None, True, False, 0, 1, 0.0, 1.0, "0", "1", "", "boolean", Decimal("1.0"), 0.5]
    assert all((key_of(one) == key_of(other)) is same(one, other) for one in scalars for other in scalars)


@pytest.mark.parametrize(
    ("value", "large"),
    [
        ([0] * 6, True),
        ([0] * 5, False),
        ({"a": [1, 2], "b": {"c": [3]}}, True),
        ("a long text", False),
        (None, False),
        ([[[[[0] * 6]]]], False),  # in more levels than it may have
    ],
)
def test_what_is_large_has_many_parts_in_few_levels(value: Any, large: bool) -> None:
    assert is_large(value, 5, 4) is large


def test_a_container_has_no_key() -> None:
    assert [key_of([]), key_of({})] == [None, None]


@pytest.mark.parametrize(
    ("value", "number"), [(1, True), (1.5, True), (Decimal(1), True), (True, False), ("1", False), (None, False)]
)
def test_true_is_no_number(value: Any, number: bool) -> None:
    assert is_number(value) is number


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        (None, True),
        ({"a": [1, 1.5, True, None, {"b": []}]}, True),
        ({Text("a"): Text("b")}, True),
        ([[[date(2026, 1, 1)]]], False),
        ({"a": {1: "b"}}, False),
        ({"a": (1, 2)}, False),
        ({"a": b"x"}, False),
        ([Decimal("1.5")], False),
    ],
    ids=str,
)
def test_what_a_reader_of_json_gives_is_told_from_what_it_does_not(value: Any, *, is_one: bool) -> None:
    assert is_json(value) is is_one
