from typing import Any

import msgspec
import pytest

from argfit.core.plan import Node, Plan, Range, compile_plan, declared_part, declares, is_recursive, together
from argfit.core.problem import Bounds
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


@pytest.mark.parametrize(
    ("schema", "asked"),
    [
        ({"type": "integer"}, {"types": ("integer",)}),
        ({"enum": [1, "a"]}, {"members": (1, "a")}),
        ({"const": None}, {"members": (None,)}),
        ({"const": 1, "enum": [2, 1.0]}, {"members": (1.0,)}),
        ({"exclusiveMinimum": 0}, {"bounds": Bounds(0, None, True, False)}),
        ({"exclusiveMaximum": 9, "minimum": 1}, {"bounds": Bounds(1, 9, False, True)}),
        ({"exclusiveMinimum": 1, "minimum": 0}, {"bounds": Bounds(1, None, True, False)}),
        ({"exclusiveMaximum": 1, "maximum": 0}, {"bounds": Bounds(None, 0, False, False)}),
        ({"multipleOf": 5}, {"multiple_of": 5}),
        ({"minLength": 1, "maxLength": 5.0}, {"length": Range(1, 5)}),
        ({"pattern": "^a"}, {"pattern": "^a"}),
        ({"format": "date"}, {"format": "date"}),
        ({"minItems": 2, "uniqueItems": True}, {"count": Range(2), "unique": True}),
        ({"minContains": 2, "contains": {}}, {"contains": "#/contains", "containing": Range(2)}),
        ({"contains": {}}, {"contains": "#/contains"}),
        ({"patternProperties": {"a/b": {}}}, {"patterns": {"a/b": "#/patternProperties/a~1b"}}),
        ({"propertyNames": {}}, {"names": "#/propertyNames"}),
        ({"dependentRequired": {"a": ["b"]}}, {"dependent_required": {"a": ("b",)}}),
        ({"dependencies": {"a": ["b"], "c": {}}},
         {"dependent_required": {"a": ("b",)}, "dependent_schemas": {"c": "#/dependencies/c"}}),
        ({"maxProperties": 3}, {"size": Range(0, 3)}),
        ({"unevaluatedItems": {}, "unevaluatedProperties": {}},
         {"unevaluated_items": "#/unevaluatedItems", "unevaluated_members": "#/unevaluatedProperties"}),
        ({"discriminator": {"propertyName": "kind"}}, {"tag": "kind"}),
        ({"title": "a", "x-order": 1, "description": "b"}, {}),
    ],
    ids=str,
)  # fmt: skip
def test_a_node_holds_what_its_keywords_say(schema: Any, asked: dict[str, Any]) -> None:
    assert plan_of(schema).nodes["#"] == Node(at="#", **asked)


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


def test_a_node_that_is_copied_with_a_change_differs() -> None:
    node = plan_of(SMALL).nodes["#/properties/limit"]
    assert msgspec.structs.replace(node, types=("integer",)) != node
