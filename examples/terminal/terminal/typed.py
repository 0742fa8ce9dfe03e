"""What a user types: a command, or a call of a tool with its arguments written loosely.

fetch max_length=200 url=http://localhost/        names and values; a value is text until the schema says otherwise
fetch {"url": "http://localhost/"}                the arguments as JSON
fetch                                             none
web/fetch ...                                     the tool of one server
!fetch ...                                        sent even where it does not fit
"""

import contextlib
import json
import shlex
from typing import Any, NamedTuple


class TypedError(Exception):
    """The line cannot be read; the message says how to write it."""


class Typed(NamedTuple):
    """A call as it was typed; its arguments as values, or as the JSON text that they were typed as."""

    server: str | None
    tool: str
    arguments: dict[str, str] | None
    json: str | None
    as_typed: str
    anyway: bool


def read(line: str, servers: list[str]) -> Typed:
    """Read a call; TypedError where it cannot be read."""
    line = line.strip()
    anyway = line.startswith("!")
    name, _, rest = line.removeprefix("!").strip().partition(" ")
    server, slash, tool = name.partition("/")
    if not slash or server not in servers:
        server, tool = "", name
    rest = rest.strip()
    as_json = rest.startswith("{")
    if as_json:
        _see_each_name_once(rest)
    return Typed(server or None, tool, None if as_json else _arguments(rest), rest if as_json else None, rest, anyway)


def _see_each_name_once(text: str) -> None:
    def members(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise TypedError(f"{name!r} stands there twice, and only one can be sent; leave the other out")
            seen.add(name)

    with contextlib.suppress(ValueError, RecursionError):  # argfit says what is wrong with it
        json.loads(text, object_pairs_hook=members)


def _arguments(text: str) -> dict[str, str] | None:
    if not text:
        return None
    found: dict[str, str] = {}
    try:
        words = shlex.split(text)
    except ValueError:
        raise TypedError("a quote is not closed; write it as name='a value'") from None
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise TypedError(f"{word!r} is no argument; write name=value, or all of them as JSON")
        if name in found:
            raise TypedError(f"{name!r} stands there twice, and only one can be sent; leave the other out")
        found[name] = value
    return found
