from typing import Any

import msgspec
import pytest

from argfit.core.node import Node, Range
from argfit.core.plan import Plan, compile_plan
from argfit.core.problem import Bounds
from argfit.core.schema import read


def plan_of(schema: Any) -> Plan:
    return compile_plan(read(schema))[0]


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


def test_a_node_that_is_copied_with_a_change_differs() -> None:
    node = plan_of({"type": ["integer", "null"]}).nodes["#"]
    assert msgspec.structs.replace(node, types=("integer",)) != node
