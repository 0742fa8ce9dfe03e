from collections import OrderedDict
from enum import IntEnum
from types import MappingProxyType
from typing import Any

import pytest

from argfit.core.judge import DEEPEST, Judge, ask, meets, plain, too_deep
from argfit.core.schema import read
from argfit.core.validator import validator


class Level(IntEnum):
    LOW = 1


class Share(float):
    __slots__ = ()


def nested(depth: int, *, as_objects: bool = False) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"n": value} if as_objects else [value]
    return value


def test_a_value_is_judged_whole_and_at_one_location() -> None:
    judge = Judge(read({"properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}))
    assert [judge.accepts(value) for value in ({"n": 1}, {"n": 0}, {})] == [True, False, False]
    assert [judge.accepts_at("#/properties/n", value) for value in (1, 0, "x")] == [True, False, False]


@pytest.mark.parametrize(
    ("schema", "location"),
    [
        ({"properties": {"a b/c~d%25é": {"type": "integer"}}}, "#/properties/a b~1c~0d%25é"),
        ({"$id": "https://example.com/tool", "$defs": {"n": {"type": "integer"}}}, "#/$defs/n"),
        ({"$id": "tool.json", "$defs": {"n": {"type": "integer"}}}, "#/$defs/n"),
        ({"$id": "a b", "$defs": {"n": {"type": "integer"}}}, "#/$defs/n"),
        ({"$id": "#", "$defs": {"n": {"type": "integer"}}}, "#/$defs/n"),
        ({"$defs": {"in": {"$id": "in", "not": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}}},
         "#/$defs/in/$defs/n"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"n": {"type": "integer"}}},
         "#/definitions/n"),
    ],
    ids=["escaped", "id", "relative-id", "odd-id", "empty-id", "embedded", "draft-07"],
)  # fmt: skip
def test_a_location_is_judged_whatever_its_name_and_whatever_the_schema_is_called(schema: Any, location: str) -> None:
    judge = Judge(read(schema))
    assert [judge.accepts_at(location, value) for value in (5, "x")] == [True, False]


@pytest.mark.parametrize(
    ("keyword", "argument", "right", "wrong"),
    [
        ("pattern", "^[\\p{L}]+$", "Größe", "1"),
        ("pattern", "a(?=b)", "ab", "ac"),
        ("multipleOf", 0.01, 0.07, 0.075),
        ("multipleOf", 3, 6.0, 7),
        ("uniqueItems", True, [1, True, "1"], [1, 1.0]),
    ],
)
def test_a_keyword_that_needs_no_other_is_judged_alone(keyword: str, argument: Any, right: Any, wrong: Any) -> None:
    assert meets(keyword, argument, right)
    assert not meets(keyword, argument, wrong)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Level.LOW, 1),
        (Share(0.5), 0.5),
        ({1: "a"}, {"1": "a"}),
        (OrderedDict(a=(1, 2)), {"a": [1, 2]}),
        (MappingProxyType({"a": True}), {"a": True}),
        ([None, "é"], [None, "é"]),
    ],
    ids=str,
)
def test_what_only_stands_for_a_json_value_is_shown_as_one(value: Any, shown: Any) -> None:
    assert repr(plain(value)) == repr(shown)


def test_lone_surrogates_stay_apart() -> None:
    assert len({plain(text) for text in ("\ud800", "\ud801", "\udfff", "?", "\ufffd")}) == 5
    assert not meets("uniqueItems", True, ["\ud800", "\ud800"])
    assert meets("uniqueItems", True, ["\ud800", "\ud801"])


def test_a_key_that_is_no_utf_8_can_be_asked_about() -> None:
    required = validator({"required": ["n"], "additionalProperties": {"type": "integer"}}).is_valid
    assert ask(required, {"n": 1, "\udcff": Level.LOW})
    assert not ask(required, {"n": 1, "\udcff": "x"})


@pytest.mark.parametrize("as_objects", [True, False], ids=["objects", "lists"])
def test_a_value_is_too_deep_beyond_the_deepest_the_judge_may_be_shown(as_objects: bool) -> None:
    assert not too_deep(nested(DEEPEST, as_objects=as_objects))
    assert too_deep(nested(DEEPEST + 1, as_objects=as_objects))


def test_width_is_not_depth() -> None:
    assert not too_deep([[[]]] * (2 * DEEPEST))


@pytest.mark.parametrize("depth", [300, 10_000])
def test_values_too_deep_to_be_compared_are_a_recursion_error(depth: int) -> None:
    with pytest.raises(RecursionError):
        meets("uniqueItems", True, [nested(depth), nested(depth)])
