"""The places of a schema as it is written, each once, under the path by which it is first reached."""

from collections.abc import Iterator
from typing import Any

import msgspec

from argfit.core.problem import show_path
from argfit.core.source import REFERENCES, Source, step_of

ROOT = "#"


class Spot(msgspec.Struct, frozen=True):
    """One schema object where it stands."""

    at: str
    path: str
    schema: Any  # a boolean until it is looked at
    is_argument: bool  # it says what an argument or a part of one is; a branch only adds to that
    by_properties: bool  # properties alone lead to it
    judges: bool = False  # it stands in a part of the schema that only judges


_PARTS = {  # of a value, and how each is called in a path
    "items": "[]",
    "additionalItems": "[]",
    "unevaluatedItems": "[]",
    "contains": "[]",
    "additionalProperties": ".*",
    "unevaluatedProperties": ".*",
}
_BRANCHES = ("not", "if", "then", "else", "propertyNames")


def spots_of(schema: dict[str, Any], source: Source) -> Iterator[Spot]:
    seen: set[str] = set()
    pending = [Spot(ROOT, "", schema, is_argument=False, by_properties=True)]
    while pending:
        spot = pending.pop()
        if spot.schema is True:
            spot = msgspec.structs.replace(spot, schema={})
        if spot.at not in seen and isinstance(spot.schema, dict):
            seen.add(spot.at)
            yield spot
            ahead = _ahead(spot, schema, source)
            judging = [msgspec.structs.replace(one, judges=True) for one in ahead] if spot.judges else [*ahead]
            pending += reversed(judging)


def _ahead(spot: Spot, root: dict[str, Any], source: Source) -> Iterator[Spot]:
    """The schemas that a schema holds or refers to."""
    for keyword, value in spot.schema.items():
        at = spot.at + step_of(keyword)
        if keyword in ("properties", "patternProperties", "dependentSchemas", "dependencies"):
            for name, part in value.items() if isinstance(value, dict) else ():
                path = {"properties": _member(spot.path, str(name)), "patternProperties": f"{spot.path}.*"}
                is_part = keyword in path
                chained = spot.by_properties and keyword == "properties"
                yield Spot(at + step_of(name), path.get(keyword, spot.path), part, is_part, chained)
        elif keyword in ("allOf", "anyOf", "oneOf", "prefixItems") or (keyword == "items" and isinstance(value, list)):
            is_item = keyword in ("prefixItems", "items")
            for index, part in enumerate(value if isinstance(value, list) else ()):
                path_of = f"{spot.path}[{index}]" if is_item else spot.path
                yield Spot(f"{at}/{index}", path_of, part, is_item, by_properties=False)
        elif keyword in _PARTS:
            judges = keyword == "contains"
            yield Spot(at, spot.path + _PARTS[keyword], value, is_argument=True, by_properties=False, judges=judges)
        elif keyword in _BRANCHES:
            judges = keyword in ("not", "if", "propertyNames")
            yield Spot(at, spot.path, value, is_argument=False, by_properties=False, judges=judges)
        elif keyword in REFERENCES:
            target = source.resolve(value, spot.at)
            if target is not None:
                yield Spot(target, spot.path, _at(root, source, target), is_argument=False, by_properties=False)


def _at(root: dict[str, Any], source: Source, location: str) -> Any:
    """The schema at a location, as it is written where that can be told."""
    try:
        return msgspec.structs.replace(source, document=root).at(location)
    except KeyError:
        return source.at(location)


def _member(path: str, name: str) -> str:
    shown = show_path((name,))
    return path + (shown if not path or shown.startswith("[") else f".{shown}")
