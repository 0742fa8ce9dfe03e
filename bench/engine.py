"""What the engine costs beside a right call: refusals, compiling, large calls, deep unions, many tools.

Each limit is a ratio taken in this run or a time that leaves room for a slow machine; the figures are medians.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import orjson
from calls import SCHEMA
from fit import WrongFitError
from report import Aim, Part, table

from argfit import Fitter

INTEGER = {"type": "integer"}
LIST = {"type": "object", "properties": {"n": {"type": "array", "items": INTEGER}, "text": {"type": "string"}}}
FAULTY_SCHEMA = {
    "type": "object",
    "properties": {
        "from": {"type": "string", "format": "date"},
        "limit": {**INTEGER, "minimum": 1, "maximum": 100},
        "rows": {
            "type": "array",
            "items": {"type": "object", "properties": {"quantity": INTEGER}, "required": ["quantity"]},
        },
        "mode": {"enum": ["fast", "slow", "careful"]},
        "verbose": {"type": "boolean"},
        "path": {"type": "string"},
    },
    "required": ["path"],
    "additionalProperties": False,
}
FAULTY = {"from": 5, "limit": 500, "rows": [{"quantity": "x"}], "mode": "quick", "verbos": True, "path": "x"}
LEVELS, BRANCHES = 8, 4
DEEP = 10_000
MANY = 10_000
TOOLS = 1_000


def shared_unions() -> dict[str, Any]:
    """Unions of unions, each level shared by all branches of the one before."""
    levels = {
        f"d{level}": {
            "anyOf": [
                {"type": "object", "properties": {f"b{branch}": INTEGER, "n": {"$ref": f"#/$defs/d{level + 1}"}}}
                for branch in range(BRANCHES)
            ]
        }
        for level in range(LEVELS)
    }
    return {
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/d0"}},
        "$defs": {**levels, f"d{LEVELS}": INTEGER},
    }


def nested(leaf: Any) -> dict[str, Any]:
    for _ in range(LEVELS + 1):
        leaf = {"n": leaf}
    made: dict[str, Any] = leaf
    return made


def microseconds(run: Callable[[], object], *, quick: bool, budget: float = 0.6) -> float:
    """The median of repeats, each long enough for the clock."""
    run()
    start = time.perf_counter()
    run()
    once = time.perf_counter() - start
    loops = max(1, int(0.004 / max(once, 1e-7)))
    repeats = 5 if quick else max(7, int(budget / max(once * loops, 1e-4)))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(loops):
            run()
        times.append((time.perf_counter() - start) / loops)
    return statistics.median(times) * 1e6


def megabytes() -> float:
    """The memory of this process, as Linux tells it; nan elsewhere."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return float("nan")
    return pages * 4096 / 2**20


def check(promises: dict[str, bool]) -> None:
    for promise, kept in promises.items():
        if not kept:
            raise WrongFitError(f"not so: {promise}")


def refusal(*, quick: bool) -> tuple[list[list[str]], list[Aim]]:
    fitter, judge = Fitter(FAULTY_SCHEMA), jsonschema_rs.validator_for(FAULTY_SCHEMA, offline=True)
    fit = fitter.fit(FAULTY)
    check({"five faults are named": len(fit.problems) == 5})
    ours = microseconds(lambda: fitter.fit(FAULTY), quick=quick)
    theirs = microseconds(lambda: list(judge.iter_errors(FAULTY)), quick=quick)
    rows = [
        ["five faults refused and named", f"{ours:.0f} us"],
        ["the same, jsonschema-rs iter_errors", f"{theirs:.0f} us"],
        ["the words of the five, characters", f"{len(fit.message)}"],
    ]
    return rows, [
        Aim("five faults / iter_errors of the judge", ours / theirs, 3.75),
        Aim("five faults, characters", len(fit.message), 300),
    ]


def compiling(*, quick: bool) -> tuple[list[list[str]], list[Aim]]:
    rows, ratios = [], []
    for name, schema in {
        "ten arguments": SCHEMA,
        "six, nested": FAULTY_SCHEMA,
        "shared unions": shared_unions(),
    }.items():
        ours = microseconds(lambda schema=schema: Fitter(schema), quick=quick)
        called = microseconds(lambda schema=schema: Fitter(schema).fit({}), quick=quick)
        theirs = microseconds(lambda schema=schema: jsonschema_rs.validator_for(schema, offline=True), quick=quick)
        ratios.append(ours / theirs)
        first = f"{called / theirs:.1f} x with its first call"  # for which the quick way is made
        rows.append([f"compiling a tool: {name}", f"{ours:.0f} us, {ours / theirs:.1f} x jsonschema-rs, {first}"])
    before = megabytes()
    kept = [Fitter(SCHEMA) for _ in range(TOOLS)]
    gc.collect()
    held = megabytes() - before
    rows.append([f"{len(kept)} tools held", f"{held:.0f} MB"])
    return rows, [
        Aim("compiling / jsonschema-rs's own", max(ratios), 10),
        Aim("1,000 tools, MB", held, 50),
    ]


def large(*, quick: bool) -> tuple[list[list[str]], list[Aim]]:
    fitter = Fitter(LIST)
    few = json.dumps({"n": [float(i) if i % 2_500 == 0 else i for i in range(MANY)]}).encode()
    all_floats = json.dumps({"n": [float(i) for i in range(MANY)]}).encode()
    long_text = json.dumps({"text": "x" * 5_000_000, "n": [5.0]}).encode()
    deep = b'{"x":' + b"[" * DEEP + b"]" * DEEP + b',"n":[5.0]}'
    check(
        {
            "floats become integers": fitter.fit_json(all_floats).json == all_floats.replace(b".0", b""),
            "depth is no hindrance": fitter.fit_json(deep).json == deep.replace(b"5.0", b"5"),
        }
    )
    cases = {
        "10,000 elements, 4 of them changed": (few, 5.0),
        "10,000 elements, all changed": (all_floats, None),
        "a text of 5 MB, one number changed": (long_text, 25.0),
        "nesting 10,000 deep": (deep, None),
    }
    rows, aims = [], []
    for name, (text, limit) in cases.items():
        took = microseconds(lambda text=text: fitter.fit_json(text), quick=quick) / 1000
        rows.append([f"fit_json: {name}", f"{took:.1f} ms"])
        if limit is not None:
            aims.append(Aim(name, took, limit, " ms"))
    growth = []
    for count in (MANY // 10, MANY):
        text = json.dumps({"n": [float(i) for i in range(count)]}).encode()
        growth.append(microseconds(lambda text=text: fitter.fit_json(text), quick=quick) / count)
    wide = []
    for count in (100, 1_000):
        names = Fitter({"type": "object", "properties": {f"p{i}": INTEGER for i in range(count)}})
        sent = {f"p{i}": float(i) for i in range(count)}
        wide.append(microseconds(lambda names=names, sent=sent: names.fit(sent), quick=quick) / count)
    return rows, [
        *aims,
        Aim("per element: 10,000 / 1,000 of them", growth[1] / growth[0], 1.5),
        Aim("per argument: 1,000 / 100 of them", wide[1] / wide[0], 1.5),
    ]


def unions(*, quick: bool) -> tuple[list[list[str]], list[Aim]]:
    rows, worst = [], 0.0
    for title, repairs in (("", ()), (", all repairs", ("all",))):
        fitter = Fitter(shared_unions(), repairs=repairs)
        for name, leaf in (("right", 5), ("a whole float", 5.0), ("a fault", "x")):
            took = microseconds(lambda leaf=leaf, fitter=fitter: fitter.fit(nested(leaf)), quick=quick) / 1000
            rows.append([f"unions {LEVELS} deep of {BRANCHES}, shared: {name}{title}", f"{took:.2f} ms"])
            worst = max(worst, took)
    return rows, [Aim("deep shared unions, fitted, judged and named", worst, 10, " ms")]


def readers(*, quick: bool) -> tuple[list[list[str]], list[Aim]]:
    """For scale: what reading the largest text costs by itself."""
    text = json.dumps({"n": [float(i) for i in range(MANY)]}).encode()
    rows = [
        ["for scale: orjson.loads, 10,000 floats", f"{microseconds(lambda: orjson.loads(text), quick=quick):.0f} us"],
        ["for scale: msgspec, 10,000 floats", f"{microseconds(lambda: msgspec.json.decode(text), quick=quick):.0f} us"],
    ]
    return rows, []


def run(*, quick: bool) -> Part:
    part = Part("engine: refusals, compiling, large calls, unions")
    rows: list[list[str]] = []
    for measure in (refusal, compiling, large, unions, readers):
        print(f"engine: {measure.__name__}", file=sys.stderr)
        more, aims = measure(quick=quick)
        rows += more
        part.aims += aims
    part.lines = table(["", "median"], rows)
    return part
