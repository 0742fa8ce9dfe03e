"""What a schema means where its letters say less. What null comes to is in tests/cases/nulls.json."""

import copy
from typing import Any

import pytest

from argfit.core.adapt import adapt
from argfit.core.dialect import DEFAULT, dialect_of
from argfit.core.source import Source

INTEGER = {"type": "integer"}
NULL = {"type": "null"}
DRAFT7 = "http://json-schema.org/draft-07/schema#"


def adapted(schema: Any) -> Source:
    return adapt(schema, dialect_of(schema) or DEFAULT)


@pytest.mark.parametrize(
    ("schema", "meant"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"], "nullable": True}),
        ({"type": ["integer", "string"], "default": None}, {"type": ["integer", "string", "null"], "default": None}),
        ({"enum": ["a"], "default": None}, {"enum": ["a", None], "default": None}),
        ({"const": "a", "nullable": True}, {"enum": ["a", None], "nullable": True}),
        ({"anyOf": [INTEGER], "nullable": True}, {"anyOf": [INTEGER, NULL], "nullable": True}),
        ({"oneOf": [INTEGER], "nullable": True}, {"anyOf": [{"oneOf": [INTEGER]}, NULL]}),
        ({"$ref": "#/$defs/a", "title": "A", "default": None}, {"anyOf": [{"$ref": "#/$defs/a", "title": "A"}, NULL]}),
        ({"items": [INTEGER], "additionalItems": False}, {"prefixItems": [INTEGER], "items": False}),
        ({"$schema": DRAFT7, "contentMediaType": "application/json"}, {"$schema": DRAFT7}),
    ],
    ids=["type", "types", "enum", "const", "anyOf", "oneOf", "$ref", "tuple", "content"],
)
def test_what_is_meant_is_said(schema: Any, meant: Any) -> None:
    assert adapted(schema).document == meant


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {"type": ["string", "null"], "default": None},
        {"enum": ["a", None], "nullable": True},
        {"anyOf": [INTEGER, NULL], "default": None},
        {"oneOf": [INTEGER, NULL], "default": None},
        {"anyOf": [True, INTEGER], "default": None},
        {"type": "string", "nullable": False},
        {"type": "integer", "default": 0},
        {"default": None},
        {"const": None, "default": None},
        {"prefixItems": [INTEGER], "items": False},
        {"$schema": DRAFT7, "items": [INTEGER], "additionalItems": False},
        {"contentMediaType": "application/json"},
        {"properties": {"nullable": {"type": "boolean"}, "default": {"const": None}}},
        {"enum": [{"nullable": True, "type": "string"}]},
    ],
    ids=str,
)
def test_what_says_all_it_means_stays_the_same_object(schema: Any) -> None:
    assert adapted(schema).document is schema


def test_the_tool_authors_schema_is_not_altered() -> None:
    schema = {
        "properties": {
            "a": {"allOf": [INTEGER], "nullable": True},
            "b": {"items": [INTEGER], "default": None},
            "c": {"type": "string", "enum": ["a"], "nullable": True},
            "d": {"anyOf": [INTEGER], "default": None},
            "e": {"const": 1, "default": None},
        }
    }
    before = copy.deepcopy(schema)
    assert adapted(schema).document != before
    assert schema == before


@pytest.mark.parametrize(
    ("schema", "reference", "follows"),
    [
        ({"properties": {"a": {"allOf": [INTEGER], "nullable": True}}},
         "#/properties/a/allOf/0", "#/properties/a/anyOf/0/allOf/0"),
        ({"properties": {"a": {"items": [INTEGER]}}},
         "#/properties/a/items/0", "#/properties/a/prefixItems/0"),
        ({"properties": {"a": {"items": [{}], "additionalItems": INTEGER}}},
         "#/properties/a/additionalItems", "#/properties/a/items"),
        ({"properties": {"a": {"allOf": [INTEGER], "nullable": True}}}, "#/properties/a", "#/properties/a"),
        ({"$defs": {"a": INTEGER}, "allOf": [{}], "default": None}, "#/$defs/a", "#/$defs/a"),
    ],
    ids=["wrapped", "tuple", "tuple-rest", "around", "definitions-stay"],
)  # fmt: skip
def test_a_reference_follows_what_moves(schema: dict[str, Any], reference: str, follows: str) -> None:
    tool = {"properties": {}, **schema}
    tool["properties"] = {**tool["properties"], "b": {"$ref": reference}}
    source = adapted(tool)
    found = source.at("#/properties/b") if "default" not in schema else source.at("#/anyOf/0/properties/b")
    assert found == {"$ref": follows}
    assert source.at(follows) is not None


def test_a_place_that_only_a_reference_leads_to_is_adapted_too() -> None:
    tool: dict[str, Any] = {
        "properties": {"n": {"$ref": "#/components/schemas/N"}},
        "components": {"schemas": {"N": {"type": "integer", "nullable": True}, "M": {"nullable": True, "const": 1}}},
    }
    schemas = adapted(tool).at("#/components/schemas")
    assert schemas["N"]["type"] == ["integer", "null"]
    assert schemas["M"] is tool["components"]["schemas"]["M"]


def test_resources_and_anchors_are_found_where_they_stand() -> None:
    source = adapted(
        {
            "$id": "https://example.com/tool",
            "$defs": {
                "a": {"$id": "inner", "$defs": {"x": {"$anchor": "here"}}},
                "b": {"$dynamicAnchor": "there"},
            },
        }
    )
    assert source.resources == {
        "https://example.com/tool": "#",
        "https://example.com/inner": "#/$defs/a",
        "": "#",
    }
    assert source.anchors == {("#/$defs/a", "here"): "#/$defs/a/$defs/x", ("#", "there"): "#/$defs/b"}
