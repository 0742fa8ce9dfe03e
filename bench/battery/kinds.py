"""The kinds of arguments: each as a JSON schema and as the Python type that says the same.

One type serves pydantic, the SDKs and msgspec where they can share it: each reads its own marks in an Annotated and
leaves the others'. Objects with fixed keys are a class in each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from pydantic import BaseModel, ConfigDict, Field

Schema = dict[str, Any]

# What an optional argument holds in Python when it was not sent.
NOT_SENT = "(not sent)"


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Box(Closed):
    k: int


class Row(Closed):
    id: int
    qty: int
    note: str = NOT_SENT


class Card(Closed):
    item: str


class Count(Closed):
    kind: Literal["count"]
    n: int


class Ratio(Closed):
    kind: Literal["ratio"]
    n: float


class BoxStruct(msgspec.Struct, forbid_unknown_fields=True):
    k: int


class RowStruct(msgspec.Struct, forbid_unknown_fields=True):
    id: int
    qty: int
    note: str | msgspec.UnsetType = msgspec.UNSET


class CardStruct(msgspec.Struct, forbid_unknown_fields=True):
    item: str


class CountStruct(msgspec.Struct, forbid_unknown_fields=True, tag_field="kind", tag="count"):
    n: int


class RatioStruct(msgspec.Struct, forbid_unknown_fields=True, tag_field="kind", tag="ratio"):
    n: float


@dataclass(frozen=True)
class Kind:
    name: str
    schema: Schema
    type: Any
    struct: Any = None  # where msgspec needs a type of its own
    optional: bool = False
    by_value: bool = False  # numbers are `number`s here: 2.0 and 2 are one

    @property
    def msgspec_type(self) -> Any:
        return self.type if self.struct is None else self.struct


def closed(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def listing(items: Schema, **more: int) -> Schema:
    return {"type": "array", "items": items, **more}


def either(*branches: Schema) -> Schema:
    """The way pydantic, FastMCP and zod publish a union."""
    return {"anyOf": list(branches)}


INTEGER, NUMBER, STRING, BOOLEAN, NULL = ({"type": t} for t in ("integer", "number", "string", "boolean", "null"))
PAGE = Annotated[int, Field(ge=1, le=100), msgspec.Meta(ge=1, le=100)]
PATHS = Annotated[list[str], Field(min_length=2), msgspec.Meta(min_length=2)]
PATTERN = "^[0-9]{2}/[0-9]{2}/[0-9]{4}$"
DAY = Annotated[str, Field(pattern=PATTERN), msgspec.Meta(pattern=PATTERN)]
UNITS = ["celsius", "fahrenheit"]
STYLES = ["markdown", "json", "MARKDOWN", "JSON"]
ROW = closed({"id": INTEGER, "qty": INTEGER}, {"note": STRING})
SHAPE = {
    "oneOf": [
        closed({"kind": {"const": "count"}, "n": INTEGER}),
        closed({"kind": {"const": "ratio"}, "n": NUMBER}),
    ]
}

KINDS = {
    kind.name: kind
    for kind in (
        Kind("count", INTEGER, int),
        Kind("page", {"type": "integer", "minimum": 1, "maximum": 100}, PAGE),
        Kind("step", {"type": "integer", "enum": [1, 2, 3]}, Literal[1, 2, 3]),
        Kind("id", INTEGER, int),
        Kind("ratio", NUMBER, float, by_value=True),
        Kind("flag", BOOLEAN, bool),
        Kind("text", STRING, str),
        Kind("token", {"type": "string", "format": "uuid"}, str),
        Kind("day", {"type": "string", "pattern": PATTERN}, DAY),
        Kind("ids", listing(INTEGER), list[int]),
        Kind("names", listing(STRING), list[str]),
        Kind("paths", listing(STRING, minItems=2), PATHS),
        Kind("box", closed({"k": INTEGER}), Box, BoxStruct),
        Kind("unit", {"type": "string", "enum": UNITS}, Literal["celsius", "fahrenheit"]),
        Kind("style", {"type": "string", "enum": STYLES}, Literal["markdown", "json", "MARKDOWN", "JSON"]),
        Kind("maybe_count", either(INTEGER, NULL), int | None),
        Kind("limit", {"type": ["integer", "null"]}, int | None),
        Kind("maybe_text", either(STRING, NULL), str | None),
        Kind("ref", either(INTEGER, STRING), int | str),
        Kind("query", either(STRING, listing(INTEGER)), str | list[int]),
        Kind("switch", either(BOOLEAN, STRING), bool | str),
        Kind("maybe_ids", either(listing(INTEGER), NULL), list[int] | None),
        Kind("sort", STRING, str, str | msgspec.UnsetType, optional=True),
        Kind("size", INTEGER, int, int | msgspec.UnsetType, optional=True),
        Kind("labels", {"type": "object", "additionalProperties": STRING}, dict[str, str]),
        Kind("weights", {"type": "object", "additionalProperties": INTEGER}, dict[str, int]),
        Kind("extra", {"type": "object"}, dict[str, Any], by_value=True),
        Kind("payload", {}, Any, by_value=True),
        Kind("rows", listing(ROW), list[Row], list[RowStruct]),
        Kind("cards", listing(closed({"item": STRING})), list[Card], list[CardStruct]),
        Kind("shape", SHAPE, Annotated[Count | Ratio, Field(discriminator="kind")], CountStruct | RatioStruct),
    )
}


def schema_of(fields: Mapping[str, Kind]) -> Schema:
    """The published schema of a tool with these arguments."""
    return {
        "type": "object",
        "properties": {name: kind.schema for name, kind in fields.items()},
        "required": [name for name, kind in fields.items() if not kind.optional],
        "additionalProperties": False,
    }
