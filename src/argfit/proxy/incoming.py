"""A client's connection: uvicorn's, with a bound on what is no body, and an end for streams that have none."""

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from argfit.proxy.connection import LONGEST_HEAD

_TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_BAD = b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b"


class Incoming(HttpToolsProtocol):
    """The protocol of a connection, for `uvicorn.Config(http=...)`."""

    _unread = 0  # bytes since the last that were a part of a body

    def data_received(self, data: bytes) -> None:
        """Read on, unless that is too much (RFC 6585, 5)."""
        self._unread += len(data)
        super().data_received(data)
        if self._unread > LONGEST_HEAD and not self.transport.is_closing():
            self._refuse(_TOO_LONG)

    def send_400_response(self, msg: str) -> None:
        """What has come is not HTTP."""
        self._refuse(_BAD % (len(msg), msg.encode()))

    def _refuse(self, answer: bytes) -> None:
        """Say so, and end the connection; half an answer stays half of one."""
        cycle: Any = self.cycle  # None before the first request
        if cycle is not None and cycle.response_started and not cycle.response_complete:
            self.transport.abort()
        else:
            self.transport.write(answer)
            self.transport.close()

    def shutdown(self) -> None:
        """End when what is open is answered; a stream of news has no end of its own, and its client opens it again."""
        super().shutdown()
        cycle: Any = self.cycle  # None before the first request
        if cycle is not None and _asks_for_news(cycle.scope):
            self.transport.close()

    def on_headers_complete(self) -> None:
        """A head is whole."""
        self._unread = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of a body has come."""
        self._unread = 0
        super().on_body(body)


def _asks_for_news(scope: Any) -> bool:
    """Whether a request is for what a server will have to say: a GET of events, or `subscriptions/listen`."""
    said = dict(scope["headers"])
    is_stream = scope["method"] == "GET" and b"text/event-stream" in said.get(b"accept", b"")
    return is_stream or said.get(b"mcp-method") == b"subscriptions/listen"
