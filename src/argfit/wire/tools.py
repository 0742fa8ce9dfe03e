"""What is known of a server's tools: learned from the listings that pass by, and from our own questions.

Rules
- A listing counts for the generation it was asked in: after `notifications/tools/list_changed` it is old.
- From 2026-07-28 on a listing lives for its `ttlMs`; where it says nothing, not at all (caching, 2026-07-28).
- A schema is compiled when its tool is first called, and once however often it is listed.
"""

from collections import OrderedDict
from typing import Any

import msgspec

from argfit.core.choices import WIDENING
from argfit.core.engine import Engine, compile_engine
from argfit.core.source import SchemaError
from argfit.wire.message import raw_items, raw_members, value_of
from argfit.wire.reply import SERVER_INFO

ENGINES = 10_000  # that stay compiled
_LONGEST_TTL = 10**11  # milliseconds, three years; a number may be longer than any that a clock can take


class Tool(msgspec.Struct):
    """One listed tool: its schema as bytes until the first call compiles it, and until when that counts."""

    name: str
    schema: bytes
    generation: int
    serial: int  # of the page that said it
    destroys: bool  # its annotations say so
    fresh_until: float | None  # None: until the listing changes
    engine: Engine | None = None
    compiled: bool = False

    def is_fresh(self, now: float) -> bool:
        """Whether the listing it is from still counts."""
        return self.fresh_until is None or now < self.fresh_until


class Chosen(msgspec.Struct, frozen=True):
    """Names that are on: for every tool, and beside them for some tools by name."""

    general: frozenset[str] = frozenset()
    by_tool: dict[str, frozenset[str]] = {}

    def of(self, tool: str, *, but: frozenset[str] = frozenset()) -> frozenset[str]:
        """What is on for one tool; what is in `but` only where it was named for this very tool."""
        return (self.general - but) | self.by_tool.get(tool, frozenset())


class _Listed(msgspec.Struct, rename="camel"):
    name: str
    input_schema: msgspec.Raw
    annotations: Any = None


class _Listing(msgspec.Struct, rename="camel"):
    """A listing as servers write it: an odd member costs what it says, not the tools."""

    tools: list[msgspec.Raw]
    next_cursor: Any = None
    ttl_ms: Any = None
    cache_scope: Any = None
    result_type: Any = None
    meta: Any = msgspec.field(name="_meta", default=None)

    def fresh_until(self, now: float) -> float | None:
        """Until when it counts; None for ever: only 2026-07-28 has `resultType`, and with it a time to live."""
        if self.result_type is None and self.ttl_ms is None:
            return None
        living = isinstance(self.ttl_ms, int | float) and not isinstance(self.ttl_ms, bool)
        return now + (max(0, min(self.ttl_ms, _LONGEST_TTL)) / 1000 if living else 0)


class Engines:
    """What callers of one server share: compiled schemas, one for all tools that publish the same; and public tools."""

    def __init__(
        self, strip: frozenset[str] = frozenset(), repairs: Chosen | None = None, formats: Chosen | None = None
    ) -> None:
        self._strip = strip
        self._repairs = repairs or Chosen()
        self._formats = formats or Chosen()
        self._schemas: OrderedDict[bytes, bytes] = OrderedDict()
        self.public: dict[str, Tool] = {}  # what listings say is the same for everyone
        self._compiled: OrderedDict[tuple[bytes, frozenset[str], frozenset[str]], Engine | None] = OrderedDict()

    def schema(self, raw: msgspec.Raw) -> bytes:
        """A schema's own bytes, once however often it is listed."""
        found = bytes(raw)
        known = self._schemas.get(found)
        if known is None:
            known = self._schemas[found] = found
            if len(self._schemas) > ENGINES:
                self._schemas.popitem(last=False)
        return known

    def of(self, tool: Tool) -> Engine | None:
        """The engine of a tool; None where its schema is no schema."""
        repairs = self._repairs.of(tool.name, but=WIDENING if tool.destroys else frozenset())
        key = (tool.schema, repairs, self._formats.of(tool.name))
        if key in self._compiled:
            return self._compiled[key]
        try:
            engine = compile_engine(value_of(tool.schema), self._strip, repairs, key[-1])
        except SchemaError:
            engine = None
        self._compiled[key] = engine
        if len(self._compiled) > ENGINES:
            self._compiled.popitem(last=False)
        return engine


class Tools:
    """The tools of one server."""

    def __init__(self, engines: Engines | None = None) -> None:
        self.generation = 0
        self.serial = 0  # of pages learned
        self.server_info: Any = None  # as the server's listings stamp it (2026-07-28)
        self.fresh_until: float | None = None  # of the last listing
        self._engines = engines or Engines()
        self._known: dict[str, Tool] = {}

    def learn(self, result: msgspec.Raw | msgspec.UnsetType, generation: int, now: float) -> str | None:
        """Take in one page of a listing asked for in `generation`; returns the cursor of the next page."""
        listing = _listing(result)
        if listing is None:
            return None
        if isinstance(listing.meta, dict) and SERVER_INFO in listing.meta:
            self.server_info = listing.meta[SERVER_INFO]
        self.fresh_until = listing.fresh_until(now)
        self.serial += 1
        for raw in listing.tools:
            listed = _listed(raw)
            if listed is None:
                continue
            schema = self._engines.schema(listed.input_schema)
            destroys = isinstance(listed.annotations, dict) and listed.annotations.get("destructiveHint") is True
            known = self._known.get(listed.name)
            if known is None or (known.schema, known.destroys) != (schema, destroys):
                known = self._known[listed.name] = Tool(listed.name, schema, generation, self.serial, destroys, None)
            known.generation, known.serial, known.fresh_until = generation, self.serial, self.fresh_until
            if listing.cache_scope == "public" and generation == self.generation:
                self._engines.public[listed.name] = known
        return listing.next_cursor if isinstance(listing.next_cursor, str) else None

    def changed(self) -> None:
        """The server says that its listing is another one now."""
        self.generation += 1
        self._engines.public.clear()

    def get(self, name: str, now: float) -> Tool | None:
        """A tool whose listing counts."""
        tool = self.latest(name)
        return tool if tool is not None and tool.is_fresh(now) else None

    def latest(self, name: str) -> Tool | None:
        """A tool as it was listed last, its time up or not; None where the listing is said to have changed.

        One that was never listed here may have been listed to another, as the same for everyone (`cacheScope`).
        """
        tool = self._known.get(name)
        if tool is None:
            return self._engines.public.get(name)
        return tool if tool.generation == self.generation else None

    def learned_since(self, name: str, serial: int) -> Tool | None:
        """A tool that was learned after so many pages, whatever has come since."""
        tool = self._known.get(name)
        return tool if tool is not None and tool.serial > serial else None

    def engine(self, tool: Tool) -> Engine | None:
        """The tool's engine, compiled at first use; None where its schema is no schema."""
        if not tool.compiled:
            tool.engine, tool.compiled = self._engines.of(tool), True
        return tool.engine


def _listing(result: msgspec.Raw | msgspec.UnsetType) -> _Listing | None:
    if result is msgspec.UNSET:
        return None
    try:
        return msgspec.json.decode(result, type=_Listing)
    except msgspec.ValidationError:
        return None
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return _listing_by_members(bytes(result))


def _listing_by_members(result: bytes) -> _Listing | None:
    """A listing that a strict decoder refuses as text: a lone surrogate in a description, NaN, great depth."""
    found = raw_members(result) or {}
    tools = found.get("tools", msgspec.Raw(b""))
    return _Listing(
        [msgspec.Raw(tool) for tool in raw_items(bytes(tools))],
        value_of(found.get("nextCursor")),
        value_of(found.get("ttlMs")),
        value_of(found.get("cacheScope")),
        value_of(found.get("resultType")),
        value_of(found.get("_meta")),
    )


def _listed(raw: msgspec.Raw) -> _Listed | None:
    try:
        return msgspec.json.decode(raw, type=_Listed)
    except msgspec.ValidationError:
        return None
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        found = raw_members(bytes(raw)) or {}
    name, schema = value_of(found.get("name")), found.get("inputSchema")
    if not isinstance(name, str) or schema is None:
        return None
    return _Listed(name, schema, value_of(found.get("annotations")))
