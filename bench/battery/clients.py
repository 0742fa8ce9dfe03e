"""What today's clients and gateways do to arguments, re-created in Python from how they behave.

Each of these mends the arguments by a published schema, and a validator has the last word, as a strict server would.
They stand for a way of doing it: the programs themselves are written in other languages or need a client around
them. The two of JavaScript's kind print whole numbers without a fraction, as it does, but read integers exactly,
which it does not.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import jsonschema_rs
from kinds import Kind, Schema
from verdicts import Refused

Read = Callable[[str], Any]
Mend = Callable[[Any, Schema], Any]
SCALARS = ("string", "number", "integer", "boolean", "null")


def validated(mend: Mend, read: Read = json.loads, *, first: bool = False) -> Callable[..., Any]:
    """A system that mends what it has read; with `first`, only what is invalid as it came."""

    def system(schema: Schema, fields: dict[str, Kind], text: str) -> Any:
        is_valid = jsonschema_rs.validator_for(schema, offline=True).is_valid
        if first and is_valid(json.loads(text)):
            return json.loads(text)
        arguments = mend(read(text), schema)
        if not is_valid(arguments):
            raise Refused
        return arguments

    return system


def double(text: str) -> int | float:
    """A number as JavaScript and Go print it once it was a double."""
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


def read_script(text: str) -> Any:
    return json.loads(text, parse_float=double)


def read_go(text: str) -> Any:
    return json.loads(text, parse_float=double, parse_int=double)


def types_of(schema: Schema) -> list[str]:
    """The types that a place declares, those of a union's branches after its own."""
    own = schema.get("type", [])
    types = [own] if isinstance(own, str) else list(own)
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        types += types_of(branch)
    return types


def is_type(value: Any, type_: str) -> bool:
    return bool(jsonschema_rs.is_valid({"type": type_}, value))


def decoded(text: str, wanted: type | tuple[type, ...], read: Read = json.loads) -> Any:
    try:
        value = read(text)
    except ValueError:
        return text
    return value if isinstance(value, wanted) else text


# -- a validator that coerces types in place, as Ajv with coerceTypes ---------------------------------------------


def script_number(value: Any) -> Any:
    """A number as JavaScript makes it of text, a boolean or null; None where there is none."""
    if value is None or isinstance(value, bool):
        return int(value or 0)
    text = value.strip() if isinstance(value, str) else ""
    if not text.isascii() or not text or "_" in text:
        return None
    bases = {"0x": 16, "0o": 8, "0b": 2}
    try:
        number = float(int(text[2:], bases[text[:2].lower()]) if text[:2].lower() in bases else text)
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(number):
        return number if text.removeprefix("-").removeprefix("+") == "Infinity" else None
    return int(number) if number.is_integer() else number


def script_text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return "" if value is None else json.dumps(value)


def cast(value: Any, type_: str) -> Any:
    """The value as another type, by Ajv's table; the value itself where the table has nothing."""
    if isinstance(value, dict | list):
        return value
    match type_:
        case "string":
            return value if isinstance(value, str) else script_text(value)
        case "number" | "integer":
            number = script_number(value) if value is None or isinstance(value, str | bool) else None
            whole = type_ == "number" or (number is not None and not number % 1)
            return value if number is None or not whole else number
        case "boolean":
            booleans = {"true": True, "false": False, 1: True, 0: False, None: False}
            return booleans.get(value, value)
        case "null":
            return None if value in ("", 0, False) else value
    return value


def coerce_types(value: Any, schema: Schema) -> Any:
    types = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [])
    if types and not any(is_type(value, type_) for type_ in types):
        for type_ in types:
            tried = cast(value, type_) if type_ in SCALARS else value
            if tried is not value:
                value = tried
                break
    for keyword in ("anyOf", "oneOf"):  # each branch in turn works on what the one before it has left
        for branch in schema.get(keyword, ()):
            value = coerce_types(value, branch)
    if isinstance(value, dict):
        inner, rest = schema.get("properties", {}), schema.get("additionalProperties")
        rest = rest if isinstance(rest, dict) else {}
        return {key: coerce_types(part, inner.get(key, rest)) for key, part in value.items()}
    if isinstance(value, list) and "items" in schema:
        return [coerce_types(item, schema["items"]) for item in value]
    return value


def coerce_types_then_decode(arguments: Any, schema: Schema) -> Any:
    """The same; then text is decoded where a list or an object is declared and the text is refused, and once more."""
    made = coerce_types(arguments, schema)
    if not isinstance(made, dict):
        return made
    for key, value in made.items():
        place = schema["properties"].get(key, {})
        container = isinstance(value, str) and {"array", "object"} & set(types_of(place))
        if container and not jsonschema_rs.is_valid(place, value):
            made[key] = decoded(value, (dict, list), read_script)
    return coerce_types(made, schema)


# -- all text decoded once anything is invalid, as Gram heals -----------------------------------------------------


def heal(value: Any, schema: Any) -> Any:
    if isinstance(value, str):
        try:
            value = read_go(value)
        except ValueError:
            return value
    if isinstance(value, list) and "items" in schema:
        return [heal(item, schema["items"]) for item in value]
    if isinstance(value, dict):
        branches = (schema, *schema.get("oneOf", ()), *schema.get("anyOf", ()))
        inner: Schema = next((branch["properties"] for branch in branches if "properties" in branch), {})
        return {key: heal(part, inner[key]) if key in inner else part for key, part in value.items()}
    return value


# -- text made what the schema declares, at the top level only ----------------------------------------------------


def by_first_type(value: str, schema: Schema) -> Any:
    """The first declared type that the text can be made to be, integers exactly; text itself is not tried."""
    text = value.strip()
    for type_ in types_of(schema):
        tried: Any = value
        if type_ == "boolean":
            tried = {"true": True, "false": False}.get(text.lower(), value)
        elif type_ in ("integer", "number"):
            tried = as_number(text, value, exact=type_ == "integer")
        elif type_ in ("array", "object"):
            tried = decoded(value, list if type_ == "array" else dict)
        if tried is not value:
            return tried
    return value


def as_number(text: str, otherwise: str, *, exact: bool) -> Any:
    try:
        return int(text) if exact else float(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return otherwise
    return int(number) if exact and number.is_integer() else otherwise


def through_float(value: str, schema: Schema, *, nulls: bool = False) -> Any:
    """By the place's own `type`, the first of its types that works; each number through a float."""
    if nulls and "null" in types_of(schema) and value.strip().lower() == "null":
        return None
    own = schema.get("type", [])
    for type_ in [own] if isinstance(own, str) else own:
        tried: Any = value
        if type_ == "boolean":
            tried = {"true": True, "false": False}.get(value.strip().lower(), value)
        elif type_ in ("integer", "number"):
            tried = float_or_text(value)
        elif nulls and type_ in ("array", "object"):
            tried = decoded(value, list if type_ == "array" else dict)
        if tried is not value:
            return tried
    return value


def float_or_text(text: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        return text
    return int(number) if number.is_integer() else number


def wrapped(value: Any, schema: Schema) -> Any:
    """As before, and whatever is still no list where a list is declared becomes the one item of one."""
    made = through_float(value, schema, nulls=True) if isinstance(value, str) else value
    if schema.get("type") == "array" and value is not None and made is value and not isinstance(value, list):
        return [value]
    return made


def top_level(mend: Callable[[Any, Schema], Any], *, texts: bool = True) -> Mend:
    def mended(arguments: Any, schema: Schema) -> Any:
        if not isinstance(arguments, dict):
            return arguments
        inner = schema["properties"]
        return {
            key: mend(value, inner[key]) if key in inner and (isinstance(value, str) or not texts) else value
            for key, value in arguments.items()
        }

    return mended


NOTHING = validated(lambda arguments, schema: arguments)
COERCE_TYPES = validated(coerce_types, read_script)
COERCE_TYPES_THEN_DECODE = validated(coerce_types_then_decode, read_script)
HEAL = validated(heal, read_go, first=True)
FIRST_TYPE = validated(top_level(by_first_type))
FLOATS = validated(top_level(through_float))
FLOATS_AND_WRAP = validated(top_level(wrapped, texts=False))
