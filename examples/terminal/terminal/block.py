"""What is shown of a call: what was typed, what was dispatched, what changed and why, the answer.

Rules
- What a server or a user wrote is shown as text: nothing in it steers the terminal.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from argfit import Change, Fit

WIDTH = 12
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
WHY = {
    "whole-number": "a whole number, spelled as one",
    "unquote": "text that spells a value of the kind that is wanted",
    "rename": "a name in another style",
    "unwrap-item": "an item that was left of a list",
    "drop-null": "null, for an argument that may be left out",
    "drop-empty": "empty text, for an argument that may be left out",
    "member-case": "a listed value in another case",
    "wrap": "one value, where a list is wanted",
    "quote": "a number, where text is wanted",
}


def plain(text: str) -> str:
    """Text without what would steer a terminal, or cannot be written to it."""
    return _STEERING.sub(lambda found: f"\\x{ord(found[0]):02x}" if ord(found[0]) < 256 else "\ufffd", text)


def coloured(text: str, code: str) -> str:
    """Text in a colour, where there is a terminal that shows it."""
    return f"\x1b[{code}m{text}\x1b[0m" if sys.stdout.isatty() and "NO_COLOR" not in os.environ else text


def head(server: str, shown: str) -> str:
    """The first line of a block: the call as it is dispatched."""
    return coloured(f"┌ {plain(shown)}", "1") + coloured(f"  on {plain(server)}", "2")


def row(label: str, text: str, code: str = "0") -> Iterator[str]:
    """A part of a block, under its label."""
    first, *more = plain(text).split("\n") or [""]
    yield f"│ {coloured(label.ljust(WIDTH), '2')}{coloured(first, code)}"
    for line in more:
        yield f"│ {' ' * WIDTH}{coloured(line, code)}"


def changes(fit: Fit) -> Iterator[str]:
    """What changed, and why."""
    for count, change in enumerate(fit.changes):
        yield from row("" if count else "changed", _change(change), "33")


def roundings(found: Iterable[tuple[str, float]]) -> Iterator[str]:
    """What is sent as another number than it was typed as."""
    for count, (typed, sent) in enumerate(found):
        yield from row("" if count else "rounded", f"{typed} is sent as {sent!r}: the client keeps it as a float", "33")


def problems(fit: Fit) -> Iterator[str]:
    """What does not fit."""
    for count, problem in enumerate(fit.problems):
        yield from row("" if count else "misfit", str(problem), "31")
    if fit.more:
        yield from row("", f"and {fit.more} more", "31")


def answer(result: Any) -> Iterator[str]:
    """What a server answered."""
    texts = [getattr(part, "text", None) or f"[{getattr(part, 'type', 'content')}]" for part in result.content]
    label, code = ("error", "31") if result.is_error else ("answer", "32")
    yield from row(label, "\n".join(texts) or "nothing", code)


def foot(words: str) -> str:
    """The last line of a block."""
    return coloured(f"└ {words}", "2")


def listing(tools: dict[str, list[Any]]) -> Iterator[str]:
    """The tools of all servers, with their arguments."""
    for server, listed in tools.items():
        yield coloured(plain(server), "1")
        for tool in listed:
            yield f"  {plain(tool.name)} {coloured(' '.join(_arguments(tool.input_schema)), '2')}".rstrip()
            about = plain(str(tool.description or "").strip().split("\n")[0])
            if about:
                yield f"      {about}"


def _arguments(schema: Any) -> Iterable[str]:
    required = schema.get("required") or []
    for name in schema.get("properties") or {}:
        yield plain(f"{name}=" if name in required else f"[{name}=]")


def _change(change: Change) -> str:
    place = ".".join(map(str, change.path)) or "arguments"
    before = str(change.before) if isinstance(change.before, Decimal) else repr(change.before)  # as it was typed
    return f"{place}: {before} → {change.after!r}  ({change.rule}: {WHY.get(change.rule, change.rule)})"
