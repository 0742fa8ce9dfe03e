"""Asking the server for its tools ourselves: when, with what, and until when a call waits for it.

Rules
- Only where a client could ask: after `initialized`, to a server that has said it has the `tools` capability;
  from 2026-07-28 on, where there is no handshake, with the `_meta` of the call that needs it.
- One listing at a time, however many calls wait; all its pages; anew if the listing changed meanwhile.
- A listing that kept a call waiting in vain keeps nobody waiting again until something comes of it.
- A tool that is in no listing is asked for once as long as that listing counts.
- A schema that has expired is not used: what the server did not confirm in time is not known.
"""

from collections import OrderedDict
from typing import Any

import msgspec

from argfit.wire import reply
from argfit.wire.message import Call, Id, Message, value_of
from argfit.wire.tools import Tool, Tools

PAGES = 1_000  # of one listing: a server that never ends its listing is not asked for ever
RESTARTS = 3  # of one listing: a server that says "changed" at every listing is believed so often
REMEMBERED = 10_000  # things kept by key: enough for any conversation, bounded for a hostile one


class Ask(msgspec.Struct, frozen=True):
    """The schema of a call is not known: send the server these bytes (if any), then offer the call again.

    `handshake` says that it is the server's answer to `initialize` that is waited for first.
    """

    question: bytes
    handshake: bool = False


class _Listing(msgspec.Struct):
    """Our own listing under way."""

    id: str
    generation: int
    meta: dict[str, Any] | None
    cursors: set[str] = msgspec.field(default_factory=set)
    pages: int = 1
    restarts: int = 0
    late: bool = False


class Asking:
    """The questions to one server; `token` makes their ids unguessable, so that none can be the client's.

    `greets` says whether a handshake comes by here; where none does (HTTP, where anyone's does) one may always ask.
    """

    def __init__(self, tools: Tools, token: str, *, greets: bool = True) -> None:
        self._tools = tools
        self._prefix = f"argfit-{token}-"
        self._asked = 0
        self._asked_after = 0  # so many pages
        self._listed: int | None = None  # the generation of which we have had the whole listing
        self._listing: _Listing | None = None
        self._next_page = b""
        self._handshake: Id | None = None  # the `initialize` that has no answer yet
        self._greets = greets
        self._initialized = not greets
        self._has_tools: bool | None = None if greets else True
        self._missed: OrderedDict[tuple[int, str], float | None] = OrderedDict()

    # -- the handshake --------------------------------------------------------------------------------

    def greeted(self, id: Id) -> None:
        """The client has sent `initialize`."""
        if self._greets:
            self._handshake, self._initialized = id, False

    def initialized(self) -> None:
        """The client has sent `notifications/initialized`."""
        self._initialized = True

    def introduced(self, id: Id, result: Any) -> None:
        """The server has answered `initialize` or `server/discover`: it has tools, or it has not."""
        if id == self._handshake:
            self._handshake = None
        if self._greets and isinstance(result, dict) and isinstance(result.get("capabilities"), dict):
            self._has_tools = "tools" in result["capabilities"]

    # -- questions ------------------------------------------------------------------------------------

    def ask_for(self, call: Call, now: float) -> Ask | None:
        """What to wait for before this call can be fitted; None where there is nothing to ask."""
        if self._tools.get(call.name, now) is not None:
            return None
        modern = call.is_modern
        if self._has_tools is False or not (modern or self._initialized):
            return None
        if self._has_tools is None and not modern:
            return Ask(b"", handshake=True) if self._handshake is not None else None
        if self._listing is not None:
            return None if self._listing.late else Ask(self.next_question())
        if self._is_missed(call.name, now):
            return None
        meta = value_of(call.meta) if modern else None
        self._listing = _Listing(self._new_id(), self._tools.generation, meta)
        self._asked_after = self._tools.serial
        return Ask(reply.question(self._listing.id, None, meta))

    def tool(self, name: str, now: float) -> Tool | None:
        """A tool whose schema counts, or was learned by our last question: it was asked for the call's sake."""
        tool = self._tools.get(name, now) or self._tools.learned_since(name, self._asked_after)
        if tool is None and self._listed == self._tools.generation:
            keep(self._missed, (self._tools.generation, name), self._tools.fresh_until)
        return tool

    def changed(self) -> None:
        """The server's listing is another one now: a late answer about the old one is waited for no more."""
        self._tools.changed()
        if self._listing is not None and self._listing.late:
            self._listing, self._next_page = None, b""

    def is_ours(self, id: Id | None) -> bool:
        """Whether an id is that of a question of ours, answered before or not."""
        return isinstance(id, str) and id.startswith(self._prefix)

    def answered(self, id: Id, message: Message, now: float) -> None:
        """An answer to us: learn, and go on to the next page, or anew where the listing changed meanwhile."""
        listing = self._listing
        if listing is None or id != listing.id:
            return
        listing.late = False
        changed = listing.generation != self._tools.generation and listing.restarts < RESTARTS
        generation = listing.generation if changed else self._tools.generation
        cursor = self._tools.learn(message.result, generation, now)
        over = not changed and (cursor is None or cursor in listing.cursors)
        if over or listing.pages >= PAGES:
            self._listing, self._listed = None, generation
            return
        if changed or cursor is None:
            listing.generation, cursor = self._tools.generation, None
            listing.restarts += 1
        else:
            listing.cursors.add(cursor)
        listing.pages += 1
        listing.id = self._new_id()
        self._next_page = reply.question(listing.id, cursor, listing.meta)

    def failed(self) -> None:
        """The listing under way comes to nothing: a call that needs it asks again."""
        self._listing, self._next_page = None, b""

    def next_question(self) -> bytes:
        """The question for the next page of the listing under way; empty where there is none."""
        page, self._next_page = self._next_page, b""
        return page

    def is_waiting(self) -> bool:
        """Whether there is an answer to wait for: the server's to `initialize`, or to our last question."""
        listing = self._listing
        return self._is_greeting() or (listing is not None and not listing.late and not self._next_page)

    def give_up_waiting(self) -> None:
        """Nobody waits any longer for the listing under way; what it says is still learned."""
        if self._listing is not None:
            self._listing.late = True

    def _is_greeting(self) -> bool:
        return self._handshake is not None and self._has_tools is None

    def _is_missed(self, name: str, now: float) -> bool:
        key = (self._tools.generation, name)
        until = self._missed.get(key)
        return key in self._missed and (until is None or now < until)

    def _new_id(self) -> str:
        self._asked += 1
        return f"{self._prefix}{self._asked}"


def keep(memory: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    """Remember a thing, and forget the oldest where there are too many."""
    memory[key] = value
    memory.move_to_end(key)
    if len(memory) > REMEMBERED:
        memory.popitem(last=False)
