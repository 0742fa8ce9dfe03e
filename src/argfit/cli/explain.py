"""Explain a tool's schema: argument by argument what must hold, what would be fitted, what cannot be judged.

Try:
  argfit explain --schema tool.json
  argfit explain --schema tools.json --tool get_symbol_info --repair all

What must hold is said in the words of the refusals. A rule in brackets may change what is sent to that place;
the list below the tree says how.
"""

from __future__ import annotations

import argparse

from argfit.cli.options import add_formats, add_repair, add_strip
from argfit.cli.say import say, shown
from argfit.cli.schemas import Unreadable, add_schema, read_schema

TYPE_CHECKING = False  # as type checkers read it; `argfit proxy` shares this start and must not wait for `typing`
if TYPE_CHECKING:
    from collections.abc import Iterator

    from argfit.core.engine import Engine
    from argfit.core.outline import Line

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
    for line in explained(engine):
        print(line)
    return 0


def explained(engine: Engine) -> Iterator[str]:
    """The lines of an explanation."""
    from argfit.core.choices import EXACT_RULES, REPAIRS, WHOLE_NUMBER
    from argfit.core.outline import outline
    from argfit.core.source import REASONS

    yield from _drawn(outline(engine), "", "")
    yield ""
    on = [WHOLE_NUMBER, *(name for name in EXACT_RULES if name != WHOLE_NUMBER and engine.plain)]
    on += [name for name in REPAIRS if name in engine.repairs]
    yield "Rules that are on:"
    about = {**EXACT_RULES, **REPAIRS}
    yield from (f"  {name:<12}  {about[name]}" for name in on)
    off = [name for name in about if name not in on and not (name == "rename-case" and "rename" in on)]
    if off:
        yield f"Off: {', '.join(off)}; --repair NAMES switches them on."
    if engine.strip:
        yield f"Left out where it is sent: {', '.join(map(shown, sorted(engine.strip)))}."
    yield f"Read as {engine.plan.dialect.uri.rstrip('#')}."
    if engine.plan.unusable:
        yield ""
        yield "Not usable, and left out of what is checked:"
        yield from (f"  {shown(at)}: {REASONS[reason]}" for at, reason in engine.plan.unusable.items())


def _drawn(line: Line, first: str, others: str) -> Iterator[str]:
    """A line and what is inside it; `first` is drawn before the line itself, `others` before those inside."""
    label = line.label + (" (required)" if line.required and first else "")
    rules = f"  [{', '.join(line.rules)}]" if line.rules else ""
    yield shown(f"{first}{label}{': ' if line.words else ''}{line.words}") + rules
    for count, part in enumerate(line.inside, 1):
        last = count == len(line.inside)
        yield from _drawn(part, others + ("└─ " if last else "├─ "), others + ("   " if last else "│  "))
