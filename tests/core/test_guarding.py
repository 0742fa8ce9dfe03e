"""Deciding on a call inside a server; what frameworks make of it is in tests/adapters."""

from typing import Any

import pytest

from argfit.core.choices import repairs_named
from argfit.core.guarding import REPAIRS, BindFault, Guarded, Rules

INTEGER, TEXT = {"type": "integer"}, {"type": "string"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "limit": INTEGER,
        "id": {"type": "string", "format": "uuid"},
        "when": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"quantity": INTEGER}}},
        "shape": {"anyOf": [{"type": "object", "properties": {"n": INTEGER}}, {"type": "integer"}]},
    },
}


def guarded(schema: Any = SCHEMA, rules: Any = None, **options: Any) -> Guarded:
    return Guarded(schema, rules or Rules(repairs_named(REPAIRS)), **options)


def refusal(one: Guarded, arguments: Any, *faults: BindFault) -> str:
    return one.refused_by_binder(one.fit(arguments), faults).message


def test_where_undeclared_names_are_dropped_a_name_in_another_case_is_the_declared_one() -> None:
    assert guarded().fit({"Limit": 5}).arguments == {"Limit": 5}
    one = guarded(drops_undeclared=True)
    assert one.fit({"Limit": "5", "else": 1}).arguments == {"limit": 5, "else": 1}
    assert one.fit({"Limit": "5", "else": 1}).ok
    assert one.fit({"Limit": "x"}).message == "limit must be a whole number."


def test_unknown_names_are_refused_where_the_author_says_so() -> None:
    one = guarded(rules=Rules(repairs_named(REPAIRS), unknown="refuse"), drops_undeclared=True)
    assert one.fit({"limits": 5}).message == "limits is not an argument of this tool (did you mean limit?)."


def test_what_is_the_binders_own_is_neither_fitted_nor_judged() -> None:
    fit = guarded(binders_own=["limit"]).fit({"limit": "a,b", "rows": [{"quantity": 5.0}]})
    assert (fit.ok, fit.arguments) == (True, {"limit": "a,b", "rows": [{"quantity": 5}]})


def test_what_is_compiled_for_values_that_are_no_json_does_not_grow_with_the_names_that_callers_send() -> None:
    one = guarded()
    for number in range(20):
        arrived = {"limit": "five", f"name{number}": object()}
        fit = one.fit_beside(one.fit(arrived), arrived)
        assert fit.message == "limit must be a whole number."
        assert fit.arguments == arrived
    assert len(one._beside) == 8  # noqa: SLF001 - what would grow


def test_a_date_is_always_checked_and_an_id_is_the_binders_to_judge() -> None:
    assert guarded().fit({"when": "86400"}).message == "when must be a date, YYYY-MM-DD."
    assert guarded().fit({"id": "Acme"}).ok
    formats = frozenset({"date", "uuid"})
    assert guarded(rules=Rules(frozenset()).with_formats(formats)).fit({"id": "Acme"}).message == "id must be an id."


@pytest.mark.parametrize(
    ("arguments", "fault", "words"),
    [
        ({"limit": 5}, BindFault(("limit",)), "limit must be a whole number."),
        ({"id": "Acme"}, BindFault(("id",)), "id must be an id."),
        ({"when": "x"}, BindFault(("when",)), "when must be a date, YYYY-MM-DD."),
        ({"rows": [{"quantity": 1}]}, BindFault(("rows", 0, "quantity")), "rows[0].quantity must be a whole number."),
        ({"shape": {"n": 1}}, BindFault(("shape", "Shape", "n")), "shape.n must be a whole number."),
        ({"shape": {"n": 1}}, BindFault(("shape", "int")), "shape must be a whole number or an object."),
        ({}, BindFault(("limit",), "required"), "limit is required."),
        ({"rows": [{}]}, BindFault(("rows", 0, "quantity"), "required"), "rows[0].quantity is required."),
        (
            {"limits": 1},
            BindFault(("limits",), "unknown"),
            "limits is not an argument of this tool (did you mean limit?).",
        ),
        ({"limit": 5}, BindFault(("limit",), "other"), "limit is not in an allowed form."),
        ({"free": 5}, BindFault(("free",)), "free is not in an allowed form."),
        ({"limit": 5}, BindFault(()), "arguments must be an object."),
    ],
    ids=str,
)
def test_what_only_a_binder_refuses_is_said_in_the_words_of_the_declared_type(
    arguments: Any, fault: BindFault, words: str
) -> None:
    assert refusal(guarded(), arguments, fault) == words


def test_what_the_schema_says_of_the_same_place_is_said_in_its_words() -> None:
    one = guarded(rules=Rules(frozenset(), contract="binder"))
    fit = one.fit({"limit": "ten", "rows": 5})
    assert not one.decides(fit)
    said = one.refused_by_binder(fit, [BindFault(("limit",))])
    assert (said.ok, said.message) == (False, "limit must be a whole number.")


def test_what_is_no_object_is_refused_by_itself_whatever_the_contract() -> None:
    one = guarded(rules=Rules(frozenset(), contract="binder"))
    assert one.decides(one.fit("words"))


def test_many_faults_are_counted() -> None:
    one = guarded()
    said = one.refused_by_binder(one.fit({}), [BindFault((f"n{i}",), "required") for i in range(12)])
    assert (len(said.problems), said.more) == (10, 2)
