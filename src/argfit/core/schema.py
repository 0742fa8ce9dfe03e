"""Reading a tool's schema as the world writes it: what is meant is kept, what is broken is left out.

Rules (contract, section 4)
- A keyword its dialect does not allow, a pattern that does not compile, a reference that dangles, points
  abroad or loops: the tool author's fault. That keyword is left out, the rest counts, and it is reported.
- `nullable: true` means "or null"; `default: null` counts as allowing null (576 real arguments say so).
- The draft-07 tuple form of `items` is read in 2020-12 too.
- Nothing is ever fetched: a reference that does not resolve inside the schema is not usable.

Locations are JSON pointers from the schema's root (`#/properties/line`), in the adapted document.
"""

from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

import msgspec

from argfit.core.dialect import (
    DEFAULT,
    LIST_OF_SCHEMAS,
    NAMED_SCHEMAS,
    ONE_SCHEMA,
    Dialect,
    dialect_of,
)
from argfit.core.validator import Unjudgeable, validator

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_BLOCKS_NULL = ("$ref", "$dynamicRef", "$recursiveRef", "allOf", "not", "if")


class SchemaError(ValueError):
    """The schema is neither an object nor a boolean, so nothing can be read from it.

    The next step is the message's: pass a tool's `inputSchema`, not the tool or its text.
    """

    def __init__(self, found: object) -> None:
        super().__init__(f"a schema is an object or a boolean, not {type(found).__name__}; pass the tool's inputSchema")


class Source(msgspec.Struct, frozen=True):
    """An adapted schema: the document, its dialect, its resources and anchors, what was left out."""

    document: Any
    dialect: Dialect
    resources: dict[str, str]  # absolute or relative URI -> location of the resource's root
    anchors: dict[tuple[str, str], str]  # (location of the resource's root, name) -> location
    unusable: tuple[str, ...] = ()
    validator: Any = None  # the judge of the whole document

    def at(self, location: str) -> Any:
        """The schema at a location; KeyError where there is none."""
        found = self.document
        for step in steps(location):
            if isinstance(found, list):
                if not step.isdecimal() or int(step) >= len(found):
                    raise KeyError(location)
                found = found[int(step)]
            elif isinstance(found, dict):
                found = found[step]
            else:
                raise KeyError(location)
        return found

    def resolve(self, reference: str, location: str) -> str | None:
        """Where a reference at `location` points, or None where that is not inside this schema."""
        home = self._resource_of(location)
        uri, fragment = urldefrag(reference)
        if uri:
            home_uri = next((name for name, where in self.resources.items() if where == home), "")
            found = self.resources.get(urljoin(home_uri, uri))
            if found is None:
                return None
            home = found
        if fragment and not fragment.startswith("/"):
            return self.anchors.get((home, fragment))
        target = home + "".join(f"/{step}" for step in unquote(fragment).split("/")[1:])
        try:
            schema = self.at(target)
        except KeyError:
            return None
        return target if isinstance(schema, dict | bool) else None

    def _resource_of(self, location: str) -> str:
        inside = [home for home in self.resources.values() if location == home or location.startswith(home + "/")]
        return max(inside, key=len, default="#")


def read(schema: object) -> Source:
    """Adapt a schema and leave out what the judge cannot use; SchemaError where it is no schema at all."""
    if not isinstance(schema, dict | bool):
        raise SchemaError(schema)
    dialect = dialect_of(schema)
    if dialect is None and isinstance(schema, dict):
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    source = _adapt(schema, dialect or DEFAULT)
    return judged(source) or _pruned(source)


def judged(source: Source) -> Source | None:
    """The source with its judge, or None where the judge does not take the schema as it stands."""
    try:
        return msgspec.structs.replace(source, validator=validator(source.document))
    except Unjudgeable:
        return None


def step_of(name: str | int) -> str:
    """One step of a location, escaped as RFC 6901 says."""
    return f"/{str(name).replace('~', '~0').replace('/', '~1')}"


def steps(location: str) -> list[str]:
    """The unescaped steps of a location."""
    return [step.replace("~1", "/").replace("~0", "~") for step in location.split("/")[1:]]


# -- adapting: what is meant --------------------------------------------------------------------------


def _adapt(schema: Any, dialect: Dialect) -> Source:
    resources: dict[str, str] = {}
    anchors: dict[tuple[str, str], str] = {}

    def visit(schema: Any, location: str, home: str, home_uri: str) -> Any:
        if not isinstance(schema, dict):
            return schema
        name = schema.get(dialect.id_keyword)
        hidden = dialect.ref_hides_siblings and "$ref" in schema
        if isinstance(name, str) and not hidden:
            if name.startswith("#") and len(name) > 1:  # the anchors of drafts 4 to 7
                anchors[home, name[1:]] = location
            else:
                home, home_uri = location, urljoin(home_uri, urldefrag(name)[0])
                resources[home_uri] = location
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(keyword), str):
                anchors[home, schema[keyword]] = location
        adapted = _as_meant(schema, dialect)
        if adapted is not schema and "anyOf" in adapted and "anyOf" not in schema:
            return {
                "anyOf": [
                    visit_parts(adapted["anyOf"][0], f"{location}/anyOf/0", home, home_uri),
                    {"type": "null"},
                ]
            }
        return visit_parts(adapted, location, home, home_uri)

    def visit_parts(schema: dict[str, Any], location: str, home: str, home_uri: str) -> dict[str, Any]:
        changed: dict[str, Any] = {}
        for keyword, value in schema.items():
            part: Any
            where = location + step_of(keyword)
            if keyword in NAMED_SCHEMAS and isinstance(value, dict):
                part = {key: visit(sub, where + step_of(key), home, home_uri) for key, sub in value.items()}
                same = all(part[key] is value[key] for key in value)
            elif keyword in LIST_OF_SCHEMAS or (keyword == "items" and isinstance(value, list)):
                part = [visit(sub, f"{where}/{i}", home, home_uri) for i, sub in enumerate(_listed(value))]
                same = not isinstance(value, list) or all(new is old for new, old in zip(part, value, strict=True))
            elif keyword in ONE_SCHEMA:
                part = visit(value, where, home, home_uri)
                same = part is value
            else:
                continue
            if not same:
                changed[keyword] = part
        return {**schema, **changed} if changed else schema

    document = visit(schema, "#", "#", "")
    resources.setdefault("", "#")
    return Source(document, dialect, resources, anchors)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _as_meant(schema: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    if not dialect.items_may_be_tuple and isinstance(schema.get("items"), list) and "prefixItems" not in schema:
        schema = {**schema, "prefixItems": schema["items"]}
        del schema["items"]
        if "additionalItems" in schema:
            schema["items"] = schema.pop("additionalItems")
    if schema.get("nullable") is True or ("default" in schema and schema["default"] is None):
        return _or_null(schema, dialect)
    return schema


def _or_null(schema: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    """`schema` or null, in place where that can be said in place, so that locations stay."""
    if dialect.ref_hides_siblings and "$ref" in schema:
        return schema
    if any(keyword in schema for keyword in _BLOCKS_NULL):
        inner = {key: value for key, value in schema.items() if key not in ("nullable", "default")}
        return {"anyOf": [inner, {"type": "null"}]}
    adapted = dict(schema)
    types = schema.get("type")
    if isinstance(types, str | list) and "null" not in types:
        adapted["type"] = [*([types] if isinstance(types, str) else types), "null"]
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        adapted["enum"] = [*schema["enum"], None]
    if schema.get("const") is not None:
        adapted["enum"] = [adapted.pop("const"), None]
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list) and not any(_takes_null(branch) for branch in branches):
            adapted[keyword] = [*branches, {"type": "null"}]
    return schema if adapted == schema else adapted


def _takes_null(branch: Any) -> bool:
    try:
        return bool(validator(branch).is_valid(None))
    except Unjudgeable:
        return False


# -- pruning: what is broken --------------------------------------------------------------------------


def _pruned(source: Source) -> Source:
    unusable: list[str] = []
    pending = ["#"]
    document = source.document
    seen: set[str] = set()

    def keep(schema: Any, location: str) -> Any:
        seen.add(location)
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            unusable.append(location)
            return True
        kept: dict[str, Any] = {}
        for keyword, value in schema.items():
            where = location + step_of(keyword)
            if keyword in REFERENCES:
                target = source.resolve(value, location) if isinstance(value, str) else None
                if target is None:
                    unusable.append(where)
                    continue
                pending.append(target)
                kept[keyword] = value
            elif keyword not in source.dialect.keywords and keyword not in ("$defs", "definitions"):
                if keyword.startswith("$") and not _allowed(keyword, value, source.dialect):
                    unusable.append(where)
                else:
                    kept[keyword] = value
            elif keyword in NAMED_SCHEMAS and isinstance(value, dict):
                kept[keyword] = keep_named(keyword, value, where)
            elif (keyword in LIST_OF_SCHEMAS or keyword == "items") and isinstance(value, list) and value:
                kept[keyword] = [keep(sub, f"{where}/{i}") for i, sub in enumerate(value)]
            elif keyword in ONE_SCHEMA and isinstance(value, dict | bool):
                kept[keyword] = keep(value, where)
            elif _allowed(keyword, value, source.dialect):
                kept[keyword] = value
            else:
                unusable.append(where)
        return kept

    def keep_named(keyword: str, value: dict[str, Any], where: str) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for key, sub in value.items():
            if keyword == "patternProperties" and not _allowed("pattern", key, source.dialect):
                unusable.append(where + step_of(key))
            elif keyword == "dependencies" and isinstance(sub, list):
                kept[key] = sub
            else:
                kept[key] = keep(sub, where + step_of(key))
        return kept

    document = keep(document, "#")
    for target in pending:  # a reference may lead to a place that no keyword leads to
        if target not in seen:
            document = _with(document, steps(target), keep(source.at(target), target))
    pruned = msgspec.structs.replace(source, document=document, unusable=tuple(unusable))
    return judged(pruned) or _nothing_usable(source.dialect)


def _nothing_usable(dialect: Dialect) -> Source:
    return Source(True, dialect, {"": "#"}, {}, ("#",), validator(document=True))


def _allowed(keyword: str, value: Any, dialect: Dialect) -> bool:
    """Whether the dialect's own metaschema takes this keyword with this value."""
    try:
        validator({"$schema": dialect.uri, keyword: value})
    except Unjudgeable:
        return False
    return True


def _with(document: Any, path: list[str], part: Any) -> Any:
    if not path:
        return part
    if isinstance(document, list):
        index = int(path[0])
        return [_with(sub, path[1:], part) if i == index else sub for i, sub in enumerate(document)]
    return {**document, path[0]: _with(document[path[0]], path[1:], part)}


def without(source: Source, location: str) -> Source:
    """The source less the keyword at a location, which is reported as not usable."""

    def drop(document: Any, path: list[str]) -> Any:
        if isinstance(document, list):
            index = int(path[0])
            return [drop(sub, path[1:]) if i == index else sub for i, sub in enumerate(document)]
        if len(path) == 1:
            return {key: value for key, value in document.items() if key != path[0]}
        return {**document, path[0]: drop(document[path[0]], path[1:])}

    document = drop(source.document, steps(location))
    less = msgspec.structs.replace(source, document=document, unusable=(*source.unusable, location))
    return judged(less) or _nothing_usable(source.dialect)
