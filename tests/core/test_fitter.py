"""The engine as its users hold it."""

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.core.generated import arguments, outlines

import argfit
from argfit import Change, Fit, Fitter, Problem, SchemaError
from argfit.core.choices import EXACT_RULES
from argfit.core.values import same

Drawn = tuple[dict[str, Any], dict[str, Any]]

LINE = {"type": "object", "properties": {"line": {"type": "integer"}, "file": {"type": "string"}}}
SHARE = {"type": "object", "properties": {"share": {"type": "number"}}}

DRAFTS = (
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
)

SEVEN: dict[str, tuple[Any, str, str]] = {
    "a whole float becomes an integer": (LINE, '{"line": 5.0}', '{"line": 5}'),
    "5.5 is unchanged": (LINE, '{"line": 5.5}', '{"line": 5.5}'),
    "a number 1.0 is unchanged": (SHARE, '{"share": 1.0}', '{"share": 1.0}'),
    "a string is unchanged": (LINE, '{"file": "5.0"}', '{"file": "5.0"}'),
    "a schema without properties changes nothing": ({"type": "object"}, '{"line": 5.0}', '{"line": 5.0}'),
    "what stands beside stays": (LINE, '{"line": 5.0, "file": "f.go"}', '{"line": 5, "file": "f.go"}'),
    "1e20 is unchanged": (LINE, '{"line": 1e20}', '{"line": 1e20}'),
}


@pytest.mark.parametrize(("schema", "sent", "fitted"), SEVEN.values(), ids=SEVEN)
def test_the_seven_rows_hold_for_values_and_for_text(schema: Any, sent: str, fitted: str) -> None:
    fitter = Fitter(schema)
    assert repr(fitter.fit(json.loads(sent)).arguments) == repr(json.loads(fitted))
    assert fitter.fit_json(sent).json == fitter.fit_json(sent.encode()).json == fitted.encode()


def test_a_fit_tells_all_there_is_to_tell() -> None:
    schema = {"properties": {"n": {"type": "integer"}, "m": {"type": "integer"}}, "required": ["limit"]}
    assert Fitter(schema).fit_json('{"n": 5.0, "m": "x"}') == Fit(
        ok=False,
        arguments={"n": 5, "m": "x"},
        changes=(Change(("n",), "whole-number", 5.0, 5, at_risk=False),),
        problems=(
            Problem(("m",), "type", "must be a whole number"),
            Problem(("limit",), "required", "is required"),
        ),
        more=0,
        json=b'{"n": 5, "m": "x"}',
    )


def test_a_fit_is_a_value_that_cannot_be_altered() -> None:
    fit = Fitter(LINE).fit({"line": 5.0})
    assert fit == Fitter(LINE).fit({"line": 5.0})
    with pytest.raises(AttributeError):
        fit.ok = False  # type: ignore[misc]


def test_a_fitter_shows_its_plan() -> None:
    fitter = Fitter({"type": "object"})
    assert repr(fitter) == "Fitter(Node(at='#', types=('object',)))"
    assert fitter.plan == Fitter({"type": "object"}).plan


def test_text_may_be_bytes_or_str_with_anything_in_it() -> None:
    fitter = Fitter(LINE)
    for text in ('{"file": "é\ud83d", "line": 5.0}', '\ufeff{"line": 5.0}'):
        encoded = text.encode("utf-8", "surrogatepass")
        assert fitter.fit_json(text) == fitter.fit_json(encoded)
        assert fitter.fit_json(text).json == encoded.replace(b"5.0", b"5")


def test_names_to_leave_out_are_given_by_keyword() -> None:
    fit = Fitter(LINE, strip=("line", "token")).fit({"line": 5.0, "token": 1})
    assert fit.arguments == {"line": 5}
    assert [change.rule for change in fit.changes] == ["strip", "whole-number"]
    with pytest.raises(TypeError):
        Fitter(LINE, ("token",))  # type: ignore[call-arg]


def test_what_is_no_schema_is_refused_at_once() -> None:
    with pytest.raises(SchemaError):
        Fitter('{"type": "object"}')  # type: ignore[arg-type]


def test_the_tool_authors_schema_may_change_later() -> None:
    schema: dict[str, Any] = {"properties": {"n": {"type": "integer"}}}
    fitter = Fitter(schema)
    schema["properties"]["n"]["type"] = "string"
    assert fitter.fit({"n": 5.0}).arguments == {"n": 5}


def test_the_public_names_are_the_engine_and_what_comes_out_of_it() -> None:
    assert [name for name in argfit.__all__ if getattr(argfit, name).__name__ != name] == []
    with pytest.raises(AttributeError, match="no attribute 'Fitters'"):
        argfit.Fitters  # noqa: B018


# -- whatever the schema and the arguments ------------------------------------------------------------


@st.composite
def calls(draw: Any) -> Drawn:
    schema = draw(outlines())
    return schema, draw(arguments(schema))


@given(calls())
def test_an_exact_fit_is_the_same_json_value(drawn: Drawn) -> None:
    schema, sent = drawn
    before = repr(sent)
    assert same(Fitter(schema).fit(sent).arguments, sent)
    assert repr(sent) == before


OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"formats": "all"},
    {"repairs": "plain-number"},
    {"repairs": "all"},
    {"repairs": ("all", "plain-number"), "formats": "all"},
)


@given(calls(), st.sampled_from(OPTIONS))
def test_a_fit_of_a_fit_changes_nothing(drawn: Drawn, options: dict[str, Any]) -> None:
    fitter = Fitter(drawn[0], **options)
    once = fitter.fit(drawn[1])
    twice = fitter.fit(once.arguments)
    assert twice.arguments is once.arguments
    # where parts of a schema contradict each other, a repaired value is refused by them in another order
    assert (twice.changes, set(twice.problems)) == ((), set(once.problems))


@given(calls(), st.sampled_from(DRAFTS))
def test_a_fit_is_ok_if_and_only_if_the_judge_accepts(drawn: Drawn, draft: str) -> None:
    schema, sent = {"$schema": draft, **drawn[0]}, drawn[1]
    fitter = Fitter(schema)
    assume(not fitter.plan.unusable)
    fit = fitter.fit(sent)
    assert fit.ok is jsonschema_rs.validator_for(schema, validate_formats=False).is_valid(sent)
    assert fit.ok is (fit.problems == ()) is (fit.message == "")


@given(calls(), st.sampled_from([{}, {"indent": 1}, {"separators": (",", ":")}]), st.sampled_from(OPTIONS))
def test_values_and_text_are_fitted_alike(drawn: Drawn, layout: dict[str, Any], options: dict[str, Any]) -> None:
    fitter = Fitter(drawn[0], **options)
    fit, from_text = fitter.fit(drawn[1]), fitter.fit_json(json.dumps(drawn[1], **layout))
    assert repr(from_text.arguments) == repr(fit.arguments)
    assert (from_text.ok, from_text.problems, from_text.more) == (fit.ok, fit.problems, fit.more)
    assert [(c.path, c.rule, c.after) for c in from_text.changes] == [(c.path, c.rule, c.after) for c in fit.changes]
    assert from_text.json is not None
    assert repr(json.loads(from_text.json)) == repr(fit.arguments)
    if {change.rule for change in fit.changes} <= EXACT_RULES.keys():  # a drop leaves white space
        assert from_text.json == json.dumps(fit.arguments, **layout).encode()


@given(calls())
def test_what_was_not_changed_keeps_its_bytes(drawn: Drawn) -> None:
    sent = {**drawn[1], "untouched": [1.10, 1e2]}
    text = json.dumps(sent).replace("1.1, 100.0", "1.10 ,1E+2")
    fit = Fitter({**drawn[0], "properties": {**drawn[0]["properties"], "untouched": {}}}).fit_json(text)
    assume(all(change.path[0] != "untouched" for change in fit.changes))  # a condition may look at it, too
    assert fit.json is not None
    assert b'"untouched": [1.10 ,1E+2]' in fit.json
    assert fit.changes != () or fit.json == text.encode()


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(("5", "[1]", '{"a": 1.0}')),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abn") | st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(outlines(), JSON_VALUES, st.sampled_from(OPTIONS))
def test_whatever_json_value_is_sent_a_fit_comes_of_it(
    schema: dict[str, Any], sent: Any, options: dict[str, Any]
) -> None:
    before = repr(sent)
    fitter = Fitter(schema, **options)
    fit = fitter.fit(sent)
    assert repr(sent) == before
    assert fit.ok is (fit.problems == ()) is (fit.message == "")
    assert fit.ok is fitter.fit(fit.arguments).ok
    from_text = fitter.fit_json(json.dumps(sent))
    assume(not any(change.at_risk for change in fit.changes))  # text has all digits, a float may have lost some
    assert (from_text.ok, from_text.message, repr(from_text.arguments)) == (fit.ok, fit.message, repr(fit.arguments))
    if not fit.changes and sent is not None:
        assert fit.arguments is sent
        assert from_text.json == json.dumps(sent).encode()
