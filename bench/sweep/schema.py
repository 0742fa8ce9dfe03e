"""What a schema asks for, flattened: each way to meet it is one set of keywords without combinators.

Rules
- `$ref` and `allOf` are merged in; each branch of `anyOf` and `oneOf` makes a flat of its own.
- A flat that holds what is not understood here is `odd`: nothing is promised of the places below it.
- The judge reads the schema as the contract does (section 4): `nullable: true` and `default: null` allow null.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import jsonschema_rs

Schema = dict[str, Any] | bool

EVERY_TYPE = frozenset(("null", "boolean", "number", "string", "array", "object"))
MOST_FLATS = 48  # more ways than this are cut off, and those kept are odd
_COMBINATORS = frozenset(("$ref", "allOf", "anyOf", "oneOf", "$defs", "definitions", "const"))
_ODD = frozenset(
    "if then else dependentSchemas dependencies patternProperties unevaluatedProperties unevaluatedItems"
    " $dynamicRef $recursiveRef".split()
)
_REF_HIDES_SIBLINGS = ("draft-04", "draft-06", "draft-07")
_HOLD_VALUES = frozenset(("enum", "const", "default", "examples", "required"))
_HOLD_NAMED = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))


@dataclass(frozen=True)
class Flat:
    """One way to meet a schema."""

    keywords: dict[str, Any] = field(default_factory=dict)
    odd: bool = False

    @property
    def types(self) -> frozenset[str]:
        return types_of(self.keywords)

    @property
    def members(self) -> list[Any] | None:
        return self.keywords.get("enum")

    @property
    def properties(self) -> dict[str, Schema]:
        properties: dict[str, Schema] = self.keywords.get("properties", {})
        return properties

    @property
    def required(self) -> frozenset[str]:
        return frozenset(self.keywords.get("required", ()))

    @property
    def dependent_required(self) -> dict[str, list[str]]:
        """The names that are required where another one is there."""
        named: dict[str, list[str]] = self.keywords.get("dependentRequired", {})
        return named

    @property
    def closed(self) -> bool:
        return self.keywords.get("additionalProperties") is False

    def of_member(self, name: str) -> Schema | None:
        """The schema of a member; None where it may not be there."""
        if name in self.properties:
            return self.properties[name]
        extra: Schema = self.keywords.get("additionalProperties", {})
        return None if extra is False else extra

    def of_item(self, index: int) -> Schema | None:
        first = self.keywords.get("prefixItems", ())
        rest = self.keywords.get("items", {})
        if isinstance(rest, list):
            first, rest = rest, self.keywords.get("additionalItems", {})
        found: Schema = first[index] if index < len(first) else rest
        return None if found is False else found


class Document:
    """A tool's schema as a whole, and its judge. ValueError where the judge does not take it."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        self.root: dict[str, Any] = json.loads(json.dumps(schema))
        _allow_null(self.root)
        try:
            judge = jsonschema_rs.validator_for(self.root, offline=True, validate_formats=False)
        except (ValueError, TypeError, jsonschema_rs.ReferencingError) as refused:
            raise ValueError(str(refused).partition("\n")[0]) from refused
        self.accepts: Callable[[Any], bool] = judge.is_valid
        self._ref_hides = any(draft in str(self.root.get("$schema")) for draft in _REF_HIDES_SIBLINGS)
        self._flats: dict[int, tuple[Schema, tuple[Flat, ...]]] = {}

    def flats(self, schema: Schema) -> tuple[Flat, ...]:
        found = self._flats.get(id(schema))
        if found is None:
            ways = tuple(self._ways(schema, ()))
            if len(ways) > MOST_FLATS:
                ways = tuple(Flat(way.keywords, odd=True) for way in ways[:MOST_FLATS])
            found = self._flats[id(schema)] = (schema, ways)  # the schema is kept, and so its id
        return found[1]

    def _ways(self, schema: Schema, through: tuple[str, ...]) -> list[Flat]:
        if isinstance(schema, bool):
            return [Flat()] if schema else []
        parts = [[Flat()]] if self._ref_hides and "$ref" in schema else [[_own(schema)]]
        if "$ref" in schema:
            ref = schema["$ref"]
            target = self._resolved(ref)
            lost = target is None or ref in through
            parts.append([Flat(odd=True)] if target is None or lost else self._ways(target, (*through, ref)))
        if len(parts) == 1 or not self._ref_hides:
            parts += [self._ways(part, through) for part in schema.get("allOf", ())]
            for union in ("anyOf", "oneOf"):
                if union in schema:
                    parts.append([way for branch in schema[union] for way in self._ways(branch, through)])
        ways = parts[0]
        for part in parts[1:]:
            ways = [_merged(one, other) for one in ways for other in part][: MOST_FLATS + 1]
        return [way for way in ways if way.types]

    def _resolved(self, ref: str) -> Schema | None:
        if not ref.startswith("#"):
            return None
        found: Any = self.root
        for step in filter(None, unquote(ref[1:]).split("/")):
            name = step.replace("~1", "/").replace("~0", "~")
            try:
                found = found[int(name)] if isinstance(found, list) else found[name]
            except (LookupError, ValueError, TypeError):
                return None
        return found if isinstance(found, dict | bool) else None


def type_of(value: Any) -> str:
    kinds = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string", list: "array"}
    return kinds.get(type(value), "object")


def types_of(keywords: dict[str, Any]) -> frozenset[str]:
    named = keywords.get("type", EVERY_TYPE)
    types = frozenset([named] if isinstance(named, str) else named)
    if "enum" in keywords:
        held = {type_of(member) for member in keywords["enum"]}
        types = frozenset(name for name in types if ("number" if name == "integer" else name) in held)
    return types


def _own(schema: dict[str, Any]) -> Flat:
    keywords = {name: value for name, value in schema.items() if name not in _COMBINATORS}
    if "const" in schema:
        keywords["enum"] = [schema["const"]]
    return Flat(keywords, odd=not _ODD.isdisjoint(schema))


def _merged(one: Flat, other: Flat) -> Flat:
    keywords = dict(one.keywords)
    odd = one.odd or other.odd
    for flat, beside in ((one, other), (other, one)):
        # a closed part of a merge knows its own names only
        odd = odd or (flat.closed and not set(beside.properties) <= set(flat.properties))
    for name, value in other.keywords.items():
        if name not in keywords:
            keywords[name] = value
        elif name in _MERGE:
            keywords[name] = _MERGE[name](keywords[name], value)
        else:
            odd = odd or keywords[name] != value
    return Flat(keywords, odd)


def _types_in_both(one: Any, other: Any) -> list[str]:
    first, second = ({name} if isinstance(name, str) else set(name) for name in (one, other))
    both = first & second
    if ("integer" in first and "number" in second) or ("number" in first and "integer" in second):
        both.add("integer")
    return sorted(both)


def _named_in_both(one: dict[str, Schema], other: dict[str, Schema]) -> dict[str, Schema]:
    both = {**one, **other}
    both.update({name: {"allOf": [one[name], other[name]]} for name in one.keys() & other.keys()})
    return both


def _schema_in_both(one: Any, other: Any) -> Any:
    return False if one is False or other is False else {"allOf": [one, other]}


_MERGE: dict[str, Callable[[Any, Any], Any]] = {
    "type": _types_in_both,
    "properties": _named_in_both,
    "required": lambda one, other: [*one, *other],
    "enum": lambda one, other: [member for member in one if member in other],
    "items": _schema_in_both,
    "additionalProperties": _schema_in_both,
    "not": lambda one, other: {"anyOf": [one, other]},
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
    **dict.fromkeys(("title", "description", "default", "$schema", "$id", "examples"), lambda one, other: one),
}


def _allow_null(schema: Any) -> None:
    for part in _parts(schema):
        _allow_null(part)
    if not isinstance(schema, dict) or not (schema.get("nullable") is True or schema.get("default", "") is None):
        return
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        schema["type"] = [*types, *({"null"} - set(types))]
    if "enum" in schema and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    for union in ("anyOf", "oneOf"):
        if union in schema and not any(branch.get("type") == "null" for branch in schema[union]):
            schema[union] = [*schema[union], {"type": "null"}]
    if "$ref" in schema:
        schema.setdefault("anyOf", []).extend(({"$ref": schema.pop("$ref")}, {"type": "null"}))


def _parts(schema: Any) -> Iterator[Any]:
    """Walk the subschemas one level down."""
    if isinstance(schema, list):
        yield from schema
    elif isinstance(schema, dict):
        for keyword, value in schema.items():
            if keyword in _HOLD_NAMED and isinstance(value, dict):
                yield from value.values()
            elif keyword not in _HOLD_VALUES:
                yield value
