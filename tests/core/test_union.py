"""Which branch of a union speaks. The words as a whole are in tests/cases/unions.json."""

from typing import Any

import pytest

from argfit.core.check import Walk
from argfit.core.engine import compile_engine
from argfit.core.union import Union

INTEGER, TEXT = {"type": "integer"}, {"type": "string"}


def shape(kind: Any, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"kind": kind, **properties}, "required": ["kind"]}


def union_of(branches: list[Any], value: Any, **beside: Any) -> Union:
    engine = compile_engine({"properties": {"n": {"anyOf": branches}}, **beside})
    group = engine.plan.nodes["#/properties/n"].any_of
    return Walk(engine.shapes, engine.types).union(group, value)


def numbers(union: Union, value: Any) -> list[int]:
    return [int(branch.rpartition("/")[2]) for branch in union.near(value)]


@pytest.mark.parametrize(
    ("branches", "value", "near"),
    [
        ([INTEGER, TEXT, {"type": "array"}], "x", [1]),
        ([INTEGER, TEXT, {}], "x", [1, 2]),
        ([INTEGER, TEXT], 5.0, [0]),
        ([INTEGER, TEXT], None, []),
        ([{"type": "object"}, {"type": "array"}], {}, [0]),
        ([{"type": "object", "properties": {"a": {}}}, {"type": "object"}], {}, [0, 1]),
        ([shape({"const": "a"}), shape({"const": "b"})], {"kind": "b"}, [1]),
        ([shape({"enum": ["a", "aa"]}), shape({"const": "b"})], {"kind": "aa"}, [0]),
        ([shape({"const": 1}), shape({"const": 2})], {"kind": 2.0}, [1]),
        ([shape({"const": 1}), shape({"const": True})], {"kind": True}, [1]),
        ([shape({"const": "a"}), shape({"const": "b"})], {"kind": "c"}, []),
        ([shape({"const": "a"}), shape({"const": "b"})], {}, []),
        ([shape({"const": "a"}), shape({"const": "a"})], {"kind": "a"}, [0, 1]),
        ([shape({"const": "a"}), shape(TEXT)], {"kind": "a"}, [0, 1]),
        ([shape({"const": {}}), shape({"const": "b"})], {"kind": "b"}, [0, 1]),
    ],
    ids=["type", "untyped-too", "whole-float", "no-type", "container", "alike", "tag", "tag-among", "tag-respelled",
         "true-is-not-1", "unknown-tag", "missing-tag", "tags-alike", "tag-in-one-only", "a-container-is-no-tag"],
)  # fmt: skip
def test_the_branches_that_could_be_meant(branches: list[Any], value: Any, near: list[int]) -> None:
    assert numbers(union_of(branches, value), value) == near


def test_a_tag_that_is_listed_by_reference_and_under_allof_is_found() -> None:
    branches = [{"$ref": "#/$defs/a"}, {"allOf": [shape({"$ref": "#/$defs/b"})]}]
    value = {"kind": "b"}
    union = union_of(branches, value, **{"$defs": {"a": shape({"const": "a"}), "b": {"const": "b"}}})
    assert (union.tag and union.tag.name, numbers(union, value)) == ("kind", [1])


def test_a_tag_that_is_missing_counts_only_where_every_branch_requires_it() -> None:
    optional = {"type": "object", "properties": {"kind": {"const": "b"}}}
    assert union_of([shape({"const": "a"}), optional], {}).tag is None
    assert union_of([shape({"const": "a"}), optional], {"kind": "x"}).tag is not None


def test_a_value_that_is_no_object_has_no_tag() -> None:
    assert union_of([shape({"const": "a"}), shape({"const": "b"}), {"type": "array"}], []).tag is None
