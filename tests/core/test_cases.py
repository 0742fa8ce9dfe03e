"""The language-neutral cases in tests/cases, each as JSON text and as a value.

A case is an object: `name`, the tool's `schema`, and the arguments `sent`, as JSON text so that digits and
spacing count (null: none were sent). What comes of it stands beside: `fitted`, the text that is dispatched
(left out: the very text that was sent), and `message`, what the caller is told (left out: the arguments fit);
`repairs` and `formats` name what is on (left out: none), `unusable` keywords of the schema that are left out.
`text_only` marks what only text can show. `source` is the public report a case comes from.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from argfit import Fitter

FOLDER = Path(__file__).resolve().parent.parent / "cases"
FIELDS = {"name", "source", "repairs", "formats", "schema", "sent", "fitted", "message", "unusable", "text_only"}

Case = dict[str, Any]

CASES: dict[str, Case] = {
    f"{path.stem}: {case['name']}": case
    for path in sorted(FOLDER.glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))
}

TEXTS = {name: case for name, case in CASES.items() if case["sent"] is not None}
VALUES = {name: case for name, case in CASES.items() if not case.get("text_only")}


def fitter(case: Case) -> Fitter:
    return Fitter(case["schema"], repairs=case.get("repairs", ()), formats=case.get("formats", ()))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: str(path.stem))
def test_a_case_has_a_name_of_its_own_and_known_fields_only(path: Path) -> None:
    cases = json.loads(path.read_text(encoding="utf-8"))
    assert len({case["name"] for case in cases}) == len(cases) > 10
    assert [case["name"] for case in cases if not set(case) <= FIELDS or "schema" not in case] == []


def test_the_public_reports_are_among_the_cases() -> None:
    assert len([case for case in CASES.values() if case.get("source", "").startswith("https://github.com/")]) > 90


@pytest.mark.parametrize("case", TEXTS.values(), ids=TEXTS)
def test_a_case_comes_out_as_written_from_text(case: Case) -> None:
    fit = fitter(case).fit_json(case["sent"])
    fitted = str(case.get("fitted", case["sent"]))
    assert fit.json == fitted.encode()
    assert fit.message == case.get("message", "")
    assert fit.ok is ("message" not in case)


@pytest.mark.parametrize("case", VALUES.values(), ids=VALUES)
def test_a_case_comes_out_as_written_from_a_value(case: Case) -> None:
    arguments = None if case["sent"] is None else json.loads(case["sent"])
    fit = fitter(case).fit(arguments)
    assert json.dumps(fit.arguments) == json.dumps(json.loads(case.get("fitted") or case["sent"]))
    assert fit.message == case.get("message", "")
    assert (fit.arguments is arguments) is ("fitted" not in case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_schema_of_a_case_is_usable_but_for_what_it_names(case: Case) -> None:
    assert list(fitter(case).plan.unusable) == case.get("unusable", [])
