"""Asking a server over HTTP for its tools, with a caller's own credentials: once, however many calls wait."""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic
from weakref import WeakKeyDictionary

import aiohttp

from argfit.wire.conversation import Memory
from argfit.wire.events import Events
from argfit.wire.exchange import EVENTS, JSON, LIMIT
from argfit.wire.message import Message, id_of, read_message
from argfit.wire.mirror import Headers

_KEPT = (b"authorization", b"cookie", b"mcp-session-id", b"mcp-protocol-version", b"user-agent", b"origin")


class Questions:
    """The listings that are under way, caller by caller."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._going: WeakKeyDictionary[Memory, asyncio.Task[None]] = WeakKeyDictionary()

    async def answered(
        self, memory: Memory, question: bytes, headers: Headers, client: aiohttp.ClientSession, seconds: float
    ) -> None:
        """Have the tools listed, or wait for whoever has; for so many seconds."""
        going = self._going.get(memory)
        if going is None or (going.done() and question):
            going = self._going[memory] = asyncio.ensure_future(self._ask(memory, question, headers, client))
        await asyncio.wait({going}, timeout=seconds)
        if not going.done():
            memory.asking.give_up_waiting()

    async def _ask(self, memory: Memory, question: bytes, headers: Headers, client: aiohttp.ClientSession) -> None:
        sent = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers if name in _KEPT]
        sent += [("content-type", JSON.decode()), ("accept", f"{JSON.decode()}, {EVENTS.decode()}")]
        if any(name == b"mcp-method" for name, _ in headers):
            sent.append(("mcp-method", "tools/list"))
        try:
            while question:
                message = await self._post(memory, question, sent, client)
                id = None if message is None else id_of(message.id)
                if message is None or id is None:
                    break
                memory.asking.answered(id, message, monotonic())
                question = memory.asking.next_question()
        except (aiohttp.ClientError, OSError, TimeoutError):
            pass
        finally:
            if question:
                memory.asking.failed()

    async def _post(
        self, memory: Memory, question: bytes, headers: list[tuple[str, str]], client: aiohttp.ClientSession
    ) -> Message | None:
        """The answer to one question; None where there is none."""
        async with client.post(self._url, data=question, headers=headers, allow_redirects=False) as answer:
            async for said in _messages(answer):
                message = read_message(said)
                if message is not None and message.answers and memory.asking.is_ours(id_of(message.id)):
                    return message
        return None


async def _messages(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The messages of an answer, of either media type."""
    if answer.content_type == JSON.decode():
        body = bytearray()
        async for chunk in answer.content.iter_any():
            body += chunk
            if len(body) > LIMIT:
                return
        yield bytes(body)
    elif answer.content_type == EVENTS.decode():
        events = Events(LIMIT)
        async for chunk in answer.content.iter_any():
            for event in events.feed(chunk):
                if event.data is not None:
                    yield event.data
