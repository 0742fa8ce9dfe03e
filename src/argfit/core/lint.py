"""Hazards in a tool's schema, found before any call is made.

Rules
- The schema is read as it is written: `nullable` and a null default do not make null allowed here.
- Each place is looked at once, under the path by which it is first reached; what `$ref` leads to is looked at where
  it is used.
- What a place takes is asked of the judge, not read off keywords, so that the ways to write it do not matter.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from argfit.core.backtracking import backtracks
from argfit.core.choices import INTEGER_FORMATS, TEXT_FORMATS
from argfit.core.dialect import dialect_of
from argfit.core.judge import Judge
from argfit.core.place import Types
from argfit.core.plan import Plan, compile_plan
from argfit.core.problem import NOUNS, fold, show_path
from argfit.core.schema import read
from argfit.core.source import REFERENCES, Source, step_of
from argfit.core.values import EXACT, is_number

ROOT = "#"
SHOWN = 60  # characters of a value of the schema in a detail
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")  # RFC 9110, 5.6.2
_HEADER = "x-mcp-header"
_HEADER_TYPES = ("string", "integer", "boolean")  # MCP 2026-07-28, tools: numbers have no one text
# Text that a model may send where a value of this type is meant.
_TEXT_OF = {
    "integer": ("5", "50", "1000000"),
    "number": ("5", "1.5", "50"),
    "boolean": ("true", "false"),
    "array": ("[]", "[1]", '["a"]'),
    "object": ("{}", '{"a": 1}'),
}
_RANGES = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)


class Finding(msgspec.Struct, frozen=True):
    """A hazard at one place of a tool: the argument's path, the hazard's id, and what in particular was found."""

    tool: str
    path: str
    hazard: str
    detail: str = ""


class _Spot(msgspec.Struct, frozen=True):
    """One schema object where it stands."""

    at: str
    path: str
    schema: Any  # a boolean until it is looked at
    is_argument: bool  # it says what an argument or a part of one is; a branch only adds to that
    by_properties: bool  # properties alone lead to it


class _Tool(msgspec.Struct, frozen=True):
    """What a schema says, compiled as it is written."""

    plan: Plan
    judge: Judge
    types: Types


_Found = Iterator[tuple[str, str]]  # hazards, and what in particular


def lint(tool: str, schema: Any) -> list[Finding]:
    """The hazards in one tool's inputSchema, those of the schema as a whole first, then in its order."""
    if not isinstance(schema, dict):
        return [Finding(tool, "", "root", f"it is {_shown(schema)}")]
    plan, source = compile_plan(read(schema, nulls=False))
    compiled = _Tool(plan, Judge(source), Types(plan, whole_floats=plan.dialect.whole_float_is_integer))
    spots = {spot.at: spot for spot in _spots(schema, source)}
    found = [Finding(tool, "", *hazard) for hazard in _of_the_whole(schema)]
    found += [Finding(tool, *unusable) for unusable in _unusable(schema, plan, spots)]
    headers: set[str] = set()
    for spot in spots.values():
        found += [Finding(tool, spot.path, *hazard) for check in _CHECKS for hazard in check(spot, compiled)]
        found += [Finding(tool, spot.path, *hazard) for hazard in _header(spot, headers)]
    return list(dict.fromkeys(found))


def _of_the_whole(schema: dict[str, Any]) -> _Found:
    if schema.get("type") != "object":
        yield "root", f"its type is {_shown(schema['type'])}" if "type" in schema else "it names no type"
    if dialect_of(schema) is None:
        yield "draft", _shown(schema["$schema"])
    closed = False in (schema.get("additionalProperties"), schema.get("unevaluatedProperties"))
    if schema.get("properties") and not closed and "additionalProperties" not in schema:
        yield "open", ""


def _unusable(schema: dict[str, Any], plan: Plan, spots: dict[str, _Spot]) -> Iterator[tuple[str, str, str]]:
    kinds = {"remote": "reference-remote", "dangling": "reference-dangling", "loop": "reference-loop"}
    for at, reason in plan.unusable.items():
        inside = [spot for spot in spots.values() if at == spot.at or at.startswith(f"{spot.at}/")]
        spot = max(inside, key=lambda spot: len(spot.at), default=_Spot(ROOT, "", schema, True, True))
        keyword = at.removeprefix(spot.at).lstrip("/").partition("/")[0]
        said = f"{keyword} {_shown(spot.schema[keyword])}" if keyword in spot.schema else at
        yield spot.path, kinds.get(reason, "pattern" if reason == "pattern" else "keyword"), said


# -- the places of a schema -------------------------------------------------------------------------------

_PARTS = {  # of a value, and how each is called in a path
    "items": "[]",
    "additionalItems": "[]",
    "unevaluatedItems": "[]",
    "contains": "[]",
    "additionalProperties": ".*",
    "unevaluatedProperties": ".*",
}
_FREE = ("/additionalProperties", "/unevaluatedProperties")
_BRANCHES = ("not", "if", "then", "else", "propertyNames")


def _spots(schema: dict[str, Any], source: Source) -> Iterator[_Spot]:
    seen: set[str] = set()
    pending = [_Spot(ROOT, "", schema, is_argument=False, by_properties=True)]
    while pending:
        spot = pending.pop()
        if spot.schema is True:
            spot = msgspec.structs.replace(spot, schema={})
        if spot.at not in seen and isinstance(spot.schema, dict):
            seen.add(spot.at)
            yield spot
            pending += reversed([*_ahead(spot, schema, source)])


def _ahead(spot: _Spot, root: dict[str, Any], source: Source) -> Iterator[_Spot]:
    """The schemas that a schema holds or refers to."""
    for keyword, value in spot.schema.items():
        at = spot.at + step_of(keyword)
        if keyword in ("properties", "patternProperties", "dependentSchemas", "dependencies"):
            for name, part in value.items() if isinstance(value, dict) else ():
                path = {"properties": _member(spot.path, str(name)), "patternProperties": f"{spot.path}.*"}
                is_part = keyword in path
                chained = spot.by_properties and keyword == "properties"
                yield _Spot(at + step_of(name), path.get(keyword, spot.path), part, is_part, chained)
        elif keyword in ("allOf", "anyOf", "oneOf", "prefixItems") or (keyword == "items" and isinstance(value, list)):
            is_item = keyword in ("prefixItems", "items")
            for index, part in enumerate(value if isinstance(value, list) else ()):
                path_of = f"{spot.path}[{index}]" if is_item else spot.path
                yield _Spot(f"{at}/{index}", path_of, part, is_item, by_properties=False)
        elif keyword in _PARTS:
            yield _Spot(at, spot.path + _PARTS[keyword], value, is_argument=True, by_properties=False)
        elif keyword in _BRANCHES:
            yield _Spot(at, spot.path, value, is_argument=False, by_properties=False)
        elif keyword in REFERENCES:
            target = source.resolve(value, spot.at)
            if target is not None:
                yield _Spot(target, spot.path, _at(root, source, target), is_argument=False, by_properties=False)


def _at(root: dict[str, Any], source: Source, location: str) -> Any:
    """The schema at a location, as it is written where that can be told."""
    try:
        return msgspec.structs.replace(source, document=root).at(location)
    except KeyError:
        return source.at(location)


def _member(path: str, name: str) -> str:
    shown = show_path((name,))
    return path + (shown if not path or shown.startswith("[") else f".{shown}")


# -- the checks, all with one signature ---------------------------------------------------------------------


def _types(spot: _Spot, tool: _Tool) -> _Found:
    node = tool.plan.nodes.get(spot.at)
    if not spot.is_argument or node is None or node.never:
        return
    types = tool.types.at(spot.at)
    if types is None:
        if spot.at.endswith(_FREE):  # a map of anything is meant so
            return
        yield "untyped", "its properties are told, and text passes all the same" if node.properties else ""
        return
    as_text = [name for name in types if any(tool.judge.accepts_at(spot.at, text) for text in _TEXT_OF.get(name, ()))]
    if as_text and "string" in types:
        yield "text-or-other", " or ".join(NOUNS[name] for name in ("string", *as_text))
    if (
        "null" in types
        and not {"array", "object"}.isdisjoint(types)
        and ("anyOf" in spot.schema or "oneOf" in spot.schema)
    ):
        yield "null-union", ""


def _big_integers(spot: _Spot, tool: _Tool) -> _Found:
    types = tool.types.at(spot.at) if spot.at in tool.plan.nodes else None
    if types is None or {"integer", "number"}.isdisjoint(types):
        return
    listed = spot.schema.get("enum")
    single = ("minimum", "maximum", "const", "default")
    said: list[tuple[str, Any]] = [(key, spot.schema[key]) for key in single if key in spot.schema]
    said += [("enum", member) for member in listed] if isinstance(listed, list) else []
    big = [f"{keyword} {value}" for keyword, value in said if _is_big(value)]
    format = spot.schema.get("format")
    if format in ("int64", "uint64") and not {"minimum", "maximum"} & spot.schema.keys():
        big.append(f"format {format}")
    if big:
        yield "big-integer", ", ".join(big)


def _is_big(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) >= EXACT


def _members(spot: _Spot, tool: _Tool) -> _Found:
    listed = spot.schema.get("enum")
    if not isinstance(listed, list):
        return
    for alike in _alike([member for member in listed if isinstance(member, str)], str.casefold):
        yield "members-alike", ", ".join(alike)
    wrong = [member for member in listed if spot.at in tool.plan.nodes and not tool.judge.accepts_at(spot.at, member)]
    if wrong:
        yield "member-misfit", ", ".join(map(_shown, wrong[:3]))


def _names(spot: _Spot, tool: _Tool) -> _Found:
    declared = spot.schema.get("properties")
    for alike in _alike(list(declared), fold) if isinstance(declared, dict) else ():
        yield "names-alike", ", ".join(alike)


def _alike(names: list[str], like: Callable[[str], str]) -> Iterator[list[str]]:
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        groups.setdefault(like(name), []).append(name)
    yield from (group for group in groups.values() if len(group) > 1)


def _default(spot: _Spot, tool: _Tool) -> _Found:
    if "default" not in spot.schema or spot.at not in tool.plan.nodes:
        return
    default = spot.schema["default"]
    if not tool.judge.accepts_at(spot.at, default):
        yield ("default-null", "") if default is None else ("default-misfit", _shown(default))


def _format(spot: _Spot, tool: _Tool) -> _Found:
    format = spot.schema.get("format")
    if not isinstance(format, str):
        return
    if format in INTEGER_FORMATS:
        if not {"minimum", "maximum"} <= spot.schema.keys():
            yield "format", f"{format}, which sets no bounds by itself"
    elif format in TEXT_FORMATS:
        if not {"pattern", "enum", "const"} & spot.schema.keys():
            yield "format", format
    else:
        yield "format", f"{format}, which is no format of JSON Schema"


def _patterns(spot: _Spot, tool: _Tool) -> _Found:
    by_name = spot.schema.get("patternProperties")
    patterns = [spot.schema.get("pattern"), *(by_name if isinstance(by_name, dict) else ())]
    for pattern in patterns:
        if isinstance(pattern, str) and backtracks(pattern):
            yield "backtracking", pattern


def _closed(spot: _Spot, tool: _Tool) -> _Found:
    schema = spot.schema
    closed = False in (schema.get("additionalProperties"), schema.get("unevaluatedProperties"))
    if not closed or schema.keys() & {"patternProperties", "allOf", "anyOf", "oneOf", "if", *REFERENCES}:
        return
    declared = schema.get("properties") or {}
    if not declared and spot.at != ROOT:
        yield "closed-empty", ""
    required = schema.get("required")
    missing = [name for name in required if name not in declared] if isinstance(required, list) else []
    if missing:
        yield "impossible", f"{', '.join(map(str, missing))} is required and not declared"


def _bounds(spot: _Spot, tool: _Tool) -> _Found:
    for least, most in _RANGES:
        low, high = (_number(spot.schema.get(keyword)) for keyword in (least, most))
        if low is not None and high is not None and low > high:
            yield "impossible", f"{least} {low}, {most} {high}"


def _number(value: Any) -> float | None:
    return value if is_number(value) else None


def _nullable(spot: _Spot, tool: _Tool) -> _Found:
    if spot.schema.get("nullable") is True:
        yield "nullable", ""


_CHECKS: tuple[Callable[[_Spot, _Tool], _Found], ...] = (
    _types,
    _big_integers,
    _members,
    _names,
    _default,
    _format,
    _patterns,
    _closed,
    _bounds,
    _nullable,
)


def _header(spot: _Spot, taken: set[str]) -> _Found:
    """What is wrong with a header's name where one is given; `taken` are those seen so far."""
    if _HEADER not in spot.schema:
        return
    name, types = spot.schema[_HEADER], spot.schema.get("type")
    if not isinstance(name, str) or not _TOKEN.match(name):
        yield "header", f"{_shown(name)} is no name of a header"
        return
    if not spot.by_properties or spot.at == ROOT:
        yield "header", f"{name} is not reached by properties alone"
    elif types not in _HEADER_TYPES:
        yield "header", f"{name} is on the type {_shown(types)}"
    if name.lower() in taken:
        yield "header", f"{name} is given twice"
    taken.add(name.lower())


def _shown(value: Any) -> str:
    """A value of the schema, in short."""
    try:
        text = json.dumps(value, ensure_ascii=True, default=str)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."
