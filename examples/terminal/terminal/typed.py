"""What a user types: a command, or a call of a tool with its arguments written loosely.

fetch max_length=200 url=http://localhost/        names and values; a value is text until the schema says otherwise
fetch {"url": "http://localhost/"}                the arguments as JSON
fetch                                             none
web/fetch ...                                     the tool of one server
!fetch ...                                        sent even where it does not fit
"""

import json
import shlex
from typing import Any, NamedTuple


class TypedError(Exception):
    """The line cannot be read; the message says how to write it."""


class Typed(NamedTuple):
    """A call as it was typed."""

    server: str | None
    tool: str
    arguments: Any
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
    return Typed(server or None, tool, _arguments(rest), rest, anyway)


def _arguments(text: str) -> Any:
    if not text:
        return None
    if text.startswith("{"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text  # it may be what a model would send, too: argfit says what is wrong with it
    found: dict[str, Any] = {}
    try:
        words = shlex.split(text)
    except ValueError:
        raise TypedError("a quote is not closed; write it as name='a value'") from None
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise TypedError(f"{word!r} is no argument; write name=value, or all of them as JSON")
        if name in found:
            raise TypedError(f"{name} stands there twice")
        found[name] = value
    return found
