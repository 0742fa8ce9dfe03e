"""Schemas and arguments for property tests: few names and few numbers, so that they meet.

An `outline` draws schemas from given leaves; `arguments` draws a value that often has the shape a schema asks
for. Depth is bounded, and what is drawn stays small enough to read when a property fails.
"""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]
Schema = dict[str, Any]

NAMES = ("a", "b", "n")
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}

# What asks for a spelling, and what does not.
SPELLINGS: tuple[Any, ...] = (
    INTEGER,
    INTEGER,
    NUMBER,
    {},
    {"type": ["integer", "null"]},
    {"type": ["integer", "string"]},
    {"const": 1},
    {"const": 1.0},
    {"const": [1, 2.0]},
    {"enum": [{"a": 1}, 2, "a"]},
)

# What may be refused, too.
JUDGEMENTS: tuple[Any, ...] = (
    *SPELLINGS,
    True,
    False,
    {"type": "string", "minLength": 1},
    {"type": "boolean"},
    {"type": "null"},
    {"type": "integer", "minimum": 1, "exclusiveMaximum": 3},
    {"type": "number", "exclusiveMinimum": 0},
    {"multipleOf": 2},
    {"enum": ["a", None, 2.0]},
    {"type": "string", "format": "date"},
    {"type": "integer", "format": "uint8"},
)

_SCALARS = st.sampled_from((1.0, 1.0, 2.0, 1, 2, 0.5, -0.0, 2.0**53 + 2, 1e20, 256, "a", "", "2026-11-30", None, True))
WORDS = st.sampled_from(
    ("5", "5.0", " 5", "1e3", "[1,2]", '{"a":5.0}', '{"b":"5"}', "true", "True", "null", "", "A", '{"item":[1]}', "-3")
)


@st.composite
def outlines(draw: Draw, leaves: tuple[Any, ...] = JUDGEMENTS) -> Schema:
    """A tool's schema: an object with some members, perhaps a union or a condition beside them, and one `$defs`."""
    schema = {"type": "object", **_object(draw, leaves, 2)}
    if draw(st.booleans()):
        schema |= _branches(draw, leaves, 1)
    return {**schema, "$defs": {"d": _place(draw, leaves, 1)}}


@st.composite
def arguments(draw: Draw, schema: Schema) -> dict[str, Any]:
    """An object that often has the shape the schema asks for."""
    value = _like(draw, schema, schema, 4)
    return value if isinstance(value, dict) else {"n": value}


def _place(draw: Draw, leaves: tuple[Any, ...], depth: int) -> Any:
    if not depth or draw(st.integers(0, 2)) == 0:
        return draw(st.sampled_from(leaves))
    kind = draw(st.sampled_from((_object, _list, _branches, _branches, _reference)))
    schema: Schema = kind(draw, leaves, depth - 1)
    return schema


def _reference(draw: Draw, leaves: tuple[Any, ...], depth: int) -> Schema:
    return {"$ref": "#/$defs/d"}


def _object(draw: Draw, leaves: tuple[Any, ...], depth: int) -> Schema:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True))
    schema: Schema = {"properties": {name: _place(draw, leaves, depth) for name in names}}
    for keyword in draw(st.lists(st.sampled_from(tuple(_BESIDE_MEMBERS)), max_size=2, unique=True)):
        schema[keyword] = _BESIDE_MEMBERS[keyword](_place(draw, leaves, depth))
    return schema


_BESIDE_MEMBERS: dict[str, Callable[[Any], Any]] = {
    "additionalProperties": lambda part: part,
    "unevaluatedProperties": lambda part: part,
    "patternProperties": lambda part: {"^[ab]": part},
    "dependentSchemas": lambda part: {"a": part},
    "dependentRequired": lambda part: {"a": ["b"]},
    "required": lambda part: ["n"],
    "propertyNames": lambda part: {"enum": ["a", "n"]},
}


def _list(draw: Draw, leaves: tuple[Any, ...], depth: int) -> Schema:
    schema: Schema = {}
    for keyword in draw(st.lists(st.sampled_from(tuple(_OF_LISTS)), min_size=1, max_size=3, unique=True)):
        schema[keyword] = _OF_LISTS[keyword](_place(draw, leaves, depth))
    return schema


_OF_LISTS: dict[str, Callable[[Any], Any]] = {
    "items": lambda part: part,
    "prefixItems": lambda part: [part],
    "unevaluatedItems": lambda part: part,
    "contains": lambda part: part,
    "uniqueItems": lambda part: True,
    "maxItems": lambda part: 2,
}


def _branches(draw: Draw, leaves: tuple[Any, ...], depth: int) -> Schema:
    keyword = draw(st.sampled_from(("anyOf", "anyOf", "oneOf", "allOf", "not", "if")))
    if keyword == "not":
        return {"not": _place(draw, leaves, depth)}
    if keyword == "if":
        return {part: _place(draw, leaves, depth) for part in ("if", "then", "else")}
    return {keyword: [_place(draw, leaves, depth) for _ in range(draw(st.integers(1, 2)))]}


def _like(draw: Draw, schema: Any, root: Schema, depth: int) -> Any:
    if not depth or not isinstance(schema, dict):
        return draw(_SCALARS)
    if "$ref" in schema:
        return _like(draw, root["$defs"]["d"], root, depth - 1)
    ways = [key for key in ("properties", "anyOf", "oneOf", "allOf", "then", *_OF_LISTS) if key in schema]
    way = draw(st.sampled_from(ways)) if ways else ""
    if way == "properties":
        return _members_like(draw, schema, root, depth - 1)
    if way in ("anyOf", "oneOf", "allOf"):
        return _like(draw, draw(st.sampled_from(schema[way])), root, depth - 1)
    if way == "then":
        return _like(draw, schema["then"], root, depth - 1)
    if way:
        parts = [*schema.get("prefixItems", ()), schema.get("items", {}), schema.get("unevaluatedItems", {})]
        return [_like(draw, part, root, depth - 1) for part in parts[: draw(st.integers(0, 3))]]
    listed = [schema["const"]] if "const" in schema else schema.get("enum", ())
    return _respelled(draw(st.sampled_from(listed))) if listed and draw(st.booleans()) else draw(_SCALARS)


def _members_like(draw: Draw, schema: Schema, root: Schema, depth: int) -> dict[str, Any]:
    declared = schema["properties"]
    names = draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=True))
    rest = schema.get("additionalProperties", schema.get("unevaluatedProperties", {}))
    return {name: _like(draw, declared.get(name, rest), root, depth) for name in names}


def _respelled(member: Any) -> Any:
    """The same JSON value in another spelling."""
    if isinstance(member, list):
        return [_respelled(part) for part in member]
    if isinstance(member, dict):
        return {key: _respelled(part) for key, part in member.items()}
    if isinstance(member, float):
        return int(member)
    return float(member) if type(member) is int else member


def with_words(value: Any, words: list[str]) -> Any:
    """A value of which some parts are words that a repair may mend."""
    if isinstance(value, dict):
        return {key: with_words(part, words) for key, part in value.items()}
    if isinstance(value, list):
        return [with_words(part, words) for part in value]
    return words.pop() if words and not isinstance(value, bool) else value
