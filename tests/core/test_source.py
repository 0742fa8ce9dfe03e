from typing import Any

import pytest

from argfit import Fitter
from argfit.core.adapt import adapt
from argfit.core.dialect import DEFAULT
from argfit.core.source import SchemaError, nothing_usable, part_at, step_of, steps, with_part

TOOL: dict[str, Any] = {
    "$id": "https://example.com/tool",
    "properties": {"n": {"type": "integer"}, "l": {"prefixItems": [{"type": "string"}]}},
    "$defs": {
        "a/b~c d": {},
        "inner": {"$id": "inner", "$anchor": "top", "$defs": {"x": True}},
        "named": {"$anchor": "here"},
    },
}


@pytest.mark.parametrize(
    ("reference", "location"),
    [
        ("#", "#"),
        ("", "#"),
        ("#/properties/n", "#/properties/n"),
        ("#/properties/l/prefixItems/0", "#/properties/l/prefixItems/0"),
        ("#/$defs/a~1b~0c%20d", "#/$defs/a~1b~0c d"),
        ("#here", "#/$defs/named"),
        ("inner", "#/$defs/inner"),
        ("https://example.com/inner#/$defs/x", "#/$defs/inner/$defs/x"),
        ("inner#top", "#/$defs/inner"),
        ("https://example.com/tool", "#"),
    ],
)
def test_a_reference_leads_to_a_location(reference: str, location: str) -> None:
    source = adapt(TOOL, DEFAULT)
    assert source.resolve(reference, "#/properties/n") == location
    assert isinstance(source.at(location), dict | bool)


@pytest.mark.parametrize(
    "reference",
    [
        "#/properties/gone",
        "#/properties/l/prefixItems/1",
        "#/properties/l/prefixItems/x",
        "#/properties/n/type",
        "#/properties/n/type/0",
        "#/properties/l/prefixItems",
        "#gone",
        "#top",
        "other.json",
        "https://example.com/other",
        "file:///etc/passwd",
        5,
        None,
    ],
    ids=str,
)
def test_a_reference_that_leads_to_no_schema_in_here_leads_nowhere(reference: Any) -> None:
    assert adapt(TOOL, DEFAULT).resolve(reference, "#/properties/n") is None


def test_a_reference_starts_from_the_resource_it_stands_in() -> None:
    source = adapt(TOOL, DEFAULT)
    assert source.resolve("#/$defs/x", "#/$defs/inner/$defs/x") == "#/$defs/inner/$defs/x"
    assert source.resolve("#/$defs/x", "#") is None


@pytest.mark.parametrize("name", ["n", "a/b", "a~b", "~1", "", "a b%", "/", 0])
def test_a_step_is_escaped_and_read_back(name: str | int) -> None:
    assert steps(f"#{step_of(name)}") == [str(name)]


def test_a_part_is_replaced_in_a_copy() -> None:
    document = {"a": [1, {"b": 2}], "c": 3}
    assert with_part(document, ["a", "1", "b"], 5) == {"a": [1, {"b": 5}], "c": 3}
    assert with_part(document, [], 5) == 5
    assert document == {"a": [1, {"b": 2}], "c": 3}


@pytest.mark.parametrize("location", ["#/b", "#/a/2", "#/a/-1", "#/a/x", "#/c/d"])
def test_a_location_that_is_not_there_is_a_key_error(location: str) -> None:
    with pytest.raises(KeyError):
        part_at({"a": [1, 2], "c": "text"}, location)


def test_a_schema_that_cannot_be_used_at_all_asks_for_nothing_and_says_so() -> None:
    source = nothing_usable(DEFAULT)
    assert (source.document, source.unusable) == (True, {"#": "whole"})
    assert source.validator.is_valid({"any": 1})


def test_the_error_names_what_was_found_and_the_next_step() -> None:
    assert str(SchemaError([])) == "a schema is an object or a boolean, not a list; pass the tool's inputSchema"


@pytest.mark.parametrize(
    ("schema", "unusable"),
    [
        ({"$defs": {"p": {"$id": "#pos", "type": "integer"}}}, {"#/properties/id/$ref", "#/$defs/p/$id"}),
        (
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "definitions": {"p": {"$anchor": "pos", "type": "integer"}},
            },
            {"#/properties/id/$ref"},
        ),
        ({"not": {"$anchor": "pos", "type": "int"}}, {"#/properties/id/$ref", "#/not/type"}),
        ({"$defs": {"p": {"if": {"$id": "#pos"}}}}, {"#/properties/id/$ref", "#/$defs/p/if/$id"}),
        ({"patternProperties": {"[": {"$anchor": "pos"}}}, {"#/properties/id/$ref", "#/patternProperties/["}),
    ],
    ids=str,
)
def test_an_anchor_that_does_not_count_costs_the_references_to_it_and_nothing_else(
    schema: dict[str, Any], unusable: set[str]
) -> None:
    properties = {"id": {"$ref": "#pos"}, "n": {"type": "integer"}}
    fitter = Fitter({"type": "object", "properties": properties, "required": ["n"], **schema})
    assert set(fitter.plan.unusable) == unusable
    assert fitter.fit({"id": "x", "n": "y"}).message == "n must be a whole number."
