"""One HTTP request to a server and its answer: bodies in, bodies out (MCP, streamable HTTP).

Rules
- What is decided on a message is decided in `conversation`; the headers that mirror arguments follow them.
- An answer that need not be edited passes as it comes, chunk by chunk, and is read beside; one that may be is held as
  long as that takes: an event until it is whole, a JSON body until its end.
- What is too large, or in a coding that is not read, passes.
- Of a batch (2025-03-26) nothing is refused here, but explained: the rest has one answer of the server's own.
- An answer of ours is one JSON body, or one event where the client takes nothing else.
"""

from contextlib import suppress

import msgspec

from argfit.core.record import Log
from argfit.wire.asking import Ask
from argfit.wire.conversation import Conversation, Memory, Settings
from argfit.wire.events import Event, Events
from argfit.wire.message import read_call, read_message, value_of
from argfit.wire.mirror import Headers, WrongHeaderError, mirror, mirrored

LIMIT = 8 * 2**20  # bytes of a body, and of an event
JSON, EVENTS = b"application/json", b"text/event-stream"
_BLANK = b" \t\r\n\xef\xbb\xbf"
_FAULT = Log("ERROR", "A message was relayed as it came after a fault of argfit's own.", (), {})


class Passed(msgspec.Struct, frozen=True):
    """A request that goes to the server, if it has a body, with its headers; `answers` are ours to its client."""

    body: bytes
    headers: Headers
    answers: bytes = b""


class Exchange:
    """One request of a client, decided on with what is known of its server."""

    def __init__(self, settings: Settings, memory: Memory) -> None:
        self._memory = memory
        self._settings = settings
        self._conversation = Conversation(settings, memory)

    def take_logs(self) -> list[Log]:
        """What is to be logged of it since this was asked last."""
        logs = self._conversation.logs
        if logs:
            self._conversation.logs = []
        return logs

    def request(self, body: bytes, headers: Headers, now: float, *, waited: bool = False) -> Passed | Ask:
        """Decide on a body; `waited` says that it was offered before and asks for nothing more."""
        if self._settings.on_misfit == "refuse" and body.lstrip(_BLANK)[:1] == b"[":
            explains = msgspec.structs.replace(self._settings, on_misfit="explain")
            self._conversation = Conversation(explains, self._memory)
        try:
            verdict = self._conversation.client_message(body, now, waited=waited)
            if isinstance(verdict, Ask):
                return verdict
            if not verdict.forward or verdict.forward is body:
                return Passed(verdict.forward, headers, verdict.answers)
            return Passed(verdict.forward, self._mirrored(body, verdict.forward, headers), verdict.answers)
        except WrongHeaderError:
            return Passed(body, headers)
        except Exception:  # noqa: BLE001 - a fault of ours costs the fit, never the message
            self._conversation.logs.append(_FAULT)
            return Passed(body, headers)

    def heard(self, media_type: bytes, body: bytes, now: float) -> bytes:
        """An answer that came in one piece; returns what passes on."""
        if self._conversation.has_no_use_for(body):
            return body
        answer = self.answer(media_type)
        return answer.chunk(body, now) + answer.end(now)

    def answer(self, media_type: bytes) -> "Answer":
        """What reads the answer of the server as it comes, of this media type."""
        kind = media_type.partition(b";")[0].strip().lower()
        return Answer(self._conversation, kind)

    def _mirrored(self, before: bytes, after: bytes, headers: Headers) -> Headers:
        message = read_message(before)
        call = None if message is None else read_call(message)
        tool = None if call is None else self._memory.tools.latest(call.name)
        marks = () if tool is None else mirrored(value_of(tool.schema))
        if not marks or call is None:
            return headers
        fitted = read_message(after)
        now_called = None if fitted is None else read_call(fitted)
        arguments = None if now_called is None else value_of(now_called.arguments)
        return mirror(marks, headers, value_of(call.arguments), arguments)


class Answer:
    """The answer to one request: chunks in, what may pass on out."""

    def __init__(self, conversation: Conversation, kind: bytes) -> None:
        self._conversation = conversation
        self._edits = conversation.may_explain
        self._events = Events(LIMIT) if kind == EVENTS else None
        self._body: bytearray | None = bytearray() if kind == JSON else None
        self.is_held = self._edits and self._body is not None  # until its end, or until it is too large
        self.changes_length = self._edits and self._events is not None

    def chunk(self, data: bytes, now: float) -> bytes:
        """A part of the answer; returns what may pass on."""
        if self._events is not None:
            return self._passed(self._events.feed(data), data, now)
        if self._body is None:
            return data
        self._body += data
        if len(self._body) > LIMIT:
            whole, self._body = bytes(self._body), None
            return whole if self._edits else data
        return b"" if self._edits else data

    def end(self, now: float) -> bytes:
        """The end of the answer; returns what is left of it."""
        if self._events is not None:
            rest = self._events.rest()
            return rest if self._edits else b""
        if self._body is None:
            return b""
        passed = self._heard(bytes(self._body), now)
        return passed if self._edits else b""

    def _passed(self, events: list[Event], chunk: bytes, now: float) -> bytes:
        heard = [self._event(event, now) for event in events]
        return b"".join(heard) if self._edits else chunk

    def _event(self, event: Event, now: float) -> bytes:
        if event.data is None:
            return event.raw
        passed = self._heard(event.data, now)
        return event.raw if passed is event.data else event.saying(passed.replace(b"\n", b" "))

    def _heard(self, said: bytes, now: float) -> bytes:
        with suppress(Exception):  # a fault of ours costs the note, never the message
            return self._conversation.server_message(said, now)
        self._conversation.logs.append(_FAULT)
        return said


def as_event(answer: bytes) -> bytes:
    """An answer of ours as an event."""
    return b"event: message\ndata: " + answer.strip() + b"\n\n"
