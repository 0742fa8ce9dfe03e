"""The HTTP relay: an ASGI application before a streamable HTTP server (MCP 2025-03-26 to 2026-07-28).

Rules
- Everything goes on to the server's origin, path by path; what is posted to, or streamed from, the server's own path is
  read on its way.
- Nothing is sent twice: a call that may have run is never made again.
- A client that goes takes its request along. A server that goes leaves half an answer, which is never ended as a whole.
- Credentials pass, are not kept and not logged. No redirect is followed.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, MutableMapping
from contextlib import suppress
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from argfit.core.record import Log
from argfit.proxy.asking import Questions
from argfit.proxy.callers import Callers
from argfit.wire import reply
from argfit.wire.asking import Ask
from argfit.wire.conversation import Memory, Settings
from argfit.wire.exchange import EVENTS, JSON, LIMIT, Exchange, Passed, as_event
from argfit.wire.message import raw_id, read_message
from argfit.wire.mirror import Headers

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 300.0  # until the head of an answer; a stream has no end to wait for
HEALTH, READY = "/-/health", "/-/ready"
_LONGEST_HEADER = 2**16  # bytes of an answer's; challenges and cookies outgrow the library's 8 KiB
_SHORT = 2**16  # bytes of an answer that goes on in one piece

# RFC 9110, 7.6.1, and what older software sends for the same; `Expect` is answered by the ASGI server.
_HOPS = frozenset(
    (b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade", b"expect")
)
_OWN = frozenset((b"host", b"content-length"))
_PORT = re.compile(r":[0-9]*\Z")


class Gateway:
    """The ASGI application before one server; `app` makes it."""

    def __init__(
        self,
        upstream: str,
        settings: Settings,
        *,
        schema_wait: float,
        limit: int,
        hosts: Collection[str] | None,
        log: Callable[[Log], None],
    ) -> None:
        parts = urlsplit(upstream)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"{upstream} is no URL of a server; give one as http://127.0.0.1:8000/mcp")
        self._origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        self._path = parts.path or "/"
        self._address = (parts.hostname, parts.port or (443 if parts.scheme == "https" else 80))
        self._settings = settings
        self._schema_wait = schema_wait
        self._limit = limit
        self._hosts = hosts
        self._log = log
        self._callers = Callers(settings)
        self._questions = Questions(self._origin + self._path)
        self._client: aiohttp.ClientSession | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the application's life."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, receive, send)
        else:
            raise NotImplementedError("argfit relays HTTP only")

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.shutdown" and self._client is not None:
                await self._client.close()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return

    def _session(self) -> aiohttp.ClientSession:
        if self._client is None or self._client.closed:
            self._client = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
                read_bufsize=2**18,
                max_line_size=_LONGEST_HEADER,
                max_field_size=_LONGEST_HEADER,
            )
        return self._client

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if path == HEALTH:
            await _answer(send, 200, b"ok\n", b"text/plain")
        elif path == READY:
            is_up = await self._is_up()
            await _answer(send, 200 if is_up else 503, b"ok\n" if is_up else b"no server\n", b"text/plain")
        elif not self._is_called_rightly(scope["headers"]):
            await _answer(send, 403, b"argfit serves this machine only, by its own names\n", b"text/plain")
        else:
            await self._relay(_Request(scope, receive, path), send)

    def _is_called_rightly(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Whether a request means this server: a page on the web may have made its own name mean this machine."""
        if self._hosts is None:
            return True
        named = [value.decode("latin-1") for name, value in headers if name == b"host"]
        origins = [value.decode("latin-1").partition("://")[2] for name, value in headers if name == b"origin"]
        return len(named) == 1 and all(_PORT.sub("", name.lower()) in self._hosts for name in (*named, *origins))

    async def _is_up(self) -> bool:
        """Whether the server takes connections."""
        host, port = self._address
        with suppress(OSError, TimeoutError):
            _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), CONNECT_SECONDS)
            writer.close()
            return True
        return False

    # -- one request ------------------------------------------------------------------------------------------

    async def _relay(self, request: "_Request", send: Send) -> None:
        is_ours = request.path == self._path
        memory = self._callers.memory(request.headers) if is_ours else None
        body = None
        if is_ours and request.method == "POST" and not request.is_coded:
            body = await request.read(self._limit)
            if body is None and self._settings.on_misfit == "refuse":
                await _answer(send, 413, reply.failed(b"null", "the request is larger than argfit reads"), JSON)
                return
        work = self._exchange(request, memory, body, send)
        if request.is_read:
            await _while_there(work, request.gone())
        else:
            await work

    async def _exchange(self, request: "_Request", memory: Memory | None, body: bytes | None, send: Send) -> None:
        exchange = None if memory is None else Exchange(self._settings, memory)
        headers, data = request.headers, body
        if exchange is not None and memory is not None and body is not None:
            passed = await self._decided(exchange, memory, body, request.headers)
            self._tell(exchange)
            if not passed.body and passed.answers:
                await _answer(send, 200, *request.wrapped(passed.answers))
                return
            data, headers = passed.body, passed.headers
        back = _Back(send)
        try:
            async with await self._asked(request, headers, data) as answer:
                await self._pass_back(answer, exchange, back)
        except TimeoutError:  # an OSError, too
            await back.fail(504, reply.failed(_id_of(body), "the server does not answer"))
        except (aiohttp.ClientError, OSError) as error:
            began = isinstance(error, aiohttp.ClientPayloadError)
            what = "the server's answer broke off" if began else "the server cannot be reached"
            await back.fail(502, reply.failed(_id_of(body), what))
        else:
            if exchange is not None and request.method == "DELETE" and answer.ok:
                self._callers.forget(request.headers)

    async def _decided(self, exchange: Exchange, memory: Memory, body: bytes, headers: Headers) -> Passed:
        decided = exchange.request(body, headers, monotonic())
        if isinstance(decided, Ask):
            await self._questions.answered(memory, decided.question, headers, self._session(), self._schema_wait)
            decided = exchange.request(body, headers, monotonic(), waited=True)
        return decided if isinstance(decided, Passed) else Passed(body, headers)

    async def _asked(self, request: "_Request", headers: Headers, data: bytes | None) -> aiohttp.ClientResponse:
        """The server's answer, once its head is there."""
        query = f"?{request.query}" if request.query else ""
        url = URL(f"{self._origin}{request.raw_path}{query}", encoded=True)
        sent: Any = request.stream() if data is None and request.has_body else data
        async with asyncio.timeout(ANSWER_SECONDS):
            return await self._session().request(
                request.method, url, headers=_as_text(headers, request.reads_answer), data=sent, allow_redirects=False
            )

    async def _pass_back(self, answer: aiohttp.ClientResponse, exchange: Exchange | None, back: "_Back") -> None:
        headers = _end_to_end(answer.raw_headers)
        found = {name.lower(): value for name, value in answer.raw_headers}
        coded = found.get(b"content-encoding", b"identity") != b"identity"
        reader = None if exchange is None or coded else exchange.answer(found.get(b"content-type", b""))
        is_short = answer.method == "POST" and 0 < (answer.content_length or 0) <= _SHORT
        if is_short or (reader is not None and reader.changes_length):
            whole = await answer.read()
            if reader is not None:
                whole = reader.chunk(whole, monotonic()) + reader.end(monotonic())
            await back.whole(answer.status, headers, whole)
        else:
            await back.start(answer.status, headers)
            async for chunk in answer.content.iter_any():
                await back.part(chunk if reader is None else reader.chunk(chunk, monotonic()))
            await back.end(b"" if reader is None else reader.end(monotonic()))
        if exchange is not None:
            self._tell(exchange)

    def _tell(self, exchange: Exchange) -> None:
        for line in exchange.take_logs():
            self._log(line)


class _Back:
    """The way back to the client."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False

    async def start(self, status: int, headers: Headers) -> None:
        self._begun = True
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def part(self, body: bytes) -> None:
        if body:
            await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def end(self, body: bytes) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def whole(self, status: int, headers: Headers, body: bytes) -> None:
        others = [(name, value) for name, value in headers if name.lower() != b"content-length"]
        await self.start(status, [*others, (b"content-length", b"%d" % len(body))])
        await self.end(body)

    async def fail(self, status: int, body: bytes) -> None:
        """Say that there is no answer; where half of one is on its way, leave it at that, and raise the error."""
        if self._begun:
            raise  # noqa: PLE0704 - called where it was caught: the ASGI server ends the connection
        await self.whole(status, [(b"content-type", JSON)], body)


class _Request:
    """A request as it comes: its head, and its body read whole or in parts."""

    def __init__(self, scope: Scope, receive: Receive, path: str) -> None:
        self._receive = receive
        self._began: list[bytes] = []  # of the body, what was read before it was left to be streamed
        self.is_read = False
        self.path = path
        self.method: str = scope["method"]
        raw_path = scope.get("raw_path") or scope["path"].encode()
        self.raw_path = raw_path.decode("latin-1").removeprefix(scope.get("root_path", ""))
        self.query: str = scope["query_string"].decode("latin-1")
        came: Headers = [(name.lower(), value) for name, value in scope["headers"]]
        found = dict(came)
        self.has_body = b"transfer-encoding" in found or found.get(b"content-length", b"0") != b"0"
        self.is_coded = found.get(b"content-encoding", b"identity") != b"identity"
        self._accept = found.get(b"accept", b"")
        self.headers = [one for one in _end_to_end(came) if one[0] not in _OWN]
        self.reads_answer = not (self.has_body and self.is_coded)
        if not self.has_body:
            self.is_read = True

    async def read(self, limit: int) -> bytes | None:
        """The whole body; None where it is larger than that, and what was read is kept."""
        size = 0
        while not self.is_read:
            part = await self._part()
            self._began.append(part)
            size += len(part)
            if size > limit:
                return None
        return b"".join(self._began)

    async def stream(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        for part in self._began:
            yield part
        while not self.is_read:
            yield await self._part()

    async def _part(self) -> bytes:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ConnectionResetError("the client is gone")
        self.is_read = not message.get("more_body", False)
        body: bytes = message.get("body", b"")
        return body

    async def gone(self) -> None:
        """Wait until the client is gone."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    def wrapped(self, answer: bytes) -> tuple[bytes, bytes]:
        """An answer of ours as this client takes it, and its media type."""
        only_events = EVENTS in self._accept and JSON not in self._accept and b"*/*" not in self._accept
        return (as_event(answer), EVENTS) if only_events else (answer.strip(), JSON)


async def _while_there(work: Awaitable[None], gone: Awaitable[None]) -> None:
    """Do the work while the client is there: where it goes, the work is given up."""
    working = asyncio.current_task()
    going = asyncio.ensure_future(gone)
    going.add_done_callback(lambda ended: None if ended.cancelled() or working is None else working.cancel())
    try:
        await work
    except asyncio.CancelledError:
        if not going.done():
            raise
    finally:
        going.cancel()


def _end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers less those that are for this connection only."""
    came = list(headers)
    named = b",".join(value for name, value in came if name.lower() == b"connection")
    hops = _HOPS | {name.strip().lower() for name in named.split(b",")}
    return [one for one in came if one[0].lower() not in hops]


def _as_text(headers: Headers, reads_answer: bool) -> list[tuple[str, str]]:  # noqa: FBT001 - said by its name
    """The headers for the client library; where the answer is read it must not come in a coding."""
    sent = [(name.decode("latin-1"), _text(value)) for name, value in headers]
    if reads_answer:
        sent = [(name, "identity" if name == "accept-encoding" else value) for name, value in sent]
    return sent


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _id_of(body: bytes | None) -> bytes:
    message = None if body is None else read_message(body)
    return b"null" if message is None else raw_id(message.id)


async def _answer(send: Send, status: int, body: bytes, media_type: bytes) -> None:
    """Answer a request here."""
    await _Back(send).whole(status, [(b"content-type", media_type)], body)


def app(
    upstream: str,
    settings: Settings | None = None,
    *,
    schema_wait: float = 2.0,
    limit: int = LIMIT,
    hosts: Collection[str] | None = None,
    log: Callable[[Log], None] = lambda line: None,
) -> Gateway:
    """An ASGI application before the MCP server at a URL; `schema_wait` is in seconds, `limit` in bytes of a body.

    `hosts` are the names, without a port, by which it may be called, and that web pages may call it from; None for any.
    Raises ValueError for what is no http or https URL of a server.
    """
    return Gateway(upstream, settings or Settings(), schema_wait=schema_wait, limit=limit, hosts=hosts, log=log)
