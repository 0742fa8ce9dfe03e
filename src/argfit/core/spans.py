"""Where the parts of a JSON text stand, and texts spliced so that all other bytes stay.

Rules
- Spans are byte offsets. Quotes and brackets are ASCII, so UTF-8 never hides one.
- What a strict decoder refuses but a message may hold is located all the same; nothing here recurses on the
  text's depth.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from argfit.core.problem import Path
from argfit.core.text import BOM, QUOTED, NotJson, Reading, decoded

_BLANK = re.compile(rb"[ \t\n\r]*+")
_BARE = re.compile(rb"[-+.0-9A-Za-z]++")
# A string that is never closed reaches to the end: tried again at each of its quotes, it would cost their square.
_BRACKETS = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[{]++|[\]}]++', re.DOTALL)
_KEY = re.compile(rb'("(?:[^"\\]++|\\.)*+")[ \t\n\r]*+:[ \t\n\r]*+', re.DOTALL)
_NEXT = re.compile(rb"[ \t\n\r]*+,?[ \t\n\r]*+")
_BRACE, _BRACKETED, _QUOTE = b'{["'
_OPENERS = frozenset((_BRACE, _BRACKETED))
# Strings are among them so as to be passed over, integers so as to be taken whole.
_STRINGS_AND_NUMBERS = re.compile(
    rb'("(?:[^"\\]++|\\.)*+(?:"|\Z)|-?[0-9]++(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?)', re.DOTALL
)
FEW = 8  # floats that are searched for one by one; more are counted in one pass


class Member(msgspec.Struct, frozen=True):
    """Where one member of an object, or item of a list, stands: its key's first byte, its value's span."""

    step: str | int
    key_start: int
    start: int
    end: int


def locate(text: bytes, paths: Iterable[Path]) -> dict[Path, Member]:
    """Where the parts named by `paths` stand in a text; parts that are not there are left out."""
    wanted: dict[Any, Any] = {}
    for path in paths:
        branch = wanted
        for step in path:
            branch = branch.setdefault(step, {})
        branch[None] = True
    found: dict[Path, Member] = {}
    pending: list[tuple[dict[Any, Any], int, Path]] = [(wanted, _first(text), ())]
    while pending:
        branch, position, path = pending.pop()
        for member in members(text, position):
            below = branch.get(member.step)
            if below is None:
                continue
            if None in below:
                found[(*path, member.step)] = member
            if len(below) > (None in below):
                pending.append((below, member.start, (*path, member.step)))
    return found


def with_floats(text: bytes, reading: Reading, wanted: Mapping[int, bytes]) -> bytes:
    """The text with `wanted` written in the place of the floats with these numbers, counted in text order."""
    if len(wanted) > FEW:
        return _with_counted_floats(text, reading.spelled, wanted)
    edits = []
    for count, replacement in wanted.items():
        spelled = reading.spelled[count].encode()
        start = text.find(spelled)
        if text.find(spelled, start + 1) >= 0:  # it stands there twice, or in a text: count
            return _with_counted_floats(text, reading.spelled, wanted)
        edits.append((start, start + len(spelled), replacement))  # found once, it can be nothing else
    return splice(text, edits)


def _with_counted_floats(text: bytes, spelled: list[str], wanted: Mapping[int, bytes]) -> bytes:
    pieces = _STRINGS_AND_NUMBERS.split(text)
    ahead = [*" ".join(spelled).encode().split(b" "), b""]
    count = 0
    for index in range(1, len(pieces), 2):
        if pieces[index] == ahead[count]:  # a text has quotes, and an integer no point and no exponent
            if count in wanted:
                pieces[index] = wanted[count]
            count += 1
    return b"".join(pieces)


def members(text: bytes, position: int) -> Iterator[Member]:
    """The members of the object, or items of the list, that starts at `position`; none for anything else."""
    opener = text[position] if position < len(text) else 0
    if opener not in _OPENERS:
        return
    closer = opener + 2  # ASCII has it so: [ ] and { }
    position = _BLANK.match(text, position + 1).end()  # type: ignore[union-attr] # matches everywhere
    index = 0
    try:
        while text[position] != closer:
            key_start = position
            step: str | int = index
            if opener == _BRACE:
                key = _KEY.match(text, position)
                if key is None:
                    raise NotJson
                step = _key(key[1])
                position = key.end()
            end = _end(text, position)
            yield Member(step, key_start, position, end)
            index += 1
            position = _NEXT.match(text, end).end()  # type: ignore[union-attr] # matches everywhere
    except IndexError:
        raise NotJson from None


def splice(text: bytes, edits: Iterable[tuple[int, int, bytes]]) -> bytes:
    """The text with spans replaced; the spans do not overlap."""
    pieces = []
    position = 0
    for start, end, replacement in sorted(edits):
        pieces += [text[position:start], replacement]
        position = end
    return b"".join([*pieces, text[position:]])


def whole(text: bytes) -> Member:
    """Where the value that a text holds stands."""
    start = _first(text)
    return Member(0, start, start, _end(text, start))


def key_end(text: bytes, key_start: int) -> int:
    """Where the key that starts there ends."""
    return _end(text, key_start)


def without_members(text: bytes, names: frozenset[str], start: int | None = None) -> list[tuple[int, int, bytes]]:
    """The edits that take members out of the object at `start` (that the text holds), each with one comma."""
    edits: list[tuple[int, int, bytes]] = []
    last_kept: Member | None = None
    gone: list[Member] = []
    for member in members(text, _first(text) if start is None else start):
        if member.step in names:
            gone.append(member)
            continue
        if gone:
            edits.append((gone[0].key_start, member.key_start, b""))
            gone = []
        last_kept = member
    if gone:
        edits.append((last_kept.end if last_kept else gone[0].key_start, gone[-1].end, b""))
    return edits


def _first(text: bytes) -> int:
    """Where the value that a text holds begins."""
    return _skip_blank(text, len(BOM) if text.startswith(BOM) else 0)


def _skip_blank(text: bytes, position: int) -> int:
    return _BLANK.match(text, position).end()  # type: ignore[union-attr] # matches everywhere


def _end(text: bytes, position: int) -> int:
    first = text[position]
    if first in _OPENERS:
        return _end_of_container(text, position)
    match = (QUOTED if first == _QUOTE else _BARE).match(text, position)
    if match is None:
        raise NotJson
    return match.end()


def _end_of_container(text: bytes, position: int) -> int:
    depth = 0
    for match in _BRACKETS.finditer(text, position):
        marks = match[0]
        if marks[0] in _OPENERS:
            depth += len(marks)
        elif marks[0] != _QUOTE:
            if depth <= len(marks):
                return match.start() + depth
            depth -= len(marks)
    raise NotJson


def _key(quoted: bytes) -> str:
    if b"\\" not in quoted:
        return decoded(quoted[1:-1])
    try:
        return str(json.loads(decoded(quoted)))
    except ValueError:  # an escape that JSON does not know: a key all the same
        return decoded(quoted[1:-1])
