"""JSON text: read with every digit, located span by span, spliced so that all other bytes stay.

Rules
- A number whose float would lie (`5.0000000000000001`, `9007199254740993.0`) is read as a Decimal; one beyond
  all floats (`1e400`) is an infinity, as any reader would have it.
- Doubled keys are seen, not resolved: which of two values a server takes is not ours to guess.
- What a strict decoder refuses but a message may hold (lone surrogates, NaN, a byte order mark, ten thousand
  levels, bytes that are no UTF-8) is read all the same; nothing here recurses on the text's depth.
- Spans are byte offsets. Quotes and brackets are ASCII, so UTF-8 never hides one.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from argfit.core.problem import Path

_STRING = r'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+"'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?"
_TOKEN = re.compile(rf"[ \t\n\r]*+(?:({_STRING})|({_NUMBER})|([\[\]{{}},:])|(true|false|null|NaN|-?Infinity))")
_CONSTANTS = {"true": True, "false": False, "null": None} | {
    name: float(name) for name in ("NaN", "Infinity", "-Infinity")
}
_BLANK = re.compile(rb"[ \t\n\r]*+")
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_BARE = re.compile(rb"[-+.0-9A-Za-z]++")
# A string that is never closed reaches to the end: tried again at each of its quotes, it would cost their square.
_BRACKET = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_KEY = re.compile(rb'("(?:[^"\\]++|\\.)*+")[ \t\n\r]*+:[ \t\n\r]*+', re.DOTALL)
_NEXT = re.compile(rb"[ \t\n\r]*+,?[ \t\n\r]*+")
_BRACE, _BRACKETED, _QUOTE = b'{["'
_OPENERS = frozenset((_BRACE, _BRACKETED))
_encode = json.JSONEncoder(separators=(",", ":")).encode
_ESCAPE = 0xDC00  # what surrogateescape adds to a byte
_ESCAPED_SURROGATE = re.compile("\udced[\udca0-\udcbf][\udc80-\udcbf]")
_DIGIT_BUT_ZERO = re.compile("[1-9]")
_NEXT_TO_NOTHING = Decimal("1e-999999")
_BOM = b"\xef\xbb\xbf"

# Strings are among them so as to be passed over, integers so as to be taken whole.
_STRINGS_AND_NUMBERS = re.compile(
    rb'("(?:[^"\\]++|\\.)*+(?:"|\Z)|-?[0-9]++(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?)', re.DOTALL
)

# Up to 17 characters without an exponent hold at most 16 digits: a float tells such a number from a whole one.
_SAFE_LENGTH = 17
FEW = 8  # floats that are searched for one by one; more are counted in one pass
_LONGEST_INT = 20_000  # digits; turning text into an int takes quadratic time
_INT_DIGITS = 4300  # CPython's limit on int(text), sys.int_info.default_max_str_digits


class NotJson(ValueError):
    """The text is not one JSON value; the next step is the caller's, who knows where it came from."""


class DoubledKey(Exception):
    """An object in the text holds a key twice."""


class Member(msgspec.Struct, frozen=True):
    """Where one member of an object, or item of a list, stands: its key's first byte, its value's span."""

    step: str | int
    key_start: int
    start: int
    end: int


class Reading(msgspec.Struct, frozen=True):
    """A JSON value as read from text, and its numbers with a fraction or exponent, in text order and as spelled."""

    value: Any
    floats: list[float | Decimal]
    spelled: list[str]

    @property
    def exact(self) -> bool:
        """Whether plain floats stand for all of its numbers."""
        return Decimal not in map(type, self.floats)


def read(text: bytes, *, doubled_is_fine: bool = False) -> Reading:
    """Read one JSON value; NotJson, or DoubledKey where a key stands twice (else the last one counts)."""
    whole = _decoded(text).removeprefix("\ufeff")
    floats: list[float | Decimal] = []
    spelled: list[str] = []

    def note(digits: str) -> float | Decimal:
        value = number(digits)
        floats.append(value)
        spelled.append(digits)
        return value

    hook = None if doubled_is_fine else _each_once
    try:
        return Reading(json.JSONDecoder(parse_float=note, object_pairs_hook=hook).decode(whole), floats, spelled)
    except (ValueError, RecursionError):
        floats.clear()
        spelled.clear()
        return Reading(_read_slowly(whole, note, doubled_is_fine=doubled_is_fine), floats, spelled)


def loads(text: bytes) -> Any:
    """Read one JSON value as any reader would: plain floats, the last of two equal keys; NotJson where it is none."""
    return settle(read(text, doubled_is_fine=True).value)


def number(text: str) -> float | Decimal:
    """The float a number's text stands for, or a Decimal where a float would lie about being whole."""
    rounded = float(text)
    if len(text) <= _SAFE_LENGTH and "e" not in text and "E" not in text:
        return rounded
    if not rounded.is_integer():  # nor is an infinity, which is what a number beyond all floats is read as
        return rounded
    try:
        exact = Decimal(text)
    except InvalidOperation:  # an exponent beyond what a Decimal holds, and not beyond all floats: next to nothing
        return _NEXT_TO_NOTHING if _DIGIT_BUT_ZERO.search(text.lower().partition("e")[0]) else rounded
    return rounded if exact == rounded else exact


def _decoded(text: bytes) -> str:
    """Text, also where it is no UTF-8: a surrogate by itself as one, any other byte escaped (PEP 383).

    What a part of the text is decoded to does not depend on the rest of it.
    """
    try:
        return text.decode()
    except UnicodeDecodeError:
        return _ESCAPED_SURROGATE.sub(_as_surrogate, text.decode("utf-8", "surrogateescape"))


def _as_surrogate(escaped: re.Match[str]) -> str:
    middle, last = (ord(byte) - _ESCAPE for byte in escaped[0][1:])
    return chr(0xD000 | (middle & 0x3F) << 6 | (last & 0x3F))


def settle(value: Any, *, whole_only: bool = False) -> Any:
    """Put the floats any JSON reader would give in the place of Decimals, in a value that `read` made.

    With `whole_only` those stay that a float would make whole.
    """
    root = [value]
    pending: list[Any] = [root]
    while pending:
        container = pending.pop()
        for step, part in container.items() if isinstance(container, dict) else enumerate(container):
            if isinstance(part, Decimal):
                if not whole_only or part == part.to_integral_value():
                    container[step] = float(part)
            elif isinstance(part, dict | list):
                pending.append(part)
    return root[0]


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise DoubledKey
    return members


def _read_slowly(text: str, note: Callable[[str], Any], *, doubled_is_fine: bool) -> Any:
    """A reader with its own stack: any depth, integers of any length."""
    root: list[Any] = []
    stack: list[Any] = [root]
    keys: list[str | None] = [None]
    wanted = "value"  # value, value or ], key, key or }, colon, comma
    position = 0
    while len(stack) > 1 or not root:
        match = _TOKEN.match(text, position)
        if match is None:
            raise NotJson
        position = match.end()
        string, digits, mark, _ = match.groups()
        container = stack[-1]
        if mark in ("]", "}"):
            closes = list if mark == "]" else dict
            if type(container) is not closes or container is root or wanted not in ("comma", f"first {mark}"):
                raise NotJson
            stack.pop()
            keys.pop()
            wanted = "comma"
        elif mark == "," and wanted == "comma" and container is not root:
            wanted = "key" if isinstance(container, dict) else "value"
        elif mark == ":" and wanted == "colon":
            wanted = "value"
        elif wanted in ("key", "first }") and string is not None:
            keys[-1] = key = json.loads(string)
            if key in container and not doubled_is_fine:
                raise DoubledKey
            wanted = "colon"
        elif wanted in ("value", "first ]") and mark not in (",", ":"):
            value = _token_value(string, digits, mark, match[0].strip(" \t\n\r"), note)
            key_now = keys[-1]
            if isinstance(container, dict):
                container[key_now] = value
            else:
                container.append(value)
            wanted = "comma"
            if mark:
                stack.append(value)
                keys.append(None)
                wanted = "first ]" if mark == "[" else "first }"
        else:
            raise NotJson
    if text[position:].strip(" \t\n\r"):
        raise NotJson
    return root[0]


def _token_value(
    string: str | None, digits: str | None, mark: str | None, token: str, note: Callable[[str], Any]
) -> Any:
    if string is not None:
        return json.loads(string)
    if mark:
        return [] if mark == "[" else {}
    if digits is None:
        return _CONSTANTS[token]
    if any(letter in digits for letter in ".eE"):
        return note(digits)
    if len(digits) <= _INT_DIGITS:
        return int(digits)
    exact = Decimal(digits)
    return int(exact) if len(digits) <= _LONGEST_INT else float(exact)


# -- spans --------------------------------------------------------------------------------------------


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


def encoded(value: Any) -> bytes:
    """A JSON value as it is written into a text: compact, ASCII."""
    return b"%d" % value if type(value) is int else _encode(value).encode()


def _first(text: bytes) -> int:
    """Where the value that a text holds begins."""
    return _skip_blank(text, len(_BOM) if text.startswith(_BOM) else 0)


def _skip_blank(text: bytes, position: int) -> int:
    return _BLANK.match(text, position).end()  # type: ignore[union-attr] # matches everywhere


def _end(text: bytes, position: int) -> int:
    first = text[position]
    if first in _OPENERS:
        return _end_of_container(text, position)
    match = (_TEXT if first == _QUOTE else _BARE).match(text, position)
    if match is None:
        raise NotJson
    return match.end()


def _end_of_container(text: bytes, position: int) -> int:
    depth = 0
    for match in _BRACKET.finditer(text, position):
        mark = match[0]
        if mark in (b"{", b"["):
            depth += 1
        elif mark in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                return match.end()
    raise NotJson


def _key(quoted: bytes) -> str:
    if b"\\" not in quoted:
        return _decoded(quoted[1:-1])
    try:
        return str(json.loads(_decoded(quoted)))
    except ValueError:  # an escape that JSON does not know: a key all the same
        return _decoded(quoted[1:-1])
