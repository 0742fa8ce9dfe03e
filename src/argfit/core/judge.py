"""The judge: jsonschema-rs says what is valid, of the whole arguments and of single places.

Rules
- It is asked about plain JSON values only: it refuses subclasses of float and int, and text that is no
  UTF-8 as a key; those are shown to it as what they stand for.
- It recurses on the machine's stack: a value nested deeper than `DEEPEST` is not shown to a recursive
  schema (50,000 levels end the process; 10,000 are fine).
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from argfit.core.source import Source
from argfit.core.validator import Unjudgeable, registry_of, validator

DEEPEST = 5_000
_HOME = "https://argfit.invalid/schema"  # a name only: nothing is fetched, and .invalid never is (RFC 2606)
_SURROGATE = re.compile("[\ud800-\udfff]")


class Judge:
    """Validity under one source: of whole arguments, and of a value at one location."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._is_valid: Callable[[Any], bool] = source.validator.is_valid
        self._located: dict[str, Any] = {}
        self._registry: Any = None

    def accepts(self, value: Any) -> bool:
        """Whether the whole arguments are valid; RecursionError where they are too deep to tell."""
        try:
            return self._is_valid(value)
        except ValueError:
            return _ask_again(self._is_valid, value)

    def accepts_at(self, location: str, value: Any) -> bool:
        """Whether a value is valid under the schema at a location."""
        located = self._located.get(location)
        if located is None:
            located = self._located[location] = self._compile_at(location)
        return ask(located.is_valid, value)

    def _compile_at(self, location: str) -> Any:
        if self._registry is None:
            self._registry = registry_of(_HOME, self._source.document)
        fragment = quote(location.removeprefix("#"), safe="/~")
        try:
            document = {"$schema": self._source.dialect.uri, "$ref": f"{_HOME}#{fragment}"}
            return validator(document, self._registry, self._source.formats)
        except Unjudgeable:  # broken where the judge of the whole does not look, so it refuses nothing
            return validator(document=True)


@lru_cache(maxsize=4096)
def _leaf(keyword: str, argument: Any) -> Any:
    return validator({keyword: argument}, formats=frozenset([argument] if keyword == "format" else [])).is_valid


def meets(keyword: str, argument: Any, value: Any) -> bool:
    """Whether a value meets one keyword that needs no other: `pattern`, `format`, `multipleOf`, `uniqueItems`."""
    return ask(_leaf(keyword, argument), value)


def ask(is_valid: Callable[[Any], bool], value: Any) -> bool:
    """Ask the judge about a value, in a form it takes; RecursionError where it nests too deep for it."""
    try:
        return is_valid(value)
    except ValueError:
        return _ask_again(is_valid, value)


def _ask_again(is_valid: Callable[[Any], bool], value: Any) -> bool:
    """Ask about a value that was not taken: a subclass of a JSON type, a key that is no text, or too deep."""
    try:
        return is_valid(plain(value))
    except ValueError as refused:
        raise RecursionError(*refused.args) from None


def plain(value: Any) -> Any:
    """The value as the judge can take it: exact JSON types, text that is UTF-8."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        # each lone surrogate as a character of its own that nobody uses (plane 15, private use)
        return _SURROGATE.sub(lambda found: chr(0xF0000 + ord(found[0]) - 0xD800), value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return {plain(str(key)): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


def too_deep(value: Any) -> bool:
    """Whether a value nests deeper than the judge may be shown."""
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        level = [
            part
            for container in level
            for part in (container.values() if isinstance(container, dict) else container)
            if isinstance(part, dict | list)
        ]
        if not level:
            return False
    return True
