"""What one schema object asks, as frozen data that prints and compares.

Rules
- A node holds only what its own keywords say. What applies to a value is found by `place.active`.
- A keyword the dialect does not know is not in it: it neither judges nor asks for a spelling.
- References are resolved here, once.
"""

import math
from collections.abc import Callable
from typing import Any

import msgspec

from argfit.core.problem import Bounds
from argfit.core.source import Source, step_of
from argfit.core.values import same


class Range(msgspec.Struct, frozen=True):
    """How many of something: characters, items, members."""

    least: int = 0
    most: int | None = None


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """What one schema object asks; every `str` that names another schema is that schema's location."""

    at: str
    never: bool = False
    types: tuple[str, ...] = ()
    members: tuple[Any, ...] | None = None
    bounds: Bounds | None = None
    multiple_of: float | None = None
    length: Range | None = None
    pattern: str | None = None
    format: str | None = None
    format_counts: bool = False
    prefix: tuple[str, ...] = ()
    items: str | None = None
    contains: str | None = None
    containing: Range = Range(1)
    count: Range | None = None
    unique: bool = False
    unevaluated_items: str | None = None
    properties: dict[str, str] = {}
    patterns: dict[str, str] = {}
    additional: str | None = None
    names: str | None = None
    required: tuple[str, ...] = ()
    dependent_required: dict[str, tuple[str, ...]] = {}
    dependent_schemas: dict[str, str] = {}
    size: Range | None = None
    unevaluated_members: str | None = None
    refs: tuple[str, ...] = ()
    all_of: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    tag: str | None = None
    if_: str | None = None
    then: str | None = None
    else_: str | None = None
    not_: str | None = None

    def in_place(self) -> tuple[str, ...]:
        """Locations that look at the very value this node looks at."""
        found = self.refs + self.all_of + self.any_of + self.one_of
        if self.dependent_schemas:
            found += tuple(self.dependent_schemas.values())
        if self.if_ or self.then or self.else_ or self.not_:
            found += tuple(at for at in (self.if_, self.then, self.else_, self.not_) if at)
        return found

    def inside(self) -> tuple[str, ...]:
        """Locations that look at a part of the value this node looks at."""
        found = self.prefix
        if self.properties or self.patterns:
            found += (*self.properties.values(), *self.patterns.values())
        if self.items or self.contains or self.additional or self.unevaluated_items or self.unevaluated_members:
            maybe = (self.items, self.contains, self.unevaluated_items, self.additional, self.unevaluated_members)
            found += tuple(at for at in maybe if at)
        return found

    def said(self) -> dict[str, Any]:
        """What it asks, by its fields: those that are not as where nothing is asked."""
        return {
            field.name: value
            for field in msgspec.structs.fields(self)
            if (value := getattr(self, field.name)) != field.default
            and not (field.default_factory is dict and value == {})
        }

    def __repr__(self) -> str:
        return f"Node({', '.join(f'{name}={value!r}' for name, value in self.said().items())})"


def read_node(source: Source, schema: Any, at: str) -> Node:
    """Read the schema at a location."""
    if not isinstance(schema, dict):
        return Node(at=at, never=schema is False)
    if source.dialect.ref_hides_siblings and "$ref" in schema:
        schema = {"$ref": schema["$ref"]}
    known = source.dialect.keywords
    fields: dict[str, Any] = {}
    for keyword in schema:
        read = _READERS.get(keyword)
        if read is not None and keyword in known:
            read(source, schema, at, fields)
    discriminator = schema.get("discriminator")
    if isinstance(discriminator, dict) and isinstance(discriminator.get("propertyName"), str):
        fields["tag"] = discriminator["propertyName"]
    return Node(at=at, **fields)


# -- one small reader per keyword, all with one signature --------------------------------------------

_Reader = Callable[[Source, dict[str, Any], str, dict[str, Any]], None]


def _types(source: Source, schema: dict[str, Any], at: str, fields: dict[str, Any]) -> None:
    types = schema["type"]
    fields["types"] = (types,) if isinstance(types, str) else tuple(types)


def _members(source: Source, schema: dict[str, Any], at: str, fields: dict[str, Any]) -> None:
    listed = schema.get("enum", [schema.get("const")])
    if "const" in schema and "const" in source.dialect.keywords:
        listed = [member for member in listed if same(member, schema["const"])]
    fields["members"] = tuple(listed)


def _bounds(source: Source, schema: dict[str, Any], at: str, fields: dict[str, Any]) -> None:
    def side(closed: str, opened: str, tighter: Callable[..., float]) -> tuple[float | None, bool]:
        inclusive, exclusive = _finite(schema.get(closed)), _finite(schema.get(opened))
        if schema.get(opened) is True:  # draft 4
            return inclusive, inclusive is not None
        if inclusive is None or exclusive is None:
            return (inclusive, False) if exclusive is None else (exclusive, True)
        return tighter(inclusive, exclusive), exclusive == tighter(inclusive, exclusive)

    low, open_low = side("minimum", "exclusiveMinimum", max)
    high, open_high = side("maximum", "exclusiveMaximum", min)
    fields["bounds"] = Bounds(low, high, open_low, open_high)


def _finite(value: Any) -> float | None:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _value(name: str, keyword: str) -> _Reader:
    def read(source: Source, schema: dict[str, Any], at: str, fields: dict[str, Any]) -> None:
        fields[name] = schema[keyword]

    return read


def _format(source: Source, schema: dict[str, Any], at: str, fields: dict[str, Any]) -> None:
    fields["format"] = schema["format"]
    fields["format_counts"] = schema["format"] in source.formats


def _range(name: str, least: str, most: str, absent: int = 0) -> _Reader:
    def read(source: Source, schema: dict[str, Any], at: str, fields: dict[str, Any]) -> None:
        high = schema.get(most)
        fields[name] = Range(int(schema.get(least, absent)), None if high is None else int(high))

    return read


def _one(name: str, keyword: str) -> _Reader:
    def read(source: Source, schema: dict[str, Any], at: str, fields: dict[str, Any]) -> None:
        fields[name] = at + step_of(keyword)

    return read


def _branch(name: str, keyword: str) -> _Reader:
    def read(source: Source, schema: dict[str, Any], at: str, fields: dict[str, Any]) -> None:
        if "if" in schema:  # or it is ignored, and nobody has looked whether it can be used
            fields[name] = at + step_of(keyword)

    return read


def _many(name: str, keyword: str) -> _Reader:
    def read(source: Source, schema: dict[str, Any], at: str, fields: dict[str, Any]) -> None:
        fields[name] = tuple(f"{at}{step_of(keyword)}/{i}" for i in range(len(schema[keyword])))

    return read


def _named(name: str, keyword: str) -> _Reader:
    def read(source: Source, schema: dict[str, Any], at: str, fields: dict[str, Any]) -> None:
        home = at + step_of(keyword)
        fields[name] = {key: home + step_of(key) for key in schema[keyword]}

    return read


def _items(source: Source, schema: dict[str, Any], at: str, fields: dict[str, Any]) -> None:
    if isinstance(schema["items"], list):
        fields["prefix"] = tuple(f"{at}/items/{i}" for i in range(len(schema["items"])))
        if "additionalItems" in schema:
            fields["items"] = at + "/additionalItems"
    else:
        fields["items"] = at + "/items"


def _required(source: Source, schema: dict[str, Any], at: str, fields: dict[str, Any]) -> None:
    fields["required"] = tuple(schema["required"])


def _dependent_required(source: Source, schema: dict[str, Any], at: str, fields: dict[str, Any]) -> None:
    named = {key: tuple(names) for key, names in schema["dependentRequired"].items()}
    fields["dependent_required"] = {**fields.get("dependent_required", {}), **named}


def _dependent_schemas(source: Source, schema: dict[str, Any], at: str, fields: dict[str, Any]) -> None:
    named = {key: f"{at}/dependentSchemas{step_of(key)}" for key in schema["dependentSchemas"]}
    fields["dependent_schemas"] = {**fields.get("dependent_schemas", {}), **named}


def _dependencies(source: Source, schema: dict[str, Any], at: str, fields: dict[str, Any]) -> None:
    parts = schema["dependencies"]
    named = {key: tuple(part) for key, part in parts.items() if isinstance(part, list)}
    schemas = {key: f"{at}/dependencies{step_of(key)}" for key, part in parts.items() if not isinstance(part, list)}
    fields["dependent_required"] = {**fields.get("dependent_required", {}), **named}
    fields["dependent_schemas"] = {**fields.get("dependent_schemas", {}), **schemas}


def _reference(keyword: str) -> _Reader:
    def read(source: Source, schema: dict[str, Any], at: str, fields: dict[str, Any]) -> None:
        resolve = source.resolve if keyword == "$ref" else source.resolve_dynamic
        target = resolve(schema[keyword], at)
        if target is not None:
            fields["refs"] = (*fields.get("refs", ()), target)

    return read


_READERS: dict[str, _Reader] = {
    "type": _types,
    "enum": _members,
    "const": _members,
    "minimum": _bounds,
    "maximum": _bounds,
    "exclusiveMinimum": _bounds,
    "exclusiveMaximum": _bounds,
    "multipleOf": _value("multiple_of", "multipleOf"),
    "minLength": _range("length", "minLength", "maxLength"),
    "maxLength": _range("length", "minLength", "maxLength"),
    "pattern": _value("pattern", "pattern"),
    "format": _format,
    "prefixItems": _many("prefix", "prefixItems"),
    "items": _items,
    "contains": _one("contains", "contains"),
    "minContains": _range("containing", "minContains", "maxContains", 1),
    "maxContains": _range("containing", "minContains", "maxContains", 1),
    "minItems": _range("count", "minItems", "maxItems"),
    "maxItems": _range("count", "minItems", "maxItems"),
    "uniqueItems": _value("unique", "uniqueItems"),
    "unevaluatedItems": _one("unevaluated_items", "unevaluatedItems"),
    "properties": _named("properties", "properties"),
    "patternProperties": _named("patterns", "patternProperties"),
    "additionalProperties": _one("additional", "additionalProperties"),
    "propertyNames": _one("names", "propertyNames"),
    "required": _required,
    "dependentRequired": _dependent_required,
    "dependentSchemas": _dependent_schemas,
    "dependencies": _dependencies,
    "minProperties": _range("size", "minProperties", "maxProperties"),
    "maxProperties": _range("size", "minProperties", "maxProperties"),
    "unevaluatedProperties": _one("unevaluated_members", "unevaluatedProperties"),
    "$ref": _reference("$ref"),
    "$dynamicRef": _reference("$dynamicRef"),
    "$recursiveRef": _reference("$recursiveRef"),
    "allOf": _many("all_of", "allOf"),
    "anyOf": _many("any_of", "anyOf"),
    "oneOf": _many("one_of", "oneOf"),
    "if": _one("if_", "if"),
    "then": _branch("then", "then"),
    "else": _branch("else_", "else"),
    "not": _one("not_", "not"),
}
