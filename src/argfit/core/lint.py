"""Hazards in a tool's schema, found before any call is made.

Rules
- The schema is read as it is written: `nullable` and a null default do not make null allowed here.
- Each place is looked at once, under the path by which it is first reached; what `$ref` leads to is looked at where
  it is used.
- What a place takes is asked of the judge, not read off keywords, so that the ways to write it do not matter.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from argfit.core.backtracking import backtracks
from argfit.core.choices import INTEGER_FORMATS, TEXT_FORMATS
from argfit.core.dialect import dialect_of
from argfit.core.judge import Judge
from argfit.core.place import Types
from argfit.core.plan import Plan, compile_plan
from argfit.core.problem import NOUNS, fold
from argfit.core.schema import read
from argfit.core.source import REFERENCES
from argfit.core.spots import ROOT, Spot, spots_of
from argfit.core.values import EXACT, is_number

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
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minContains", "maxContains"),
    ("minProperties", "maxProperties"),
)
_FREE = ("/additionalProperties", "/unevaluatedProperties")
_MEAN_NO_TYPE = {"keyword", "reference-dangling", "reference-remote", "reference-loop", "impossible"}


class Finding(msgspec.Struct, frozen=True):
    """A hazard at one place of a tool: the argument's path, the hazard's id, and what in particular was found."""

    tool: str
    path: str
    hazard: str
    detail: str = ""


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
    spots = {spot.at: spot for spot in spots_of(schema, source)}
    found = [Finding(tool, "", *hazard) for hazard in _of_the_whole(schema)]
    found += [Finding(tool, *unusable) for unusable in _unusable(plan, spots)]
    headers: set[str] = set()
    for spot in spots.values():
        found += [Finding(tool, spot.path, *hazard) for check in _CHECKS for hazard in check(spot, compiled)]
        found += [Finding(tool, spot.path, *hazard) for hazard in _header(spot, headers)]
    return _once(
        dict.fromkeys(found), {spot.path for spot in spots.values() if spot.is_argument and _says_type(spot, compiled)}
    )


def _says_type(spot: Spot, tool: "_Tool") -> bool:
    return spot.at in tool.plan.nodes and tool.types.at(spot.at) is not None


def _once(found: Iterable[Finding], typed: set[str]) -> list[Finding]:
    """The findings less those that another one, or another part of the schema, makes idle."""
    by_path: dict[str, set[str]] = {}
    for one in found:
        by_path.setdefault(one.path, set()).add(one.hazard)
    return [
        one
        for one in found
        if not (one.hazard == "untyped" and (one.path in typed or by_path[one.path] & _MEAN_NO_TYPE))
        and not (one.hazard == "default-null" and "nullable" in by_path[one.path])
    ]


def _of_the_whole(schema: dict[str, Any]) -> _Found:
    combined = schema.keys() & {"anyOf", "oneOf", "allOf", "not", "if"}
    if combined:
        yield "root-union", ", ".join(sorted(combined))
    if schema.get("type") != "object":
        yield "root", f"its type is {_shown(schema['type'])}" if "type" in schema else "it names no type"
    if dialect_of(schema) is None:
        yield "draft", _shown(schema["$schema"])
    if schema.get("properties") and not _is_closed(schema) and "additionalProperties" not in schema:
        yield "open", ""


def _unusable(plan: Plan, spots: dict[str, Spot]) -> Iterator[tuple[str, str, str]]:
    kinds = {"remote": "reference-remote", "dangling": "reference-dangling", "loop": "reference-loop"}
    for at, reason in plan.unusable.items():
        home = at
        while home not in spots and home != ROOT:
            home = home.rpartition("/")[0]
        spot = spots[home]
        keyword = at.removeprefix(spot.at).lstrip("/").partition("/")[0]
        said = f"{keyword} {_shown(spot.schema[keyword])}" if keyword in spot.schema else at
        yield spot.path, kinds.get(reason, "pattern" if reason == "pattern" else "keyword"), said


# -- the checks, all with one signature ---------------------------------------------------------------------


def _types(spot: Spot, tool: _Tool) -> _Found:
    node = tool.plan.nodes.get(spot.at)
    if not spot.is_argument or spot.judges or node is None or node.never:
        return
    types = tool.types.at(spot.at)
    if types is None:
        if spot.at.endswith(_FREE):  # a map of anything is meant so
            return
        yield "untyped", "its properties are told, and text passes all the same" if node.properties else ""
        return
    if types == ("array",) and not (node.items or node.prefix) and not {"$ref", "allOf"} & spot.schema.keys():
        yield "untyped-items", ""
    as_text = [name for name in types if any(tool.judge.accepts_at(spot.at, text) for text in _TEXT_OF.get(name, ()))]
    if as_text and "string" in types:
        yield "text-or-other", " or ".join(NOUNS[name] for name in ("string", *as_text))
    if (
        "null" in types
        and not {"array", "object"}.isdisjoint(types)
        and ("anyOf" in spot.schema or "oneOf" in spot.schema)
    ):
        yield "null-union", ""


def _big_integers(spot: Spot, tool: _Tool) -> _Found:
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


def _members(spot: Spot, tool: _Tool) -> _Found:
    listed = spot.schema.get("enum")
    if not isinstance(listed, list):
        return
    for alike in _alike([member for member in listed if isinstance(member, str)], str.casefold):
        yield "members-alike", _cut(", ".join(alike))
    wrong = [member for member in listed if spot.at in tool.plan.nodes and not tool.judge.accepts_at(spot.at, member)]
    if wrong:
        yield "member-misfit", ", ".join(map(_shown, wrong[:3]))


def _names(spot: Spot, tool: _Tool) -> _Found:
    declared = spot.schema.get("properties")
    for alike in _alike(list(declared), fold) if isinstance(declared, dict) else ():
        yield "names-alike", _cut(", ".join(alike))


def _alike(names: list[str], like: Callable[[str], str]) -> Iterator[list[str]]:
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        groups.setdefault(like(name), []).append(name)
    yield from (group for group in groups.values() if len(group) > 1)


def _default(spot: Spot, tool: _Tool) -> _Found:
    if "default" not in spot.schema or spot.at not in tool.plan.nodes:
        return
    default = spot.schema["default"]
    if not tool.judge.accepts_at(spot.at, default):
        yield ("default-null", "") if default is None else ("default-misfit", _shown(default))


def _format(spot: Spot, tool: _Tool) -> _Found:
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


def _patterns(spot: Spot, tool: _Tool) -> _Found:
    by_name = spot.schema.get("patternProperties")
    patterns = [spot.schema.get("pattern"), *(by_name if isinstance(by_name, dict) else ())]
    for pattern in patterns:
        if isinstance(pattern, str) and backtracks(pattern):
            yield "backtracking", _cut(pattern)


def _closed(spot: Spot, tool: _Tool) -> _Found:
    schema = spot.schema
    if not _is_closed(schema) or not _tells_all_names(schema):
        return
    declared = schema.get("properties") or {}
    if not declared and spot.at != ROOT:
        yield "closed-empty", ""
    missing = _undeclared(schema)
    if missing:
        yield "impossible", _cut(f"{', '.join(missing)} is required and not declared")


def _required(spot: Spot, tool: _Tool) -> _Found:
    """Names that are required and told nowhere, where other names are taken."""
    schema = spot.schema
    missing = _undeclared(schema)
    if missing and _tells_all_names(schema) and not _is_closed(schema) and (spot.is_argument or spot.at == ROOT):
        yield "required-undeclared", _cut(", ".join(missing))


def _is_closed(schema: dict[str, Any]) -> bool:
    return False in (schema.get("additionalProperties"), schema.get("unevaluatedProperties"))


def _tells_all_names(schema: dict[str, Any]) -> bool:
    return not schema.keys() & {"patternProperties", "allOf", "anyOf", "oneOf", "if", *REFERENCES}


def _undeclared(schema: dict[str, Any]) -> list[str]:
    required, declared = schema.get("required"), schema.get("properties") or {}
    return (
        [str(name) for name in required if isinstance(name, str) and name not in declared]
        if isinstance(required, list)
        else []
    )


def _bounds(spot: Spot, tool: _Tool) -> _Found:
    for least, most in _RANGES:
        low, high = (_number(spot.schema.get(keyword)) for keyword in (least, most))
        if low is not None and high is not None and low > high:
            yield "impossible", f"{least} {low}, {most} {high}"
    node = tool.plan.nodes.get(spot.at)
    bounds = node.bounds if node else None
    if bounds and bounds.low is not None and bounds.high is not None:
        meet = bounds.low == bounds.high and not (bounds.open_low or bounds.open_high)
        low, high = (bounds.whole_low, bounds.whole_high) if node and node.types == ("integer",) else (0, 1)
        if not (bounds.low < bounds.high or meet) or (low is not None and high is not None and low > high):
            yield "impossible", f"nothing is from {bounds.low} to {bounds.high}"
    if spot.schema.get("enum") == []:
        yield "impossible", "no value is listed"


def _number(value: Any) -> float | None:
    return value if is_number(value) else None


def _nullable(spot: Spot, tool: _Tool) -> _Found:
    if spot.schema.get("nullable") is True:
        yield "nullable", ""


_CHECKS: tuple[Callable[[Spot, _Tool], _Found], ...] = (
    _types,
    _big_integers,
    _members,
    _names,
    _default,
    _format,
    _patterns,
    _closed,
    _required,
    _bounds,
    _nullable,
)


def _header(spot: Spot, taken: set[str]) -> _Found:
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
        yield "header", f"{name} is on {'the type ' + _shown(types) if 'type' in spot.schema else 'no type'}"
    if name.lower() in taken:
        yield "header", f"{name} is given twice"
    taken.add(name.lower())


def _shown(value: Any) -> str:
    """A value of the schema, in short."""
    try:
        text = json.dumps(value, ensure_ascii=True, default=str)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."
