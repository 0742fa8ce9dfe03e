"""One case before argfit: fitted as a value and as text, with and without repairs, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cases import Case, Expected, canonical
from edits import PLAIN, Style, value_of, written
from mangle import Verdict
from schema import Document

from argfit import Fit, Fitter

MODES = {"exact": (), "all": ("all",)}
SHORTEST_LEAK = 6  # shorter text may stand in a message by chance
OUTCOMES = ("recovered", "left alone", "refused", "open: recovered", "open: refused", "missed", "WRONG")
RECOVERED, ALONE, REFUSED, OPEN_RECOVERED, OPEN_REFUSED, MISSED, WRONG = OUTCOMES


class WrongError(Exception):
    """What must never come of a fit; the words say what did."""


@dataclass(frozen=True)
class Result:
    mode: str
    way: str
    outcome: str
    why: str = ""
    got: str = ""


class Trial:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.schema_text = json.dumps(document.schema, ensure_ascii=False)
        self.fitters = {mode: Fitter(document.schema, repairs=repairs) for mode, repairs in MODES.items()}

    def results(self, case: Case, style: Style) -> Iterator[Result]:
        for mode, fitter in self.fitters.items():
            expected = case.expected(repairs=mode == "all")
            if not case.text_only:
                yield self._result(mode, fitter, case, expected, None)
            yield self._result(mode, fitter, case, expected, style)

    def of_none(self) -> Iterator[Result]:
        """No arguments are an object without any."""
        right = self.document.accepts({})
        for mode, fitter in self.fitters.items():
            for way, fit in (("fit", fitter.fit(None)), ("fit_json", fitter.fit_json(b"null"))):
                outcome = WRONG if fit.ok is not right or fit.arguments != {} else RECOVERED if right else REFUSED
                yield Result(mode, way, outcome, "none sent" if outcome == WRONG else "", _told(fit))

    def _result(self, mode: str, fitter: Fitter, case: Case, expected: Expected, style: Style | None) -> Result:
        """Fit as a value, or as text in a style."""
        fit = None
        try:
            fit = self._fit(fitter, case) if style is None else self._fit_json(fitter, case, expected, style)
            outcome, why = self._outcome(fit, case, expected, style or PLAIN)
        except WrongError as wrong:
            outcome, why = WRONG, str(wrong)
        except Exception as error:  # noqa: BLE001 whatever is raised is the finding
            outcome, why = WRONG, f"raised {error!r}"
        return Result(mode, "fit" if style is None else "fit_json", outcome, why, _told(fit) if why else "")

    def _fit(self, fitter: Fitter, case: Case) -> Fit:
        sent = value_of(case.sent)
        kept = canonical(sent)
        fit = fitter.fit(sent)
        if canonical(sent) != kept:
            raise WrongError("the caller's object was changed")
        if fit.arguments is not sent and canonical(fit.arguments) == kept:
            raise WrongError("nothing changed, but it is another object")
        exact = all(part.mangle.exact for part in case.parts)  # a float that was spelled in text lost no digits
        floats = [change for change in fit.changes if exact and isinstance(change.before, float)]
        if any(abs(change.before) > 2**53 and not change.at_risk for change in floats):
            raise WrongError("digits may be lost, and no change says so")
        if fit.ok and fit.changes and fitter.fit(fit.arguments).arguments is not fit.arguments:
            raise WrongError("what was fitted is changed by another fit")
        return fit

    def _fit_json(self, fitter: Fitter, case: Case, expected: Expected, style: Style) -> Fit:
        sent = written(case.sent, style)
        fit = fitter.fit_json(sent.encode())
        if fit.json is None:
            raise WrongError("no text came out")
        text = fit.json.decode()
        if canonical(json.loads(text)) != canonical(fit.arguments):
            raise WrongError(f"text and value disagree: {text}")
        possible = expected.fitted if fit.ok else expected.refused
        same = [one for one in possible if canonical(value_of(one, style)) == canonical(fit.arguments)]
        if same and text not in {written(one, style) for one in same}:
            raise WrongError(f"bytes beside the change differ: {text}")
        return fit

    def _outcome(self, fit: Fit, case: Case, expected: Expected, style: Style) -> tuple[str, str]:
        got = canonical(fit.arguments)
        if fit.ok is bool(fit.problems) or fit.ok is bool(fit.message):
            raise WrongError("ok and problems disagree")
        verdict = expected.verdict
        if not fit.ok:
            self._check_refusal(fit, case)
            if verdict is Verdict.VALID:
                raise WrongError("a right call is refused")
            refused = [canonical(value_of(one, style)) for one in expected.refused]
            if got not in refused:
                raise WrongError("refused, and changed in another way than it could be mended")
            if verdict is Verdict.RECOVER:
                return MISSED, "refused though safe"
            if verdict is Verdict.REFUSE and got not in {canonical(value_of(one, style)) for one in expected.fitted}:
                return MISSED, "beside what is refused, another place was not mended"
            return (REFUSED if verdict is Verdict.REFUSE else OPEN_REFUSED), ""
        if not self.document.accepts(fit.arguments):
            raise WrongError("ok, but the judge refuses it")
        if verdict is Verdict.REFUSE:
            raise WrongError("ok, but nothing may come out")
        if got not in {canonical(value_of(one, style)) for one in expected.fitted}:
            raise WrongError("ok, but it is not the right call")
        return {Verdict.VALID: ALONE, Verdict.RECOVER: RECOVERED, Verdict.OPEN: OPEN_RECOVERED}[verdict], ""

    def _check_refusal(self, fit: Fit, case: Case) -> None:
        for leaf in _leaves(value_of(case.sent)):
            if leaf in fit.message and leaf not in self.schema_text:
                raise WrongError(f"the message shows the value {leaf!r}")


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)
    elif isinstance(value, str | int | float) and len(text := str(value)) >= SHORTEST_LEAK:
        yield text


def _told(fit: Fit | None) -> str:
    if fit is None:
        return ""
    shown = fit.json.decode() if fit.json is not None else canonical(fit.arguments)
    return shown if fit.ok else f"{shown}  problems: {fit.message}"
