"""The battery's tables, as text and as the page docs/battery.md."""

from __future__ import annotations

import json
import platform
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from calls import Call
from kinds import KINDS
from parts import LEFT_OUT, PARTS, Class, Part
from systems import System
from verdicts import Crashed, Outcome, Result, Verdict

PACKAGES = ("argfit", "pydantic", "msgspec", "json-repair", "mcp", "fastmcp", "jsonschema-rs")
SHOWN = 44  # characters of a value that came out

Table = list[list[str]]


@dataclass(frozen=True)
class Judged:
    """What became of one call in one system; `part` is the row it is there for, None where it is composed."""

    part: Part | None
    call: Call
    result: Result
    verdict: Verdict


@dataclass(frozen=True)
class Board:
    title: str
    calls: Sequence[Call]
    judged: Mapping[System, Sequence[Judged]]
    composed: bool = False

    def of(self, system: System) -> Counter[Outcome]:
        return Counter(one.verdict.outcome for one in self.judged[system])

    @property
    def table(self) -> Table:
        head = ["system", "set to", *Outcome, "crashed"]
        return [head + ["harmed a bystander"] * self.composed, *(self.row(system) for system in self.judged)]

    def row(self, system: System) -> list[str]:
        counted, judged = self.of(system), self.judged[system]
        crashed = sum(isinstance(one.result, Crashed) for one in judged)
        harmed = sum(one.verdict.harmed for one in judged)
        figures = [*(counted[outcome] for outcome in Outcome), crashed, *([harmed] * self.composed)]
        return [system.name, system.repairs, *map(str, figures)]

    @property
    def made_of(self) -> str:
        """How many of the calls are of which class; a call is of the hardest class in it."""
        order = (Class.REFUSE, Class.EITHER, Class.RECOVER, Class.KEEP)
        counted = Counter(next(class_ for class_ in order if class_ in call.classes) for call in self.calls)
        words = {
            Class.KEEP: "valid as they are",
            Class.RECOVER: "to recover",
            Class.EITHER: "either way",
            Class.REFUSE: "to refuse",
        }
        return f"{len(self.calls)} calls: " + ", ".join(
            f"{counted[class_]} {words[class_]}" for class_ in reversed(order)
        )


def versions() -> str:
    return ", ".join(
        [f"Python {platform.python_version()}", *(f"{package} {version(package)}" for package in PACKAGES)]
    )


def wrong(board: Board, system: System) -> Iterator[str]:
    """The parts that a system let through wrong, each with what came of it."""
    for one in board.judged[system]:
        if one.part is not None and one.verdict.outcome is Outcome.WRONG and isinstance(one.result, Mapping):
            yield f"{one.part} -> {came(one, one.result)}"


def came(one: Judged, arguments: Mapping[str, Any]) -> str:
    name, part = one.call.members[-1]  # the part stands after the plain ones
    if part.kind not in KINDS:
        return "accepted"
    if name not in arguments or (part.form and part.class_ is Class.REFUSE):
        return "accepted without it" if name not in arguments else "accepted"
    shown = json.dumps(arguments[name], ensure_ascii=False)
    return shown if len(shown) <= SHOWN else shown[:SHOWN] + "…"


def as_text(table: Table) -> str:
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]

    def line(row: Sequence[str]) -> str:
        words = [cell.ljust(width) for cell, width in zip(row[:2], widths, strict=False)]
        figures = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        return "  ".join(words + figures)

    return "\n".join([line(table[0]), line(["-" * width for width in widths]), *map(line, table[1:])])


def as_markdown(table: Table, *, figures: bool = True) -> str:
    cells = [[cell.replace("|", "\\|") for cell in row] for row in table]
    aligned = ["---", "---", *(["--:" if figures else "---"] * (len(table[0]) - 2))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (cells[0], aligned, *cells[1:]))


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def boards_as_text(boards: Iterable[Board]) -> Iterator[str]:
    for board in boards:
        yield f"\n{board.title}\n{'=' * len(board.title)}\n{board.made_of}.\n\n{as_text(board.table)}"


def wrong_as_text(board: Board) -> Iterator[str]:
    for system in board.judged:
        parts = list(wrong(board, system))
        yield f"\n{system}: {len(parts)} wrong" + "".join(f"\n  {part}" for part in parts)


PAGE = """\
# Bad arguments: who recovers, who refuses, who passes something else

A tool call whose arguments do not fit can be mended, refused, or passed on as something that was not meant. Only the
last does harm that nobody sees. This page counts all three, for argfit and for what else stands at this place. It is
written by `make battery`; nothing on it is entered by hand.

## What is counted

The table at the end holds {parts} single arguments, each with its kind, its text, and what may come out. It is the
file `bench/battery/parts.txt`. A row has one of four classes:

- **keep**: valid as it is; it must come out as the same JSON value.
- **recover**: can be repaired without loss; the value shown must come out.
- **either**: defensible both ways; the value shown, or a refusal.
- **refuse**: whatever is accepted here is a guess.

A validator holds each row to its class before anything runs. Each call gets one of four verdicts:

- **right**: kept or recovered, every argument, exactly. `true` is not 1; where an integer is wanted 5.0 is not yet 5;
  for a number 2.0 is 2.
- **refused rightly**: a call that had to be refused, or might be.
- **missed**: a call that could be recovered, or was right, and was refused, or passed on just as it came.
- **wrong**: something passed that differs from everything acceptable: another value, a bystander changed, an unknown
  key dropped, or a call that had to be refused.

An exception that is not the system's own refusal counts as a refusal, and under *crashed*.

What to keep in mind:

- The classes are argfit's policy. Where systems differ over one, the row says why it is what it is, and you may judge
  otherwise. One row is classed otherwise than on the earlier board: `" 5 "` for an integer, to be recovered there, is
  to be refused here, since text is not trimmed.
- Every schema is closed. The MCP Python SDK publishes open ones and leaves unknown keys out by design; here that is
  wrong.
- argfit without repairs only spells whole floats as integers: what it misses, it misses by design.
- Types are what a tool's author would write in Python: `float` for a number, so that whole numbers beyond 2^53 lose
  digits wherever they become one.
- *re-creation* is code written for this page after the behaviour of clients and gateways, with a validator behind it:
{recreated}.

Again: `make battery`, or `python bench/battery/run.py --seed {seed} --calls {calls}`. Measured with
{versions}.
"""

RECREATED = (
    "Ajv's `coerceTypes`; the same as an editor runs it, which then decodes JSON text where a list or an object is "
    "wanted; a gateway that decodes all text once anything is invalid; and three that make text at the top level what "
    "the schema declares, one trying a union's types in order, two by way of a float, the last also wrapping single "
    "values in lists"
)


def page(boards: Sequence[Board], single: Board, *, seed: int, calls: int) -> str:
    intro = PAGE.format(parts=len(PARTS), recreated=indented(RECREATED), seed=seed, calls=calls, versions=versions())
    chapters = [intro]
    chapters += [f"## {board.title}\n\n{board.made_of}.\n\n{as_markdown(board.table)}\n" for board in boards]
    chapters.append("## Single arguments that went through wrong\n")
    for system in single.judged:
        parts = [f"- {code(part)}" for part in wrong(single, system)]
        chapters.append("\n".join([f"### {system}: {len(parts)}\n", *(parts or ["None."]), ""]))
    kinds = [["kind", "schema"], *([name, code(json.dumps(kind.schema))] for name, kind in KINDS.items())]
    optional = " and ".join(name for name, kind in KINDS.items() if kind.optional)
    chapters.append(f"## The kinds\n\nAll are required but {optional}.\n\n{as_markdown(kinds)}\n")
    chapters.append(f"## The parts\n\nA * marks a row of the earlier board.\n\n{as_markdown(rows(), figures=False)}\n")
    return "\n".join(chapters)


def indented(text: str) -> str:
    return textwrap.fill(text, width=118, initial_indent="  ", subsequent_indent="  ")


def rows() -> Table:
    table = [["kind", "sent", "class", "may come out", "why"]]
    for part in PARTS:
        star = "\\*" if part.earlier else ""
        table.append([part.kind, code(part.shown), part.class_ + star, outcome(part), part.why])
    return table


def outcome(part: Part) -> str:
    if part.class_ is Class.REFUSE or part.kind not in KINDS:
        return "" if part.class_ is Class.REFUSE else "the arguments"
    if part.outcome is LEFT_OUT:
        return "left out"
    return code(part.sent if part.class_ is Class.KEEP else json.dumps(part.outcome))
