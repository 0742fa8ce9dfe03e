"""What is broken is left out and reported. More cases are in tests/cases/broken.json."""

from typing import Any

import pytest

from argfit.core.engine import compile_engine
from argfit.core.fit import fit_value
from argfit.core.plan import compile_plan
from argfit.core.prune import without_loop
from argfit.core.schema import read
from argfit.core.source import REASONS

INTEGER = {"type": "integer"}
BROKEN = {"type": "int"}


@pytest.mark.parametrize(
    ("schema", "left", "unusable"),
    [
        ({"type": "int", "minimum": 1}, {"minimum": 1}, ["#/type"]),
        ({"allOf": [], "minItems": 1}, {"minItems": 1}, ["#/allOf"]),
        ({"properties": {"n": 5, "m": INTEGER}}, {"properties": {"n": {}, "m": INTEGER}}, ["#/properties/n"]),
        ({"patternProperties": {"(": INTEGER, "a": INTEGER}}, {"patternProperties": {"a": INTEGER}},
         ["#/patternProperties/("]),
        ({"dependencies": {"a": [5], "b": ["c"]}}, {"dependencies": {"b": ["c"]}}, ["#/dependencies/a"]),
        ({"anyOf": [BROKEN, INTEGER]}, {"anyOf": [{}, INTEGER]}, ["#/anyOf/0/type"]),
        ({"oneOf": [BROKEN, INTEGER], "minimum": 1}, {"minimum": 1}, ["#/oneOf/0/type"]),
        ({"not": {"properties": {"n": BROKEN}}}, {}, ["#/not/properties/n/type"]),
        ({"if": BROKEN, "then": INTEGER}, {"then": INTEGER}, ["#/if/type"]),
        ({"$ref": "#/gone", "type": "integer"}, INTEGER, ["#/$ref"]),
        ({"$id": 5, "type": "integer"}, INTEGER, ["#/$id"]),
        ({"x-ours": {"type": "int"}, "type": "int"}, {"x-ours": {"type": "int"}}, ["#/type"]),
    ],
    ids=lambda value: str(value)[:60],
)  # fmt: skip
def test_a_broken_keyword_goes_and_the_rest_counts(schema: Any, left: Any, unusable: list[str]) -> None:
    source = read(schema)
    assert source.document == left
    assert list(source.unusable) == unusable
    assert source.validator is not None


def test_every_fault_is_reported_in_the_schemas_order() -> None:
    schema = {"required": "n", "properties": {"n": {"type": "int", "minimum": "1"}, "m": {"$ref": "#/x"}}}
    assert tuple(read(schema).unusable) == (
        "#/required",
        "#/properties/n/type",
        "#/properties/n/minimum",
        "#/properties/m/$ref",
    )


def test_a_fault_in_a_place_that_only_a_reference_leads_to_is_found() -> None:
    source = read({"properties": {"n": {"$ref": "#/x/N"}}, "x": {"N": {"type": "integer", "minimum": "1"}}})
    assert tuple(source.unusable) == ("#/x/N/minimum",)
    assert source.at("#/x/N") == INTEGER


@pytest.mark.parametrize(
    ("location", "left"),
    [
        ("#/properties/a/$ref", {"properties": {"a": {}}}),
        ("#/properties/a/anyOf/0/$ref", {"properties": {"a": {"anyOf": [{}]}}}),
        ("#/properties/a/not/anyOf/0/$ref", {"properties": {"a": {}}}),
        ("#/properties/not/$ref", {"properties": {"not": {}}}),
    ],
)
def test_a_reference_that_loops_goes_with_what_would_refuse_more(location: str, left: Any) -> None:
    document: Any = {"$ref": "#"}
    for step in reversed(location.split("/")[1:-1]):
        document = [document] if step == "0" else {step: document}
    source = without_loop(read(document), location)
    assert source.document == left
    assert tuple(source.unusable) == (location,)


def test_a_loop_that_is_left_out_leaves_the_rest_to_judge() -> None:
    plan, source = compile_plan(read({"$defs": {"A": {"minimum": 1, "$ref": "#/$defs/A"}}, "$ref": "#/$defs/A"}))
    assert tuple(plan.unusable) == ("#/$defs/A/$ref",)
    assert [source.validator.is_valid(value) for value in (1, 0)] == [True, False]


def test_a_reference_into_a_place_that_goes_is_no_crash() -> None:
    source = read({"oneOf": [{"x": {}, "minimum": "1"}], "properties": {"n": {"$ref": "#/oneOf/0/x"}, "m": INTEGER}})
    assert "#/oneOf/0/minimum" in source.unusable
    assert source.at("#/properties/m") == INTEGER


def test_a_reference_into_a_place_that_goes_does_not_take_the_rest_with_it() -> None:
    source = read({"not": {"type": "int"}, "properties": {"n": {"$ref": "#/not"}, "m": INTEGER}})
    assert "#/not/type" in source.unusable
    assert source.at("#/properties/m") == INTEGER


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_a_reference_that_dangles_in_a_condition_that_decides_nothing_is_no_crash(keyword: str) -> None:
    engine = compile_engine({"required": ["a"], "if": {keyword: "#/gone"}})
    assert fit_value(engine, {}).message == "a is required."


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"$ref": "https://example.com/a.json"}, "remote"),
        ({"$ref": "other.json#/a"}, "remote"),
        ({"$ref": "#/gone"}, "dangling"),
        ({"$ref": "#gone"}, "dangling"),
        ({"$ref": 5}, "value"),
        ({"allOf": [{"$ref": "#"}]}, "loop"),
        ({"pattern": "("}, "pattern"),
        ({"patternProperties": {"(": {}}}, "pattern"),
        ({"type": "int"}, "type"),
        ({"type": ["int"]}, "value"),
        ({"required": True}, "value"),
        ({"properties": {"a": 5}}, "no-schema"),
        ({"properties": {"\ud800": {}, "a": 5}}, "name"),
        ({"dependencies": {"a": 5}, "$schema": "http://json-schema.org/draft-07/schema#"}, "no-schema"),
        ({"dependencies": {"a": [5]}, "$schema": "http://json-schema.org/draft-07/schema#"}, "value"),
    ],
    ids=str,
)
def test_what_is_left_out_has_a_reason(schema: Any, reason: str) -> None:
    left_out = compile_engine(schema).plan.unusable
    assert next(iter(left_out.values())) == reason
    assert reason in REASONS


def test_a_schema_of_no_use_at_all_has_a_reason_too() -> None:
    deep: Any = {}
    for _ in range(3_000):
        deep = {"not": deep}
    assert compile_engine(deep).plan.unusable == {"#": "whole"}
    assert "whole" in REASONS
