"""A request as an ASGI server hands it over: its head, as it goes on, and its body, read whole or in parts.

Rules
- The body that goes on is the one that came. In a coding that ASGI servers leave in it, it would be another (RFC 9112,
  6.1); and of a request that also asks for another protocol, httptools takes the body for the beginning of that.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import quote

from argfit.proxy.connection import Body
from argfit.wire.exchange import EVENTS, JSON, as_event
from argfit.wire.mirror import Headers

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

# RFC 9110, 7.6.1, and what older software sends for the same; `Expect` is answered by the ASGI server.
_HOPS = frozenset(
    (b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade", b"expect")
)
_OWN = frozenset((b"host", b"content-length"))


class Request:
    """A request as it comes: its head, and its body read whole or in parts."""

    def __init__(self, scope: Scope, receive: Receive, path: str) -> None:
        self._receive = receive
        self._began: list[bytes] = []  # of the body, what was read before it was left to be streamed
        self.path = path
        self.method: str = scope["method"]
        raw_path = (scope.get("raw_path") or quote(scope["path"]).encode()).removeprefix(
            scope.get("root_path", "").encode()
        ) or b"/"
        query = scope["query_string"]
        self.target: bytes = b"%b?%b" % (raw_path, query) if query else raw_path
        came: Headers = scope["headers"]
        found = dict(came)
        self._length = found.get(b"content-length")
        self.has_body = b"transfer-encoding" in found or self._length not in (None, b"0")
        self.is_read = not self.has_body
        self.is_odd = self.has_body and (b"transfer-encoding" in found or b"upgrade" in found) and _is_odd(came)
        self.is_coded = found.get(b"content-encoding", b"identity") != b"identity"
        self._accept = found.get(b"accept", b"")
        self._is_coding_asked = b"accept-encoding" in found and not (self.has_body and self.is_coded)
        self.headers = end_to_end(came, found, _OWN)

    def to_be_read(self, headers: Headers) -> Headers:
        """The headers as the server gets them where its answer is read, which must not come in a coding then."""
        if not self._is_coding_asked:
            return headers
        return [(name, b"identity" if name == b"accept-encoding" else value) for name, value in headers]

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

    async def unread(self) -> bytes | Body | None:
        """The body as nobody read it: as it comes, or all of it where that is there."""
        if not self.has_body:
            return None
        if not self._began:
            self._began.append(await self._part())
        if self.is_read:
            return b"".join(self._began)
        return Body(self._stream(), None if self._length is None else int(self._length))

    async def _stream(self) -> AsyncIterator[bytes]:
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


def end_to_end(headers: Headers, found: dict[bytes, bytes], beside: frozenset[bytes] = frozenset()) -> Headers:
    """The headers less those that are for this connection only, or are written anew."""
    hops = _HOPS | beside
    if b"connection" in found:
        hops |= _connection_options(headers)
    return [one for one in headers if one[0] not in hops]


def _is_odd(headers: Headers) -> bool:
    """Whether a body is one of those that do not come as they were sent."""
    codings = [value.strip().lower() for name, value in headers if name == b"transfer-encoding"]
    return codings not in ([], [b"chunked"]) or b"upgrade" in _connection_options(headers)


def _connection_options(headers: Headers) -> set[bytes]:
    """What `Connection` names, in lower case (RFC 9110, 7.6.1)."""
    named = b",".join(value for name, value in headers if name == b"connection")
    return {name.strip().lower() for name in named.split(b",")}
