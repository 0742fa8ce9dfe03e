from typing import Any

import pytest

from argfit.core.plan import Plan, compile_plan, declared_part, declares, is_recursive, together
from argfit.core.schema import read

SMALL = {
    "type": "object",
    "properties": {
        "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
        "tags": {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 5},
    },
    "required": ["limit"],
    "additionalProperties": False,
}

SMALL_SHOWN = """\
Node(at='#', types=('object',), properties={'limit': '#/properties/limit', 'tags': '#/properties/tags'}, \
additional='#/additionalProperties', required=('limit',))
Node(at='#/properties/limit', types=('integer', 'null'), bounds=Bounds(low=1, high=9, open_low=False, open_high=False))
Node(at='#/properties/tags', types=('array',), items='#/properties/tags/items', count=Range(least=0, most=5))
Node(at='#/properties/tags/items', types=('string',), length=Range(least=1, most=None))
Node(at='#/additionalProperties', never=True)"""


def plan_of(schema: Any) -> Plan:
    return compile_plan(read(schema))[0]


def test_a_plan_prints_one_node_per_line_with_what_it_asks() -> None:
    assert repr(plan_of(SMALL)) == SMALL_SHOWN


def test_a_plan_prints_what_was_left_out() -> None:
    assert repr(plan_of({"minimum": "1"})) == "Node(at='#')\nunusable: #/minimum (value)"


def test_plans_of_equal_schemas_are_equal() -> None:
    assert plan_of(SMALL) == plan_of({**SMALL})
    assert plan_of(SMALL) != plan_of({**SMALL, "required": []})


def test_a_plan_is_frozen() -> None:
    plan = plan_of(SMALL)
    with pytest.raises(AttributeError):
        plan.unusable = {}  # type: ignore[misc]
    with pytest.raises(AttributeError):
        plan.nodes["#"].types = ()  # type: ignore[misc]


def test_a_node_is_reached_once_and_recursion_is_data() -> None:
    plan = plan_of({"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/properties/a"}}})
    assert {at: node.refs for at, node in plan.nodes.items()} == {
        "#": (),
        "#/properties/a": ("#",),
        "#/properties/b": ("#/properties/a",),
    }


@pytest.mark.parametrize(
    ("schema", "recursive"),
    [
        (SMALL, False),
        (True, False),
        ({"properties": {"a": {"$ref": "#"}}}, True),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"anyOf": [{}, {"$ref": "#/$defs/a"}]}}}}, True),
        ({"properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}}, False),
    ],
    ids=["flat", "true", "root", "definition", "shared"],
)
def test_a_schema_that_describes_values_of_any_depth_is_recursive(schema: Any, recursive: bool) -> None:
    assert is_recursive(plan_of(schema)) is recursive


@pytest.mark.parametrize(
    ("schema", "left_out"),
    [
        ({"$ref": "#"}, ("#/$ref",)),
        ({"allOf": [{"anyOf": [{"$ref": "#"}]}]}, ("#/allOf/0/anyOf/0/$ref",)),
        ({"not": {"$ref": "#"}}, ("#/not/$ref",)),
        ({"properties": {"a": {"$ref": "#/properties/a"}, "b": {"$ref": "#/properties/b"}}},
         ("#/properties/a/$ref", "#/properties/b/$ref")),
        ({"properties": {"a": {"$ref": "#"}}}, ()),
    ],
    ids=["itself", "branches", "not", "two", "inside-a-value-is-fine"],
)  # fmt: skip
def test_a_reference_that_loops_in_place_is_left_out(schema: Any, left_out: tuple[str, ...]) -> None:
    assert tuple(plan_of(schema).unusable) == left_out


def test_a_circle_that_is_entered_in_its_middle_is_left_out() -> None:
    plan = plan_of(
        {
            "properties": {"a": {"$ref": "#/$defs/A/allOf/0"}},
            "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}]}},
        }
    )
    assert tuple(plan.unusable) == ("#/$defs/A/allOf/0/$ref",)


def test_all_that_may_look_at_a_value_stands_together_whatever_the_value_is() -> None:
    plan = plan_of(
        {
            "$ref": "#/$defs/a",
            "anyOf": [{}],
            "if": {},
            "then": {},
            "else": {},
            "not": {"type": "null"},
            "dependentSchemas": {"k": {}},
            "properties": {"n": {}},
            "$defs": {"a": {}},
        }
    )
    assert {node.at for node in together(plan, ["#"])} == set(plan.nodes) - {"#/properties/n"}


@pytest.mark.parametrize(
    ("name", "declared"), [("n", True), ("m", True), ("k", True), ("x-1", True), ("z", False), ("deep", False)]
)
def test_a_name_is_declared_by_properties_and_patterns_in_any_branch_at_the_top(name: str, declared: bool) -> None:
    plan = plan_of(
        {
            "properties": {"n": {"properties": {"deep": {}}}},
            "patternProperties": {"^x-": {}},
            "anyOf": [{"properties": {"m": {}}}],
            "dependentSchemas": {"n": {"properties": {"k": {}}}},
            "additionalProperties": {},
        }
    )
    assert declares(plan, name) is declared


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ((), ()),
        (("n",), ("n",)),
        (("rows", 3, "q"), ("rows", 3, "q")),
        (("rows", 3, "mine"), ("rows", 3)),
        (("map", "mine", "q"), ("map",)),
        (("mine",), ()),
        (("either", "q"), ("either", "q")),
    ],
    ids=str,
)
def test_a_path_is_told_as_far_as_the_schema_names_it(path: tuple[Any, ...], part: tuple[Any, ...]) -> None:
    plan = plan_of(
        {
            "properties": {
                "n": {},
                "rows": {"items": {"properties": {"q": {}}}},
                "map": {"additionalProperties": {"properties": {"q": {}}}},
                "either": {"anyOf": [{"type": "string"}, {"properties": {"q": {}}}]},
            }
        }
    )
    assert declared_part(plan, path) == part
