"""A client that asks a server for its tools and for nothing else: lines in, lines out.

Rules
- It greets as MCP asks (2025-11-25, lifecycle); a server that knows no `initialize` is asked as 2026-07-28 has it.
- All pages are read; a server that gives a page twice, or never ends, is not asked on.
- What the server asks meanwhile is answered: a ping, or that we cannot do it. Whatever else it says is passed over.
"""

from typing import Any

from argfit.core.text import encoded
from argfit.wire.message import MODERN_META, read_message, value_of
from argfit.wire.reply import question

VERSION, MODERN_VERSION = "2025-11-25", "2026-07-28"
PAGES = 1_000
_MODERN = {MODERN_META: MODERN_VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
_GREETING, _LISTING = "argfit-greeting", "argfit-listing"
_UNKNOWN_METHOD = -32601  # JSON-RPC 2.0, 5.1


class Listing:
    """One listing under way: `over` once there is nothing more to come, `refusal` where the server would not say."""

    def __init__(self, client_version: str) -> None:
        self.tools: list[Any] = []
        self.over = False
        self.unfinished = False  # the server had more, or went round in circles
        self.refusal = ""
        self._version = client_version
        self._meta: dict[str, Any] | None = None
        self._cursors: set[str] = set()
        self._known: dict[bytes, Any] = {}  # a server that goes round in circles has each tool once

    def opening(self) -> bytes:
        """What is said first."""
        client = {"name": "argfit", "version": self._version}
        params = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client}
        return _message(id=_GREETING, method="initialize", params=params)

    def receive(self, line: bytes) -> bytes:
        """Take a line of the server's; returns what is to be said to it, if anything."""
        message = read_message(line)
        if message is None:
            return b""
        id = value_of(message.id)
        if isinstance(message.method, str):
            if id in (_GREETING, _LISTING):
                self.over, self.refusal = True, "it repeats what it is told, and is no MCP server"
                return b""
            return b"" if id is None else self._answer(id, message.method)
        if id == _GREETING and self._meta is None and message.answers:
            if not message.failed:
                return _message(method="notifications/initialized") + question(_LISTING, None, None)
            self._meta = _MODERN
            return question(_LISTING, None, self._meta)
        if id == _LISTING and message.failed:
            self.over, self.refusal = True, _words(value_of(message.error))
        elif id == _LISTING and message.answers:
            return self._page(value_of(message.result))
        return b""

    def _page(self, result: Any) -> bytes:
        tools = result.get("tools") if isinstance(result, dict) else None
        if not isinstance(tools, list):
            self.over, self.refusal = True, "its answer to tools/list holds no list of tools"
            return b""
        for tool in tools:
            self._known.setdefault(encoded(tool), tool)
        self.tools = list(self._known.values())
        cursor = result.get("nextCursor")
        if not isinstance(cursor, str) or cursor in self._cursors or len(self._cursors) >= PAGES:
            self.over, self.unfinished = True, isinstance(cursor, str)
            return b""
        self._cursors.add(cursor)
        return question(_LISTING, cursor, self._meta)

    @staticmethod
    def _answer(id: Any, method: str) -> bytes:
        if method == "ping":
            return _message(id=id, result={})
        return _message(id=id, error={"code": _UNKNOWN_METHOD, "message": "this client only lists tools"})


def _message(**members: Any) -> bytes:
    return encoded({"jsonrpc": "2.0", **members}) + b"\n"


def _words(error: Any) -> str:
    said = error.get("message") if isinstance(error, dict) else None
    return said if isinstance(said, str) and said else "it answered tools/list with an error"
