"""What is shown of a call: what was typed, what was dispatched, what changed and why, the answer."""

import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from mcp import MCPError

from argfit import Change, Fit
from terminal.screen import BOLD, DIM, GREEN, PLAIN, RED, YELLOW, Line, line

WIDTH = 12
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


def head(server: str, shown: str) -> Line:
    """The first line of a block: the call as it is dispatched."""
    return Line(((f"┌ {shown}", BOLD), (f"  on {server}", DIM)), under="│     ")


def row(label: str, text: str, colour: str = PLAIN) -> Line:
    """A part of a block, under its label."""
    return Line((("│ ", PLAIN), (label.ljust(WIDTH), DIM), (text, colour)), under=f"│ {' ' * WIDTH}", breaks=True)


def changes(fit: Fit) -> Iterator[Line]:
    """What changed, and why."""
    for count, change in enumerate(fit.changes):
        yield row("" if count else "changed", _change(change), YELLOW)


def roundings(found: Iterable[tuple[str, float]]) -> Iterator[Line]:
    """What is sent as another number than it was typed as."""
    for count, (typed, sent) in enumerate(found):
        yield row("" if count else "rounded", f"{typed} is sent as {sent!r}: the client keeps it as a float", YELLOW)


def problems(fit: Fit) -> Iterator[Line]:
    """What does not fit."""
    for count, problem in enumerate(fit.problems):
        yield row("" if count else "misfit", str(problem), RED)
    if fit.more:
        yield row("", f"and {fit.more} more", RED)


def answer(result: Any) -> Iterator[Line]:
    """What a server answered."""
    label, colour = ("error", RED) if result.is_error else ("answer", GREEN)
    structured = result.structured_content
    if not result.content and structured is None:
        yield row(label, "nothing: it has no content", colour)
    for count, part in enumerate(result.content):
        yield row("" if count else label, _part(part), colour)
    if structured is not None and not any(_spells(part, structured) for part in result.content):
        yield row("structured", json.dumps(structured, ensure_ascii=False), colour)


def error(refused: MCPError) -> Iterator[Line]:
    """What a server answered in place of a result."""
    yield row("error", f"{refused.code}: {refused.message}", RED)
    if refused.data is not None:
        yield row("data", json.dumps(refused.data, ensure_ascii=False), RED)


def _part(part: Any) -> str:
    """A part of an answer: its text, or what it is."""
    inner = getattr(part, "resource", part)
    text = getattr(inner, "text", None)
    if text is not None:
        return text or "empty text"
    told = [getattr(inner, name, None) for name in ("name", "uri", "mime_type")]
    data = getattr(inner, "data", None) or getattr(inner, "blob", None)
    size = None if data is None else f"{len(data) * 3 // 4} bytes"
    return f"[{', '.join([part.type, *(str(one) for one in (*told, size) if one)])}]"


def _spells(part: Any, structured: Any) -> bool:
    """Whether a part is the text of what is sent as data too."""
    try:
        return bool(json.loads(part.text) == structured)
    except (AttributeError, ValueError, RecursionError):
        return False


def foot(words: str) -> Line:
    """The last line of a block."""
    return Line(((f"└ {words}", DIM),), under="  ")


def listing(tools: dict[str, list[Any]]) -> Iterator[Line]:
    """The tools of all servers, with their arguments."""
    if not tools:
        yield line("no server is connected; `servers` tries again", DIM)
    for server, listed in tools.items():
        yield Line(((server, BOLD), ("" if listed else "  no tools", DIM)))
        for tool in listed:
            arguments = "".join(f" {one}" for one in _arguments(tool.input_schema))
            yield Line(((f"  {tool.name}", PLAIN), (arguments, DIM)), under=" " * 6)
            about = (tool.description or "").strip().split("\n")[0]
            if about:
                yield Line(((f"      {about}", PLAIN),), under=" " * 6)


def _arguments(schema: dict[str, Any]) -> Iterator[str]:
    properties, required = schema.get("properties"), schema.get("required")
    for name in properties if isinstance(properties, dict) else ():
        yield f"{name}=" if isinstance(required, list) and name in required else f"[{name}=]"


def _change(change: Change) -> str:
    place = ".".join(map(str, change.path)) or "arguments"
    before = str(change.before) if isinstance(change.before, Decimal) else repr(change.before)  # as it was typed
    return f"{place}: {before} → {change.after!r}  ({change.rule}: {WHY.get(change.rule, change.rule)})"
