"""What happens to arguments on their way, by kind, and what the contract says may come of each.

A mangle says what becomes of a place, and what the contract hopes for where the judge refuses what is sent.
Where the judge takes it, it is right as it came; only a whole number is then still spelled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import Any

from edits import Edit
from places import Place
from schema import Document


class Verdict(Enum):
    RECOVER = "recover"  # the right call must come out
    VALID = "valid"  # what was sent must come out untouched
    REFUSE = "refuse"  # nothing may come out
    OPEN = "open"  # the right call or nothing


@dataclass(frozen=True)
class Mangle:
    kind: str
    sent: tuple[Edit, ...]  # makes what is sent of the right call
    hope: Verdict  # where the judge refuses what is sent
    if_valid: Verdict = Verdict.VALID  # where it takes it
    before: tuple[Edit, ...] = ()  # makes the right call of the sample, so that this kind has something to mangle
    instead: tuple[Edit, ...] | None = None  # what comes of the right call, where the contract reads what is sent so
    exact: bool = False  # recovered without any repair
    text_only: bool = False  # as a value its digits would be lost before it is sent

    @property
    def edits(self) -> tuple[Edit, ...]:
        return (*self.before, *self.sent)


@dataclass(frozen=True)
class Scene:
    """What a kind may look at beside its own place."""

    document: Document
    call: dict[str, Any]
    places: list[Place]
    rng: Random


Kind = Callable[[Scene, Place], Iterator[Mangle]]


def put(place: Place, value: Any) -> tuple[Edit, ...]:
    return (Edit(place.path, "put", value),)


def sure(place: Place, hope: Verdict) -> Verdict:
    """The hope for a place that is known for sure; where branches lead to it, the contract leaves it open."""
    return Verdict.OPEN if hope is Verdict.RECOVER and not place.sure else hope


def unquoted(place: Place) -> Verdict:
    """The hope for text that spells the right value."""
    return Verdict.REFUSE if place.takes_text and place.sure else sure(place, Verdict.RECOVER)


def number_in(place: Place) -> bool:
    return isinstance(place.value, int | float) and not isinstance(place.value, bool)


def integer_in(place: Place) -> bool:
    return isinstance(place.value, int) and not isinstance(place.value, bool)
