"""Mangled numbers and booleans: their spelling, their type, their bounds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from edits import Raw
from mangle import Kind, Mangle, Scene, Verdict, integer_in, number_in, put, sure, unquoted
from places import Place
from schema import type_of

WHOLE = {"integer": Verdict.RECOVER, "number": Verdict.VALID, "either": Verdict.OPEN}
BEYOND = ("1e20", "-1e19", "9223372036854775808.0", "1e300")
LONG = 1000  # text of a higher bound is too long to make
NO_NUMBERS = (" 5", "5 ", "007", "+5", "1_0", "0x5", "5,0", "NaN", "Infinity", "five", "\uff15", "--5", "5.")
NO_INTEGERS = ("5.5", "1e3", "5.0000000000000001", "1E2")
NO_BOOLEANS = ("yes", "on", "TRUE", "1", "t", " true", "False ", "0", "none")


def whole_floats(value: int) -> list[str]:
    if not value:
        return ["0.0", "0.000", "0e0", "-0.0"]
    found = [f"{value}.0", f"{value}.000", f"{value}e0", f"{value}0e-1"]
    bare = str(value).rstrip("0")
    zeros = len(str(value)) - len(bare)
    if zeros:
        found += [f"{bare}e{zeros}", f"{bare}.0E+{zeros}"]
    return found


def whole_float(scene: Scene, place: Place) -> Iterator[Mangle]:
    if integer_in(place) and -(2**63) <= place.value < 2**63:
        spelled = Raw(scene.rng.choice(whole_floats(place.value)))
        lossy = int(float(spelled)) != place.value
        verdict = WHOLE[place.spelling]
        hope = sure(place, Verdict.RECOVER)
        yield Mangle("number: whole float", put(place, spelled), hope, verdict, exact=True, text_only=lossy)


def beyond(scene: Scene, place: Place) -> Iterator[Mangle]:
    if integer_in(place):
        sent = put(place, Raw(scene.rng.choice(BEYOND)))
        yield Mangle("number: beyond 64 bits", sent, Verdict.REFUSE, exact=True)


def fraction(scene: Scene, place: Place) -> Iterator[Mangle]:
    if integer_in(place):
        yield Mangle("number: fraction for integer", put(place, Raw(scene.rng.choice(("2.5", "-0.5")))), Verdict.REFUSE)
        if place.spelling == "integer" and not place.takes_text:
            sent = put(place, Raw(f"{place.value}.0000000000000000000001"))
            yield Mangle("number: fraction a float loses", sent, Verdict.REFUSE, Verdict.REFUSE, text_only=True)


def swapped(scene: Scene, place: Place) -> Iterator[Mangle]:
    if isinstance(place.value, bool):
        yield Mangle("boolean: as number", put(place, int(place.value)), Verdict.REFUSE)
    elif number_in(place):
        yield Mangle("number: as boolean", put(place, scene.rng.random() < 0.5), Verdict.REFUSE)


def number_as_text(scene: Scene, place: Place) -> Iterator[Mangle]:
    if not number_in(place):
        return
    yield Mangle("number: as text", put(place, json.dumps(place.value)), unquoted(place))
    if place.spelling == "integer" and integer_in(place):
        yield Mangle("number: whole float as text", put(place, f"{place.value}.0"), unquoted(place))
    elif place.spelling == "number":
        digits = scene.rng.choice(("1.10", "1e3", "2.50", "0.10"))
        right = put(place, Raw(digits))
        yield Mangle("number: digits as text", put(place, digits), unquoted(place), before=right)


def number_as_no_number(scene: Scene, place: Place) -> Iterator[Mangle]:
    if number_in(place):
        pool = (*NO_NUMBERS, *NO_INTEGERS) if place.spelling == "integer" else NO_NUMBERS
        yield Mangle("number: text that is none", put(place, scene.rng.choice(pool)), Verdict.REFUSE)


def boolean_as_text(scene: Scene, place: Place) -> Iterator[Mangle]:
    if isinstance(place.value, bool):
        word = scene.rng.choice((str(place.value), str(place.value).lower()))
        yield Mangle("boolean: as text", put(place, word), unquoted(place))
        yield Mangle("boolean: text that is none", put(place, scene.rng.choice(NO_BOOLEANS)), Verdict.REFUSE)


def out_of_range(scene: Scene, place: Place) -> Iterator[Mangle]:
    """A number, text or list just beyond its bound, and the number as text too."""
    kind = type_of(place.value)
    meant = [flat for flat in place.flats if kind in flat.types or (kind == "number" and "integer" in flat.types)]
    if len(meant) != 1 or "array" in place.types - {kind}:
        return
    bound = meant[0].keywords.get
    beyond_it: list[Any] = []
    least, most = ("minItems", "maxItems") if kind == "array" else ("minimum", "maximum")
    low, high = bound(least), bound(most)
    if number_in(place):
        beyond_it += [low - 1] if low is not None else []
        beyond_it += [high + 1] if high is not None else []
        beyond_it += [str(number) for number in beyond_it]
    elif isinstance(place.value, str) and bound("maxLength", LONG) < LONG:
        beyond_it.append("mark-7f3a" * LONG)
    elif isinstance(place.value, list) and place.value:
        beyond_it += [place.value[: low - 1]] if low else []
        beyond_it += [place.value * (high + 1)] if high is not None else []
    if beyond_it:
        yield Mangle("bounds: just beyond", put(place, scene.rng.choice(beyond_it)), Verdict.REFUSE)


NUMBERS: tuple[Kind, ...] = (
    whole_float,
    beyond,
    fraction,
    swapped,
    number_as_text,
    number_as_no_number,
    boolean_as_text,
    out_of_range,
)
