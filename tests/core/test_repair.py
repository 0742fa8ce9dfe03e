"""Repairs: off unless named, made only where a place then fits (tests/cases/repairs.json has the tables)."""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.generated import WORDS, arguments, outlines, with_words

from argfit import Fitter
from argfit.core.repair import REPAIRS

KINDS = (("x", {"type": "integer"}), ("y", {"type": "boolean"}))


def test_without_a_name_nothing_is_repaired() -> None:
    sent = {"a": "5", "b": None}
    fit = Fitter({"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}).fit(sent)
    assert (fit.ok, fit.arguments is sent, fit.changes) == (False, True, ())


def test_a_change_says_what_was_done_where_in_the_schemas_own_names() -> None:
    schema = {"properties": {"hostIds": {"type": "array", "items": {"type": "integer"}}}, "additionalProperties": False}
    fit = Fitter(schema, repairs=["all"]).fit({"host_ids": "[1.0]"})
    assert [(change.path, change.rule, change.before, change.after) for change in fit.changes] == [
        (("hostIds",), "rename", "host_ids", "hostIds"),
        (("hostIds",), "unquote", "[1.0]", [1]),
        (("hostIds", 0), "whole-number", 1.0, 1),
    ]


def test_a_union_is_mended_by_the_branch_that_fits_then() -> None:
    shapes = [
        {"type": "object", "properties": {"n": {"type": kind}}, "required": ["n"]} for kind in ("integer", "null")
    ]
    fit = Fitter({"properties": {"x": {"anyOf": shapes}}}, repairs=["unquote"]).fit({"x": {"n": "5"}})
    assert (fit.ok, fit.arguments) == (True, {"x": {"n": 5}})


def test_branches_that_would_mend_a_value_differently_leave_it() -> None:
    shapes = [{"type": "object", "properties": {"n": {"enum": [member]}}, "required": ["n"]} for member in ("AB", "Ab")]
    fit = Fitter({"properties": {"x": {"anyOf": shapes}}}, repairs=["member-case"]).fit({"x": {"n": "ab"}})
    assert (fit.ok, fit.changes) == (False, ())


def test_what_fits_its_own_schema_and_still_not_the_union_around_it_stays_as_it_came() -> None:
    schema = {"properties": {"a": {"type": "string"}}, "anyOf": [{"properties": {"a": {"enum": ["x", "y"]}}}]}
    fit = Fitter(schema, repairs=["all"]).fit({"a": 1, "b": 2})
    assert (fit.arguments, fit.changes, fit.message) == ({"a": 1, "b": 2}, (), "a must be one of: x, y.")


@pytest.mark.parametrize("text", ["1e23", "9007199254740993.0", "[5.0000000000000001]", '{"id": [9007199254740993.0]}'])
def test_what_was_text_holds_the_floats_that_any_reader_gives(text: str) -> None:
    fitter = Fitter({"properties": {"a": {"type": ["number", "array", "object"]}}}, repairs=["unquote"])
    for fit in (fitter.fit({"a": text}), fitter.fit_json(json.dumps({"a": text}))):
        assert (fit.ok, fit.arguments) == (True, {"a": json.loads(text)})
        assert json.dumps([change.after for change in fit.changes]) == json.dumps([json.loads(text)])


def test_unions_that_all_refuse_are_not_tried_in_all_their_combinations() -> None:
    def either(i: int) -> Any:
        return {"anyOf": [{"required": [f"{name}{i}"], "properties": {f"{name}{i}": kind}} for name, kind in KINDS]}

    schema = {"type": "object", "allOf": [either(i) for i in range(40)]}
    fit = Fitter(schema, repairs=["all"]).fit({f"{name}{i}": "z" for i in range(40) for name, _ in KINDS})
    assert (fit.ok, fit.changes) == (False, ())


def test_unions_that_hold_unions_are_not_tried_in_all_their_combinations() -> None:
    def two_ways(to: str) -> Any:
        return {"anyOf": [{"$ref": to}, {"anyOf": [{"$ref": to}, {"type": "null"}]}]}

    ways = {f"n{i}": two_ways(f"#/$defs/n{i + 1}") for i in range(16)}
    last = {"type": "object", "properties": {"x": {"type": "integer"}}}
    schema = {"properties": {"a": {"$ref": "#/$defs/n0"}}, "$defs": {**ways, "n16": last}}
    assert Fitter(schema, repairs=["all"]).fit({"a": {"x": "z"}}).message == "a.x must be a whole number."


def test_a_hundred_thousand_bad_items_are_named_as_fast_as_they_are_read() -> None:
    fitter = Fitter({"properties": {"a": {"type": "array", "items": {"type": "integer"}}}}, repairs=["unquote"])
    fit = fitter.fit({"a": ["x"] * 100_000})
    assert (len(fit.problems), fit.more) == (10, 99_990)


@given(data=st.data(), schema=outlines(), words=st.lists(WORDS, max_size=3))
def test_repairs_end_valid_repeat_nothing_and_agree_in_text_and_value(
    data: st.DataObject, schema: dict[str, Any], words: list[str]
) -> None:
    sent = with_words(data.draw(arguments(schema)), words)
    kept = deepcopy(sent)
    plain, fitter = Fitter(schema), Fitter(schema, repairs=["all"])
    fit = fitter.fit(sent)
    assert json.dumps(sent) == json.dumps(kept)
    assert plain.fit(fit.arguments).ok is fit.ok is not bool(fit.problems)
    if plain.fit(sent).ok:
        assert fit == plain.fit(sent)
    mended = {change.path for change in fit.changes if change.rule in REPAIRS}
    assert mended.isdisjoint(problem.path for problem in fit.problems)
    if fit.ok:
        assert fitter.fit(fit.arguments).changes == ()
    text = fitter.fit_json(json.dumps(sent))
    assert (text.ok, text.message, json.dumps(text.arguments)) == (fit.ok, fit.message, json.dumps(fit.arguments))
    assert json.dumps(json.loads(text.json or b"")) == json.dumps(text.arguments)
