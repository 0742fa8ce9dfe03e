"""Arguments that stand in a header, too: `Mcp-Param-*` (SEP-2243; MCP 2026-07-28, streamable HTTP).

Rules
- A property of text, integer or boolean type that is marked `x-mcp-header` is mirrored, where it is reached from the
  root by `properties` alone; absent and null ones are left out.
- A server holds the two against each other, integers by their value: what fitting changes is rendered anew.
- A header that was wrong when it came is the server's to refuse: such a request goes as it came.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

Headers = list[tuple[bytes, bytes]]
Mirrored = tuple[tuple[tuple[str, ...], bytes], ...]  # paths of arguments, and the headers that mirror them

_PREFIX = b"mcp-param-"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
_TYPES = ("string", "integer", "boolean")
_SAFE = re.compile(r"[\x20-\x7e]*\Z")
_ENCODED = re.compile(r"=\?base64\?(.*)\?=\Z", re.DOTALL)
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?\Z")


class WrongHeaderError(Exception):
    """A header says another value than the argument it mirrors."""


def mirrored(schema: Any) -> Mirrored:
    """The arguments of a tool that are mirrored; none where two of them claim the same header."""
    found = tuple(_marked(schema, ()))
    return found if len({header for _, header in found}) == len(found) else ()


def mirror(marks: Mirrored, headers: Headers, before: Any, after: Any) -> Headers:
    """The headers for arguments that were fitted; raises `WrongHeaderError` where they were wrong as they came."""
    made = headers
    for path, name in marks:
        said = [value for key, value in headers if key.lower() == name]
        sent, fitted = _at(before, path), _at(after, path)
        if len(said) > 1 or any(not _says(one, sent) for one in said):
            raise WrongHeaderError
        if said and fitted is None:
            made = [one for one in made if one[0].lower() != name]
        elif said and not _says(said[0], fitted):
            made = [(key, _rendered(fitted) if key.lower() == name else value) for key, value in made]
        elif not said and sent is None and fitted is not None:
            made = [*made, (name, _rendered(fitted))]
    return made


def _marked(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], bytes]]:
    declared = schema.get("properties") if isinstance(schema, dict) else None
    for name, part in declared.items() if isinstance(declared, dict) else ():
        token = part.get("x-mcp-header") if isinstance(part, dict) else None
        if isinstance(token, str) and _TOKEN.match(token) and part.get("type") in _TYPES:
            yield (*path, name), _PREFIX + token.lower().encode()
        yield from _marked(part, (*path, name))


def _at(arguments: Any, path: Iterable[str]) -> Any:
    """The value at a path, as far as it can stand in a header."""
    value = arguments
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, str | int | float) else None


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _rendered(value: Any) -> bytes:
    text = _text(value)
    if _SAFE.match(text) and text == text.strip() and not _ENCODED.match(text):
        return text.encode()
    return b"=?base64?" + base64.b64encode(text.encode("utf-8", "surrogatepass")) + b"?="


def _says(header: bytes, value: Any) -> bool:
    """Whether a header says a value; one of nothing says none."""
    said = _decoded(header)
    if said is None or value is None:
        return False
    if isinstance(value, int | float) and not isinstance(value, bool) and _NUMBER.match(said):
        return Decimal(said) == value
    return said == _text(value)


def _decoded(header: bytes) -> str | None:
    text = header.decode("latin-1").strip()
    encoded = _ENCODED.match(text)
    if encoded is None:
        return text
    try:
        return base64.b64decode(encoded[1], validate=True).decode()
    except (binascii.Error, ValueError):
        return None
