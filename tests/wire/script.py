"""The words of a script: who says what, what comes of it, and the messages they say.

Ids and arguments are given as they are spelled on the wire. The server has a tool `goto` that wants a whole
number, and whatever else a test lists.
"""

from typing import Any, NamedTuple

from argfit.core.text import encoded
from argfit.wire.conversation import Settings

TOKEN = "t0"  # noqa: S105 - fixed here, so that the ids of our questions can be written down
WAIT = 2.0  # seconds that a call waits for its schema, from time 0
EXPLAIN, FORWARD, REFUSE = (Settings(on_misfit) for on_misfit in ("explain", "forward", "refuse"))


class Step(NamedTuple):
    """One line of a script."""

    kind: str
    what: Any = None


# -- inputs ---------------------------------------------------------------------------------------------

INPUTS = {"client", "server", "at", "client closes", "server exits"}


def client(data: bytes) -> Step:
    return Step("client", data)


def server(data: bytes) -> Step:
    return Step("server", data)


def at(seconds: float) -> Step:
    return Step("at", seconds)


def client_closes() -> Step:
    return Step("client closes")


def server_exits(code: int) -> Step:
    return Step("server exits", code)


# -- what comes of them ---------------------------------------------------------------------------------


def to_server(data: bytes) -> Step:
    return Step("to server", data)


def to_client(data: bytes) -> Step:
    return Step("to client", data)


def waits_until(seconds: float) -> Step:
    return Step("waits until", seconds)


def goes_on() -> Step:
    return Step("goes on")


def log(level: str, text: str, **extra: str) -> Step:
    return Step("log", (level, text, extra))


def sent(data: bytes) -> tuple[Step, Step]:
    """The client says something, and it reaches the server as it is."""
    return client(data), to_server(data)


def answered(data: bytes) -> tuple[Step, Step]:
    """The server says something, and it reaches the client as it is."""
    return server(data), to_client(data)


# -- messages -------------------------------------------------------------------------------------------

LINE = {"type": "object", "properties": {"line": {"type": "integer"}}}
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
LIST_CHANGED = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'
NOTE = "Note: these arguments differ from the tool's published schema: line must be a whole number."


def request(id: str, method: str, **params: Any) -> bytes:
    return b'{"jsonrpc":"2.0","id":%s,"method":"%s","params":%s}\n' % (id.encode(), method.encode(), encoded(params))


def result(id: str, **members: Any) -> bytes:
    return b'{"jsonrpc":"2.0","id":%s,"result":%s}\n' % (id.encode(), encoded(members))


def error(id: str, code: int, message: str) -> bytes:
    return b'{"jsonrpc":"2.0","id":%s,"error":%s}\n' % (id.encode(), encoded({"code": code, "message": message}))


def call(id: str, arguments: str, tool: str = "goto", **params: Any) -> bytes:
    """A call, its arguments as they are spelled, and what else its `params` hold."""
    more = b"".join(b',"%s":%s' % (key.encode(), encoded(value)) for key, value in params.items())
    named = b'{"name":"%s","arguments":%s' % (tool.encode(), arguments.encode())
    return b'{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":%s}}\n' % (id.encode(), named + more)


def listing(id: str, schema: Any = None, tool: str = "goto", **more: Any) -> bytes:
    """The answer to a `tools/list`: one tool, on a page of its own."""
    return result(id, tools=[{"name": tool, "inputSchema": LINE if schema is None else schema}], **more)


def question(number: int, **params: Any) -> bytes:
    """Our own question for the tools, the nth of the conversation."""
    return request(ours(number), "tools/list", **params)


def refused(id: bytes, meta: bytes = b"", more: bytes = b"") -> bytes:
    """Our own answer to a call of `goto` whose line is no whole number; what else its `_meta` and it hold."""
    text = b"An error occurred invoking 'goto': line must be a whole number."
    problems = b'[{"path":["line"],"code":"type","words":"must be a whole number"}]'
    said = b'"content":[{"type":"text","text":"%s"}],"isError":true' % text
    meta = b'"_meta":{"io.github.argfit/problems":%s%s}' % (problems, meta)
    return b'{"jsonrpc":"2.0","id":%s,"result":{%s,%s%s}}\n' % (id, said, meta, more)


# -- how conversations begin ----------------------------------------------------------------------------


def handshake(**capabilities: Any) -> tuple[Step, ...]:
    """The handshake of 2024-11-05 to 2025-11-25, with a server that has tools unless it is said what it has."""
    hello = result("0", capabilities=capabilities or {"tools": {}})
    return (*sent(request("0", "initialize")), *answered(hello), *sent(INITIALIZED))


def listed(schema: Any = None, tool: str = "goto", **more: Any) -> tuple[Step, ...]:
    """The client lists the tools: they are known from then on."""
    return (*sent(request("0", "tools/list")), *answered(listing("0", schema, tool, **more)))


def asks(id: str, arguments: str, number: int = 1, **params: Any) -> tuple[Step, ...]:
    """A call for a tool that is not known: it waits, and the server is asked."""
    return (client(call(id, arguments, **params)), to_server(question(number)), waits_until(WAIT))


def ours(number: int) -> str:
    """The id of our own nth question, as it is spelled."""
    return f'"argfit-{TOKEN}-{number}"'


# -- what many scripts begin with, send and end in ------------------------------------------------------

BAD = '{"line":"x"}'
START = (*handshake(), *listed())
EXITED = b'{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"server exited (code 3)"}}\n'
