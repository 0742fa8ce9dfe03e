"""`fit` and `fit_json` against reading the same text once with orjson.

Each repeat times every candidate for a few milliseconds, in a new order; a ratio is taken
inside one repeat, so a machine that slows down slows both sides of it.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import jsonschema_rs
import orjson
from calls import CHANGED, CHANGED_TEXT, RIGHT, RIGHT_TEXT, SCHEMA
from pydantic import BaseModel, ConfigDict, Field
from report import Aim, Part, spread, table

from argfit import Fitter


class WrongFitError(Exception):
    """What was to be timed is not correct."""


@dataclass(frozen=True)
class Size:
    repeats: int
    slice_ns: int


FULL = Size(repeats=150, slice_ns=5_000_000)
QUICK = Size(repeats=15, slice_ns=2_000_000)


@dataclass(frozen=True)
class Candidate:
    name: str
    run: Callable[[], object]
    base: str


class Note(BaseModel):
    """The same tool as pydantic binds it."""

    model_config = ConfigDict(extra="forbid")

    file: str
    line: Annotated[int, Field(ge=0)]
    column: Annotated[int, Field(ge=0)] = 0
    end_line: Annotated[int, Field(ge=0)] = 0
    title: str = ""
    body: str
    weight: float = 1.0
    draft: bool = False
    tags: list[str] = []
    reply_to: str | None = None


RIGHT_BASE = "orjson.loads, right call"
CHANGED_BASE = "orjson.loads, 3 whole floats"


def candidates() -> list[Candidate]:
    fitter = Fitter(SCHEMA)
    is_valid = jsonschema_rs.validator_for(SCHEMA, offline=True).is_valid
    check(fitter)
    return [
        Candidate(RIGHT_BASE, lambda: orjson.loads(RIGHT_TEXT), RIGHT_BASE),
        Candidate(CHANGED_BASE, lambda: orjson.loads(CHANGED_TEXT), CHANGED_BASE),
        Candidate("jsonschema_rs is_valid, right call", lambda: is_valid(RIGHT), RIGHT_BASE),
        Candidate("pydantic, validate_python, right call", lambda: Note.model_validate(RIGHT), RIGHT_BASE),
        Candidate("pydantic, validate_json, right call", lambda: Note.model_validate_json(RIGHT_TEXT), RIGHT_BASE),
        Candidate("fit, right call", lambda: fitter.fit(RIGHT), RIGHT_BASE),
        Candidate("fit, 3 whole floats", lambda: fitter.fit(CHANGED), CHANGED_BASE),
        Candidate("fit_json, right call", lambda: fitter.fit_json(RIGHT_TEXT), RIGHT_BASE),
        Candidate("fit_json, 3 whole floats", lambda: fitter.fit_json(CHANGED_TEXT), CHANGED_BASE),
    ]


def check(fitter: Fitter) -> None:
    """A wrong answer has no speed."""
    fitted = fitter.fit(CHANGED).arguments
    answers = {
        "fit of a right call is the same object": fitter.fit(RIGHT).arguments is RIGHT,
        "fit writes whole floats as integers": repr(fitted) == repr(RIGHT),
        "fit_json of a right call is the same text": fitter.fit_json(RIGHT_TEXT).json == RIGHT_TEXT,
        "fit_json writes whole floats as integers": fitter.fit_json(CHANGED_TEXT).json == RIGHT_TEXT,
    }
    for promise, kept in answers.items():
        if not kept:
            raise WrongFitError(f"not so: {promise}")


def nanoseconds(run: Callable[[], object], loops: int) -> float:
    laps = range(loops)
    start = time.perf_counter_ns()
    for _ in laps:
        run()
    return (time.perf_counter_ns() - start) / loops


def measure(size: Size) -> tuple[list[Candidate], list[dict[str, float]]]:
    wanted = candidates()
    loops = {c.name: max(1, int(size.slice_ns / nanoseconds(c.run, 1000))) for c in wanted}
    repeats = []
    for _ in range(size.repeats):
        order = random.sample(wanted, len(wanted))
        repeats.append({c.name: nanoseconds(c.run, loops[c.name]) for c in order})
    return wanted, repeats


def run(*, quick: bool) -> Part:
    size = QUICK if quick else FULL
    print("fit", file=sys.stderr)
    wanted, repeats = measure(size)
    rows, found = [], {}
    for c in wanted:
        ratios = [times[c.name] / times[c.base] for times in repeats]
        found[c.name] = statistics.median(ratios)
        middle = statistics.median(times[c.name] for times in repeats)
        rows.append([c.name, f"{middle:.0f}", spread(ratios, ".2f")])
    part = Part("fit: a call of 10 arguments")
    part.lines = [
        f"Against orjson.loads of the same text ({len(RIGHT_TEXT)} and {len(CHANGED_TEXT)} bytes);",
        f"median (lowest to highest) of {size.repeats} repeats.",
        "",
        *table(["", "ns", "/ orjson.loads"], rows),
    ]
    part.aims = [
        Aim("fit of a right call / orjson.loads", found["fit, right call"], 2, stretch=1.5),
        Aim("fit_json of a right call / orjson.loads", found["fit_json, right call"], 4, stretch=3),
        Aim("fit of three whole floats / orjson.loads", found["fit, 3 whole floats"], 5),
        Aim("fit of a right call / pydantic's bind", against(repeats, "fit, right call"), 1),
        Aim("fit_json of three whole floats", found["fit_json, 3 whole floats"] * base_us(repeats), 25, " us"),
    ]
    return part


def against(repeats: list[dict[str, float]], ours: str) -> float:
    return statistics.median(times[ours] / times["pydantic, validate_python, right call"] for times in repeats)


def base_us(repeats: list[dict[str, float]]) -> float:
    return statistics.median(times[CHANGED_BASE] for times in repeats) / 1000
