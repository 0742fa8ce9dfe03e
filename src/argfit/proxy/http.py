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
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from time import monotonic
from typing import Any

from argfit.core.record import Log
from argfit.proxy.asking import Questions
from argfit.proxy.callers import Callers
from argfit.proxy.connection import Answer, UpstreamError, WrongRequestError
from argfit.proxy.request import Receive, Request, Scope, end_to_end
from argfit.proxy.upstream import Upstream
from argfit.wire import reply
from argfit.wire.asking import Ask
from argfit.wire.conversation import Memory, Settings
from argfit.wire.exchange import JSON, LIMIT, Exchange, Passed
from argfit.wire.exchange import Answer as Reader
from argfit.wire.message import raw_id, read_message
from argfit.wire.mirror import Headers

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

HEALTH, READY = "/-/health", "/-/ready"
_SHORT = 2**16  # bytes of an answer that goes on in one piece
_PROMPT = 0.05  # seconds; a client that goes later than that is noticed at once
_BODILESS = (204, 304)  # which some ASGI servers hold to a length that they say

_CLOSE = (b"connection", b"close")
_CALLED = frozenset((b"host", b"origin"))
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
        self._upstream = Upstream(upstream)
        self._settings = settings
        self._schema_wait = schema_wait
        self._limit = limit
        self._hosts = hosts
        self._right: Headers = []  # by what the last request was called that was called rightly
        self._log = log
        self._callers = Callers(settings)
        self._questions = Questions(self._upstream)

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
            if message["type"] == "lifespan.shutdown":
                self._upstream.close()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if path == HEALTH:
            await _answer(send, 200, b"ok\n", b"text/plain")
        elif path == READY:
            is_up = await self._upstream.is_up()
            await _answer(send, 200 if is_up else 503, b"ok\n" if is_up else b"no server\n", b"text/plain")
        elif not self._is_called_rightly(scope["headers"]):
            await _answer(send, 403, b"argfit serves this machine only, by its own names\n", b"text/plain")
        else:
            request = Request(scope, receive, path)
            if request.is_odd:
                await _answer(
                    send, 501, b"argfit relays no coded body, and no upgrade beside one\n", b"text/plain", _CLOSE
                )
            else:
                await self._relay(request, send)

    def _is_called_rightly(self, headers: Headers) -> bool:
        """Whether a request means this server: a page on the web may have made its own name mean this machine."""
        if self._hosts is None:
            return True
        said = [header for header in headers if header[0] in _CALLED]
        if said == self._right:
            return bool(said)
        named = [value.decode("latin-1") for name, value in said if name == b"host"]
        origins = [value.decode("latin-1").partition("://")[2] for name, value in said if name == b"origin"]
        if len(named) != 1 or any(_PORT.sub("", name.lower()) not in self._hosts for name in (*named, *origins)):
            return False
        self._right = said
        return True

    # -- one request ------------------------------------------------------------------------------------------

    async def _relay(self, request: Request, send: Send) -> None:
        is_ours = request.path == self._upstream.path
        memory = self._callers.memory(request.headers, request.target) if is_ours else None
        body = None
        watch = _Watch(request)
        try:
            if is_ours and request.method == "POST" and not request.is_coded:
                body = await request.read(self._limit)
                if body is None and self._settings.on_misfit == "refuse":
                    await _answer(send, 413, reply.failed(b"null", "the request is larger than argfit reads"), JSON)
                    return
            await self._exchange(request, memory, body, send)
        except ConnectionResetError:  # the client's, while its request was read
            pass
        except asyncio.CancelledError:
            if not watch.has_gone:
                raise
        finally:
            watch.end()

    async def _exchange(self, request: Request, memory: Memory | None, body: bytes | None, send: Send) -> None:
        exchange = None if memory is None else Exchange(self._settings, memory)
        headers, data = request.headers, body
        if exchange is not None and memory is not None and body is not None:
            decided = exchange.request(body, headers, monotonic())
            passed = (
                decided if isinstance(decided, Passed) else await self._asked(exchange, memory, body, decided, request)
            )
            self._tell(exchange)
            if not passed.body and passed.answers:
                await _answer(send, 200, *request.wrapped(passed.answers))
                return
            data, headers = passed.body, passed.headers
        sent = await request.unread() if data is None else data
        back = _Back(send)
        if exchange is not None:
            headers = request.to_be_read(headers)
        holds = _SHORT if request.method == "POST" else 0
        answer = None
        try:
            answer = await self._upstream.ask(request.method.encode(), request.target, headers, sent, holds=holds)
            await self._pass_back(answer, exchange, back)
        except TimeoutError:  # an OSError, too
            await back.fail(504, reply.failed(_id_of(body), "the server does not answer"))
        except WrongRequestError as error:
            await back.fail(400, reply.failed(_id_of(body), str(error)))
        except UpstreamError as error:
            await back.fail(502, reply.failed(_id_of(body), str(error)))
        finally:
            if answer is not None:
                answer.close()
        if exchange is not None and request.method == "DELETE" and answer is not None and not answer.is_error:
            self._callers.forget(request.headers, request.target)

    async def _asked(self, exchange: Exchange, memory: Memory, body: bytes, ask: Ask, request: Request) -> Passed:
        """What is decided once the tools have been asked for."""
        headers = request.headers
        await self._questions.answered(memory, ask.question, request.target, headers, self._schema_wait)
        decided = exchange.request(body, headers, monotonic(), waited=True)
        return decided if isinstance(decided, Passed) else Passed(body, headers)

    async def _pass_back(self, answer: Answer, exchange: Exchange | None, back: "_Back") -> None:
        found = answer.found
        headers = end_to_end(answer.headers, found)
        if exchange is not None and found.get(b"content-encoding", b"identity") != b"identity":
            exchange = None
        kind = found.get(b"content-type", b"")
        if not answer.has_body:
            if answer.status in _BODILESS:
                headers = _unmeasured(headers)
            await back.start(answer.status, headers)
            await back.end(b"")
        elif answer.is_whole:
            whole = await answer.rest()
            await back.whole(
                answer.status, headers, whole if exchange is None else exchange.heard(kind, whole, monotonic())
            )
        else:
            await self._stream(answer, headers, None if exchange is None else exchange.answer(kind), back)
        if exchange is not None:
            self._tell(exchange)

    async def _stream(self, answer: Answer, headers: Headers, reader: Reader | None, back: "_Back") -> None:
        """Pass an answer back part by part; one that is held begins with its end, or where it turns out too large."""
        if reader is not None and reader.changes_length:
            headers = _unmeasured(headers)
        is_held = reader is not None and reader.is_held
        if not is_held:
            await back.start(answer.status, headers)
        while part := await answer.part():
            passed = part if reader is None else reader.chunk(part, monotonic())
            if passed and is_held:
                is_held = False
                await back.start(answer.status, headers)
            await back.part(passed)
        rest = b"" if reader is None else reader.end(monotonic())
        await (back.whole(answer.status, headers, rest) if is_held else back.end(rest))

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
        length = (b"content-length", b"%d" % len(body))
        if length not in headers:
            headers = [*_unmeasured(headers), length]
        await self.start(status, headers)
        await self.end(body)

    async def fail(self, status: int, body: bytes) -> None:
        """Say that there is no answer; where half of one is on its way, leave it at that, and raise the error."""
        if self._begun:
            raise  # noqa: PLE0704 - called where it was caught: the ASGI server ends the connection
        await self.whole(status, [(b"content-type", JSON)], body)


class _Watch:
    """Gives up the work for a client that is gone; it looks out for one only where the work takes its time."""

    def __init__(self, request: Request) -> None:
        self.has_gone = False
        self._request = request
        self._working = asyncio.current_task()
        self._going: asyncio.Future[None] | None = None
        self._begin_later()

    def end(self) -> None:
        self._timer.cancel()
        if self._going is not None:
            self._going.cancel()

    def _begin_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_PROMPT, self._begin)

    def _begin(self) -> None:
        if not self._request.is_read:  # whoever reads it will be told
            self._begin_later()
            return
        self._going = asyncio.ensure_future(self._request.gone())
        self._going.add_done_callback(self._gone)

    def _gone(self, ended: asyncio.Future[None]) -> None:
        if not ended.cancelled() and self._working is not None:
            self.has_gone = True
            self._working.cancel()


def _unmeasured(headers: Headers) -> Headers:
    return [one for one in headers if one[0] != b"content-length"]


def _id_of(body: bytes | None) -> bytes:
    message = None if body is None else read_message(body)
    return b"null" if message is None else raw_id(message.id)


async def _answer(send: Send, status: int, body: bytes, media_type: bytes, *more: tuple[bytes, bytes]) -> None:
    """Answer a request here."""
    await _Back(send).whole(status, [(b"content-type", media_type), *more], body)


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
