"""The table of single arguments (parts.txt), read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from kinds import KINDS

TABLE = Path(__file__).with_name("parts.txt")
UNDECLARED, ARGUMENTS = "undeclared", "arguments"  # sections that are no kind of argument


class Class(StrEnum):
    KEEP = "keep"
    RECOVER = "recover"
    EITHER = "either"
    REFUSE = "refuse"


class LeftOut:
    """The outcome of an argument that is not there."""

    def __repr__(self) -> str:
        return "left out"


LEFT_OUT = LeftOut()


class TableError(Exception):
    """A row of the table is not what it says it is."""


@dataclass(frozen=True)
class Part:
    kind: str
    form: str  # how its key is written; for the arguments as a whole, how they are
    sent: str  # JSON text
    class_: Class
    outcome: Any = LEFT_OUT  # means nothing where the class is `refuse`
    why: str = ""
    earlier: bool = False

    def __str__(self) -> str:
        return f"{self.kind} <- {self.shown}"

    @property
    def shown(self) -> str:
        return " ".join(filter(None, (self.form and f"@{self.form}", self.sent)))


def part(kind: str, line: str) -> Part:
    cells = [cell.strip() for cell in line.split("|")]
    name, shown, out, why = [*cells, "", ""][:4]
    class_ = Class(name.removesuffix("*"))
    form, sent = "", shown
    if shown.startswith("@"):
        form, _, sent = shown[1:].partition(" ")
    if len(cells) > 4 or (out != "" and class_ in (Class.KEEP, Class.REFUSE) and out != "-"):
        raise TableError(f"{kind}: {line}")
    out = sent if class_ is Class.KEEP and not out else out
    outcome = LEFT_OUT if out in ("-", "") else json.loads(out)
    return Part(kind, form, sent, class_, outcome, why, name.endswith("*"))


def read() -> Iterator[Part]:
    kind = ""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind = line.strip("[]")
            if kind not in (*KINDS, UNDECLARED, ARGUMENTS):
                raise TableError(f"there is no kind {kind}")
        elif line and not line.startswith("#"):
            yield part(kind, line)


PARTS = tuple(read())
