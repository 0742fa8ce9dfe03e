"""JSON-RPC messages as they are on the wire: read leniently, kept as bytes.

Rules
- A message that cannot be read is None: it is relayed as it came, it is never an error of ours.
- An id is compared by value (`1.0` answers `1`, "1" does not) and written back as the client spelled it.
- What a strict decoder refuses (NaN, lone surrogates, ten thousand levels, a byte order mark) still has an id
  and a method: a request whose answer went unseen would be answered twice when the server dies.
"""

import re
from contextlib import suppress
from itertools import islice
from typing import Any

import msgspec

from argfit.core import spans as json_spans
from argfit.core import text as json_text

Id = str | int | float
_ID_TYPES = frozenset((str, int, float))

MODERN_META = "io.modelcontextprotocol/protocolVersion"

# What a call may say once only: in the message, and in its params.
_ONCE = (("id", "method", "params"), ("name", "arguments", "_meta"))
_QUOTED_ONCE = tuple(f'"{name}"'.encode() for names in _ONCE for name in names)

LONGEST_BATCH = 10_000  # messages; a longer list is no conversation, and is relayed unread
SLOW_LIMIT = 2**20  # bytes; reading what a strict decoder refuses takes a second for each

_NO_JSON = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)


class Message(msgspec.Struct):
    """The members of a JSON-RPC message that matter here; `Raw` members are bytes of the message."""

    id: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    method: str | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET

    @property
    def answers(self) -> bool:
        """Whether it answers a request: servers print log lines that are objects with an `id`, too."""
        return self.result is not msgspec.UNSET or self.error is not msgspec.UNSET

    @property
    def failed(self) -> bool:
        """Whether it answers with a JSON-RPC error."""
        return self.error is not msgspec.UNSET and bytes(self.error) != b"null"


class UnsureMessage(Message):
    """A message that a strict decoder refuses: it may be JSON to others, or none at all."""


class Call(msgspec.Struct, frozen=True):
    """A `tools/call`: what it is answered by, which tool it names, what it carries."""

    id: Id
    raw_id: bytes
    name: str
    arguments: bytes | None
    meta: bytes | None
    request_state: str | None
    as_task: bool

    @property
    def is_modern(self) -> bool:
        """Whether it speaks 2026-07-28 or later: there every request says its version."""
        meta = value_of(self.meta)
        return isinstance(meta, dict) and MODERN_META in meta


class _Params(msgspec.Struct, rename="camel"):
    name: str
    arguments: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    meta: msgspec.Raw | msgspec.UnsetType = msgspec.field(name="_meta", default=msgspec.UNSET)
    request_state: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    task: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_decode_message = msgspec.json.Decoder(Message).decode
_decode_params = msgspec.json.Decoder(_Params).decode
_decode_any = msgspec.json.Decoder().decode


def read_message(line: bytes) -> Message | None:
    """Read one message; None for a batch, a log line, or anything else that is no JSON object."""
    try:
        return _decode_message(line)
    except _NO_JSON:
        return _read_tolerantly(line)


def batch_members(line: bytes) -> list[json_spans.Member] | None:
    """Where the messages of a batch stand (MCP 2025-03-26); None where the line is no batch to be looked into."""
    if line.lstrip(b" \t\r\n\xef\xbb\xbf")[:1] != b"[":
        return None
    try:
        spans = list(islice(json_spans.members(line, line.index(b"[")), LONGEST_BATCH + 1))
    except json_text.NotJson:
        return None
    return spans if len(spans) <= LONGEST_BATCH else None


def read_call(message: Message) -> Call | None:
    """Read a `tools/call`; None for any other message, and for one that names no tool or cannot be answered."""
    id = id_of(message.id)
    if message.method != "tools/call" or message.params is msgspec.UNSET or id is None:
        return None
    params: _Params | None
    try:
        params = _decode_params(message.params)
    except _NO_JSON:
        params = _read_params_tolerantly(message.params)
    if params is None:
        return None
    state = None if params.request_state is msgspec.UNSET else value_of(params.request_state)
    return Call(
        id,
        bytes(message.id),  # type: ignore[arg-type] # set: it has a value
        params.name,
        None if params.arguments is msgspec.UNSET else bytes(params.arguments),
        None if params.meta is msgspec.UNSET else bytes(params.meta),
        state if isinstance(state, str) else None,
        params.task is not msgspec.UNSET,
    )


def _read_params_tolerantly(raw: msgspec.Raw) -> _Params | None:
    members = raw_members(bytes(raw))
    if members is None or type(name := value_of(members.pop("name", None))) is not str:
        return None
    known = {"arguments": "arguments", "_meta": "meta", "requestState": "request_state", "task": "task"}
    return _Params(name, **{known[key]: part for key, part in members.items() if key in known})


def id_of(raw: msgspec.Raw | msgspec.UnsetType) -> Id | None:
    """An id's value, by which an answer is matched to its request; None for what is no JSON-RPC id."""
    if raw is msgspec.UNSET:
        return None
    value = value_of(raw)
    return value if type(value) in _ID_TYPES else None


def value_of(raw: Any) -> Any:
    """The JSON value of raw bytes; None for null, for nothing, and for what cannot be read."""
    if raw is None or raw is msgspec.UNSET:
        return None
    try:
        return _decode_any(raw)
    except _NO_JSON:
        pass
    try:
        return json_text.loads(bytes(raw))
    except json_text.NotJson:
        return None


def arguments_span(line: bytes, arguments: bytes | None) -> tuple[int, int] | None:
    """Where a call's arguments stand; an empty span where it has none.

    None where the message says twice what is called with what: which one counts is the server's to say.
    """
    if arguments is not None:
        start = line.find(arguments)
        if line.find(arguments, start + 1) < 0:  # found once, they can be nothing else
            end = start + len(arguments)
            around = line[:start] + line[end:]
            if b"\\" not in around and all(around.count(key) <= 1 for key in _QUOTED_ONCE):
                return start, end
    return _arguments_span_by_members(line)


def _arguments_span_by_members(line: bytes) -> tuple[int, int] | None:
    start = line.index(b"{")
    span = (0, 0)
    for names in _ONCE:
        seen = set[str | int]()
        try:
            for member in json_spans.members(line, start):
                if member.step in names:
                    if member.step in seen:
                        return None
                    seen.add(member.step)
                    if member.step in ("params", "arguments"):
                        span = (member.start, member.end)
        except json_text.NotJson:
            return None
        if "params" in seen:
            start = span[0]
    return span if "arguments" in seen else (0, 0)


def raw_id(raw: msgspec.Raw | msgspec.UnsetType) -> bytes:
    """An id as it was spelled, in bytes of its own: `Raw` keeps the whole message alive."""
    return b"null" if raw is msgspec.UNSET else bytes(raw)


def is_json(line: bytes) -> bool:
    """Whether a line that a strict decoder refused is JSON to other readers; one too long to tell is not."""
    if len(line) > SLOW_LIMIT:
        return False
    try:
        json_text.read(line, doubled_is_fine=True)
    except json_text.NotJson:
        return False
    return True


def _read_tolerantly(line: bytes) -> Message | None:
    members = raw_members(line)
    if members is None:
        return None
    method = value_of(members.pop("method", None))
    known = {key: raw for key, raw in members.items() if key in ("id", "params", "result", "error")}
    return UnsureMessage(method=method if isinstance(method, str) else msgspec.UNSET, **known)


def raw_items(text: bytes) -> list[bytes]:
    """The items of a list as bytes; none where it is no list."""
    try:
        return [text[span.start : span.end] for span in json_spans.members(text, 0)] if text[:1] == b"[" else []
    except json_text.NotJson:
        return []


def raw_members(line: bytes) -> dict[str, msgspec.Raw] | None:
    """The members of an object as bytes; None where it is no object."""
    start = 3 if line.startswith(b"\xef\xbb\xbf") else 0
    if line[start:].lstrip()[:1] != b"{":
        return None
    try:
        spans = list(json_spans.members(line, line.index(b"{")))
    except json_text.NotJson:
        return None
    return {str(span.step): msgspec.Raw(line[span.start : span.end]) for span in spans}


# -- messages too large to parse ----------------------------------------------------------------------

# The short members that end an object which ends the text: a nested one would leave a bracket behind.
_LAST_MEMBERS = re.compile(
    rb'(?:[,{]\s*"(?:id|method|jsonrpc)"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?[0-9.eE+-]+)\s*)+\}\s*\Z', re.DOTALL
)
TAIL = 4096  # bytes kept of the end of an overlong message, to find an id or a method that stands last


def skim(head: bytes, tail: bytes) -> Message:
    """What can be said of an overlong message from its two ends: its id and its method."""
    last = _LAST_MEMBERS.search(tail)
    found = _skim_members(head) | (_skim_members(b"{" + last[0].lstrip(b",{")) if last else {})
    method = value_of(found.get("method"))
    return Message(found.get("id", msgspec.UNSET), method if isinstance(method, str) else msgspec.UNSET)


def _skim_members(text: bytes) -> dict[str, msgspec.Raw]:
    """The members of a message as far as they can be read."""
    found: dict[str, msgspec.Raw] = {}
    with suppress(json_text.NotJson, ValueError):  # it is cut off somewhere: what comes before the cut counts
        for member in json_spans.members(text, text.index(b"{")):
            found[str(member.step)] = msgspec.Raw(text[member.start : member.end])
    return found
