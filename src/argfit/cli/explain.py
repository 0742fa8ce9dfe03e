"""Explain a tool's schema: argument by argument what must hold, what would be fitted, what cannot be judged.

Try:
  argfit explain --schema tool.json
  argfit explain --schema tools.json --tool get_symbol_info --repair all

What must hold is said in the words of the refusals. A rule in brackets may change what is sent to that place;
the list below the tree says how.
"""

from __future__ import annotations

import argparse
import sys

from argfit.cli.options import add_formats, add_repair, add_strip
from argfit.cli.say import printable, say, shown
from argfit.cli.schemas import Unreadable, add_schema, read_schema

TYPE_CHECKING = False  # as type checkers read it; `argfit proxy` shares this start and must not wait for `typing`
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from argfit.core.engine import Engine
    from argfit.core.outline import Line

_LINES = ("├─ ", "└─ ", "│  ", "   ")
_PLAIN_LINES = ("|- ", "`- ", "|  ", "   ")

SUMMARY = "what would be fitted and checked, as a tree"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_schema(parser)
    add_repair(parser)
    add_formats(parser)
    add_strip(parser)


def run(options: argparse.Namespace) -> int:
    """Print the tree, and return the exit code."""
    from argfit.core.engine import compile_engine
    from argfit.core.source import SchemaError

    if options.after:
        say("argfit explain: takes no arguments after --; see argfit explain --help")
        return 2
    try:
        schema = read_schema(options.schema, options.tool)
        engine = compile_engine(schema, options.strip, options.repair, options.formats)
    except (Unreadable, SchemaError) as error:
        say(f"argfit explain: {error}")
        return 2
    try:
        lines = list(explained(engine, plain=not _draws(sys.stdout)))
    except RecursionError:
        say("argfit explain: the schema nests too deep to be shown")
        return 2
    for line in lines:
        print(line)
    return 0


def _draws(out: Any) -> bool:
    """Whether lines can be drawn on a stream."""
    try:
        "".join(_LINES).encode(getattr(out, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def explained(engine: Engine, *, plain: bool = False) -> Iterator[str]:
    """The lines of an explanation; `plain` draws the tree in ASCII."""
    from argfit.core.choices import EXACT_RULES, PLAIN_NUMBER, REPAIRS, WHOLE_NUMBER
    from argfit.core.outline import outline
    from argfit.core.source import REASONS

    yield from _drawn(outline(engine), "", "", _PLAIN_LINES if plain else _LINES)
    yield ""
    on = [WHOLE_NUMBER, *(name for name in EXACT_RULES if name != WHOLE_NUMBER and engine.plain)]
    on += [name for name in REPAIRS if name in engine.repairs]
    yield "Rules that are on:"
    about = {**EXACT_RULES, **REPAIRS}
    yield from (f"  {name:<12}  {about[name]}" for name in on)
    off = [name for name in about if name not in on and not (name == "rename-case" and "rename" in on)]
    if off:
        shown_off = [f"{name} (only by its name, not in all)" if name == PLAIN_NUMBER else name for name in off]
        yield f"Off: {', '.join(shown_off)}; --repair NAMES switches them on."
    if engine.strip:
        yield f"Left out where it is sent: {', '.join(map(shown, sorted(engine.strip)))}."
    yield f"Read as {engine.plan.dialect.uri.rstrip('#')}."
    if engine.plan.unusable:
        yield ""
        yield "Not usable, and left out of what is checked:"
        yield from (f"  {shown(at)}: {REASONS[reason]}" for at, reason in engine.plan.unusable.items())


def _drawn(line: Line, first: str, others: str, marks: tuple[str, ...]) -> Iterator[str]:
    """A line and what is inside it; `first` is drawn before the line itself, `others` before those inside."""
    label = line.label + (" (required)" if line.required and first else "")
    rules = f"  [{', '.join(line.rules)}]" if line.rules else ""
    yield printable(f"{first}{label}{': ' if line.words else ''}{line.words}{rules}")
    branch, last_branch, bar, blank = marks
    for count, part in enumerate(line.inside, 1):
        last = count == len(line.inside)
        yield from _drawn(part, others + (last_branch if last else branch), others + (blank if last else bar), marks)
