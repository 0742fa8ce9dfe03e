"""Asking a server over HTTP for its tools, with a caller's own credentials: once, however many calls wait."""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic
from weakref import WeakKeyDictionary

from argfit.proxy.connection import Answer
from argfit.proxy.upstream import Upstream
from argfit.wire.conversation import Memory
from argfit.wire.events import Events
from argfit.wire.exchange import EVENTS, JSON, LIMIT
from argfit.wire.message import Message, id_of, read_message
from argfit.wire.mirror import Headers

_KEPT = (b"authorization", b"cookie", b"mcp-session-id", b"mcp-protocol-version", b"user-agent", b"origin")


class Questions:
    """The listings that are under way, caller by caller."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._going: WeakKeyDictionary[Memory, asyncio.Task[None]] = WeakKeyDictionary()

    async def answered(self, memory: Memory, question: bytes, headers: Headers, seconds: float) -> None:
        """Have the tools listed, or wait for whoever has; for so many seconds."""
        going = self._going.get(memory)
        if going is None or (going.done() and question):
            going = self._going[memory] = asyncio.ensure_future(self._ask(memory, question, headers))
        await asyncio.wait({going}, timeout=seconds)
        if not going.done():
            memory.asking.give_up_waiting()

    async def _ask(self, memory: Memory, question: bytes, headers: Headers) -> None:
        sent = [(name, value) for name, value in headers if name in _KEPT]
        sent += [(b"content-type", JSON), (b"accept", b"%b, %b" % (JSON, EVENTS))]
        if any(name == b"mcp-method" for name, _ in headers):
            sent.append((b"mcp-method", b"tools/list"))
        try:
            while question:
                message = await self._post(memory, question, sent)
                id = None if message is None else id_of(message.id)
                if message is None or id is None:
                    break
                memory.asking.answered(id, message, monotonic())
                question = memory.asking.next_question()
        except OSError:
            pass
        finally:
            if question:
                memory.asking.failed()

    async def _post(self, memory: Memory, question: bytes, headers: Headers) -> Message | None:
        """The answer to one question; None where there is none."""
        answer = await self._upstream.ask(b"POST", self._upstream.target, headers, question)
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
