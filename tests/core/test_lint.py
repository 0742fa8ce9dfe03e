"""Each hazard has a schema that shows it, and the nearest one that does not."""

from typing import Any

import pytest
from hypothesis import given
from tests.core.generated import outlines

from argfit.core.hazards import HAZARDS, LEVELS
from argfit.core.lint import lint

INTEGER, TEXT, LIST = {"type": "integer"}, {"type": "string"}, {"type": "array"}
BIG = 2**53

Found = list[tuple[str, str, str]]


def of(schema: Any) -> Found:
    return [(finding.path, finding.hazard, finding.detail) for finding in lint("t", schema)]


def at(argument: Any, **beside: Any) -> Found:
    """What is found in a tool with this one argument, `n`."""
    return of({"type": "object", "properties": {"n": argument}, "additionalProperties": False, **beside})


SHOWS: list[tuple[str, Any, str]] = [
    ("text-or-other", {"type": ["string", "integer"]}, "text or a whole number"),
    ("text-or-other", {"anyOf": [TEXT, {"type": "number"}]}, "text or a number"),
    ("text-or-other", {"anyOf": [TEXT, INTEGER, {"type": "null"}]}, "text or a whole number"),
    ("text-or-other", {"type": ["boolean", "string"]}, "text or true or false"),
    ("text-or-other", {"oneOf": [TEXT, {**LIST, "items": TEXT}]}, "text or a list"),
    ("untyped", {}, ""),
    ("untyped", True, ""),
    ("untyped", {"description": "any"}, ""),
    ("untyped", {"anyOf": [TEXT, {}]}, ""),
    ("untyped", {"properties": {}}, ""),
    ("untyped", {"properties": {"a": TEXT}}, "its properties are told, and text passes all the same"),
    ("big-integer", {**INTEGER, "maximum": BIG}, f"maximum {BIG}"),
    ("big-integer", {**INTEGER, "minimum": -BIG, "maximum": 5}, f"minimum {-BIG}"),
    ("big-integer", {**INTEGER, "format": "int64"}, "format int64"),
    ("big-integer", {**INTEGER, "enum": [1, BIG + 1]}, f"enum {BIG + 1}"),
    ("big-integer", {**INTEGER, "default": BIG + 1}, f"default {BIG + 1}"),
    ("members-alike", {"enum": ["open", "Open", "x"]}, "open, Open"),
    ("member-misfit", {**INTEGER, "enum": ["1", "2", 3]}, '"1", "2"'),
    ("default-null", {**TEXT, "default": None}, ""),
    ("default-null", {"enum": ["a"], "default": None}, ""),
    ("default-misfit", {**INTEGER, "default": "5"}, '"5"'),
    ("default-misfit", {**INTEGER, "minimum": 1, "default": 0}, "0"),
    ("format", {**TEXT, "format": "date"}, "date"),
    ("format", {**TEXT, "format": "color"}, "color, which is no format of JSON Schema"),
    ("format", {**INTEGER, "format": "int32"}, "int32, which sets no bounds by itself"),
    ("pattern", {**TEXT, "pattern": "(("}, 'pattern "(("'),
    ("backtracking", {**TEXT, "pattern": "^(a+)+$"}, "^(a+)+$"),
    ("backtracking", {"type": "object", "patternProperties": {"(aa|a)+$": TEXT}}, "(aa|a)+$"),
    ("reference-dangling", {"$ref": "#/$defs/gone"}, '$ref "#/$defs/gone"'),
    ("reference-remote", {"$ref": "https://example.com/a.json"}, '$ref "https://example.com/a.json"'),
    ("keyword", {"type": "int"}, 'type "int"'),
    ("keyword", {**TEXT, "required": True}, "required true"),
    ("keyword", {"type": "object", "properties": {"a": "text"}}, 'properties {"a": "text"}'),
    ("header", {"type": "number", "x-mcp-header": "N"}, 'N is on the type "number"'),
    ("header", {"type": ["integer", "null"], "x-mcp-header": "N"}, 'N is on the type ["integer", "null"]'),
    ("header", {**TEXT, "x-mcp-header": "a b"}, '"a b" is no name of a header'),
    ("header", {**TEXT, "x-mcp-header": 5}, "5 is no name of a header"),
    ("header", {**LIST, "items": {**TEXT, "x-mcp-header": "N"}}, "N is not reached by properties alone"),
    ("closed-empty", {"type": "object", "additionalProperties": False}, ""),
    ("closed-empty", {"type": "object", "properties": {}, "unevaluatedProperties": False}, ""),
    ("impossible", {**INTEGER, "minimum": 5, "maximum": 4}, "nothing is from 5 to 4"),
    ("impossible", {"type": "number", "minimum": 5, "exclusiveMaximum": 5}, "nothing is from 5 to 5"),
    ("impossible", {**INTEGER, "minimum": 0.1, "maximum": 0.9}, "nothing is from 0.1 to 0.9"),
    ("impossible", {"enum": []}, "no value is listed"),
    ("untyped-items", LIST, ""),
    ("required-undeclared", {"type": "object", "properties": {"a": TEXT}, "required": ["zz"]}, "zz"),
    ("header", {"enum": ["a"], "x-mcp-header": "N"}, "N is on no type"),
    ("impossible", {**LIST, "minItems": 2, "maxItems": 1}, "minItems 2, maxItems 1"),
    (
        "impossible",
        {"type": "object", "properties": {"a": TEXT}, "required": ["b"], "additionalProperties": False},
        "b is required and not declared",
    ),
    ("nullable", {**TEXT, "nullable": True}, ""),
    ("null-union", {"anyOf": [LIST, {"type": "null"}]}, ""),
]


@pytest.mark.parametrize(("hazard", "argument", "detail"), SHOWS, ids=str)
def test_a_hazard_is_found_with_what_shows_it(hazard: str, argument: Any, detail: str) -> None:
    assert [(found, said) for _, found, said in at(argument) if found == hazard] == [(hazard, detail)]


FINE: list[Any] = [
    TEXT,
    INTEGER,
    {**INTEGER, "maximum": BIG - 1},
    {**INTEGER, "format": "int64", "minimum": 0, "maximum": 100},
    {**TEXT, "format": "int64-as-text", "pattern": "^[0-9]+$", "enum": ["1"]},
    {"type": ["integer", "null"]},
    {"anyOf": [INTEGER, {"type": "null"}]},
    {"anyOf": [{"enum": ["auto"]}, INTEGER]},
    {"anyOf": [{**TEXT, "pattern": "^[a-z]{3}$"}, INTEGER]},
    {"type": ["array", "null"]},
    {"enum": ["open", "closed"]},
    {"enum": ["III", "I_II"]},
    {"const": 5},
    {"$ref": "#/$defs/N"},
    {"allOf": [INTEGER]},
    {"type": ["string", "null"], "default": None},
    {**INTEGER, "default": 5.0},
    {**TEXT, "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
    {**INTEGER, "format": "int32", "minimum": 0, "maximum": 9},
    {**TEXT, "pattern": "^[a-z]+(-[a-z]+)*$"},
    {**TEXT, "x-mcp-header": "Region"},
    {"type": "object", "properties": {"a": {**INTEGER, "x-mcp-header": "A"}}, "additionalProperties": False},
    {"type": "object", "additionalProperties": TEXT},
    {"type": "object", "additionalProperties": True},
    {"type": "object", "additionalProperties": {}},
    {"type": "object", "patternProperties": {"^a": TEXT}, "additionalProperties": False},
    {"type": "object", "additionalProperties": False, "allOf": [{"properties": {"a": TEXT}}]},
    {**LIST, "items": TEXT, "minItems": 1, "maxItems": 1},
    {"not": TEXT, "type": "integer"},
    False,
    {"type": "object", "properties": {"a": TEXT}, "anyOf": [{"properties": {"a": {"minLength": 3}}}]},
    {"type": "object", "properties": {"a": TEXT}, "if": {"properties": {"a": {"minLength": 3}}}, "then": {}},
    {"type": "object", "properties": {"a": TEXT}, "not": {"properties": {"a": {"maxLength": 3}, "b": {}}}},
    {**LIST, "items": TEXT, "contains": {"minLength": 2}},
    {"allOf": [{**LIST, "items": TEXT}, {"items": {"minLength": 1}}]},
]


@pytest.mark.parametrize(
    ("argument", "hazards"),
    [
        ({"type": "int"}, ["keyword"]),
        ({"$ref": "#/$defs/gone"}, ["reference-dangling"]),
        ({**TEXT, "nullable": True, "default": None}, ["nullable"]),
    ],
)
def test_what_another_finding_says_is_not_said_twice(argument: Any, hazards: list[str]) -> None:
    assert [hazard for _, hazard, _ in at(argument)] == hazards


@pytest.mark.parametrize("argument", FINE, ids=str)
def test_a_plain_argument_holds_no_hazard(argument: Any) -> None:
    found = [hazard for hazard in at(argument, **{"$defs": {"N": INTEGER}}) if "int64-as-text" not in hazard[2]]
    assert found == []


def test_the_schema_as_a_whole_is_looked_at_too() -> None:
    assert of({"properties": {"n": TEXT}, "additionalProperties": False}) == [("", "root", "it names no type")]
    assert of({"type": "array"}) == [("", "root", 'its type is "array"')]
    assert of(True) == [("", "root", "it is true")]
    assert of(None) == [("", "root", "it is null")]
    assert of({"type": "object", "properties": {"n": TEXT}}) == [("", "open", "")]
    assert of({"type": "object", "additionalProperties": False}) == []
    assert of({"type": "object"}) == []
    assert of({"type": "object", "oneOf": [{}], "not": False}) == [("", "root-union", "not, oneOf")]
    assert of({"$schema": "https://json-schema.org/draft/2030-01/schema", "type": "object"})[0][1] == "draft"


def test_names_that_differ_in_case_and_marks_only_are_named_together() -> None:
    schema = {
        "type": "object",
        "properties": {"userId": TEXT, "user_id": TEXT, "x": TEXT},
        "additionalProperties": False,
    }
    assert of(schema) == [("", "names-alike", "userId, user_id")]


def test_a_header_is_given_once() -> None:
    argument = {**TEXT, "x-mcp-header": "Region"}
    schema = {"type": "object", "properties": {"a": argument, "b": {**argument, "x-mcp-header": "REGION"}}}
    assert ("b", "header", "REGION is given twice") in of(schema)


def test_a_loop_is_found_and_named_where_it_closes() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}]}},
    }
    assert ("n", "reference-loop", '$ref "#/$defs/A"') in of(schema)


@pytest.mark.parametrize(
    ("argument", "path"),
    [
        ({"type": "object", "properties": {"a": {}}}, "n.a"),
        ({"type": "object", "properties": {"a b": {}}}, 'n["a b"]'),
        ({**LIST, "items": {}}, "n[]"),
        ({**LIST, "items": {"type": "object", "properties": {"a": {}}}}, "n[].a"),
        ({**LIST, "prefixItems": [TEXT, {}]}, "n[1]"),
        ({"type": "object", "additionalProperties": {**LIST, "items": True}}, "n.*[]"),
        ({"type": "object", "patternProperties": {"^a": {}}}, "n.*"),
        ({"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "null"}]}, "n.a"),
        ({"$ref": "#/$defs/O"}, "n.a"),
    ],
    ids=str,
)
def test_a_path_reads_as_a_caller_would_write_it(argument: Any, path: str) -> None:
    definitions = {"O": {"type": "object", "properties": {"a": {}}}}
    assert (path, "untyped", "") in at(argument, **{"$defs": definitions})


def test_a_definition_is_looked_at_once_however_often_it_is_used() -> None:
    uses = {name: {"$ref": "#/$defs/O"} for name in ("a", "b")}
    tree = {"type": "object", "properties": {"kids": {**LIST, "items": {"$ref": "#/$defs/O"}}, "x": {}}}
    schema = {"type": "object", "properties": uses, "$defs": {"O": tree}, "additionalProperties": False}
    assert of(schema) == [("a.x", "untyped", "")]


def test_what_the_schema_holds_is_cut_short() -> None:
    ((_, _, detail),) = [found for found in at({**INTEGER, "default": "x" * 500}) if found[1] == "default-misfit"]
    assert len(detail) < 80


def test_names_that_are_no_text_are_a_broken_keyword_and_no_crash() -> None:
    schema = {"properties": {"a": {"type": "object", "required": [["x"]]}}, "required": [{"name": "a"}]}
    assert [one.detail for one in lint("t", schema) if one.hazard == "keyword"] == [
        'required [["x"]]',
        'required [{"name": "a"}]',
    ]


def test_every_hazard_says_why_it_bites_and_what_to_write_and_is_shown_here() -> None:
    shown = {hazard for hazard, _, _ in SHOWS} | {
        "root",
        "root-union",
        "open",
        "draft",
        "names-alike",
        "reference-loop",
    }
    assert shown == set(HAZARDS)
    assert {hazard.level for hazard in HAZARDS.values()} == set(LEVELS)
    assert all(hazard.why.endswith(".") and hazard.instead.endswith(".") for hazard in HAZARDS.values())


@given(outlines())
def test_every_schema_can_be_looked_at(schema: dict[str, Any]) -> None:
    found = lint("t", schema)
    assert {finding.hazard for finding in found} <= set(HAZARDS)
    assert len(set(found)) == len(found)
