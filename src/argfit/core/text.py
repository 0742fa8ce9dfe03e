"""JSON text: read with every digit.

Rules
- A number whose float would lie (`5.0000000000000001`, `9007199254740993.0`) is read as a Decimal; one beyond
  all floats (`1e400`) is an infinity, as any reader would have it.
- Doubled keys are seen, not resolved: which of two values a server takes is not ours to guess.
- What a strict decoder refuses but a message may hold (lone surrogates, NaN, a byte order mark, ten thousand
  levels, bytes that are no UTF-8) is read all the same; nothing here recurses on the text's depth.
"""

import json
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

_STRING = r'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+"'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?"
_TOKEN = re.compile(rf"[ \t\n\r]*+(?:({_STRING})|({_NUMBER})|([\[\]{{}},:])|(true|false|null|NaN|-?Infinity))")
_CONSTANTS = {"true": True, "false": False, "null": None} | {
    name: float(name) for name in ("NaN", "Infinity", "-Infinity")
}
QUOTED = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_encode = json.JSONEncoder(separators=(",", ":")).encode
_ESCAPE = 0xDC00  # what surrogateescape adds to a byte
_ESCAPED_SURROGATE = re.compile("\udced[\udca0-\udcbf][\udc80-\udcbf]")
_DIGIT_BUT_ZERO = re.compile("[1-9]")
_NEXT_TO_NOTHING = Decimal("1e-999999")
BOM = b"\xef\xbb\xbf"
_NO_NUMBER = re.compile(rb"NaN|Infinity")
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")

# Up to 17 characters without an exponent hold at most 16 digits: a float tells such a number from a whole one.
_SAFE_LENGTH = 17
_LONGEST_INT = 20_000  # digits; turning text into an int takes quadratic time
_INT_DIGITS = 4300  # CPython's limit on int(text), sys.int_info.default_max_str_digits


class NotJson(ValueError):
    """The text is not one JSON value; the next step is the caller's, who knows where it came from."""


class DoubledKey(Exception):
    """An object in the text holds a key twice."""


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
    whole = decoded(text).removeprefix("\ufeff")
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


# An escaped backslash, a pair of escaped surrogates, or one alone, which is no character: strict readers refuse a whole
# message that holds one.
ESCAPES = re.compile(rb"\\\\|\\ud[89ab]..\\ud[c-f]..|\\ud[89a-f]..", re.IGNORECASE)
_HALF = len(rb"\ud800")


def is_strict(text: bytes) -> bool:
    """Whether a text that can be read is JSON for everyone (RFC 8259): no NaN, no infinity, no half a character."""
    if b"\\u" in text and any(is_half(escape) for escape in ESCAPES.finditer(text)):
        return False
    return not _NO_NUMBER.search(text) or not _NO_NUMBER.search(QUOTED.sub(b"", text))


def is_half(escape: re.Match[bytes]) -> bool:
    """Whether one of `ESCAPES` is half of a surrogate pair."""
    return len(escape[0]) == _HALF


def as_utf8(text: bytes) -> bytes:
    """A text whose lone surrogates are written as escapes, so that it is UTF-8."""
    return _SURROGATE.sub(lambda found: _encode(found[0].decode("utf-8", "surrogatepass"))[1:-1].encode(), text)


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


def decoded(text: bytes) -> str:
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


def encoded(value: Any) -> bytes:
    """A JSON value as it is written into a text: compact, ASCII."""
    return b"%d" % value if type(value) is int else _encode(value).encode()
