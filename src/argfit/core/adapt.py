"""What a schema means where its letters say less.

Rules (contract, section 4)
- `nullable: true` means "or null"; `default: null` counts as allowing null (576 real arguments say so), also
  beside a `$ref` that would hide it.
- The draft-07 tuple form of `items` is read in 2020-12 too, where it is no longer allowed.
- One draft for the whole of a schema: the root's. A `$schema` inside is left out, or the judge would read on in that.
- `contentEncoding` and `contentMediaType` describe; the judge would refuse by them in drafts 6 and 7.
- An integer format that is asked for gives bounds.
- Where a part must move to be said, the references to it move with it.
"""

import re
from contextlib import suppress
from typing import Any
from urllib.parse import quote, unquote, urldefrag, urljoin

from argfit.core.choices import INTEGER_FORMATS
from argfit.core.dialect import LIST_OF_SCHEMAS, NAMED_SCHEMAS, ONE_SCHEMA, Dialect
from argfit.core.source import REFERENCES, Source, part_at, step_of, steps, with_part

_BLOCKS_NULL = (*REFERENCES, "allOf", "not", "if")
# What may not stand in a reference as it is, though generators write `#/$defs/Foo[int]` and `#/properties/größe`.
_ODD = re.compile(r"[^A-Za-z0-9/~!$&'()*+,;=:@?#%._-]|%(?![0-9A-Fa-f]{2})|#.*#")
# What stays outside when a schema is wrapped: what names it, and what is referred to by where it stands.
_STAYS_OUTSIDE = frozenset("$schema $id id $anchor $dynamicAnchor $defs definitions".split())
_HOLDS_SCHEMAS = ONE_SCHEMA | LIST_OF_SCHEMAS | NAMED_SCHEMAS
_CONTENT = ("contentEncoding", "contentMediaType")
# A schema with none of these is what it says: most arguments have a type and a description.
_TELLS = (
    _HOLDS_SCHEMAS | set("$schema $ref $id id $anchor $dynamicAnchor nullable default format".split()) | set(_CONTENT)
)


def adapt(schema: Any, dialect: Dialect, formats: frozenset[str] = frozenset(), *, nulls: bool = True) -> Source:
    """Adapt a schema, and find its resources and anchors; `formats` are those to be judged."""
    adapting = _Adapting(dialect, formats, nulls=nulls)
    document = adapting.visit(schema, "#", "#", "")
    followed: set[str] = set()
    while ahead := sorted(adapting.references - followed):
        followed.update(ahead)
        for location in map(unquote, ahead):
            # a reference may lead where no keyword does, such as to `#/components/schemas/X`
            if location.startswith("#/") and location not in adapting.seen:
                with suppress(KeyError):
                    part = adapting.visit(part_at(document, location), location, "#", "")
                    document = with_part(document, steps(location), part)
    if adapting.moved or any(map(_ODD.search, followed)):
        document = _followed(document, adapting.moved)
    adapting.resources.setdefault("", "#")
    return Source(document, dialect, adapting.resources, adapting.anchors, formats)


class _Adapting:
    def __init__(self, dialect: Dialect, formats: frozenset[str], *, nulls: bool) -> None:
        self.dialect = dialect
        self.formats = formats
        self.nulls = nulls
        self.resources: dict[str, str] = {}
        self.anchors: dict[tuple[str, str], str] = {}
        self.moved: dict[str, str] = {}
        self.seen: set[str] = set()
        self.references: set[str] = set()

    def visit(self, schema: Any, location: str, home: str, home_uri: str) -> Any:
        """The schema as it is meant, its parts with it; the same object where nothing is to be said anew."""
        self.seen.add(location)
        if not isinstance(schema, dict) or schema.keys().isdisjoint(_TELLS):
            return schema
        home, home_uri = self._named(schema, location, home, home_uri)
        meant = self._as_meant(schema, location)
        if meant is not schema and "anyOf" in meant and "anyOf" not in schema:  # wrapped
            inner, null = meant["anyOf"]
            inside = f"{location}/anyOf/0"
            self.moved.update({location + step_of(key): inside + step_of(key) for key in inner})
            outside = self._parts(
                {key: part for key, part in meant.items() if key != "anyOf"}, location, home, home_uri
            )
            return {**outside, "anyOf": [self._parts(inner, inside, home, home_uri), null]}
        return self._parts(meant, location, home, home_uri)

    def _named(self, schema: dict[str, Any], location: str, home: str, home_uri: str) -> tuple[str, str]:
        """Note what names a schema and what it refers to; returns the resource that it is in, or begins."""
        if isinstance(schema.get("$ref"), str):
            self.references.add(schema["$ref"])
        name = schema.get(self.dialect.id_keyword)
        until_7 = self.dialect.ref_hides_siblings
        if isinstance(name, str) and not (until_7 and "$ref" in schema):
            if not name.startswith("#") or name == "#":
                home, home_uri = location, urljoin(home_uri, urldefrag(name)[0])
                self.resources[home_uri] = location
            elif until_7:  # where this is how anchors are written
                self.anchors[home, name[1:]] = location
        for keyword in () if until_7 else ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(keyword), str):
                self.anchors[home, schema[keyword]] = location
        return home, home_uri

    def _parts(self, schema: dict[str, Any], location: str, home: str, home_uri: str) -> dict[str, Any]:
        changed: dict[str, Any] = {}
        for keyword, value in schema.items():
            if keyword not in _HOLDS_SCHEMAS:
                continue
            part: Any
            where = location + step_of(keyword)
            if keyword in NAMED_SCHEMAS and isinstance(value, dict):
                part = {key: self.visit(sub, where + step_of(key), home, home_uri) for key, sub in value.items()}
                same = all(part[key] is value[key] for key in value)
            elif (keyword in LIST_OF_SCHEMAS or keyword == "items") and isinstance(value, list):
                part = [self.visit(sub, f"{where}/{i}", home, home_uri) for i, sub in enumerate(value)]
                same = all(new is old for new, old in zip(part, value, strict=True))
            elif keyword in ONE_SCHEMA:
                part = self.visit(value, where, home, home_uri)
                same = part is value
            else:
                continue
            if not same:
                changed[keyword] = part
        return {**schema, **changed} if changed else schema

    def _as_meant(self, schema: dict[str, Any], location: str) -> dict[str, Any]:
        if location != "#" and "$schema" in schema:
            schema = {key: value for key, value in schema.items() if key != "$schema"}
        if self.dialect.content_is_judged and any(keyword in schema for keyword in _CONTENT):
            schema = {key: value for key, value in schema.items() if key not in _CONTENT}
        tuple_form = bool(_listed(schema.get("items"))) and "prefixItems" not in schema
        if tuple_form and not self.dialect.items_may_be_tuple:
            schema = {**schema, "prefixItems": schema["items"]}
            del schema["items"]
            self.moved[f"{location}/items"] = f"{location}/prefixItems"
            if "additionalItems" in schema:
                schema["items"] = schema.pop("additionalItems")
                self.moved[f"{location}/additionalItems"] = f"{location}/items"
        schema = _bounded(schema, self.formats)
        if self.nulls and (schema.get("nullable") is True or ("default" in schema and schema["default"] is None)):
            return _or_null(schema, self.dialect)
        return schema


def _bounded(schema: dict[str, Any], formats: frozenset[str]) -> dict[str, Any]:
    """The schema with the bounds of its integer format, if that is to be judged."""
    format = schema.get("format")
    bounds = INTEGER_FORMATS.get(format) if isinstance(format, str) and format in formats else None
    if bounds is None or not isinstance(schema.get("allOf", []), list):
        return schema
    low, high = bounds
    return {**schema, "allOf": [*schema.get("allOf", []), {"minimum": low, "maximum": high}]}


def _or_null(schema: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    """`schema` or null: in place where that can be said in place, else in an `anyOf` around it."""
    any_of, one_of = _listed(schema.get("anyOf")), _listed(schema.get("oneOf"))
    judged_const = "const" in schema and "const" in dialect.keywords
    blocked = any(keyword in schema for keyword in _BLOCKS_NULL) or (judged_const and "enum" in schema)
    if blocked or (one_of and sum(map(_is_null, one_of)) != 1):
        outside = {key: value for key, value in schema.items() if key in _STAYS_OUTSIDE}
        told = (*_STAYS_OUTSIDE, "nullable", "default")
        inside = {key: value for key, value in schema.items() if key not in told}
        return {**outside, "anyOf": [inside, {"type": "null"}]}
    adapted = dict(schema)
    types = schema.get("type")
    if isinstance(types, str | list) and "null" not in types:
        adapted["type"] = [*([types] if isinstance(types, str) else types), "null"]
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        adapted["enum"] = [*schema["enum"], None]
    if judged_const and schema["const"] is not None:
        adapted["enum"] = [adapted.pop("const"), None]
    if "anyOf" in schema and not any(map(_is_null, any_of)):
        adapted["anyOf"] = [*any_of, {"type": "null"}]
    return schema if adapted == schema else adapted


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_null(branch: Any) -> bool:
    """Whether a branch says by its own type and members that it takes null."""
    if not isinstance(branch, dict):
        return branch is True
    types, members = branch.get("type"), branch.get("enum")
    says = types is not None or members is not None
    by_type = types is None or types == "null" or (isinstance(types, list) and "null" in types)
    return says and by_type and (members is None or None in _listed(members)) and branch.get("const") is None


def _followed(document: Any, moved: dict[str, str]) -> Any:
    """The document with references that follow what has moved, outer moves first, written as URIs (RFC 3986, 3.5)."""
    if isinstance(document, list):
        return [_followed(part, moved) for part in document]
    if not isinstance(document, dict):
        return document
    followed = {key: _followed(part, moved) for key, part in document.items()}
    reference = document.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        location = unquote(reference)
        for old, new in moved.items():
            if location == old or location.startswith(old + "/"):
                location = new + location[len(old) :]
        followed["$ref"] = "#" + quote(location[1:], safe="/~!$&'()*+,;=:@?")
    return followed
