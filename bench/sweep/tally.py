"""What a sweep counted and found, and how it reads."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

from cases import NONE, Case, cases
from corpus import Tool
from edits import STYLES, written
from sample import right_calls
from schema import Document
from trial import MISSED, MODES, OUTCOMES, WRONG, Result, Trial

LISTED = 20
KEPT_PER_TOOL = 40


@dataclass(frozen=True)
class Finding:
    tool: Tool
    kind: str
    where: str
    style: int
    sent: str
    expected: list[str]
    result: Result

    def __str__(self) -> str:
        place = f"{self.tool.file} {self.tool.name} {self.where}"
        return f"[{self.kind}; {self.result.way}, {self.result.mode}] {place}: {self.result.why}"

    def reproducer(self) -> str:
        shown: dict[str, Any] = {"schema": self.tool.schema, "repairs": MODES[self.result.mode], "way": self.result.way}
        shown |= {"sent": self.sent, "expected": self.expected, "got": self.result.got}
        return json.dumps(shown, ensure_ascii=False)


@dataclass
class Tally:
    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    calls: int = 0

    def add(self, other: Tally) -> None:
        self.counts += other.counts
        self.findings += other.findings
        self.without += other.without
        self.calls += other.calls

    def note(self, tool: Tool, case: Case, style: int, result: Result) -> None:
        self.counts[result.mode, case.kind, result.outcome] += 1
        if result.outcome in {WRONG, MISSED} and len(self.findings) < KEPT_PER_TOOL:
            self.findings.append(_finding(tool, case, style, result))

    def total(self, outcome: str) -> int:
        return sum(count for (_, _, found), count in self.counts.items() if found == outcome)

    def lines(self, mode: str) -> list[str]:
        kinds = sorted({kind for found, kind, _ in self.counts if found == mode})
        rows = [self._row(mode, kind, [kind]) for kind in kinds]
        table = [["kind", "made", *OUTCOMES], *rows, self._row(mode, "all", kinds)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in table]

    def _row(self, mode: str, name: str, kinds: list[str]) -> list[str]:
        columns = [sum(self.counts[mode, kind, outcome] for kind in kinds) for outcome in OUTCOMES]
        return [name, str(sum(columns)), *(str(count) if count else "" for count in columns)]

    def listed(self, outcome: str) -> list[Finding]:
        """The first of each kind before the second of any."""
        turns: Counter[tuple[str, str]] = Counter()
        ranked: list[tuple[int, str, int, Finding]] = []
        for finding in self.findings:
            if finding.result.outcome == outcome:
                turn = (finding.kind, finding.result.why)
                turns[turn] += 1
                ranked.append((turns[turn], finding.kind, len(ranked), finding))
        return [finding for *_, finding in sorted(ranked)[:LISTED]]


def swept(tool: Tool, calls: int, seed: int) -> Tally:
    """All that is to be found out about one tool."""
    tally = Tally()
    try:
        document = Document(tool.schema)
    except ValueError as refused:
        tally.without.append(f"{tool.file} {tool.name}: the judge does not take the schema: {refused}")
        return tally
    trial = Trial(document)
    rng = Random(f"{seed} {tool.file} {tool.name}")  # noqa: S311 for variety, not for secrecy
    for result in trial.of_none():
        tally.note(tool, Case(NONE, {}, ()), 0, result)
    for call in right_calls(document, rng, calls):
        tally.calls += 1
        for case in cases(document, call, rng):
            style = rng.randrange(len(STYLES))
            for result in trial.results(case, STYLES[style]):
                tally.note(tool, case, style, result)
    if not tally.calls:
        tally.without.append(f"{tool.file} {tool.name}: no right call was made from the schema")
    return tally


def _finding(tool: Tool, case: Case, style: int, result: Result) -> Finding:
    expected = case.expected(repairs=result.mode == "all")
    wanted = [expected.verdict.value, *map(written, expected.fitted[:4])]
    return Finding(tool, case.kind, case.where, style, written(case.sent, STYLES[style]), wanted, result)
