"""One conversation with mcp-server-fetch: the official client's calls, with the pipes on record.

What was *sent* is read off the pipe the client writes to, what was *dispatched* off the server's stdin; both
are the bytes themselves, never what this program meant to send.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import anyio
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.types import TextContent

CALL_SECONDS = 10.0
CONVERSATION_SECONDS = 20.0
RECORD = Path(__file__).with_name("record.py")

ANSWERED, REFUSED, FAILED = "ANSWERED", "REFUSED", "FAILED"


class Digits(str):
    """A number, as it was spelled on the wire."""

    __slots__ = ()


@dataclass(frozen=True)
class Seen:
    """One call: the line sent, the line dispatched (None: none was seen), and what came back."""

    sent: bytes | None
    dispatched: bytes | None
    verdict: str
    answer: tuple[str, ...]


@dataclass(frozen=True)
class Route:
    """What stands before the server (nothing: the client talks to it), and where both pipes are recorded."""

    proxy: Sequence[str]
    sent: Path
    dispatched: Path

    def command(self, server: Sequence[str]) -> list[str]:
        """The whole command the client starts."""
        recorded = [sys.executable, str(RECORD), str(self.dispatched), *server]
        if not self.proxy:
            return recorded  # one pipe only: what is sent is what is dispatched
        return [sys.executable, str(RECORD), str(self.sent), *self.proxy, *recorded]


def is_call(line: bytes) -> bool:
    """Whether a recorded line is a tools/call."""
    try:
        message = json.loads(line)
    except ValueError:
        return False
    return isinstance(message, dict) and message.get("method") == "tools/call"


def calls_on(tape: Path) -> list[bytes]:
    """The calls recorded so far; a line still without its end is not one yet."""
    lines = tape.read_bytes().split(b"\n")[:-1] if tape.exists() else []
    return [line for line in lines if is_call(line)]


def spelled(line: bytes | None, argument: str) -> str:
    """How an argument of a recorded call is spelled: `200.0` and `200` differ here, as on the wire."""
    if line is None:
        return "(none)"
    call = json.loads(line, parse_int=Digits, parse_float=Digits)
    arguments = call["params"].get("arguments") or {}
    if argument not in arguments:
        return "(absent)"
    value = arguments[argument]
    return value if isinstance(value, Digits) else json.dumps(value)


async def ask(client: Client, route: Route, arguments: Mapping[str, object]) -> Seen:
    """Call `fetch` once and read what passed through the pipes meanwhile."""
    sent_before, dispatched_before = len(calls_on(route.sent)), len(calls_on(route.dispatched))
    try:
        result = await client.call_tool("fetch", dict(arguments))
        verdict = REFUSED if result.is_error else ANSWERED
        answer = tuple(block.text for block in result.content if isinstance(block, TextContent))
    except MCPError as error:
        verdict, answer = FAILED, (f"JSON-RPC error {error.code}: {error.message}",)
    sent = calls_on(route.sent)[sent_before:]
    dispatched = calls_on(route.dispatched)[dispatched_before:]
    return Seen(sent[0] if sent else None, dispatched[0] if dispatched else None, verdict, answer)


def first_cause(error: BaseException) -> str:
    """The error inside the groups that task groups wrap around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


async def converse(
    route: Route, server: Sequence[str], calls: Sequence[Mapping[str, object]], *, path: Path, errlog: TextIO
) -> list[Seen]:
    """Start the server by this route, list its tools as any client does, and make the calls one by one.

    `path` is all the server gets as PATH. A call that could not be made is reported as failed, and why.
    """
    command, *arguments = route.command(server)
    parameters = StdioServerParameters(command=command, args=arguments, env={"PATH": str(path)})
    seen: list[Seen] = []
    try:
        with anyio.fail_after(CONVERSATION_SECONDS):
            transport = stdio_client(parameters, errlog=errlog)
            async with Client(transport, read_timeout_seconds=CALL_SECONDS) as client:
                await client.list_tools()
                for call in calls:
                    seen += [await ask(client, route, call)]
    except (MCPError, OSError, ExceptionGroup) as error:
        unmade = Seen(None, None, FAILED, (f"the call was not made: {first_cause(error)}",))
        seen += [unmade] * (len(calls) - len(seen))
    return seen
