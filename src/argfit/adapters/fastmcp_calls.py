"""The way of one call through a FastMCP server (4.x), and what it may come to.

Rules
- A call is known on its way by its request; what is called in process, on the way or in a tool, is its author's own.
- A refusal of arguments is FastMCP's own kind of error to all that stand in between, and none of FastMCP's to log.
"""

import logging
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeGuard

from fastmcp.exceptions import FastMCPError, PromptError, ResourceError, ToolError
from fastmcp.tools.base import ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from argfit.core import record, refusal
from argfit.core.fit import Fit
from argfit.core.guarding import Rules, Sent
from argfit.log import write

CALL, LIST = "tools/call", "tools/list"
_HOSTS = ("Error calling tool '", 'Error calling tool "')  # how the text of a fault begins that FastMCP tells
_KEPT = 10_000  # names of tools


class Call(Sent):
    """One call on its way in: what was sent, and how far it came."""

    def __init__(self, name: Any, sent: Any, calls: "Calls", handed_on_by: "Call | None" = None) -> None:
        super().__init__(sent, calls.rules)
        self.name = str(name)
        self.calls = calls
        self.came = False  # to its tool
        self.told = False  # in the log
        self._handed_on_by = handed_on_by

    def is_told(self) -> None:
        """It is in the log, and with it the call that it came in."""
        self.told = True
        if self._handed_on_by is not None:
            self._handed_on_by.is_told()


class Way(NamedTuple):
    """How far a request came: with a call from the wire, or in a call that is made in process."""

    request: Any
    call: Call | None
    at: str


# In all middleware, about to reach the tool, in the tool, or in one of FastMCP's own that calls another as its caller
# asks. Nothing that FastMCP passes tells them apart; and a task that is started on the way, for another request, too,
# starts with what its starter was on.
BETWEEN, REACHING, INSIDE, HANDING_ON = "between", "reaching", "inside", "handing on"
WAY: ContextVar[Way | None] = ContextVar("argfit_way", default=None)


class Calls:
    """The calls from the wire that are on their way, and the names of tools that were listed or called."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.names: set[str] = set()
        self.on_their_way: dict[tuple[int, Any], Call] = {}  # by session and request

    def learn(self, names: Iterable[str]) -> None:
        """Take note of names of tools."""
        if len(self.names) < _KEPT:
            self.names.update(names)

    def from_the_wire(self, request: Any, name: str, arguments: Any) -> Call | None:
        """The call from the wire whose middleware begins here; None for a call in process."""
        if request is None or request._srctx.method != CALL:  # noqa: SLF001 - no public way
            return None
        way = WAY.get()
        if way is not None and way.request is request:
            return Call(name, arguments, self, way.call) if way.at == HANDING_ON else None
        known = self.on_their_way.get((id(request.session), str(request.request_id)))
        return known or Call(name, arguments, self)  # it came to a server that this one is mounted in

    def refused(self, call: Call, name: str) -> None:
        """Write that a call was refused, once."""
        if not call.told:
            write(record.refused(self.known_as(name)))
        call.is_told()

    def known_as(self, name: Any) -> str:
        """A tool's name as a log shows it: not what a caller made up."""
        return name if name in self.names else record.NO_TOOL


class Misfit(FastMCPError, ValueError):
    """Arguments that do not fit, on their way out of the tool; `result` is what the caller is told.

    Of its bases the second stands for what FastMCP has here: pydantic's error, by which some middleware goes.
    """

    def __init__(self, name: str, fit: Fit) -> None:
        super().__init__(refusal.text_of(name, fit), log_level=logging.DEBUG)
        self.result = error_of(refusal.text_of(name, fit), refusal.meta_of(fit))


class Fault(FastMCPError):
    """A fault that is in the log, on its way out."""

    def __init__(self, name: str) -> None:
        super().__init__(refusal.fault_of(name), log_level=logging.DEBUG)


def is_fault(error: BaseException | None) -> TypeGuard[ToolError]:
    """Whether it is FastMCP that raised an error, for another that a tool did."""
    return isinstance(error, ToolError) and error.__cause__ is not None and str(error).startswith(_HOSTS)


def is_refusal(error: FastMCPError) -> bool:
    """Whether an error says what a tool has to say itself; FastMCP makes others of what went wrong, and tells why."""
    if isinstance(error, ToolError):
        return not is_fault(error)
    return isinstance(error, ResourceError | PromptError) and error.__cause__ is None


def without_fault(error: MCPError, name: str) -> MCPError:
    """A protocol error that a middleware made of what it saw, less the text of a fault."""
    made_of = error.__cause__ or error.__context__
    told = str(made_of)
    if not is_fault(made_of) or isinstance(made_of.__cause__, MCPError) or told not in error.error.message:
        return error
    return MCPError(error.error.code, error.error.message.replace(told, refusal.fault_of(name)), error.error.data)


def error_of(text: str, meta: dict[str, Any] | None = None) -> ToolResult:
    """A result that is an error."""
    return ToolResult(content=[TextContent(type="text", text=text)], meta=meta, is_error=True)
