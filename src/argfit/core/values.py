"""JSON values: their types, their equality, and which numbers are whole.

Rules
- True and 1 are different JSON values; 1 and 1.0 are the same one.
- A float is whole only if its digits say so. From text, a number whose float would lie about that arrives as
  a Decimal (`5.0000000000000001`, `9007199254740993.0`), so what is decided here is decided on the digits.
- Whole numbers are rewritten inside the signed 64-bit range only: beyond it strict receivers have no integer.
"""

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

INT64_LOW, INT64_HIGH = -(2**63), 2**63 - 1
INT64_EXPONENT = 18  # of 9.2e18: a number with a larger one is out of range, however many digits it would have
EXACT = 2**53  # from it on neighbouring integers share a float: 2^53 + 1 has this one's (IEEE 754 binary64)

_SCALARS = frozenset((str, int, float, bool, type(None)))
_TYPES = {bool: "boolean", int: "integer", float: "number", Decimal: "number", str: "string", list: "array"}


def type_of(value: Any) -> str:
    """The JSON type of a value; `integer` for an int, `number` for any other number."""
    if value is None:
        return "null"
    exact = _TYPES.get(type(value))
    if exact is not None:
        return exact
    if isinstance(value, dict):
        return "object"
    return next((name for kind, name in _TYPES.items() if isinstance(value, kind)), "array")


def whole(value: Any) -> int | None:
    """The integer a float (or Decimal) spells, or None where it spells none inside 64 bits."""
    if isinstance(value, Decimal):
        if not value.is_finite() or value.adjusted() > INT64_EXPONENT or value != value.to_integral_value():
            return None
    elif not value.is_integer():  # nor is a NaN or an infinity
        return None
    integer = int(value)
    return integer if INT64_LOW <= integer <= INT64_HIGH else None


def is_of_type(value: Any, name: str, *, whole_float_is_integer: bool) -> bool:
    """Whether a value is of a JSON Schema type; draft 4 has no whole floats."""
    found = type_of(value)
    if found != "number":
        return found == name or (found == "integer" and name == "number")
    if isinstance(value, Decimal):
        no_fraction = value.is_finite() and value == value.to_integral_value()
    elif math.isfinite(value):
        no_fraction = value.is_integer()
    else:
        return False
    if name == "integer":
        return no_fraction and whole_float_is_integer
    return name == "number"


def same(one: Any, other: Any) -> bool:
    """JSON equality (2020-12 core, 4.2.2)."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(part, other[key]) for key, part in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def is_large(value: Any, parts: int, levels: int) -> bool:
    """Whether a value has more than so many parts, and nests in no more than so many levels."""
    level: list[Any] = [value]
    count = 0
    for _ in range(levels):
        level = [
            part
            for container in level
            if isinstance(container, dict | list)
            for part in (container.values() if isinstance(container, dict) else container)
        ]
        if not level:
            return count > parts
        count += len(level)
    return False


def is_json(value: Any) -> bool:
    """Whether an SDK's reader of JSON could have given a value; RecursionError where it nests too deep to tell."""
    if isinstance(value, dict):
        if not all(isinstance(name, str) for name in value):
            return False
        parts: Iterable[Any] = value.values()
    elif isinstance(value, list):
        parts = value
    else:
        return value is None or isinstance(value, str | int | float)
    return _SCALARS.issuperset(map(type, parts)) or all(map(is_json, parts))


def key_of(value: Any) -> tuple[str, Any] | None:
    """A hashable that two scalars share if and only if they are the same JSON value; None for containers."""
    if isinstance(value, bool):
        return ("boolean", value)
    if value is None or isinstance(value, str | int | float | Decimal):
        return ("", value)
    return None


def is_number(value: Any) -> bool:
    """Whether a value is a JSON number; True is not."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
