"""Asking a server over HTTP for its tools, with a caller's own credentials: once, however many calls wait."""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic
from weakref import WeakKeyDictionary

from argfit.proxy.callers import who
from argfit.proxy.connection import Answer, WrongRequestError
from argfit.proxy.upstream import Upstream
from argfit.wire.conversation import Memory
from argfit.wire.events import Events
from argfit.wire.exchange import EVENTS, JSON, LIMIT
from argfit.wire.message import Message, id_of, read_message
from argfit.wire.mirror import Headers

LISTING_SECONDS = 300.0  # for a page of a listing to its end: a stream of events that says nothing has none
_SHORTEST_REST, _LONGEST_REST = 1.0, 60.0  # seconds between listings that come to nothing
_NEVER = (0.0, 0.0)


class Questions:
    """The listings that are under way, caller by caller."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._going: WeakKeyDictionary[Memory, asyncio.Task[None]] = WeakKeyDictionary()
        self._failed: WeakKeyDictionary[Memory, tuple[float, float]] = (
            WeakKeyDictionary()
        )  # until when, and for how long

    async def answered(self, memory: Memory, question: bytes, target: bytes, headers: Headers, seconds: float) -> None:
        """Have the tools listed, as one who sends these headers to this target, or wait for whoever has.

        Waits for so many seconds. A question begins a listing anew: one that still goes on is of no use to anyone.
        Where listings came to nothing one after the other, none is begun for a while.
        """
        if question and monotonic() < self._failed.get(memory, _NEVER)[0]:
            memory.asking.failed()
            return
        going = self._going.get(memory)
        if going is None or question:
            if going is not None:
                going.cancel()
            going = self._going[memory] = asyncio.ensure_future(self._ask(memory, question, target, headers))
        await asyncio.wait({going}, timeout=seconds)
        if not going.done():
            memory.asking.give_up_waiting()

    async def _ask(self, memory: Memory, question: bytes, target: bytes, headers: Headers) -> None:
        sent = [*who(headers), (b"content-type", JSON), (b"accept", b"%b, %b" % (JSON, EVENTS))]
        if any(name == b"mcp-method" for name, _ in headers):
            sent.append((b"mcp-method", b"tools/list"))
        try:
            while question:
                async with asyncio.timeout(LISTING_SECONDS):
                    message = await self._post(memory, question, target, sent)
                id = None if message is None else id_of(message.id)
                if message is None or id is None:
                    break
                memory.asking.answered(id, message, monotonic())
                question = memory.asking.next_question()
        except (OSError, WrongRequestError):
            pass
        finally:
            if self._going.get(memory) is asyncio.current_task():  # what is still open comes to nothing
                memory.asking.failed()
                self._remember(memory, failed=bool(question))

    def _remember(self, memory: Memory, *, failed: bool) -> None:
        """Once may be bad luck; a listing that is refused, or too large, is so the next time, too."""
        last = self._failed.pop(memory, None)
        if failed:
            rest = 0.0 if last is None else min(max(_SHORTEST_REST, last[1] * 2), _LONGEST_REST)
            self._failed[memory] = (monotonic() + rest, rest)

    async def _post(self, memory: Memory, question: bytes, target: bytes, headers: Headers) -> Message | None:
        """The answer to one question; None where there is none."""
        answer = await self._upstream.ask(b"POST", target, headers, question)
        try:
            async for said in _messages(answer):
                message = read_message(said)
                if message is not None and message.answers and memory.asking.is_ours(id_of(message.id)):
                    return message
        finally:
            answer.close()
        return None


async def _messages(answer: Answer) -> AsyncIterator[bytes]:
    """The messages of an answer, of either media type."""
    kind = answer.found.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind == JSON:
        body = bytearray()
        while chunk := await answer.part():
            body += chunk
            if len(body) > LIMIT:
                return
        yield bytes(body)
    elif kind == EVENTS:
        events = Events(LIMIT)
        while chunk := await answer.part():
            for event in events.feed(chunk):
                if event.data is not None:
                    yield event.data
