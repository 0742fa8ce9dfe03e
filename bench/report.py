"""What a part of the bench hands back, and how it reads."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Aim:
    name: str
    figure: float
    limit: float
    unit: str = ""
    stretch: float | None = None

    def __str__(self) -> str:
        if math.isnan(self.figure):
            return f"{self.name}: lost in the noise of this run: NOT JUDGED"
        verdicts = [self.verdict("aim", self.limit)]
        if self.stretch is not None:
            verdicts.append(self.verdict("stretch", self.stretch))
        return f"{self.name}: {self.figure:.3g}{self.unit} ({', '.join(verdicts)})"

    def verdict(self, word: str, limit: float) -> str:
        return f"{word}: at most {limit:g}{self.unit}: {'met' if self.figure <= limit else 'NOT MET'}"


@dataclass
class Part:
    title: str
    lines: list[str] = field(default_factory=list)
    aims: list[Aim] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join([self.title, "=" * len(self.title), "", *self.lines, ""])


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """First column left, the others right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def line(row: Sequence[str]) -> str:
        cells = [
            row[0].ljust(widths[0]),
            *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True)),
        ]
        return "  ".join(cells).rstrip()

    return [line(head), line(["-" * w for w in widths]), *(line(row) for row in rows), ""]


def spread(values: Sequence[float], form: str = ".0f") -> str:
    """`median (lowest to highest)`; `form` is the median's, and a `+` in it is the median's alone."""
    plain = form.removeprefix("+")
    return f"{statistics.median(values):{form}} ({min(values):{plain}} to {max(values):{plain}})"


def p99(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]
