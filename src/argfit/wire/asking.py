"""Asking the server for its tools ourselves: when, with what, and until when a call waits for it.

Rules
- Only where a client could ask: after `initialized`, to a server that has the `tools` capability; from
  2026-07-28 on, where there is no handshake, with the `_meta` of the call that needs it.
- One listing at a time, however many calls wait; all its pages; anew if the listing changed meanwhile.
- A listing that kept a call waiting in vain keeps nobody waiting again: it is learned when it comes.
- A tool that is in no listing is asked for once per listing.
"""

from collections import OrderedDict
from typing import Any

import msgspec

from argfit.wire import reply
from argfit.wire.message import Call, Id, Message, value_of
from argfit.wire.tools import Tool, Tools

PAGES = 1_000  # of one listing: a server that never ends its listing is not asked for ever
REMEMBERED = 10_000  # things kept by key: enough for any conversation, bounded for a hostile one


class Ask(msgspec.Struct, frozen=True):
    """The schema of a call is not known: ask the server with these bytes (if any), then offer the call again."""

    question: bytes


class _Listing(msgspec.Struct):
    """Our own listing under way."""

    id: str
    generation: int
    meta: dict[str, Any] | None
    cursors: set[str] = msgspec.field(default_factory=set)
    pages: int = 1
    late: bool = False


class Asking:
    """The questions to one server; `token` makes their ids unguessable, so that none can be the client's."""

    def __init__(self, tools: Tools, token: str) -> None:
        self.initialized = False
        self.has_tools: bool | None = None
        self._tools = tools
        self._prefix = f"argfit-{token}-"
        self._asked = 0
        self._listing: _Listing | None = None
        self._next_page = b""
        self._missed: OrderedDict[tuple[int, str], None] = OrderedDict()

    def ask_for(self, call: Call, now: float) -> Ask | None:
        """The question to be answered before this call can be fitted; None where there is nothing to ask."""
        tool = self._tools.get(call.name)
        if tool is not None and (tool.fresh_until is None or now < tool.fresh_until):
            return None
        modern = call.is_modern
        if not (self.initialized or modern) or self.has_tools is False:
            return None
        if self._listing is not None:
            return None if self._listing.late else Ask(b"")
        if tool is None and (self._tools.generation, call.name) in self._missed:
            return None
        meta = value_of(call.meta) if modern else None
        self._listing = _Listing(self._new_id(), self._tools.generation, meta)
        return Ask(reply.question(self._listing.id, None, meta))

    def tool(self, name: str) -> Tool | None:
        """A tool of the present listing; one that is not there is remembered as missed."""
        tool = self._tools.get(name)
        if tool is None:
            keep(self._missed, (self._tools.generation, name), None)
        return tool

    def is_ours(self, id: Id) -> bool:
        """Whether an id is that of a question of ours, answered before or not."""
        return isinstance(id, str) and id.startswith(self._prefix)

    def answered(self, id: Id, message: Message, now: float) -> None:
        """An answer to us: learn, and go on to the next page, or anew where the listing changed meanwhile."""
        listing = self._listing
        if listing is None or id != listing.id:
            return
        cursor = self._tools.learn(message.result, listing.generation, now)
        changed = listing.generation != self._tools.generation
        over = not changed and (cursor is None or cursor in listing.cursors)
        if over or listing.pages >= PAGES:
            self._listing = None
            return
        if changed or cursor is None:
            listing.generation, cursor = self._tools.generation, None
        else:
            listing.cursors.add(cursor)
        listing.pages += 1
        listing.id = self._new_id()
        self._next_page = reply.question(listing.id, cursor, listing.meta)

    def next_question(self) -> bytes:
        """The question for the next page of the listing under way; empty where there is none."""
        page, self._next_page = self._next_page, b""
        return page

    def is_waiting(self) -> bool:
        """Whether a listing is under way and its last question has gone out unanswered."""
        return self._listing is not None and not self._next_page

    def give_up_waiting(self) -> None:
        """Nobody waits any longer for the listing under way; what it says is still learned."""
        if self._listing is not None:
            self._listing.late = True

    def _new_id(self) -> str:
        self._asked += 1
        return f"{self._prefix}{self._asked}"


def keep(memory: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    """Remember a thing, and forget the oldest where there are too many."""
    memory[key] = value
    memory.move_to_end(key)
    if len(memory) > REMEMBERED:
        memory.popitem(last=False)
