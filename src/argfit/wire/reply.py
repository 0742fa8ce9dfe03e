"""The few messages that argfit writes itself.

Rules
- A refusal is a result with `isError`, not a JSON-RPC error (contract, section 7; MCP 2025-06-18, tools).
- From 2026-07-28 on a result says `resultType` and carries the server's info; before it, neither.
- An id goes back as the client spelled it.
"""

import re
from typing import Any

from argfit.core import refusal as refusal_text
from argfit.core.fit import Fit
from argfit.core.problem import Path
from argfit.core.spans import Member, locate, members, splice
from argfit.core.text import ESCAPES, NotJson, encoded, is_half

SERVER_INFO = "io.modelcontextprotocol/serverInfo"
SERVER_GONE = -32000  # JSON-RPC 2.0, 5.1: the first code left to implementations


def question(id: str, cursor: str | None, meta: dict[str, Any] | None) -> bytes:
    """A `tools/list` of our own; `meta` is that of the call it serves (2026-07-28 has no other handshake)."""
    params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
    if meta is not None:
        # a progress token names one request: the call's is not ours to use
        params["_meta"] = {key: value for key, value in meta.items() if key != "progressToken"}
    return _line(encoded(id), "method", "tools/list", params=params)


def refusal(id: bytes, tool: str, fit: Fit, *, modern: bool, server_info: Any) -> bytes:
    """The answer to a call whose arguments do not fit: the tool did not run, and this is what was wrong."""
    meta = refusal_text.meta_of(fit)
    if modern and server_info is not None:
        meta[SERVER_INFO] = server_info
    result: dict[str, Any] = {
        "content": [{"type": "text", "text": refusal_text.text_of(tool, fit)}],
        "isError": True,
        "_meta": meta,
    }
    if modern:
        result["resultType"] = "complete"
    return _line(id, "result", result)


def server_gone(id: bytes, code: int) -> bytes:
    """The answer to a request that a server left open when it ended."""
    return _line(id, "error", {"code": SERVER_GONE, "message": f"server exited (code {code})"})


def failed(id: bytes, why: str) -> bytes:
    """The answer to a request that did not come to its server, or has no answer from it."""
    return _line(id, "error", {"code": SERVER_GONE, "message": why})


def note(fit: Fit) -> str:
    """What `explain` adds to a server's error."""
    return f"Note: these arguments differ from the tool's published schema: {fit.message}"


def with_note(line: bytes, text: str, inside: Path = ()) -> bytes:
    """An answer with a note: a further text block of an error result, or the end of an error's message.

    `inside` names the member that holds the `result` or `error`; an answer that has no place for a note comes
    back as it is.
    """
    at_content, at_message = (*inside, "result", "content"), (*inside, "error", "message")
    try:
        found = locate(line, [at_content, at_message])
        content = found.get(at_content)
        if content is not None and line[content.start : content.start + 1] == b"[":
            block = encoded({"type": "text", "text": text})
            empty = next(members(line, content.start), None) is None
            return _inserted(line, content, block if empty else b"," + block)
    except NotJson:
        return line
    said = found.get(at_message)
    if said is not None and line[said.start : said.start + 1] == b'"':
        blank = b"" if line[said.start : said.end] == b'""' else b" "
        return _inserted(line, said, blank + encoded(text)[1:-1])
    return line


def _readable(escape: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if is_half(escape) else escape[0]


def _inserted(line: bytes, member: Member, addition: bytes) -> bytes:
    return splice(line, [(member.end - 1, member.end - 1, addition)])


def _line(id: bytes, member: str, value: Any, **more: Any) -> bytes:
    """One message with an id as it was spelled; ASCII throughout, so that no text can fail to be written or read."""
    rest = ESCAPES.sub(_readable, encoded({member: value, **more}))
    return b'{"jsonrpc":"2.0","id":' + id + b"," + rest[1:] + b"\n"
