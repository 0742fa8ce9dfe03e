"""Cases: a right call, mangled at one place or at several, and what may come of it.

Rules
- Each mangle is judged alone; a case of several holds places that are apart, and is expected to do what each
  of them does.
- Without repairs only another spelling of the same number is recovered.
- A call that is refused may come back with other places mended, never with anything else changed.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

from edits import Edit, apart, edited, value_of, written
from mangle import Kind, Mangle, Scene, Verdict
from mangle_keys import KEYS
from mangle_numbers import NUMBERS
from mangle_shapes import SHAPES
from places import places
from schema import Document

KINDS: tuple[Kind, ...] = (*NUMBERS, *SHAPES, *KEYS)
PLACES_PER_KIND = 2  # of one call; other places have their turn in other calls
SEVERAL = (2, 3, 4)
RIGHT = "right call"
NONE = "arguments: null for none"


@dataclass(frozen=True)
class Part:
    """A mangle of which it is known whether the judge takes it alone."""

    mangle: Mangle
    verdict: Verdict

    def in_mode(self, *, repairs: bool) -> Verdict:
        known = repairs or self.mangle.exact or self.verdict is Verdict.VALID
        return self.verdict if known else Verdict.REFUSE

    @property
    def recovered(self) -> tuple[Edit, ...]:
        return self.mangle.instead or ()


@dataclass(frozen=True)
class Expected:
    verdict: Verdict
    fitted: list[Any]  # the documents that may come out as fitting; beside what is refused, all else mended
    refused: list[Any]  # those that may come out of a refusal


@dataclass(frozen=True)
class Case:
    kind: str
    call: dict[str, Any]
    parts: tuple[Part, ...]

    @cached_property
    def base(self) -> Any:
        """The right call that is mangled."""
        return edited(self.call, [edit for part in self.parts for edit in part.mangle.before])

    @cached_property
    def sent(self) -> Any:
        return edited(self.base, [edit for part in self.parts for edit in part.mangle.sent])

    @property
    def text_only(self) -> bool:
        return any(part.mangle.text_only for part in self.parts)

    @property
    def where(self) -> str:
        return ", ".join("/".join(map(str, part.mangle.sent[0].path)) or "arguments" for part in self.parts)

    def expected(self, *, repairs: bool) -> Expected:
        verdicts = [part.in_mode(repairs=repairs) for part in self.parts]
        fitted = [self._options(part, verdict) for part, verdict in zip(self.parts, verdicts, strict=True)]
        refused = [
            [*options, part.mangle.sent] if verdict is Verdict.RECOVER else options
            for part, verdict, options in zip(self.parts, verdicts, fitted, strict=True)
        ]
        order = (Verdict.REFUSE, Verdict.OPEN, Verdict.RECOVER)
        verdict = next((one for one in order if one in verdicts), Verdict.VALID)
        return Expected(verdict, self._documents(fitted), self._documents(refused))

    def _options(self, part: Part, verdict: Verdict) -> list[tuple[Edit, ...]]:
        if verdict is Verdict.OPEN:
            return [part.recovered, part.mangle.sent]
        return [part.recovered if verdict is Verdict.RECOVER else part.mangle.sent]

    def _documents(self, options: Sequence[Sequence[tuple[Edit, ...]]]) -> list[Any]:
        base = self.base
        return [edited(base, itertools.chain(*chosen)) for chosen in itertools.product(*options)]


def cases(document: Document, call: dict[str, Any], rng: Random) -> Iterator[Case]:
    """The call itself, then mangled at one place, then at several."""
    yield Case(RIGHT, call, ())
    found = list(_mangles(Scene(document, call, places(document, call), rng)))
    alone = [case for case in (_single(document, call, mangle) for mangle in found) if case]
    yield from alone
    parts = [case.parts[0] for case in alone if case.parts[0].mangle.sent[0].path]
    sound = [part for part in parts if part.verdict in {Verdict.RECOVER, Verdict.VALID}]
    for pool, kind in (
        (sound, "several places, all safe"),
        (sound, "several places, all safe"),
        (parts, "several places"),
    ):
        several = _apart(pool, rng)
        case = Case(kind, call, several)
        if len(several) > 1 and _holds(document, case):
            yield case


def _mangles(scene: Scene) -> Iterator[Mangle]:
    for kind in KINDS:
        left = PLACES_PER_KIND
        for place in scene.rng.sample(scene.places, len(scene.places)):
            made = list(kind(scene, place))
            yield from made
            left -= bool(made)
            if not left:
                break


def _single(document: Document, call: dict[str, Any], mangle: Mangle) -> Case | None:
    case = Case(mangle.kind, call, (Part(mangle, mangle.hope),))
    sent = case.sent
    if written(sent) == written(case.base) or not document.accepts(value_of(case.base)):
        return None
    if document.accepts(value_of(sent)):
        return Case(mangle.kind, call, (Part(mangle, mangle.if_valid),))
    if mangle.instead is not None and not document.accepts(value_of(edited(case.base, mangle.instead))):
        return Case(mangle.kind, call, (Part(mangle, Verdict.REFUSE),))
    return case


def _apart(parts: Sequence[Part], rng: Random) -> tuple[Part, ...]:
    chosen: list[Part] = []
    wanted = rng.choice(SEVERAL)
    for part in rng.sample(parts, len(parts)):
        path = part.mangle.sent[0].path
        if len(chosen) < wanted and all(apart(path, other.mangle.sent[0].path) for other in chosen):
            chosen.append(part)
    return tuple(chosen)


def _holds(document: Document, case: Case) -> bool:
    """Whether the judge sees in the whole what it sees in each part."""
    expected = case.expected(repairs=True)
    right = document.accepts(value_of(case.base)) and document.accepts(value_of(expected.fitted[0]))
    as_sent = document.accepts(value_of(case.sent))
    if expected.verdict is Verdict.REFUSE:
        return not as_sent
    exact = all(part.mangle.exact or part.verdict is Verdict.VALID for part in case.parts)
    return right and as_sent is (expected.verdict is Verdict.VALID or exact)


def canonical(value: Any) -> str:
    return json.dumps(value)
