"""The official SDK's servers (mcp 2.x): `guard(server)` names a bad argument, runs nothing, and logs one quiet line.

Rules
- A call is decided on as far inside as the SDK lets us: after every middleware, so that a caller who may not call
  learns nothing, and before the tool's dependencies are resolved.
- What the tool is given is what was bound, once: the SDK's own reading of text as JSON does not touch it again.
- The tool's own refusal keeps its text; a fault stays the SDK's to log, and tells the caller nothing.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from mcp.server import MCPServer, Server
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import CallNext, ServerRequestContext
from mcp.server.mcpserver.exceptions import ResourceError, ToolError, UnexpectedResourceError, UnexpectedToolError
from mcp.server.mcpserver.tools.base import Tool
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolResult,
    PaginatedRequestParams,
    TextContent,
)
from pydantic import BaseModel, ValidationError

from argfit.adapters.pydantic_binder import binders_own, faults
from argfit.core import record, refusal
from argfit.core.choices import chosen, repairs_named
from argfit.core.fit import Fit
from argfit.core.guarding import CONTRACTS, REPAIRS, UNKNOWN, Guarded, Rules
from argfit.log import LOGGER, Notes, write

AnyServer = TypeVar("AnyServer", MCPServer[Any], Server[Any])
Context = ServerRequestContext[Any, Any]

_CALL, _LIST = "tools/call", "tools/list"
_LOWLEVEL_FORMATS = frozenset({"date", "uuid"})  # no binder stands behind the schema there
_PAGES = 1_000


def guard(
    server: AnyServer,
    *,
    repairs: Iterable[str] = REPAIRS,
    contract: str = "schema",
    unknown: str = "published",
) -> AnyServer:
    """Guard a server's tools, and return the server.

    `server` is an `MCPServer` or a lowlevel `Server`; `repairs` names repairs to make; `contract` says whether a call
    must fit the published schema and bind (`schema`) or only bind (`binder`); `unknown="refuse"` also refuses
    arguments that a tool does not declare. Raises ValueError for a name that is none of these.
    """
    rules = Rules(repairs_named(repairs), chosen("contract", contract, CONTRACTS), chosen("unknown", unknown, UNKNOWN))
    target: Any = server
    of_tools = isinstance(target, MCPServer)
    if not any(isinstance(getattr(one, "__self__", None), _Guard) for one in target.middleware):
        made = _OfMcpServer(target, rules) if of_tools else _OfLowlevel(target, rules)
        target.middleware.insert(0, made.middleware)
    return server


class _Call:
    """One call on its way in: what was sent, and how far it came."""

    def __init__(self, sent: Any) -> None:
        self.sent = sent
        self.shaped = sent is None or isinstance(sent, dict)  # as the SDK takes it
        self.entered = False  # the tool, or what decides for it, was reached
        self.told = False  # in the log

    def arguments(self, arrived: dict[str, Any] | None) -> Any:
        """What to fit: the arguments as they arrived behind all middleware, or what the SDK would not take."""
        return arrived if self.shaped else self.sent


class _Sent(dict[str, Any]):
    """The arguments of a call from the wire, and what they were bound to; calls from inside a tool are plain."""

    def __init__(self, arguments: dict[str, Any], call: _Call) -> None:
        super().__init__(arguments)
        self.call = call
        self.bound: dict[str, Any] | None = None
        self.error: Exception | None = None

    def __bool__(self) -> bool:
        return True  # or the SDK takes another empty object in its place


class _Guard:
    """What both kinds of server share: the way in and out of a call."""

    def __init__(self, lowlevel: Server[Any], rules: Rules) -> None:
        self._lowlevel = lowlevel
        self._rules = rules
        self._inner: Any = None  # what handled calls before
        self._notes = Notes()
        self._on_their_way: dict[tuple[int, Any], _Call] = {}  # by session and request

    async def middleware(self, ctx: Context, call_next: CallNext) -> Any:
        """Let a call in whatever the shape of its arguments, and see how it ends."""
        params = ctx.params
        if ctx.method != _CALL or not isinstance(params, dict):
            return await call_next(ctx)
        self._wrap_handler()
        call = _Call(params.get("arguments"))
        if not call.shaped:
            ctx = replace(ctx, params={**params, "arguments": {}})
        key = (id(ctx.session), ctx.request_id)
        self._on_their_way[key] = call
        try:
            result = await call_next(ctx)
        except MCPError as error:
            if not call.entered and error.code not in (INVALID_PARAMS, METHOD_NOT_FOUND):
                write(record.refused(str(params.get("name"))))
            raise
        finally:
            self._on_their_way.pop(key, None)
        is_error = result.get("isError") if isinstance(result, dict) else getattr(result, "is_error", None)
        if is_error is True and not call.told:
            write(record.refused(str(params.get("name"))))
        return result

    def comes_in(self, ctx: Context) -> _Call | None:
        """The call from the wire that comes to its handler now; None for one from inside of a tool."""
        call = self._on_their_way.get((id(ctx.session), ctx.request_id))
        if call is None or call.entered:
            return None
        call.entered = True
        return call

    def _wrap_handler(self) -> None:
        entry = self._lowlevel.get_request_handler(_CALL)
        if entry is not None and entry.handler != self.handle:
            self._inner = entry.handler
            self._lowlevel.add_request_handler(_CALL, entry.params_type, self.handle)

    async def handle(self, ctx: Context, params: Any) -> Any:
        """Decide on a call, and pass it on where it may run."""
        raise NotImplementedError

    def repairs_of(self, annotations: Any) -> Rules:
        """The rules of one tool: one that destroys gets no repair that may widen its call."""
        destroys = getattr(annotations, "destructive_hint", None) is True
        return self._rules.for_destroying() if destroys else self._rules

    def refused(self, name: str, guarded: Guarded, fit: Fit, call: _Call) -> CallToolResult:
        """The answer to a call whose arguments do not fit."""
        call.told = True
        write(record.misfit(name, guarded.engine.plan, fit.problems))
        return _error(refusal.text_of(name, fit), refusal.meta_of(fit))


class _OfLowlevel(_Guard):
    """A lowlevel `Server`: its listing says what a tool takes, and nothing binds."""

    def __init__(self, lowlevel: Server[Any], rules: Rules) -> None:
        super().__init__(lowlevel, rules.with_formats(_LOWLEVEL_FORMATS))
        self._listed: dict[Any, dict[str, Guarded]] = {}

    async def handle(self, ctx: Context, params: Any) -> Any:
        """Decide by the listing of this caller, read anew on a miss and before a refusal."""
        call = self.comes_in(ctx)
        if call is None:
            return await self._inner(ctx, params)
        caller, arguments = _caller(), call.arguments(params.arguments)
        guarded = self._listed.get(caller, {}).get(params.name)
        fit = None if guarded is None else guarded.fit(arguments)
        if fit is None or not fit.ok:
            self._listed[caller] = await self._list(ctx)
            guarded = self._listed[caller].get(params.name)
            fit = None if guarded is None else guarded.fit(arguments)
        if guarded is not None and fit is not None:
            self._notes.take(params.name, guarded.engine.plan, fit)
            if not fit.ok:
                return self.refused(params.name, guarded, fit, call)
            if arguments is not None and fit.arguments is not arguments:
                params.arguments = fit.arguments
        try:
            return _sendable(await self._inner(ctx, params))
        except MCPError:
            raise
        except Exception:  # noqa: BLE001 - logged with its traceback
            call.told = True
            LOGGER.exception("MCP tool %s failed.", params.name, extra={"tool": params.name})
            return _error(refusal.fault_of(params.name))

    async def _list(self, ctx: Context) -> dict[str, Guarded]:
        entry: Any = self._lowlevel.get_request_handler(_LIST)
        found: dict[str, Guarded] = {}
        cursor = None
        for _ in range(_PAGES if entry else 0):
            try:
                listed = await entry.handler(replace(ctx, method=_LIST), PaginatedRequestParams(cursor=cursor))
            except Exception:  # noqa: BLE001 - a server that cannot list its tools is guarded in nothing
                break
            for tool in getattr(listed, "tools", ()):
                found[tool.name] = Guarded(tool.input_schema, self.repairs_of(tool.annotations))
            cursor = getattr(listed, "next_cursor", None)
            if cursor is None:
                break
        return found


class _OfMcpServer(_Guard):
    """An `MCPServer`: its tools publish a schema and bind by a pydantic model."""

    def __init__(self, server: MCPServer[Any], rules: Rules) -> None:
        super().__init__(server._lowlevel_server, rules)  # noqa: SLF001 - no public way
        self._server = server
        self._call_tool = server.call_tool
        self._tools: dict[str, tuple[Any, Guarded]] = {}
        server.call_tool = self.call_tool  # type: ignore[method-assign] # what every call from the wire ends in

    async def handle(self, ctx: Context, params: Any) -> Any:
        """Mark the arguments as those of a call from the wire: it is decided on where the tool is called."""
        call = self.comes_in(ctx)
        if call is not None:
            params.arguments = _Sent(params.arguments or {}, call)
        return await self._inner(ctx, params)

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Decide on a call from the wire, and let the tool run; calls from inside a tool are the tool's own."""
        tool = self._server._tool_manager.get_tool(name)  # noqa: SLF001 - no public way
        if not isinstance(arguments, _Sent):
            return await self._call_tool(name, arguments, context)
        if tool is not None:
            refused = self._decide(tool, arguments)
            if refused is not None:
                return refused
        try:
            return await self._call_tool(name, arguments, context)
        except MCPError:
            raise
        except (UnexpectedToolError, UnexpectedResourceError) as error:
            arguments.call.told = True
            raise UnexpectedToolError(refusal.fault_of(name)) from error
        except (ToolError, ResourceError) as error:
            return _error(str(error))
        except Exception as error:
            arguments.call.told = True
            raise UnexpectedToolError(refusal.fault_of(name)) from error

    def _decide(self, tool: Tool, sent: _Sent) -> CallToolResult | None:
        """The refusal of a call; None where it may run, bound."""
        guarded = self._guarded(tool)
        fit = guarded.fit(sent.call.arguments(dict(sent)))
        if not guarded.decides(fit):
            fit = _bind(tool.fn_metadata.binder, guarded, fit, sent)  # type: ignore[attr-defined] # a _BoundOnce
        self._notes.take(tool.name, guarded.engine.plan, fit)
        return None if sent.bound is not None or sent.error else self.refused(tool.name, guarded, fit, sent.call)

    def _guarded(self, tool: Tool) -> Guarded:
        known = self._tools.get(tool.name)
        if known is None or known[0] is not tool.parameters:
            own = binders_own(tool.fn_metadata.arg_model)
            guarded = Guarded(
                tool.parameters, self.repairs_of(tool.annotations), drops_undeclared=True, binders_own=own
            )
            self._tools[tool.name] = known = (tool.parameters, guarded)
            if not isinstance(tool.fn_metadata, _BoundOnce):
                tool.fn_metadata = _BoundOnce(tool.fn_metadata)  # type: ignore[assignment] # stands in for it
        return known[1]


class _BoundOnce:
    """A tool's binder that hands on what was bound before the tool was called, and else does as it always did."""

    def __init__(self, binder: Any) -> None:
        self.binder = binder

    def __getattr__(self, name: str) -> Any:
        return getattr(self.binder, name)

    def validate_arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """What arguments bind to."""
        if not isinstance(arguments, _Sent):
            bound: dict[str, Any] = self.binder.validate_arguments(arguments)
            return bound
        if arguments.error is not None:
            raise arguments.error
        return arguments.bound or {}


def _bind(binder: Any, guarded: Guarded, fit: Fit, sent: _Sent) -> Fit:
    """Bind as the SDK would, but for text that fits as it is: that is not read as JSON."""
    arguments = fit.arguments
    if fit.problems or guarded.binders_own:
        as_sdk = guarded.binders_own | {str(problem.path[0]) for problem in fit.problems if problem.path}
        as_text = {name: part for name, part in arguments.items() if name in as_sdk}
        arguments = {**arguments, **binder.pre_parse_json(as_text)}
    try:
        sent.bound = binder.arg_model.model_validate(arguments).model_dump_one_level()
    except ValidationError as error:
        return guarded.refused_by_binder(fit, faults(error))
    except Exception as error:  # noqa: BLE001 - raised again where the SDK binds, so that it is the SDK's to log
        sent.error = error
    return fit


def _error(text: str, meta: dict[str, Any] | None = None) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True, _meta=meta)


def _sendable(result: Any) -> Any:
    """A handler's result; TypeError where the SDK would not even look at it, and say so to the caller."""
    if result is None or isinstance(result, BaseModel | dict):
        return result
    raise TypeError(f"the handler of {_CALL} returned {type(result).__name__}")


def _caller() -> Any:
    token = get_access_token()
    return None if token is None else (token.client_id, getattr(token, "subject", None), tuple(token.scopes))
