from typing import Any

import pytest

from argfit.core.judge import Judge
from argfit.core.node import Node
from argfit.core.place import Types, active, common_types, item_at, member_at
from argfit.core.plan import Plan, compile_plan
from argfit.core.schema import read


def compiled(schema: Any) -> tuple[Plan, Judge]:
    plan, source = compile_plan(read(schema))
    return plan, Judge(source)


def looking(schema: Any, value: Any) -> list[str]:
    return [node.at for node in active(*compiled(schema), ("#",), value)]


@pytest.mark.parametrize(
    ("schema", "value", "at"),
    [
        ({"type": "object"}, {}, ["#"]),
        ({"allOf": [{"allOf": [{}]}, {}]}, 1, ["#", "#/allOf/0", "#/allOf/0/allOf/0", "#/allOf/1"]),
        ({"$ref": "#/$defs/a", "allOf": [{}], "$defs": {"a": {}}}, 1, ["#", "#/$defs/a", "#/allOf/0"]),
        ({"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {}}}, 1,
         ["#", "#/allOf/0", "#/$defs/a", "#/allOf/1"]),
        ({"if": {"type": "string"}, "then": {}, "else": {}}, "x", ["#", "#/then"]),
        ({"if": {"type": "string"}, "then": {}, "else": {}}, 1, ["#", "#/else"]),
        ({"if": {"type": "string"}, "then": {}}, 1, ["#"]),
        ({"dependentSchemas": {"a": {}, "b": {}}}, {"b": 1}, ["#", "#/dependentSchemas/b"]),
        ({"dependentSchemas": {"a": {}}}, ["a"], ["#"]),
        ({"anyOf": [{}], "oneOf": [{}], "not": {"type": "null"}}, 1, ["#"]),
    ],
    ids=["alone", "allOf", "$ref", "once-each", "then", "else", "no-else", "key-there", "no-object", "unions-and-not"],
)  # fmt: skip
def test_what_holds_in_place_looks_at_the_value_in_the_schemas_order(schema: Any, value: Any, at: list[str]) -> None:
    assert looking(schema, value) == at


def test_siblings_decide_which_members_are_additional() -> None:
    plan, judge = compiled(
        {
            "properties": {"n": {}},
            "patternProperties": {"^x": {}},
            "additionalProperties": {},
            "allOf": [{"properties": {"m": {}}, "additionalProperties": {}}],
        }
    )
    nodes = active(plan, judge, ("#",), {})
    assert member_at(nodes, "n") == ("#/properties/n", "#/allOf/0/additionalProperties")
    assert member_at(nodes, "m") == ("#/additionalProperties", "#/allOf/0/properties/m")
    assert member_at(nodes, "x") == ("#/patternProperties/^x", "#/allOf/0/additionalProperties")


def test_a_member_that_is_declared_and_meets_a_pattern_is_looked_at_by_both() -> None:
    plan, judge = compiled({"properties": {"xn": {}}, "patternProperties": {"^x": {}, "n$": {}}})
    at = member_at(active(plan, judge, ("#",), {}), "xn")
    assert at == ("#/properties/xn", "#/patternProperties/^x", "#/patternProperties/n$")


def test_an_item_beyond_the_prefix_is_looked_at_by_items() -> None:
    plan, judge = compiled({"prefixItems": [{}, {}], "items": {}, "allOf": [{"items": {}}]})
    nodes = active(plan, judge, ("#",), [])
    assert item_at(nodes, 1) == ("#/prefixItems/1", "#/allOf/0/items")
    assert item_at(nodes, 2) == ("#/items", "#/allOf/0/items")


@pytest.mark.parametrize(
    ("types", "common"),
    [
        ([(), ()], None),
        ([("string",), ()], ("string",)),
        ([("integer", "null"), ("null", "integer")], ("integer", "null")),
        ([("number", "string"), ("integer", "string")], ("integer", "string")),
        ([("integer",), ("number",)], ("integer",)),
        ([("string",), ("integer",)], ()),
    ],
    ids=str,
)
def test_the_common_types_are_those_that_every_node_takes(
    types: list[tuple[str, ...]], common: tuple[str, ...] | None
) -> None:
    assert common_types(Node(at=str(i), types=some) for i, some in enumerate(types)) == common


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({}, None),
        (True, None),
        ({"type": ["integer", "null"]}, ("integer", "null")),
        ({"enum": ["a", 1, "b", None]}, ("string", "integer", "null")),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}, ("string",)),
        ({"allOf": [{"type": ["integer", "string"]}, {"type": "number"}]}, ("integer",)),
        ({"anyOf": [{"type": "integer"}, {"type": ["string", "integer"]}]}, ("integer", "string")),
        ({"anyOf": [{"type": "integer"}, {}]}, None),
        ({"type": ["integer", "array"], "oneOf": [{"type": "array"}, {"type": "string"}]}, ("array",)),
        ({"not": {"type": "integer"}, "if": {"type": "string"}}, None),
    ],
    ids=str,
)
def test_the_types_of_a_place_are_what_types_members_and_unions_say(schema: Any, types: tuple[str, ...] | None) -> None:
    assert Types(compiled(schema)[0], whole_floats=True).at("#") == types


def test_where_whole_floats_count_an_integer_place_takes_one() -> None:
    plan = compiled({"type": "integer"})[0]
    assert [Types(plan, whole_floats=counts).takes("#", 5.0) for counts in (True, False)] == [True, False]
    assert [Types(plan, whole_floats=counts).takes("#", 5.5) for counts in (True, False)] == [False, False]
