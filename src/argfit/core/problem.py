"""The closed catalogue of problems: one maker per code, the only place where its words are written.

Rules
- Words never hold a value the caller sent. A key the caller chose is shown only where it is the
  point (an unknown argument, an entry of a free-form map), escaped and cut.
- Words that come from the schema (names, members, bounds, patterns) are the tool author's and may show.
- Null is left out of the words unless the place is required or a list element: an optional argument
  that wants no value is better left out than sent as null.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from argfit.core.values import EXACT

Path = tuple[str | int, ...]

CODES = frozenset(
    "type minimum maximum required unknown enum const length items unique pattern format multiple union not"
    " binder arguments".split()
)

NOUNS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}

FORMATS = {
    "date": "a date, YYYY-MM-DD",
    "date-time": "a date and time, YYYY-MM-DDThh:mm:ssZ",
    "time": "a time, hh:mm:ssZ",
    "uuid": "an id",
    "uri": "a web address",
    "email": "an e-mail address",
}

SHOWN_AS_TYPE = frozenset({"date", "date-time", "time", "uuid"})  # where "text" would not say what to send

NAME_SHOWN = 64  # characters of one name; longer names are the caller's noise, not help
MEMBERS_SHOWN = 12
LONG_NAME = 6  # letters from which two edits still mean the same name
_READS_AS_OTHER = re.compile(r"(?:-?\d[\d.eE+-]*|true|false|null)\Z")  # text that is shown in quotes
_PLAIN_NAME = re.compile(r"[A-Za-z_$][\w$-]{0,63}\Z")


class Problem(msgspec.Struct, frozen=True):
    """One place where arguments break the schema: where (`path`), which kind (`code`), in which words.

    `path` is a tuple of names and indexes, empty for the arguments as a whole; `code` is one of `CODES`;
    `str(problem)` is `<path> <words>`, as in `grades[0].quantity must be a whole number`.
    """

    path: Path
    code: str
    words: str

    def __str__(self) -> str:
        return f"{show_path(self.path)} {self.words}"


def show_path(path: Path) -> str:
    """Write a path as a person reads it: `grades[0].quantity`, `["a b"]`, `arguments` for the root."""
    shown = ""
    for step in path:
        if isinstance(step, int):
            shown += f"[{step}]"
        elif _PLAIN_NAME.match(step):
            shown += f".{step}" if shown else step
        else:
            shown += f"[{_quoted(step)}]"
    return shown or "arguments"


def message(problems: Sequence[Problem], more: int) -> str:
    """Join problems into the sentence a model reads; the empty string when there are none."""
    if not problems:
        return ""
    parts = [str(problem) for problem in problems]
    if more:
        parts.append(f"and {more} more")
    return "; ".join(parts) + "."


def _quoted(name: str) -> str:
    cut = name[:NAME_SHOWN]
    return json.dumps(cut, ensure_ascii=not cut.isprintable())


# -- makers, one per code -----------------------------------------------------------------------------


def wrong_type(path: Path, types: Iterable[str], format: str | None, *, null_counts: bool) -> Problem:
    """`type`: the value is of no type the place takes."""
    words = _type_words(tuple(types), format, null_counts)
    return Problem(path, "type", words) if words else other(path)


@lru_cache(maxsize=4096)
def _type_words(types: tuple[str, ...], format: str | None, null_counts: bool) -> str:  # noqa: FBT001 - a key
    names = list(dict.fromkeys(types))
    if not names:
        return ""
    if "number" in names:
        names = [name for name in names if name != "integer"]
    if not null_counts and len(names) > 1:
        names = [name for name in names if name != "null"]
    text = FORMATS[format] if format in SHOWN_AS_TYPE else NOUNS["string"]
    nouns = [text if name == "string" else NOUNS[name] for name in names]
    return f"must be {_either(nouns)}"


def out_of_bounds(path: Path, types: Iterable[str], bounds: "Bounds", *, too_low: bool) -> Problem:
    """`minimum` or `maximum`: both bounds are named where there are both."""
    return Problem(path, "minimum" if too_low else "maximum", _bounds_words(tuple(types), bounds))


@lru_cache(maxsize=4096)
def _bounds_words(types: tuple[str, ...], bounds: "Bounds") -> str:
    whole = "integer" in types and "number" not in types
    low, high = (bounds.whole_low, bounds.whole_high) if whole else (bounds.low, bounds.high)
    noun = NOUNS["integer" if whole else "number"]
    open_low = bounds.open_low and not whole
    open_high = bounds.open_high and not whole
    if low is None or high is None:
        words = (
            ("more than " if open_low else f"{noun} of at least ") + show_number(low)
            if low is not None
            else ("less than " if open_high else f"{noun} of at most ") + show_number(high)
        )
    elif open_low or open_high:
        words = f"{'more than' if open_low else 'at least'} {show_number(low)} and "
        words += f"{'less than' if open_high else 'at most'} {show_number(high)}"
    else:
        words = f"{noun} from {show_number(low)} to {show_number(high)}"
    return f"must be {words}"


def missing(path: Path, because: str | None = None) -> Problem:
    """`required`: the argument is not there; `because` names the argument that calls for it."""
    return Problem(path, "required", f"is required with {_name(because)}" if because else "is required")


def unknown(path: Path, absent: Iterable[str]) -> Problem:
    """`unknown`: the schema is closed here; a near declared name among the absent ones is suggested."""
    words = "is not an argument of this tool" if len(path) == 1 else "is not expected here"
    return Problem(path, "unknown", words + _suggestion(str(path[-1]), absent))


def not_a_member(path: Path, members: Sequence[Any], value: Any, near: Iterable[str] = ()) -> Problem:
    """`enum`, or `const` where there is one member only; a member like the value among `near` is suggested."""
    if not members:
        return other(path)
    if len(members) == 1:
        return Problem(path, "const", f"must be {_member(members[0])}")
    shown = ", ".join(_member(member) for member in members[:MEMBERS_SHOWN])
    if len(members) > MEMBERS_SHOWN:
        shown += f", … ({len(members) - MEMBERS_SHOWN} more)"
    words = f"must be one of: {shown}"
    return Problem(path, "enum", words + (_suggestion(value, near) if isinstance(value, str) else ""))


def wrong_length(path: Path, at_least: int, at_most: int | None, length: int) -> Problem:
    """`length`: text too short or too long, in characters."""
    if length < at_least:
        return Problem(
            path,
            "length",
            "must not be empty" if at_least == 1 else f"must be at least {_counted(at_least, 'character')}",
        )
    return Problem(path, "length", f"must be at most {_counted(at_most or 0, 'character')}")


def wrong_count(path: Path, at_least: int, at_most: int | None, count: int) -> Problem:
    """`items`: a list (or object) with too few or too many entries."""
    if count < at_least == 1:
        words = "must not be empty"
    elif at_least and at_most is not None:
        words = f"must have from {at_least} to {_counted(at_most, 'item')}"
    elif count < at_least:
        words = f"must have at least {_counted(at_least, 'item')}"
    else:
        words = f"must have at most {_counted(at_most or 0, 'item')}"
    return Problem(path, "items", words)


def repeated(path: Path) -> Problem:
    """`unique`: two items of the list are the same JSON value."""
    return Problem(path, "unique", "must not repeat an item")


def off_pattern(path: Path, pattern: str) -> Problem:
    """`pattern`: the pattern is the tool author's and is shown as written."""
    return Problem(path, "pattern", f"must match the pattern {pattern}")


def off_format(path: Path, format: str) -> Problem:
    """`format`: only for formats that were asked for."""
    return Problem(path, "format", f"must be {FORMATS[format]}" if format in FORMATS else OTHER_WORDS)


def not_multiple(path: Path, step: float) -> Problem:
    """`multiple`: not a multiple of `step`."""
    return Problem(path, "multiple", f"must be a multiple of {show_number(step)}")


def needs_one(path: Path, missing: Iterable[Sequence[str]]) -> Problem:
    """`union`: the branches differ only in which arguments they require."""
    ways = dict.fromkeys(" and ".join(_name(name) for name in names) for names in missing)
    return Problem(path, "union", f"needs {_either(list(ways))}")


def ambiguous(path: Path) -> Problem:
    """`union`: more than one branch of a `oneOf` takes the value."""
    return Problem(path, "union", "fits more than one of the allowed shapes")


OTHER_WORDS = "is not in an allowed form"


def other(path: Path) -> Problem:
    """`not`: anything the schema refuses for which there are no better words."""
    return Problem(path, "not", OTHER_WORDS)


def forbidden(path: Path) -> Problem:
    """`not`: the schema of the place is `false`."""
    return Problem(path, "not", "must not be sent")


def not_an_object() -> Problem:
    """`arguments`: what was sent as the arguments is no JSON object."""
    return Problem((), "arguments", "must be an object")


# -- parts of words -----------------------------------------------------------------------------------


class Bounds(msgspec.Struct, frozen=True):
    """The tightest numeric bounds of a place; `open_*` says that the limit itself is outside."""

    low: float | None = None
    high: float | None = None
    open_low: bool = False
    open_high: bool = False

    @property
    def whole_low(self) -> float | None:
        """The least whole number inside; beyond 2^53, where neighbours are not told apart, the limit itself."""
        if self.low is None or abs(self.low) >= EXACT:
            return self.low
        return math.floor(self.low) + 1 if self.open_low else math.ceil(self.low)

    @property
    def whole_high(self) -> float | None:
        """The greatest whole number inside; likewise."""
        if self.high is None or abs(self.high) >= EXACT:
            return self.high
        return math.ceil(self.high) - 1 if self.open_high else math.floor(self.high)


def show_number(value: float | None) -> str:
    """Write a bound as a person does: `1`, not `1.0`."""
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return str(int(value))
    return str(value)


def fold(name: str) -> str:
    """What is left of a name when case, `_` and `-` do not count."""
    return name.casefold().replace("_", "").replace("-", "")


def _either(nouns: Sequence[str]) -> str:
    return nouns[0] if len(nouns) == 1 else f"{', '.join(nouns[:-1])} or {nouns[-1]}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _name(name: str) -> str:
    return name if _PLAIN_NAME.match(name) else _quoted(name)


def _member(member: Any) -> str:
    if isinstance(member, str) and member and not _READS_AS_OTHER.match(member):
        return member if len(member) <= NAME_SHOWN else member[:NAME_SHOWN] + "…"
    return json.dumps(member, ensure_ascii=False)


def _suggestion(name: str, candidates: Iterable[str]) -> str:
    if not name or len(name) > NAME_SHOWN:
        return ""
    allowed = 2 if len(name) >= LONG_NAME else 1
    # whatever the edits, one of so many parts of the name is in the other name as it stands
    size = -(-len(name) // (allowed + 1))
    parts = [name[i : i + size] for i in range(0, len(name), size)]
    folded = fold(name)
    near = ""
    for candidate in candidates:
        alike = abs(len(candidate) - len(name)) <= allowed and _shares(parts, candidate)
        if (alike and _edits(name, candidate, allowed) <= allowed) or _folded(candidate) == folded:
            if near not in ("", candidate):
                return ""
            near = candidate
    return f" (did you mean {_name(near)}?)" if near else ""


_folded = lru_cache(maxsize=4096)(fold)  # of names of schemas: those that callers send are not kept


def _shares(parts: Iterable[str], candidate: str) -> bool:
    for part in parts:  # noqa: SIM110 - a plain loop is half the cost of any()
        if part in candidate:
            return True
    return False


def _edits(one: str, other: str, enough: int) -> int:
    """Levenshtein distance, given up (as `enough + 1`) where the lengths alone say it is more."""
    if abs(len(one) - len(other)) > enough:
        return enough + 1
    if one.startswith(other) or other.startswith(one):
        return abs(len(one) - len(other))
    start = 0
    while one[start] == other[start]:
        start += 1
    one, other = one[start:], other[start:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, right in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
    return row[-1]
