"""A schema as it is worked with: the document, its dialect, its references, and what had to be left out.

Locations are JSON pointers from the schema's root (`#/properties/line`), in the adapted document.
"""

from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

import msgspec

from argfit.core.dialect import Dialect
from argfit.core.validator import Unjudgeable, validator

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

# Why a part of a schema is left out.
REASONS = {
    "remote": "it points outside of this schema, and nothing is fetched",
    "dangling": "it points at nothing in this schema",
    "loop": "it leads back to itself, so no value could ever be judged by it",
    "pattern": "the pattern does not compile",
    "type": "there is no such type",
    "value": "its value is not what this draft of JSON Schema allows",
    "no-schema": "a schema is an object or a boolean",
    "name": "the name is no text",
    "whole": "the schema as a whole cannot be used",
}


_KINDS = {str: "text", int: "a number", float: "a number", list: "a list", type(None): "null"}


class SchemaError(ValueError):
    """The schema is neither an object nor a boolean, so nothing can be read from it.

    The next step is the message's: pass a tool's `inputSchema`, not the tool or its text.
    """

    def __init__(self, found: object) -> None:
        kind = _KINDS.get(type(found), type(found).__name__)
        super().__init__(f"a schema is an object or a boolean, not {kind}; pass the tool's inputSchema")


class Source(msgspec.Struct, frozen=True):
    """An adapted schema: the document, its dialect, its resources and anchors, what was left out."""

    document: Any
    dialect: Dialect
    resources: dict[str, str]  # absolute or relative URI -> location of the resource's root
    anchors: dict[tuple[str, str], str]  # (location of the resource's root, name) -> location
    formats: frozenset[str] = frozenset()  # that are judged
    unusable: dict[str, str] = {}  # location -> one of REASONS
    validator: Any = None  # the judge of the whole document

    def at(self, location: str) -> Any:
        """The schema at a location; KeyError where there is none."""
        return part_at(self.document, location)

    def resolve(self, reference: object, location: str) -> str | None:
        """Where a reference at `location` points, or None where that is not inside this schema."""
        if not isinstance(reference, str):
            return None
        home = self._resource_of(location)
        uri, fragment = urldefrag(reference)
        if uri:
            home_uri = next((name for name, where in self.resources.items() if where == home), "")
            found = self.resources.get(urljoin(home_uri, uri))
            if found is None:
                return None
            home = found
        if fragment and not fragment.startswith("/"):
            target = self.anchors.get((home, fragment), "")
        else:
            target = home + "".join(f"/{step}" for step in unquote(fragment).split("/")[1:])
        try:
            schema = self.at(target) if target else None
        except KeyError:  # also where it was left out
            return None
        return target if isinstance(schema, dict | bool) else None

    def resolve_dynamic(self, reference: object, location: str) -> str | None:
        """Where a `$dynamicRef` (or `$recursiveRef`) points, with the schema as a whole as the outermost that counts.

        What a resource in between extends is not followed: that hangs on the way by which it is reached.
        """
        target = self.resolve(reference, location)
        found = self.at(target) if target else None
        if not isinstance(found, dict) or not isinstance(reference, str):
            return target
        if reference == "#" and found.get("$recursiveAnchor") is True:
            outer = "#"
        else:
            name = str(found.get("$dynamicAnchor"))
            outer = self.anchors.get(("#", name), "") if reference.endswith(f"#{name}") else ""
        outermost = self.at(outer) if outer else None
        extends = isinstance(outermost, dict) and (
            outermost.get("$dynamicAnchor") == found.get("$dynamicAnchor")
            and outermost.get("$recursiveAnchor") == found.get("$recursiveAnchor")
        )
        return outer if extends else target

    def _resource_of(self, location: str) -> str:
        inside = [home for home in self.resources.values() if location == home or location.startswith(home + "/")]
        return max(inside, key=len, default="#")


def judged(source: Source) -> Source | None:
    """The source with its judge, or None where the judge does not take the schema as it stands."""
    try:
        return msgspec.structs.replace(source, validator=validator(source.document, formats=source.formats))
    except Unjudgeable:
        return None


def nothing_usable(dialect: Dialect) -> Source:
    """The source of a schema that cannot be used at all: it asks for nothing, and says so."""
    return Source(True, dialect, {"": "#"}, {}, unusable={"#": "whole"}, validator=validator(document=True))


def part_at(document: Any, location: str) -> Any:
    """The part of a document at a location; KeyError where there is none."""
    for step in steps(location):
        if isinstance(document, list):
            if not step.isdecimal() or int(step) >= len(document):
                raise KeyError(location)
            document = document[int(step)]
        elif isinstance(document, dict):
            document = document[step]
        else:
            raise KeyError(location)
    return document


def with_part(document: Any, path: list[str], part: Any) -> Any:
    """The document with another part at a path that it has."""
    if not path:
        return part
    if isinstance(document, list):
        index = int(path[0])
        return [with_part(sub, path[1:], part) if i == index else sub for i, sub in enumerate(document)]
    return {**document, path[0]: with_part(document[path[0]], path[1:], part)}


def step_of(name: str | int) -> str:
    """One step of a location, escaped as RFC 6901 says."""
    text = str(name)
    return f"/{text.replace('~', '~0').replace('/', '~1')}" if "/" in text or "~" in text else f"/{text}"


def steps(location: str) -> list[str]:
    """The unescaped steps of a location."""
    return [unescaped(step) for step in location.split("/")[1:]]


def unescaped(step: str) -> str:
    """A step as it was before it was escaped."""
    return step.replace("~1", "/").replace("~0", "~") if "~" in step else step
