"""What a relay adds to one `tools/call` over stdio.

A round starts every target anew, in a shuffled order: two instances of one program differ
from each other by more than some relays cost. Then, in the same processes,

* hot: blocks of calls to one target, blocks shuffled; a block's first calls are not counted;
* cold: laps in which every target gets one call, each lap in a new order, so between two
  calls to a target all others have run.

Added latency is a target's median minus the direct pipe's median of the same round.

Where the kernel puts the processes decides much: a wake-up on another CPU can cost more than
a relay does, and which target meets it is luck. So the tiny server is measured twice: as the
kernel places it, and with everything on one CPU, where only the work counts.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from calls import CHANGED_TEXT, RIGHT_TEXT
from client import Peer, deadline
from report import Aim, Part, p99, spread, table
from targets import (
    ARGFIT,
    ARGFIT_CHANGED,
    BYTES,
    DIRECT,
    FASTMCP,
    PARSE,
    SDK,
    TINY,
    Backend,
    Target,
    backends,
    targets,
)

ANY_CPU, ONE_CPU = "any CPU", "one CPU"
MODES = ("hot", "cold")
FASTMCP_AIM = 0.06
PARSE_LIMIT, PARSE_STRETCH = 1.5, 1.3


@dataclass(frozen=True)
class Size:
    rounds: int
    blocks: int
    block: int
    laps: int
    seconds: float  # no new round after this, once MIN_ROUNDS are done


@dataclass(frozen=True)
class Setting:
    backend: Backend
    cpus: str
    wanted: tuple[Target, ...]
    full: Size
    quick: Size

    @property
    def name(self) -> str:
        return f"{self.backend.name}, {self.cpus}"


MIN_ROUNDS = 5
WARM_UP = 60
BLOCK_WARM_UP = 10
SLOW_SHARE = 5  # FastMCP's blocks are this many times shorter: its calls are that much longer

RELAYS = (DIRECT, BYTES, PARSE, ARGFIT, ARGFIT_CHANGED)
SETTINGS = (
    Setting(TINY, ANY_CPU, (*RELAYS, FASTMCP), Size(13, 5, 200, 250, 70), Size(2, 2, 100, 50, 20)),
    Setting(TINY, ONE_CPU, RELAYS, Size(13, 5, 200, 250, 40), Size(2, 2, 100, 50, 20)),
    Setting(SDK, ANY_CPU, (*RELAYS, FASTMCP), Size(13, 3, 60, 60, 80), Size(2, 2, 30, 20, 30)),
)


@dataclass
class Samples:
    """Nanoseconds: per target and mode, one list per round."""

    of: dict[tuple[str, str], list[list[int]]] = field(default_factory=dict)
    killed: set[str] = field(default_factory=set)

    @property
    def rounds(self) -> int:
        return len(self.of[DIRECT.name, MODES[0]])

    def add(self, target: Target, mode: str, calls: list[int]) -> None:
        self.of.setdefault((target.name, mode), []).append(calls)

    def medians(self, target: Target, mode: str) -> list[float]:
        """Microseconds, one per round."""
        return [statistics.median(calls) / 1000 for calls in self.of[target.name, mode]]

    def added(self, target: Target, mode: str) -> list[float]:
        pairs = zip(self.medians(target, mode), self.medians(DIRECT, mode), strict=True)
        return [mine - direct for mine, direct in pairs]

    def p99(self, target: Target, mode: str) -> float:
        return p99([spent / 1000 for calls in self.of[target.name, mode] for spent in calls])


def arguments(target: Target) -> bytes:
    return CHANGED_TEXT if target is ARGFIT_CHANGED else RIGHT_TEXT


@contextlib.contextmanager
def placed(cpus: str) -> Iterator[None]:
    """Children inherit the CPUs their parent may use at their start."""
    if cpus == ANY_CPU:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def running(wanted: Sequence[Target], backend: Backend, samples: Samples) -> Iterator[dict[Target, Peer]]:
    with contextlib.ExitStack() as stack:  # closes every peer, also after one of them did not close in time
        peers: dict[Target, Peer] = {}
        for target in random.sample(wanted, len(wanted)):
            peers[target] = Peer(target.name, target.command(backend))
            stack.callback(peers[target].close)
        for target, peer in peers.items():
            peer.greet()
            for _ in range(WARM_UP):
                peer.call(arguments(target))
        yield peers
    samples.killed |= {target.name for target, peer in peers.items() if peer.killed}


@contextlib.contextmanager
def no_garbage_collection() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def hot(peers: dict[Target, Peer], size: Size) -> dict[Target, list[int]]:
    calls: dict[Target, list[int]] = {target: [] for target in peers}
    for _ in range(size.blocks):
        for target in random.sample(list(peers), len(peers)):
            counted = size.block // SLOW_SHARE if target is FASTMCP else size.block
            block = [peers[target].call(arguments(target)) for _ in range(BLOCK_WARM_UP + counted)]
            calls[target] += block[BLOCK_WARM_UP:]
    return calls


def cold(peers: dict[Target, Peer], size: Size) -> dict[Target, list[int]]:
    calls: dict[Target, list[int]] = {target: [] for target in peers}
    for _ in range(size.laps):
        for target in random.sample(list(peers), len(peers)):
            calls[target].append(peers[target].call(arguments(target)))
    return calls


def measure(setting: Setting, wanted: Sequence[Target], size: Size) -> Samples:
    samples = Samples()
    end = time.monotonic() + size.seconds
    for number in range(size.rounds):
        if number >= MIN_ROUNDS and time.monotonic() > end:
            break
        print(f"stdio, {setting.name}, round {number + 1} of {size.rounds}", file=sys.stderr)
        with (
            deadline(60, f"a round behind {setting.name}"),
            placed(setting.cpus),
            running(wanted, setting.backend, samples) as peers,
            no_garbage_collection(),
        ):
            for mode, calls in (("hot", hot(peers, size)), ("cold", cold(peers, size))):
                for target in wanted:
                    samples.add(target, mode, calls[target])
    return samples


def ratio(samples: Samples, mine: Target, other: Target, mode: str) -> float:
    """Not a number where one of the two cannot be told from a direct pipe."""
    pair = [statistics.median(samples.added(target, mode)) for target in (mine, other)]
    return pair[0] / pair[1] if min(pair) > 0 else math.nan


def ratio_cell(samples: Samples, mine: Target, other: Target) -> str:
    return " / ".join(f"{ratio(samples, mine, other, mode):.3g}" for mode in MODES)


def rows(samples: Samples, wanted: Sequence[Target], beside: Sequence[Target]) -> list[list[str]]:
    out = []
    for target in wanted:
        row = [target.name]
        for mode in MODES:
            if target is DIRECT:
                row.append("in all " + spread(samples.medians(target, mode)))
            else:
                row.append(spread(samples.added(target, mode), "+.0f"))
            row.append(f"{samples.p99(target, mode):.0f}")
        row += ["" if target is DIRECT else ratio_cell(samples, target, other) for other in beside]
        out.append(row)
    return out


def judged(samples: Samples, setting: Setting, wanted: Sequence[Target]) -> list[Aim]:
    out = []
    for mine in (ARGFIT, ARGFIT_CHANGED):
        for mode in MODES:
            if FASTMCP in wanted:
                name = f"{mine.name}: added / FastMCP's, {setting.name}, {mode}"
                out.append(Aim(name, ratio(samples, mine, FASTMCP, mode), FASTMCP_AIM))
            if setting.backend is TINY:
                name = f"{mine.name}: added / parse-only's, {setting.name}, {mode}"
                figure = ratio(samples, mine, PARSE, mode)
                out.append(Aim(name, figure, PARSE_LIMIT, stretch=PARSE_STRETCH))
    return out


def section(setting: Setting, wanted: Sequence[Target], size: Size) -> tuple[list[str], list[Aim]]:
    samples = measure(setting, wanted, size)
    # Behind a server slower than any relay, a ratio of two small differences says nothing.
    beside = [t for t in (PARSE, FASTMCP) if t in wanted and (t is FASTMCP or setting.backend is TINY)]
    lines = [
        f"Behind {setting.name}: {samples.rounds} of {size.rounds} rounds, all targets started anew in each.",
        "Microseconds, median over rounds (lowest to highest); p99: the whole round trip, all rounds.",
        "",
        *table(
            ["", "hot", "p99", "cold", "p99", *(f"/ {t.name.split()[0]}, hot / cold" for t in beside)],
            rows(samples, wanted, beside),
        ),
    ]
    if samples.killed:
        lines += [f"Killed, 2 s after stdin was closed: {', '.join(sorted(samples.killed))}.", ""]
    return lines, judged(samples, setting, wanted)


def run(*, quick: bool) -> Part:
    part = Part("stdio: added to one tools/call")
    behind, no_backend = backends(TINY, SDK)
    _, no_target = targets(FASTMCP)
    for setting in SETTINGS:
        if setting.backend not in behind:
            continue
        if setting.cpus == ONE_CPU and not hasattr(os, "sched_setaffinity"):
            part.lines += [f"skipped: {setting.name}: this system cannot pin a process", ""]
            continue
        wanted, _ = targets(*setting.wanted)
        lines, aims = section(setting, wanted, setting.quick if quick else setting.full)
        part.lines += lines
        part.aims += aims
    part.lines += no_backend + no_target
    return part
