"""Arguments as a document that can be edited by path and written as text.

A document is a JSON value that may also hold a `Raw`, JSON text to be written as it is, and a `Quoted`, text that
spells another document.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any, Literal

Path = tuple[str | int, ...]


class Raw(str):
    """JSON text in a spelling of its own, such as `5.0` or `1e3`."""

    __slots__ = ()


@dataclass(frozen=True)
class Quoted:
    """Text that spells a document, in the style of the text around it."""

    document: Any


@dataclass(frozen=True)
class Style:
    """How a document is written: a fitted text must keep it."""

    comma: str = ", "
    colon: str = ": "
    ascii: bool = True


PLAIN = Style()
STYLES = (PLAIN, Style(",", ":", ascii=False), Style(" ,\n ", " :\t"))


@dataclass(frozen=True)
class Edit:
    """`put` a value (a new key comes last), `drop` a key, or give a `key` another name."""

    path: Path
    op: Literal["put", "drop", "key"]
    value: Any = None


def written(document: Any, style: Style = PLAIN) -> str:
    if isinstance(document, Raw):
        return str(document)
    if isinstance(document, str):
        return _quoted(document, style)
    if isinstance(document, dict):
        members = [_quoted(name, style) + style.colon + written(value, style) for name, value in document.items()]
        return "{" + style.comma.join(members) + "}"
    if isinstance(document, list):
        return "[" + style.comma.join([written(item, style) for item in document]) + "]"
    if isinstance(document, Quoted):
        return _quoted(written(document.document, style), style)
    return json.dumps(document)


def _quoted(text: str, style: Style) -> str:
    return encode_basestring_ascii(text) if style.ascii else encode_basestring(text)


def value_of(document: Any, style: Style = PLAIN) -> Any:
    """The document as a reader of its text has it."""
    return json.loads(written(document, style))


def edited(document: Any, edits: Iterable[Edit]) -> Any:
    """The document with edits made, each by the path its place has before any of them."""
    holder = [_copied(document)]
    # a key keeps its name until all below it is done
    for edit in sorted(edits, key=lambda edit: (edit.op != "put", -len(edit.path))):
        above: Any = holder
        *steps, last = (0, *edit.path)
        for step in steps:
            above = above[step]
        if edit.op == "put":
            above[last] = edit.value
        elif edit.op == "drop":
            del above[last]
        else:
            members = list(above.items())
            above.clear()
            above.update((edit.value if key == last else key, value) for key, value in members)
    return holder[0]


def apart(one: Path, other: Path) -> bool:
    """Whether neither of two places holds the other."""
    length = min(len(one), len(other))
    return one[:length] != other[:length]


def _copied(document: Any) -> Any:
    if isinstance(document, dict):
        return {key: _copied(value) for key, value in document.items()}
    if isinstance(document, list):
        return [_copied(item) for item in document]
    return document
