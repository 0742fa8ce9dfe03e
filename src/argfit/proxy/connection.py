"""A connection to the server: HTTP/1.1 (RFC 9112) as its client speaks it, read by httptools' parser.

Rules
- One request at a time. The connection is kept only where that was sent, and answered, whole; a server that says more
  than was asked, or what is not HTTP, has it closed.
- An answer is read no faster than it is taken, and a body sent no faster than the server takes it.
- An answer that is left before its end, or that is whole before the body was sent, ends the connection.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress

import httptools
import msgspec

from argfit.wire.mirror import Headers

ANSWER_SECONDS = 300.0  # from the end of a request until the head of its answer; a stream has no end to wait for
_KEPT = 256  # connections that rest
LONGEST_HEAD = 2**17  # bytes, and of whatever else comes that is no body: trailers, chunks' extensions
_HIGH = 2**18  # bytes of an answer that wait to be taken; then no more is read
_FRAMING = frozenset((b"content-length", b"transfer-encoding"))


class UpstreamError(OSError):
    """The server could not be asked, or its answer is none; the text is for who asked."""


class WrongRequestError(ValueError):
    """What was to be sent would not be one request to the server; the text is for who asked."""


class Body(msgspec.Struct, frozen=True):
    """The body of a request, in parts as they come; without a length it is sent in chunks."""

    parts: AsyncIterator[bytes]
    length: int | None = None


class Answer:
    """The answer to one request: its head, and its body as it comes. Names of headers are in lower case."""

    def __init__(self, connection: "Connection") -> None:
        self.status = 0
        self.headers: Headers = []
        self.found: dict[bytes, bytes] = {}
        self.has_body = True
        self.is_whole = False
        self._connection = connection
        self._parts: list[bytes] = []
        self._size = 0
        self._is_ready = False  # to be told of
        self._error: Exception | None = None
        self._waiting: asyncio.Future[None] | None = None

    @property
    def is_error(self) -> bool:
        """Whether it says that the request failed (RFC 9110, 15.5 and 15.6)."""
        return self.status >= 400  # noqa: PLR2004

    async def begun(self) -> None:
        """Wait for its head; raises UpstreamError or TimeoutError where none comes."""
        while not self._is_ready:
            await self._news()
        if self._error is not None:
            raise self._error

    async def part(self) -> bytes:
        """What has come of the body and was not taken yet; empty at its end.

        Raises UpstreamError where it breaks off.
        """
        while not self._parts:
            if self.is_whole:
                return b""
            if self._error is not None:
                raise self._error
            await self._news()
        taken = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        if not self.is_whole:
            self._connection.read_on()
        return taken

    async def rest(self) -> bytes:
        """The body to its end."""
        parts = []
        while part := await self.part():
            parts.append(part)
        return b"".join(parts)

    def close(self) -> None:
        """Take no more of it."""
        if not self.is_whole:
            self._connection.close()

    def add(self, data: bytes) -> bool:
        """More of the body has come; whether no more should for now."""
        self._parts.append(data)
        self._size += len(data)
        return self._size > _HIGH

    def fail(self, error: Exception) -> None:
        """No more of it will come."""
        self._error = error
        self.tell()

    def tell(self) -> None:
        """Wake who waits for it."""
        self._is_ready = True
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def _news(self) -> None:
        self._waiting = asyncio.get_running_loop().create_future()
        await self._waiting


class Connection(asyncio.Protocol):
    """A connection to the server, and the answer that it is waiting for."""

    transport: asyncio.Transport

    def __init__(self, resting: "list[Connection]") -> None:
        self.rests_since = 0.0
        self._resting = resting
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._answer: Answer | None = None
        self._holds = 0  # an answer of at most so many bytes is told of when it is whole
        self._is_held = False
        self._is_to_head = False
        self._is_framed = True  # else it ends with the connection
        self._keeps = False
        self._unread = 0  # bytes since the last that were a part of a body
        self._is_paused = False
        self._late: asyncio.TimerHandle | None = None
        self._sending: asyncio.Task[None] | None = None
        self._room: asyncio.Future[None] | None = None  # where the server takes no more

    async def ask(self, request: bytes, body: Body | None, *, holds: int, is_to_head: bool) -> Answer:
        """Send a request; its answer, once that has begun."""
        answer = self._answer = Answer(self)
        self._holds, self._is_to_head = holds, is_to_head
        self._is_held = self._keeps = False
        self._unread = 0
        self.transport.write(request)
        self._wait()
        if body is not None:
            self._sending = self._loop.create_task(self._send(body))
        try:
            await answer.begun()
        except BaseException:
            self.close()
            raise
        return answer

    def close(self) -> None:
        """End it, and whatever goes on over it."""
        self._answer = None
        self._settle()
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
        self.transport.abort()

    def read_on(self) -> None:
        """The answer has been taken as far as it came."""
        if self._is_paused:
            self._is_paused = False
            self.transport.resume_reading()

    # -- the request --------------------------------------------------------------------------------------------

    async def _send(self, body: Body) -> None:
        left = body.length
        try:
            async for part in body.parts:
                if left is not None:
                    left -= len(part)
                    if left < 0:
                        break
                if part:
                    self.transport.write(part if left is not None else b"%x\r\n%b\r\n" % (len(part), part))
                if self._room is not None:
                    await self._room
                self._wait()
        except Exception as error:  # noqa: BLE001 - whoever waits for the answer is told
            self._fail(error)
            return
        if left:
            self._fail(WrongRequestError("the request's body has not the length that it says"))
        elif left is None:
            self.transport.write(b"0\r\n\r\n")
        self._sending = None

    def _wait(self) -> None:
        """The time for an answer begins."""
        self._settle()
        if self._answer is not None and not self._answer.status:
            self._late = self._loop.call_later(ANSWER_SECONDS, self._fail, TimeoutError())

    def _settle(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    # -- what the transport says --------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment] # of a stream

    def data_received(self, data: bytes) -> None:
        answer = self._answer
        if answer is None:  # nothing was asked
            self.transport.abort()
            return
        self._unread += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._keeps = False
            if not answer.is_whole:
                self._fail(UpstreamError("the server's answer is not HTTP"))
                return
        if answer.is_whole:
            self._whole(answer)
        elif self._unread > LONGEST_HEAD:
            self._fail(UpstreamError("the server's answer has too long a head"))
        elif answer.status and not self._is_held:
            self._settle()
            answer.tell()

    def eof_received(self) -> None:
        answer = self._answer
        if answer is not None and answer.status and not self._is_framed and _is_told(self.transport):
            answer.is_whole = True
            self._whole(answer)

    def connection_lost(self, error: Exception | None) -> None:
        if self in self._resting:
            self._resting.remove(self)
        if self._answer is not None:
            began = self._answer.status or self._unread
            what = "the server's answer broke off" if began else "the server ended the connection without an answer"
            self._fail(UpstreamError(what))
        self.resume_writing()

    def pause_writing(self) -> None:
        self._room = self._loop.create_future()

    def resume_writing(self) -> None:
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        self._room = None

    # -- what the parser says -----------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        if self._answer is None or self._answer.is_whole:
            raise UpstreamError

    def on_header(self, name: bytes, value: bytes) -> None:
        answer = self._answer
        if answer is not None and not answer.status:  # trailers are for the connection
            answer.headers.append((name.lower(), value.strip()))

    def on_headers_complete(self) -> None:
        answer = self._answer
        if answer is None:
            raise UpstreamError
        status = self._parser.get_status_code()
        found = dict(answer.headers)
        if not _is_sound(status, self._parser.get_http_version(), answer.headers, found):
            raise UpstreamError
        size = self._unread
        if size > LONGEST_HEAD and sum(len(name) + len(value) for name, value in answer.headers) > LONGEST_HEAD:
            raise UpstreamError
        if status < 200:  # noqa: PLR2004 - RFC 9110, 15.2: there is another to come
            answer.headers.clear()
            return
        answer.status, answer.found = status, found
        answer.has_body = not self._is_to_head and status not in (204, 304)
        length = found.get(b"content-length")
        self._unread = 0
        self._is_framed = length is not None or b"transfer-encoding" in found or not answer.has_body
        self._is_held = length is not None and int(length) <= self._holds
        answer.is_whole = self._is_to_head  # which the parser does not know

    def on_body(self, data: bytes) -> None:
        answer = self._answer
        if answer is None or answer.is_whole:
            raise UpstreamError
        self._unread = 0
        if answer.add(data) and not self._is_paused:
            self._is_paused = True
            self.transport.pause_reading()

    def on_message_complete(self) -> None:
        answer = self._answer
        if answer is not None and answer.status and not answer.is_whole:
            answer.is_whole = True
            self._keeps = self._parser.should_keep_alive()

    # -- how it ends --------------------------------------------------------------------------------------------

    def _whole(self, answer: Answer) -> None:
        """The answer is whole: the connection rests, where it can be used once more."""
        is_sent = self._sending is None and not self.transport.get_write_buffer_size()
        if self._keeps and is_sent and len(self._resting) < _KEPT:
            self._answer = None
            self._settle()
            self.read_on()
            self.rests_since = self._loop.time()
            self._resting.append(self)
        else:
            self.close()
        answer.tell()

    def _fail(self, error: Exception) -> None:
        answer = self._answer
        self.close()
        if answer is not None:
            answer.fail(error)


def _is_sound(status: int, version: str, headers: Headers, found: dict[bytes, bytes]) -> bool:
    """Whether an answer is one that can be passed on: its status known, its body framed in a way that all know."""
    if version not in ("1.1", "1.0") or not 100 <= status < 600:  # noqa: PLR2004 - RFC 9110, 15
        return False
    if status < 200:  # noqa: PLR2004 - likewise: it has no body, and one that says it has is a trap
        return not found.keys() & _FRAMING
    if b"transfer-encoding" not in found:
        return True
    codings = [value.lower() for name, value in headers if name == b"transfer-encoding"]
    return version == "1.1" and codings == [b"chunked"]  # RFC 9112, 6.1


def _is_told(transport: asyncio.Transport) -> bool:
    """Whether an end that has come is the server's: over TLS it is anyone's where TLS does not tell (RFC 9112, 9.8)."""
    tls: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
    with suppress(ssl.SSLError):
        return tls is None or not tls.read(1)
    return False
