"""Time to a server's first answer, and what an import costs.

From before the process is started to the whole answer to `initialize`, which is written at
once. Every lap starts each target once, in a new order; the first lap, which fills the page
and bytecode caches, is not counted.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from client import INITIALIZE, INITIALIZED, Peer, deadline, request
from report import Aim, Part, spread, table
from targets import (
    ARGFIT,
    BYTES,
    DIRECT,
    FASTMCP,
    FETCH,
    PARSE,
    SDK,
    TINY,
    Backend,
    Target,
    backends,
    targets,
)

ADDED_LIMIT_MS = 50
HEAVY = ("mcp", "pydantic")


@dataclass(frozen=True)
class Size:
    laps: int
    seconds: float  # no new lap after this, once MIN_LAPS are done


MIN_LAPS = 5

FULL = {TINY: Size(25, 45), SDK: Size(11, 50), FETCH: Size(9, 50)}
QUICK = {TINY: Size(3, 10), SDK: Size(2, 15), FETCH: Size(2, 15)}
IMPORTS = {"python": "pass", "import argfit": "import argfit"}


def first_answer(target: Target, backend: Backend) -> float:
    """Milliseconds."""
    with deadline(30, f"{target.name} before {backend.name}"):
        start = time.perf_counter()
        peer = Peer(target.name, target.command(backend))
        try:
            peer.ask("initialize", INITIALIZE)
            return (time.perf_counter() - start) * 1000
        finally:
            peer.close()


def measure(backend: Backend, wanted: Sequence[Target], size: Size) -> dict[Target, list[float]]:
    times: dict[Target, list[float]] = {target: [] for target in wanted}
    print(f"start, {backend.name}", file=sys.stderr)
    end = time.monotonic() + size.seconds
    for lap in range(size.laps + 1):
        if lap > MIN_LAPS and time.monotonic() > end:
            break
        for target in random.sample(wanted, len(wanted)):
            spent = first_answer(target, backend)
            if lap:
                times[target].append(spent)
    return times


def added(times: dict[Target, list[float]], target: Target) -> float:
    return statistics.median(times[target]) - statistics.median(times[DIRECT])


def import_times(laps: int) -> dict[str, list[float]]:
    """Milliseconds of whole processes."""
    times: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for lap in range(laps + 1):
        for name in random.sample(list(IMPORTS), len(IMPORTS)):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", IMPORTS[name]], check=True, timeout=30)
            if lap:
                times[name].append((time.perf_counter() - start) * 1000)
    return times


def heavy(log: str) -> list[str]:
    """Packages of HEAVY in the log of `python -X importtime`."""
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in log.splitlines()}
    return [name for name in HEAVY if name in loaded]


def imports_of_proxy() -> list[str]:
    """What of HEAVY a relayed call loads, in the proxy or in the tiny server, which loads nothing."""
    done = subprocess.run(
        ARGFIT.command(TINY),
        input=request(1, "initialize", INITIALIZE) + INITIALIZED + request(2, "tools/list", {}),
        env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"},
        capture_output=True,
        timeout=30,
        check=True,
    )
    return heavy(done.stderr.decode("utf-8", "replace"))


def imports_of_argfit() -> list[str]:
    command = [sys.executable, "-X", "importtime", "-c", "import argfit"]
    return heavy(subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stderr)


def first_answers(backend: Backend, wanted: Sequence[Target], size: Size) -> tuple[list[str], list[Aim]]:
    times = measure(backend, wanted, size)
    rows = [
        [target.name, spread(times[target]), "" if target is DIRECT else f"{added(times, target):+.0f}"]
        for target in wanted
    ]
    lines = [
        f"{backend.name}, {len(times[DIRECT])} starts of each; milliseconds, median (lowest to highest).",
        "",
        *table(["", "first answer", "added"], rows),
    ]
    name = f"argfit proxy: added to the first answer of {backend.name}"
    return lines, [Aim(name, added(times, ARGFIT), ADDED_LIMIT_MS, " ms")]


def run(*, quick: bool) -> Part:
    part = Part("start: to the first answer")
    behind, skipped_backends = backends(TINY, SDK, FETCH)
    wanted, skipped = targets(DIRECT, BYTES, PARSE, ARGFIT, FASTMCP)
    for backend in behind:
        lines, aims = first_answers(backend, wanted, (QUICK if quick else FULL)[backend])
        part.lines += lines
        part.aims += aims
    times = import_times(5 if quick else 30)
    base = statistics.median(times["python"])
    rows = [[name, spread(times[name], ".1f"), f"{statistics.median(times[name]) / base:.2f}"] for name in IMPORTS]
    part.lines += ["A whole process; milliseconds, median (lowest to highest).", ""]
    part.lines += table(["", "ms", "/ python"], rows)
    for what, loaded in (("import argfit", imports_of_argfit()), ("argfit proxy", imports_of_proxy())):
        part.aims.append(Aim(f"{what}: packages loaded of {', '.join(HEAVY)}", len(loaded), 0))
    part.lines += skipped_backends + skipped
    return part
