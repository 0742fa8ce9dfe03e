"""The way to the server: its address, and the connections to it that are kept.

Rules
- Nothing is sent twice. A kept connection is used only while the server has not ended it, and no longer than servers
  keep one: who loses that race is told so, since a call may have run.
- No redirect is followed, no proxy is asked, and what https says is verified (by `SSL_CERT_FILE`, where that is set).
"""

import asyncio
import re
import ssl
from contextlib import suppress
from typing import Any
from urllib.parse import SplitResult, quote, unquote, urlsplit

from argfit.proxy.connection import Answer, Body, Connection, UpstreamError, WrongRequestError
from argfit.wire.mirror import Headers

CONNECT_SECONDS = 5.0
KEPT_SECONDS = 4.0  # that a connection may rest: uvicorn and Node.js end it after 5
_LENGTH_SAID = frozenset((b"POST", b"PUT", b"PATCH"))  # that they have no body (RFC 9110, 8.6)
_SECRET = re.compile("[?#]")  # and all that follows
_PATH_SAFE = "/%:@!$&'()*+,;=~"  # RFC 3986, 3.3


class Upstream:
    """One server, by its URL; raises ValueError for what is no http or https URL of one."""

    def __init__(self, url: str) -> None:
        parts, host, port = _read(url)
        self.target = quote(parts.path or "/", safe=_PATH_SAFE).encode()
        self.path = unquote(self.target.decode())  # as ASGI servers read it
        self._host = host
        self._port = port or (443 if parts.scheme == "https" else 80)
        self._tls = _tls() if parts.scheme == "https" else None
        named = f"[{self._host}]" if ":" in self._host else self._host
        self._named = (f"{named}:{port}" if port else named).encode()
        self._resting: list[Connection] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(
        self, method: bytes, target: bytes, headers: Headers, body: bytes | Body | None, *, holds: int = 0
    ) -> Answer:
        """Send a request; its answer, once its head is there, or all of it where that is at most `holds` bytes.

        Raises UpstreamError, TimeoutError, and WrongRequestError; `Answer.close` ends what was begun.
        """
        lines = [b"%b %b HTTP/1.1" % (method, target), b"host: %b" % self._named]
        lines += [b"%b: %b" % header for header in headers]
        if isinstance(body, Body):
            said = b"transfer-encoding: chunked" if body.length is None else b"content-length: %d" % body.length
            lines.append(said)
        elif body is not None or method in _LENGTH_SAID:
            lines.append(b"content-length: %d" % len(body or b""))
        head = b"\r\n".join((*lines, b"\r\n"))
        if not head.count(b"\r") == head.count(b"\n") == len(lines) + 1:
            raise WrongRequestError("a line of the request's head holds more than one")
        connection = self._rested() or await self._connected()
        streamed, sent = (body, head) if isinstance(body, Body) else (None, head + (body or b""))
        return await connection.ask(sent, streamed, holds=holds, is_to_head=method == b"HEAD")

    async def is_up(self) -> bool:
        """Whether the server takes connections."""
        with suppress(OSError):
            connection = await self._connected()
            connection.close()
            return True
        return False

    def close(self) -> None:
        """End the connections that rest."""
        for connection in tuple(self._resting):
            connection.close()
        self._resting.clear()

    def _rested(self) -> Connection | None:
        """A connection that was kept and can still be used."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # those of another cannot
            self._loop = loop
            self._resting = []
        while self._resting:
            connection = self._resting.pop()  # the one that rested least
            if connection.rests_since + KEPT_SECONDS < loop.time():
                connection.close()
                self.close()
            elif not connection.transport.is_closing():
                return connection
        return None

    async def _connected(self) -> Connection:
        loop = asyncio.get_running_loop()
        tls: dict[str, Any] = {} if self._tls is None else {"ssl": self._tls, "server_hostname": self._host}
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                _, made = await loop.create_connection(lambda: Connection(self._resting), self._host, self._port, **tls)
        except TimeoutError:
            raise
        except OSError:
            raise UpstreamError("the server cannot be reached") from None
        return made


def _read(url: str) -> tuple[SplitResult, str, int | None]:
    """A URL's parts, its host as it is asked for, and its port; what may be a secret is in no error."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").encode("idna").decode(), parts.port
    except ValueError:  # of which UnicodeError is one
        parts, host, port = SplitResult("", "", "", "", ""), "", 0
    if parts.username is not None or parts.password is not None:
        raise ValueError("the server's URL holds credentials; give it without, they are for its clients to send")
    if parts.scheme not in ("http", "https") or not host or port == 0 or parts.query or parts.fragment:
        shown = _SECRET.split(url)[0].rpartition("@")[2]
        raise ValueError(f"{shown} is no URL of a server; give one as http://127.0.0.1:8000/mcp")
    return parts, host, port


def _tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
