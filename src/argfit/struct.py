"""Arguments over a protobuf `Struct`, whose every number is a double, and the lossless way beside it.

A message that carries a call holds the `Struct`, for readers that know no more, and a string `raw_args_json`: the same
arguments as JSON text. `to_struct` and `raw_args_json` make the two, `from_both` reads them. What comes of a `Struct`
alone has lost which numbers were integers, and from 2^53 on their last digits (google/protobuf/struct.proto; the
client's report this was built for). Needs the extra `argfit[struct]`.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import msgspec
from google.protobuf.struct_pb2 import NULL_VALUE, Struct, Value

from argfit.core import text as json_text
from argfit.core.problem import Path
from argfit.core.values import EXACT, same

# Every implementation of protobuf reads a hundred messages inside one another, and no more. What carries the Struct is
# the outermost; an object takes three of them for each level (its map's entry, the Value, the Struct), a list two.
_DEEPEST = 100
_encode = json.JSONEncoder(separators=(",", ":"), default=dict).encode  # of what a Struct holds, only mappings are odd
_SURROGATE = re.compile("[\ud800-\udfff]")


class Arrived(msgspec.Struct, frozen=True):
    """Arguments as they arrived: whether `exact` (from the text) or with what a `Struct` leaves of them.

    `disagrees` names the places at which the text said otherwise than the `Struct`, which then counts; `at_risk`
    those of whole numbers that may have been others.
    """

    arguments: dict[str, Any]
    exact: bool
    disagrees: tuple[Path, ...] = ()
    at_risk: tuple[Path, ...] = ()


def to_struct(arguments: Mapping[str, Any]) -> Struct:
    """Arguments as a `Struct`, to be a field of a message.

    Raises ValueError for a NaN or an infinity, and for what nests deeper than protobuf reads; TypeError for what is no
    JSON.
    """
    if not isinstance(arguments, Mapping):
        raise TypeError(f"arguments are an object, not {type(arguments).__name__}")
    struct = Struct()
    _fill(struct.fields, arguments, 1)
    return struct


def raw_args_json(arguments: Mapping[str, Any]) -> str:
    """Arguments as the JSON text that goes beside a `Struct`; ValueError and TypeError as for `to_struct`."""
    to_struct(arguments)
    return _encode(arguments)


def from_struct(struct: Struct, raw_args_json: str | bytes | None = None) -> dict[str, Any]:
    """The arguments a `Struct` holds, every number a float; or those of the text beside it, as `from_both` has them."""
    return from_both(struct, raw_args_json).arguments


def from_both(struct: Struct, raw_args_json: str | bytes | None) -> Arrived:
    """The arguments of a message that holds a `Struct` and, maybe, their text.

    The text counts where it is there and says the same as far as a `Struct` can; else the `Struct` does, for it is
    what every other reader of the message goes by.
    """
    arguments = _members(struct)
    told = _told(raw_args_json) if raw_args_json else None
    if isinstance(told, dict):
        disagrees = tuple(_differences(told, arguments, ()))
        if not disagrees:
            finer: list[Path] = []
            read = _as_read(told, (), finer)
            return Arrived(read, exact=not finer, at_risk=tuple(finer))
    else:
        disagrees = ((),) if raw_args_json else ()
    return Arrived(arguments, exact=False, disagrees=disagrees, at_risk=tuple(_at_risk(arguments, ())))


def _told(raw: str | bytes) -> Any:
    """What a text says; None where it is no JSON that everyone reads alike."""
    text = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
    try:
        value = json_text.read(text).value
    except (json_text.NotJson, json_text.DoubledKey):
        return None
    return value if json_text.is_strict(text) else None


def _fill(fields: Any, members: Mapping[Any, Any], depth: int) -> None:
    """Write the members of an object whose `Struct` is so many messages deep."""
    for name, value in members.items():
        _write(fields[_text(name)], value, depth + 2)


def _write(into: Value, value: Any, depth: int) -> None:
    """Write a value whose message is so many deep."""
    inside = depth + isinstance(value, Mapping | list | tuple)
    if inside > _DEEPEST:
        raise ValueError("the arguments nest too deep for a Struct: some 33 objects, or 48 lists, inside one another")
    if value is None:
        into.null_value = NULL_VALUE
    elif isinstance(value, bool):
        into.bool_value = value
    elif isinstance(value, int | float):
        into.number_value = _number(value)
    elif isinstance(value, str):
        into.string_value = _text(value)
    elif isinstance(value, Mapping):
        into.struct_value.SetInParent()
        _fill(into.struct_value.fields, value, inside)
    elif isinstance(value, list | tuple):
        into.list_value.SetInParent()
        for part in value:
            _write(into.list_value.values.add(), part, inside + 1)
    else:
        raise TypeError(f"{type(value).__name__} is no JSON; send text, numbers, booleans, null, lists and objects")


def _members(struct: Struct) -> dict[str, Any]:
    # a map of protobuf has no order of its own
    return {name: _read(value) for name, value in sorted(struct.fields.items())}


def _read(value: Value) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return _members(value.struct_value)
    if kind == "list_value":
        return [_read(part) for part in value.list_value.values]
    return None if kind in (None, "null_value") else getattr(value, kind)


def _number(value: float) -> float:
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"an integer of {int(value).bit_length()} bits is beyond a Struct; send it as text") from None
    if not math.isfinite(number):
        raise ValueError("NaN and infinities are no JSON; leave the argument out, or send text")
    return number


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a name is text, not {type(value).__name__}")
    if _SURROGATE.search(value):
        raise ValueError("a lone surrogate is no character; send the text it was cut from")
    return value


def _differences(told: Any, held: Any, path: Path) -> Iterator[Path]:
    """Where a text and a `Struct` say different things, but for what a double cannot hold."""
    if isinstance(told, dict) and isinstance(held, dict):
        for name in {**told, **held}:
            if name not in told or name not in held:
                yield (*path, name)
            else:
                yield from _differences(told[name], held[name], (*path, name))
    elif isinstance(told, list) and isinstance(held, list) and len(told) == len(held):
        for index, (one, other) in enumerate(zip(told, held, strict=True)):
            yield from _differences(one, other, (*path, index))
    elif not same(_as_double(told), held):
        yield path


def _as_double(value: Any) -> Any:
    try:
        return float(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _as_read(value: Any, path: Path, finer: list[Path]) -> Any:
    """A value with its text's digits: `9007199254740993.0` is an integer; what no float holds is noted in `finer`."""
    if isinstance(value, dict):
        return {name: _as_read(part, (*path, name), finer) for name, part in value.items()}
    if isinstance(value, list):
        return [_as_read(part, (*path, index), finer) for index, part in enumerate(value)]
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return float(value) if _is_a_floats(value) else int(value)
    if isinstance(value, Decimal) or (isinstance(value, float) and math.isinf(value)):
        finer.append(path)
        return float(value)
    return value


def _is_a_floats(value: Decimal) -> bool:
    """Whether a whole number is written as a float is: the fewest digits by which it is known, and an exponent."""
    return value.as_tuple() == Decimal(repr(float(value))).as_tuple()


def _at_risk(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for step, part in parts:
            yield from _at_risk(part, (*path, step))
    elif isinstance(value, float) and abs(value) >= EXACT:
        yield path
