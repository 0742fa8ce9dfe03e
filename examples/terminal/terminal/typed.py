"""What a user types: a command, or a call of a tool with its arguments written loosely.

fetch max_length=200 url=http://localhost/        names and values; a value is text until the schema says otherwise
fetch url="a b"                                   a value in quotes, which are not part of it; anywhere else they are
fetch filter={"a": "b c"}                         a value in brackets, to where they close, with all that is in it
fetch {"url": "http://localhost/"}                the arguments as JSON
fetch                                             none
web/fetch ...                                     the tool of one server
!fetch ...                                        sent even where it does not fit
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

SPACE = " \t\r\n"
SHOWN = 60  # characters of what cannot be read
_WORD = re.compile(f"[^{SPACE}]+")
_BREAK = re.compile(f"[{SPACE}]")
_QUOTED = re.compile(r"""'([^']*+)'|"((?:[^"\\]|\\.)*+)\"""", re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')
_IN_BRACKETS = re.compile(r'[\[{\]}]|"(?:[^"\\]|\\.)*+"|"', re.DOTALL)


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


def read(text: str, tools: Mapping[str, Iterable[str]]) -> Typed:
    """Read a call, of a tool by its name among those of each server; TypedError where it cannot be read."""
    text = text.strip(SPACE)
    anyway = text.startswith("!")
    called = text.removeprefix("!").strip(SPACE)
    server, tool, end = _named(called, tools)
    if not tool:
        raise TypedError("no tool is named; write TOOL name=value")
    rest = called[end:].strip(SPACE)
    as_json = rest.startswith("{")
    if as_json:
        _see_json(rest)
    return Typed(server, tool, None if as_json else _arguments(rest), rest if as_json else None, rest, anyway)


def _named(called: str, tools: Mapping[str, Iterable[str]]) -> tuple[str | None, str, int]:
    """The server and the tool that a call names, by the longest name or the first word, and where that ends."""
    known: dict[str, tuple[str | None, str]]
    known = {f"{server}/{tool}": (server, tool) for server, names in tools.items() for tool in names}
    known |= {tool: (None, tool) for names in tools.values() for tool in names}
    found = [name for name in known if name and called.startswith(name) and _end(called, len(name)) == len(name)]
    if found:
        name = max(found, key=len)
        return *known[name], len(name)
    word = called[: _end(called, 0)]
    server, slash, tool = word.partition("/")
    return (server, tool, len(word)) if slash and server in tools else (None, word, len(word))


def _see_json(text: str) -> None:
    def members(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise TypedError(f"{name!r} stands there twice, and only one can be sent; leave the other out")
            seen.add(name)

    try:
        json.loads(text, object_pairs_hook=members)
    except json.JSONDecodeError as error:
        raise TypedError(f"the arguments are no JSON: {error.msg}, at character {error.pos + 1}") from None
    except (ValueError, RecursionError):  # too much for this reader: argfit says what is wrong with it
        return


def _arguments(text: str) -> dict[str, str] | None:
    found: dict[str, str] = {}
    place = 0
    while (word := _WORD.search(text, place)) is not None:
        name, equals, _ = word[0].partition("=")
        if not equals or not name:
            raise TypedError(
                f"{_short(word[0])} is no argument; write name=value, or name='a value' where there are spaces"
            )
        if name in found:
            raise TypedError(f"{name!r} stands there twice, and only one can be sent; leave the other out")
        found[name], place = _value(text, name, word.start() + len(name) + 1)
    return found or None


def _value(text: str, name: str, start: int) -> tuple[str, int]:
    """A value that begins there, and where it ends."""
    quoted = _QUOTED.match(text, start)
    if quoted is not None:
        end = _end(text, quoted.end())
        if follows := text[quoted.end() : end]:
            raise TypedError(f"{_short(follows)} follows a quote that is closed; quote all of {name!r}, or none of it")
        return (_ESCAPED.sub(r"\1", quoted[2]) if quoted[1] is None else quoted[1]), end
    if text.startswith(("'", '"'), start):
        raise TypedError(f"a quote of {name!r} is not closed; write it as {name}='a value'")
    end = _end(text, _closed(text, name, start))
    return text[start:end], end


def _end(text: str, start: int) -> int:
    """Where a word ends that is under way there."""
    found = _BREAK.search(text, start)
    return len(text) if found is None else found.start()


def _closed(text: str, name: str, start: int) -> int:
    """Where what is in brackets there ends; the start itself where no bracket is."""
    if text[start : start + 1] not in ("[", "{"):
        return start
    depth = 0
    for part in _IN_BRACKETS.finditer(text, start):
        if part[0] == '"':
            raise TypedError(f"a quote of {name!r} is not closed; as plain text, write it as {name}='a value'")
        depth += 1 if part[0] in "[{" else -1 if part[0] in "]}" else 0
        if not depth:
            return part.end()
    raise TypedError(f"a bracket of {name!r} is not closed; as plain text, write it as {name}='a value'")


def _short(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")
