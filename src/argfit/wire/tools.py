"""What is known of a server's tools: learned from the listings that pass by, and from our own questions.

Rules
- A listing counts for the generation it was asked in: after `notifications/tools/list_changed` it is old.
- From 2026-07-28 on a listing lives for its `ttlMs`; where it says nothing, not at all (caching, 2026-07-28).
- A schema is compiled when its tool is first called, and once however often it is listed.
"""

import json
from typing import Any, TypeVar

import msgspec

from argfit.core.fit import Engine, compile_engine
from argfit.core.source import SchemaError
from argfit.wire.message import value_of
from argfit.wire.reply import SERVER_INFO

_T = TypeVar("_T")


class Tool(msgspec.Struct):
    """One listed tool: its schema as bytes until the first call compiles it, and until when that counts."""

    schema: bytes
    generation: int
    fresh_until: float | None  # None: until the listing changes
    engine: Engine | None = None
    compiled: bool = False


class _Listed(msgspec.Struct, rename="camel"):
    name: str
    input_schema: msgspec.Raw


class _Listing(msgspec.Struct, rename="camel"):
    tools: list[msgspec.Raw]
    next_cursor: str | None = None
    ttl_ms: float | None = None
    result_type: str | None = None
    meta: dict[str, msgspec.Raw] | None = msgspec.field(name="_meta", default=None)


class Tools:
    """The tools of one server."""

    def __init__(self, strip: frozenset[str] = frozenset()) -> None:
        self.generation = 0
        self.server_info: Any = None  # as the server's listings stamp it (2026-07-28)
        self._strip = strip
        self._known: dict[str, Tool] = {}

    def learn(self, result: msgspec.Raw | msgspec.UnsetType, generation: int, now: float) -> str | None:
        """Take in one page of a listing asked for in `generation`; returns the cursor of the next page."""
        listing = _listing(result)
        if listing is None:
            return None
        if listing.meta and SERVER_INFO in listing.meta:
            self.server_info = value_of(listing.meta[SERVER_INFO])
        # only 2026-07-28 has `resultType`; before it a listing counts until it is said to have changed
        ages = listing.result_type is not None or listing.ttl_ms is not None
        fresh_until = now + (listing.ttl_ms or 0) / 1000 if ages else None
        for raw in listing.tools:
            listed = _listed(raw)
            if listed is None:
                continue
            schema = bytes(listed.input_schema)
            known = self._known.get(listed.name)
            if known is not None and known.schema == schema:
                known.generation, known.fresh_until = generation, fresh_until
            else:
                self._known[listed.name] = Tool(schema, generation, fresh_until)
        return listing.next_cursor

    def changed(self) -> None:
        """The server says that its listing is another one now."""
        self.generation += 1

    def get(self, name: str) -> Tool | None:
        """A tool of the present generation, fresh or not."""
        tool = self._known.get(name)
        return tool if tool is not None and tool.generation == self.generation else None

    def engine(self, tool: Tool) -> Engine | None:
        """The tool's engine, compiled at first use; None where its schema is no schema."""
        if not tool.compiled:
            tool.compiled = True
            try:
                tool.engine = compile_engine(value_of(tool.schema), self._strip)
            except SchemaError:
                tool.engine = None
        return tool.engine


def _listing(result: msgspec.Raw | msgspec.UnsetType) -> _Listing | None:
    try:
        return _decoded(bytes(result), _Listing) if result is not msgspec.UNSET else None
    except (msgspec.MsgspecError, TypeError):
        return None


def _listed(raw: msgspec.Raw) -> _Listed | None:
    try:
        return _decoded(bytes(raw), _Listed)
    except (msgspec.MsgspecError, TypeError):
        return None


def _decoded(raw: bytes, kind: type[_T]) -> _T:
    """Decode, also what a strict decoder refuses as text (a lone surrogate in a description, NaN as a default)."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return msgspec.json.decode(json.dumps(value_of(raw)).encode(), type=kind)
