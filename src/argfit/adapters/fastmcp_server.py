"""FastMCP servers (4.x): `guard(server)` names a bad argument, runs nothing, and logs one quiet line.

Rules
- A call from the wire is decided on where the tool itself begins: inside every middleware, interceptor and auth check.
  What a tool, or a program, calls in process is theirs, and goes as if there were no guard.
- All that stand in between see what the tool will get: the object that a text spells; and the errors FastMCP raises.
  What spells no object comes to none of them: it ends where the SDK reads it.
- The arguments part of the tool's own pydantic schema binds, once; the function gets what was bound.
- The tool's own refusal keeps its text; a fault stays FastMCP's to log, and tells the caller nothing.
"""

import logging
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, NamedTuple

from fastmcp import FastMCP
from fastmcp.exceptions import AuthorizationError, FastMCPError, NotFoundError, ToolError, ValidationError
from fastmcp.server.dependencies import fastmcp_request_ctx
from fastmcp.server.middleware import Middleware
from fastmcp.server.providers.fastmcp_provider import FastMCPProviderTool
from fastmcp.server.transforms import Transform
from fastmcp.tools import FunctionTool, Tool
from fastmcp.tools.base import ToolResult
from fastmcp.tools.tool_transform import TransformedTool
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, TextContent
from pydantic import ValidationError as BindError

from argfit.adapters.fastmcp_binder import Binder
from argfit.adapters.mcp_calls import no_object
from argfit.adapters.pydantic_binder import faults
from argfit.core import record, refusal
from argfit.core.choices import chosen, repairs_named
from argfit.core.fit import Fit
from argfit.core.guarding import CONTRACTS, REPAIRS, UNKNOWN, Guarded, Rules, Sent
from argfit.log import LOGGER, Notes, write

_CALL, _LIST = "tools/call", "tools/list"
_OWN_TOOLS = "fastmcp.server.transforms."  # of which some call on what their caller names
_HOSTS = ("Error calling tool '", 'Error calling tool "')  # how the text of a fault begins that FastMCP tells
_VARIANTS = 8  # of one tool, that are kept compiled
_KEPT = 10_000  # tools, and names of tools


def guard(
    server: FastMCP[Any],
    *,
    repairs: Iterable[str] = REPAIRS,
    contract: str = "schema",
    unknown: str = "published",
) -> FastMCP[Any]:
    """Guard a server's tools, and return the server.

    `repairs` names repairs to make; `contract` says whether a call must fit the published schema and bind (`schema`)
    or only bind (`binder`); `unknown="refuse"` also refuses arguments that a tool does not declare. Raises ValueError
    for a name that is none of these, and where the server is guarded by other rules; TypeError for no FastMCP server.
    """
    rules = Rules(repairs_named(repairs), chosen("contract", contract, CONTRACTS), chosen("unknown", unknown, UNKNOWN))
    if not isinstance(server, FastMCP):
        raise TypeError(f"{type(server).__name__} is no FastMCP server; the official SDK's are for mcp_server.guard")
    made = next((one for one in server.middleware if isinstance(one, _Outcome)), None)
    if made is None:
        calls = _Calls(rules, server)
        server.middleware.insert(0, _Outcome(calls))
        calls.stand_last()
        server._mcp_server.middleware.insert(0, calls.let_in)  # noqa: SLF001 - no public way
    elif made.calls.rules != rules:
        raise ValueError("this server is guarded already, by other rules; guard it once")
    return server


class _Call(Sent):
    """One call on its way in: what was sent, and how far it came."""

    def __init__(self, name: Any, sent: Any, rules: Rules, handed_on_by: "_Call | None" = None) -> None:
        super().__init__(sent, rules)
        self.name = str(name)
        self.told = False  # in the log
        self._handed_on_by = handed_on_by

    def is_told(self) -> None:
        """It is in the log, and with it the call that it came in."""
        self.told = True
        if self._handed_on_by is not None:
            self._handed_on_by.is_told()


class _Way(NamedTuple):
    """How far a request came: with a call from the wire, or in a call that is made in process."""

    request: Any
    call: _Call | None
    at: str


# In all middleware, about to reach the tool, in the tool, or in one of FastMCP's own that calls another as its caller
# asks. Nothing that FastMCP passes tells them apart; and a task that is started on the way, for another request, too,
# starts with what its starter was on.
_BETWEEN, _REACHING, _INSIDE, _HANDING_ON = "between", "reaching", "inside", "handing on"
_WAY: ContextVar[_Way | None] = ContextVar("argfit_way", default=None)


class _Calls:
    """The calls from the wire that are on their way, and the names of tools that were listed or called."""

    def __init__(self, rules: Rules, server: FastMCP[Any]) -> None:
        self.rules = rules
        self._server = server
        self._innermost = _Innermost()
        self._tools = _Tools(self)
        self.names: set[str] = set()
        self._on_their_way: dict[tuple[int, Any], _Call] = {}  # by session and request

    async def let_in(self, ctx: Any, call_next: Any) -> Any:
        """Let a call in whatever the shape of its arguments: all see the object that they spell, or none."""
        params = ctx.params
        if ctx.method != _CALL or not isinstance(params, dict):
            return await call_next(ctx)
        name = params.get("name")
        call = _Call(name, params.get("arguments"), self.rules)
        if call.spelled_out is not None:
            ctx = replace(ctx, params={**params, "arguments": call.spelled_out})
        key = (id(ctx.session), str(ctx.request_id))
        self._on_their_way[key] = call
        self.stand_last()
        try:
            return await call_next(ctx)
        except Exception:
            if not call.spells_none(name):
                raise
            return no_object(self._server._mcp_server, call, ctx, self._known_as(name))  # noqa: SLF001 - no public way
        finally:
            self._on_their_way.pop(key, None)

    def learn(self, names: Iterable[str]) -> None:
        """Take note of names of tools."""
        if len(self.names) < _KEPT:
            self.names.update(names)

    def stand_last(self) -> None:
        """Stand behind all middleware and all transforms, also behind what was added since."""
        _move_last(self._server.middleware, self._innermost)
        _move_last(self._server._transforms, self._tools)  # noqa: SLF001 - no public way

    def from_the_wire(self, request: Any, name: str, arguments: Any) -> _Call | None:
        """The call from the wire whose middleware begins here; None for a call in process."""
        if request is None or request._srctx.method != _CALL:  # noqa: SLF001 - no public way
            return None
        way = _WAY.get()
        if way is not None and way.request is request:
            return _Call(name, arguments, self.rules, way.call) if way.at == _HANDING_ON else None
        known = self._on_their_way.get((id(request.session), str(request.request_id)))
        return known or _Call(name, arguments, self.rules)  # it came to a server that this one is mounted in

    def refused(self, call: _Call, name: str) -> None:
        """Write that a call was refused, once."""
        if not call.told:
            write(record.refused(self._known_as(name)))
        call.is_told()

    def _known_as(self, name: Any) -> str:
        return name if name in self.names else record.NO_TOOL


def _move_last(standing: list[Any], last: Any) -> None:
    if not standing or standing[-1] is not last:
        standing[:] = [*(one for one in standing if one is not last), last]


class _Misfit(FastMCPError):
    """Arguments that do not fit, on their way out through all middleware; `result` is what the caller is told."""

    def __init__(self, name: str, fit: Fit) -> None:
        super().__init__(refusal.text_of(name, fit), log_level=logging.DEBUG)
        self.result = _error(refusal.text_of(name, fit), refusal.meta_of(fit))


class _Fault(FastMCPError):
    """A fault that is in the log, on its way out."""

    def __init__(self, name: str) -> None:
        super().__init__(refusal.fault_of(name), log_level=logging.DEBUG)


class _Outcome(Middleware):
    """What becomes of a call, seen from outside of all other middleware."""

    def __init__(self, calls: _Calls) -> None:
        self.calls = calls

    async def __call__(self, context: Any, call_next: Any) -> Any:
        """See a call, or a listing; FastMCP's own way to the hooks takes six steps for each."""
        if not isinstance(context.message, CallToolRequestParams):
            result = await call_next(context)
            if context.method == _LIST and isinstance(result, list | tuple):
                self.calls.learn(tool.name for tool in result)
            return result
        self.calls.stand_last()
        name = context.message.name
        request = fastmcp_request_ctx.get()
        call = self.calls.from_the_wire(request, name, context.message.arguments)
        before = _WAY.set(_Way(request, call, _BETWEEN))
        try:
            result = await call_next(context)
        except FastMCPError as error:
            if call is None:
                raise
            return self._told(call, name, error)
        finally:
            _WAY.reset(before)
        if call is not None and getattr(result, "is_error", False):
            self.calls.refused(call, name)
        return result

    def _told(self, call: _Call, name: str, error: FastMCPError) -> ToolResult:
        """What the caller is told of an error; raises it where that is FastMCP's to tell."""
        if isinstance(error, _Misfit):
            return error.result
        if isinstance(error, _Fault):
            return _error(str(error))
        if isinstance(error, AuthorizationError):
            self.calls.refused(call, name)
            return _error(str(error))
        if not isinstance(error, ToolError):
            raise error
        if not _is_fault(error):
            self.calls.refused(call, name)
            raise error
        if isinstance(error.__cause__, MCPError):
            raise error
        return _error(refusal.fault_of(name))


class _Innermost(Middleware):
    """Where a call from the wire leaves all other middleware for its tool."""

    async def __call__(self, context: Any, call_next: Any) -> Any:
        """Say so; what is called in process goes by."""
        way = _WAY.get()
        if way is None or way.call is None or not isinstance(context.message, CallToolRequestParams):
            return await call_next(context)
        before = _WAY.set(_Way(way.request, way.call, _REACHING))
        try:
            return await call_next(context)
        finally:
            _WAY.reset(before)


def _is_fault(error: ToolError) -> bool:
    """Whether it is FastMCP that raised an error, for another that a tool did."""
    return error.__cause__ is not None and str(error).startswith(_HOSTS)


class _Tools(Transform):
    """Gives out each tool with its guard before it."""

    def __init__(self, calls: _Calls) -> None:
        self._calls = calls
        self._known: dict[str, list[_Compiled]] = {}

    async def get_tool(self, name: str, call_next: Any, *, version: Any = None) -> Any:
        """The tool as it is called."""
        tool = await call_next(name, version=version)
        if tool is None:
            return None
        known = self._known.setdefault(tool.key, [])
        for compiled in known:
            if compiled.stood_in_for is tool and compiled.seen == vars(tool) and compiled.destroys is _destroys(tool):
                return compiled.stand_in
        return (await self._compiled(tool, known)).standing_in_for(tool, self._calls)

    async def _compiled(self, tool: Tool, known: list["_Compiled"]) -> "_Compiled":
        made = next((one for one in known if one.is_of(tool)), None)
        if made is None:
            made = _Compiled(tool, await _origin(tool), self._calls.rules)
            self._known[tool.key] = [*known[1 - _VARIANTS :], made]
            while len(self._known) > _KEPT:  # a provider may answer to any name
                del self._known[next(iter(self._known))]
        return made


async def _origin(tool: Tool) -> Tool:
    """The tool that binds in the end: behind a mounted server, and behind what it was transformed from."""
    found = tool
    while isinstance(found, FastMCPProviderTool | TransformedTool):
        if isinstance(found, TransformedTool):
            found = found.parent_tool
        else:
            mounted = await found._server.get_tool(found._original_name)  # noqa: SLF001 - no public way
            if mounted is None:
                break
            found = mounted
    return found


def _destroys(tool: Any) -> bool:
    return getattr(tool.annotations, "destructive_hint", None) is True


class _Compiled:
    """What is worked out once for a tool, however many copies of it FastMCP makes."""

    def __init__(self, tool: Tool, origin: Tool, rules: Rules) -> None:
        self._made_of = (getattr(tool, "fn", None), tool.parameters, tool.annotations)
        self.destroys = _destroys(tool)
        rules = rules.for_destroying() if self.destroys else rules
        binder = Binder(origin) if isinstance(origin, FunctionTool) else None
        self.binder = binder if origin is tool else None
        self.hands_on = str(getattr(getattr(tool, "fn", None), "__module__", "")).startswith(_OWN_TOOLS)
        self.guarded = Guarded(tool.parameters, rules, binders_own=binder.own if binder else ())
        self.notes = Notes()
        self.stood_in_for: Tool | None = None
        self.stand_in: Tool | None = None
        self.seen: dict[str, Any] = {}

    def is_of(self, tool: Tool) -> bool:
        """Whether a tool is the same to its guard."""
        function, parameters, annotations = self._made_of
        same = getattr(tool, "fn", None) is function and tool.annotations == annotations
        same = same and self.destroys is _destroys(tool)
        return same and (tool.parameters is parameters or tool.parameters == parameters)

    def standing_in_for(self, tool: Tool, calls: _Calls) -> Tool:
        """A copy of a tool with its guard before it, kept until the tool is another or altered."""
        self.stood_in_for, self.seen = tool, dict(vars(tool))
        self.stand_in = made = _guarded(tool, self, calls)
        return made


def _guarded(tool: Tool, compiled: _Compiled, calls: _Calls) -> Tool:
    """A copy of a tool with its guard before it, for calls from the wire."""
    guarded = tool.model_copy()
    binder = compiled.binder
    is_its_own = type(tool).run is not FunctionTool.run or type(tool)._run is not FunctionTool._run  # noqa: SLF001 - likewise
    bound = None if binder is None or is_its_own else binder.bound(tool)

    async def run(arguments: dict[str, Any]) -> Any:
        way = _WAY.get()
        call = None if way is None or way.at != _REACHING else way.call
        if way is None or call is None:
            return await tool._run(arguments)  # noqa: SLF001 - what FastMCP calls
        calls.learn([call.name])
        before = _WAY.set(_Way(way.request, call, _HANDING_ON if compiled.hands_on else _INSIDE))
        try:
            return await _decide(tool, bound, compiled, call, arguments)
        except AuthorizationError as error:
            error.log_level = logging.DEBUG
            raise
        except ToolError as error:
            if not _is_fault(error):
                error.log_level = logging.DEBUG
                calls.refused(call, call.name)
            raise
        finally:
            _WAY.reset(before)

    object.__setattr__(guarded, "_run", run)  # a model's method, for this one copy
    return guarded


async def _decide(tool: Tool, takes_bound: Tool | None, compiled: _Compiled, call: _Call, sent: dict[str, Any]) -> Any:
    """Refuse a call, or run its tool with what was bound."""
    guarded, binder = compiled.guarded, compiled.binder
    fit = Fit(True, sent) if not call.odd and guarded.is_right(sent) else call.fitted(guarded, sent)
    bound: dict[str, Any] | None = None if guarded.decides(fit) else fit.arguments
    if bound is not None and binder is not None:
        try:
            bound = await binder.bind(bound)
        except BindError as error:
            fit, bound = guarded.refused_by_binder(fit, faults(error)), None
    compiled.notes.take(call.name, guarded.engine.plan, fit)
    try:
        if bound is not None:
            if takes_bound is not None:
                return await takes_bound._run(bound)  # noqa: SLF001 - likewise
            return await tool._run(fit.arguments)  # noqa: SLF001 - likewise; what runs it otherwise binds by itself
    except NotFoundError as error:
        if not compiled.hands_on:
            raise
        # it was the caller who named what there is not
        raise ToolError(f"Error calling tool {call.name!r}: {error}") from None
    except (FastMCPError, BindError) as error:
        if isinstance(error, ToolError | AuthorizationError | _Misfit | _Fault):
            raise
        cause = error.__cause__
        if binder is not None or not isinstance(error, ValidationError) or not isinstance(cause, BindError):
            # it comes from the tool's body, whatever it looks like
            LOGGER.exception("MCP tool %s failed.", call.name, extra={"tool": call.name})
            raise _Fault(call.name) from error
        fit = guarded.refused_by_binder(fit, faults(cause))
    if not call.told:
        write(record.misfit(call.name, guarded.engine.plan, fit.problems))
    call.is_told()
    raise _Misfit(call.name, fit)


def _error(text: str, meta: dict[str, Any] | None = None) -> ToolResult:
    return ToolResult(content=[TextContent(type="text", text=text)], meta=meta, is_error=True)
