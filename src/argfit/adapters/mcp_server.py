"""The official SDK's servers (mcp 2.x): `guard(server)` names a bad argument, runs nothing, and logs one quiet line.

Rules
- A call is decided on as far inside as the SDK lets us: after every middleware, so that a caller who may not call
  learns nothing, and before the tool's dependencies are resolved.
- What the tool is given is what was bound, once: the SDK's own reading of text as JSON does not touch it again.
- The tool's own refusal keeps its text; a fault stays the SDK's to log, and tells the caller nothing.
"""

from collections.abc import Awaitable, Collection, Iterable
from contextvars import ContextVar
from typing import Any, TypeVar

from mcp.server import MCPServer, Server
from mcp.server.mcpserver.exceptions import ResourceError, ToolError, UnexpectedResourceError, UnexpectedToolError
from mcp.server.mcpserver.tools.base import Tool
from mcp.server.mcpserver.tools.tool_manager import ToolManager
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent
from pydantic import ValidationError

from argfit.adapters.mcp_calls import COMING, Call, Guard, error_of, fitted
from argfit.adapters.mcp_lowlevel import OfLowlevel
from argfit.adapters.pydantic_binder import binders_own, faults
from argfit.core import refusal
from argfit.core.choices import chosen, repairs_named
from argfit.core.fit import Fit
from argfit.core.guarding import CONTRACTS, REPAIRS, UNKNOWN, Guarded, Rules, keep
from argfit.core.values import same

_KEPT = 10_000  # tools that are kept compiled

AnyServer = TypeVar("AnyServer", MCPServer[Any], Server[Any])


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
    arguments that a tool does not declare. Raises ValueError for a name that is none of these, and where the server is
    guarded by other rules; TypeError for no server of this SDK.
    """
    rules = Rules(repairs_named(repairs), chosen("contract", contract, CONTRACTS), chosen("unknown", unknown, UNKNOWN))
    target: Any = server
    if not isinstance(target, MCPServer | Server):
        raise TypeError(f"{type(target).__name__} is no server of this SDK; FastMCP's are for fastmcp_server.guard")
    guards = [one for one in (getattr(part, "__self__", None) for part in target.middleware) if isinstance(one, Guard)]
    if not guards:
        made = _OfMcpServer(target, rules) if isinstance(target, MCPServer) else OfLowlevel(target, rules)
        target.middleware.insert(0, made.middleware)
    elif guards[0].chosen != rules:
        raise ValueError("this server is guarded already, by other rules; guard it once")
    return server


class _Misfit(ToolError):
    """Arguments that do not fit, on their way out; `result` is what the caller is told."""

    def __init__(self, result: CallToolResult) -> None:
        super().__init__(*(part.text for part in result.content if isinstance(part, TextContent)))
        self.result = result


class _Bound(dict[str, Any]):
    """Arguments as they were fitted, on their way to the binder, with what it made of them."""

    made: dict[str, Any] | None = None  # what they were bound to, until that is taken
    error: Exception | None = None  # or why they cannot be, which is no fault of theirs
    was: Any = None  # what they were, where somebody may alter them on the way
    altered: tuple[dict[str, Any], ValidationError] | None = None  # what somebody made of them, and it cannot be bound

    def __init__(self, fitted: dict[str, Any], guarded: Guarded, fit: Fit | None, binder: FuncMetadata) -> None:
        super().__init__(fitted)
        self.binder = binder
        self.guarded = guarded
        self._as_sdk = guarded.binders_own
        if fit is not None:
            self._as_sdk |= {str(problem.path[0]) for problem in fit.problems if problem.path}
        try:
            self.made = self._bind(fitted, self._as_sdk)
        except ValidationError:
            raise
        except Exception as error:  # noqa: BLE001 - raised again where the SDK binds, so that it is the SDK's to log
            self.error = error

    def _bind(self, arguments: dict[str, Any], as_sdk: Collection[str]) -> dict[str, Any]:
        """Bind arguments, of which the SDK reads some as JSON: what does not fit as it is, and what nobody judged."""
        if as_sdk:
            as_text = {name: part for name, part in arguments.items() if name in as_sdk}
            arguments = {**arguments, **self.binder.pre_parse_json(as_text)}
        return self.binder.arg_model.model_validate(arguments).model_dump_one_level()

    def taken(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """What they were bound to, anew each time; and with what somebody made of them on the way."""
        if self.was is not None and not same(arguments, self.was):
            others = {
                name for name, part in arguments.items() if name not in self.was or not same(part, self.was[name])
            }
            try:
                return self._bind(dict(arguments), others | self._as_sdk)
            except ValidationError as error:
                self.altered = dict(arguments), error
                raise
        if self.error is not None:
            raise self.error
        made, self.made = self.made, None
        return self._bind(dict(self), self._as_sdk) if made is None else made


# The arguments of a call that its author's own code runs, which may hand on others that it made of them.
_HANDED_ON: ContextVar[_Bound | None] = ContextVar("argfit_handed_on", default=None)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(part) for key, part in value.items()}
    return [_copied(part) for part in value] if isinstance(value, list) else value


def _hand_on_what_was_bound() -> None:
    """Let the SDK's binder hand on what was bound before it was asked; it else does as it always did."""
    bind = FuncMetadata.validate_arguments
    if getattr(bind, "__module__", None) == __name__:
        return

    def validate_arguments(self: FuncMetadata, arguments_to_validate: dict[str, Any]) -> dict[str, Any]:
        bound = arguments_to_validate if isinstance(arguments_to_validate, _Bound) else _HANDED_ON.get()
        if bound is None or bound.binder is not self:
            return bind(self, arguments_to_validate)
        if bound.was is not None:
            _HANDED_ON.set(None)  # what the tool calls from here on is its own
        return bound.taken(arguments_to_validate)

    FuncMetadata.validate_arguments = validate_arguments  # type: ignore[method-assign] # no other way leads there


class _OfMcpServer(Guard):
    """An `MCPServer`: its tools publish a schema and bind by a pydantic model."""

    def __init__(self, server: MCPServer[Any], rules: Rules) -> None:
        super().__init__(server._lowlevel_server, rules, rules)  # noqa: SLF001 - no public way
        self._tools: dict[str, tuple[tuple[Any, Any, bool], Guarded]] = {}
        self._tool_manager = server._tool_manager  # noqa: SLF001 - no public way
        self._run_tool: Any = self._tool_manager.call_tool
        self._tool_manager.call_tool = self.run_tool  # type: ignore[method-assign] # what every call from the wire ends in
        self._is_sdks = getattr(self._run_tool, "__func__", None) is ToolManager.call_tool
        self._call_tool: Any = server.call_tool
        self._is_seen_outside = getattr(self._call_tool, "__func__", None) is not MCPServer.call_tool
        if self._is_seen_outside:  # what its author put around a call sees what the SDK would raise
            server.call_tool = self.call_tool  # type: ignore[method-assign]
        _hand_on_what_was_bound()

    def knows(self, name: str) -> bool:
        """Whether there is a tool of this name."""
        return self._tool_manager.get_tool(name) is not None

    async def call_tool(self, name: str, arguments: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """See how a call from the wire ends; calls in process are their author's own."""
        call = self._from_the_wire(args[0] if args else kwargs.get("context"))
        if call is None:
            before = COMING.set(None)
            try:
                return await self._call_tool(name, arguments, *args, **kwargs)
            finally:
                COMING.reset(before)
        call.came = True
        try:
            return await self._call_tool(name, arguments, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - raised again, but for refusals
            return self._outcome(name, call, error)

    async def run_tool(self, name: str, arguments: dict[str, Any], context: Any, *args: Any, **kwargs: Any) -> Any:
        """Decide on a call from the wire, behind all that a server's author put around `call_tool`."""
        call = self._from_the_wire(context, name)
        if call is None:
            return await self._run_tool(name, arguments, context, *args, **kwargs)
        call.came = True
        before = COMING.set(None)
        try:
            tool = self._tool_manager.get_tool(name)
            if tool is None:
                return await self._run_tool(name, arguments, context, *args, **kwargs)
            guarded = self._guarded(tool)
            fit = None
            if call.odd or guarded.binders_own or type(arguments) is not dict or not guarded.is_right(arguments):
                fit = await fitted(call, guarded, dict(arguments))
            bound = self._bound(tool, guarded, arguments, fit, call)
            if bound.was is None:
                return await self._run_tool(name, bound, context, *args, **kwargs)
            return await self._run_as_its_author(
                tool, call, bound, self._run_tool(name, bound, context, *args, **kwargs)
            )
        except Exception as error:
            if self._is_seen_outside:
                raise
            return self._outcome(name, call, error)
        finally:
            COMING.reset(before)

    async def _run_as_its_author(self, tool: Tool, call: Call, bound: _Bound, run: Awaitable[Any]) -> Any:
        """Run a tool whose author's own code may alter its arguments; they are refused in our words all the same."""
        before = _HANDED_ON.set(bound)
        try:
            return await run
        except ToolError as error:
            if bound.altered is None or error.__cause__ is not bound.altered[1]:
                raise
            fit = bound.guarded.refused_by_binder(Fit(True, bound.altered[0]), faults(bound.altered[1]))
            raise self._misfit(tool, bound.guarded, fit, call) from None
        finally:
            _HANDED_ON.reset(before)

    @staticmethod
    def _outcome(name: str, call: Call, error: Exception) -> CallToolResult:
        """What a caller is told of an error: a refusal as it is; a fault, and a protocol error, are the SDK's."""
        if isinstance(error, MCPError):
            raise error
        if isinstance(error, _Misfit):
            return error.result
        is_refusal = isinstance(error, ToolError | ResourceError)
        if not is_refusal or isinstance(error, UnexpectedToolError | UnexpectedResourceError):
            call.told = True
            raise UnexpectedToolError(refusal.fault_of(name)) from error
        return error_of(str(error))

    def _from_the_wire(self, context: Any, tool: str | None = None) -> Call | None:
        """The call from the wire that comes to its tool now; None for one that is made in process."""
        call = COMING.get()
        if call is None or call.guard is not self:
            return None
        private = getattr(context, "__pydantic_private__", None)  # to ask its property costs as much as to fit
        ctx = None if private is None else private["_request_context"]
        if ctx is not None:
            return call if call.is_of(ctx) else None
        # an author's `call_tool` may hand on a call without the context that it came with
        return call if self._is_seen_outside and call.came and call.is_to(tool) else None

    def _bound(self, tool: Tool, guarded: Guarded, arguments: dict[str, Any], fit: Fit | None, call: Call) -> _Bound:
        """The arguments of a call that may run, bound; raises `_Misfit` where it may not. What is right has no fit."""
        if fit is not None and guarded.decides(fit):
            raise self._misfit(tool, guarded, fit, call)
        try:
            bound = _Bound(arguments if fit is None else fit.arguments, guarded, fit, tool.fn_metadata)
        except ValidationError as error:
            fit = guarded.refused_by_binder(fit or Fit(True, arguments), faults(error))
            raise self._misfit(tool, guarded, fit, call) from None
        if fit is not None or guarded.engine.plan.unusable:
            self.notes.take(tool.name, guarded.engine.plan, fit or Fit(True, arguments))
        if not self._is_sdks or getattr(tool.run, "__func__", None) is not Tool.run:
            bound.was = _copied(dict(bound))
        return bound

    def _misfit(self, tool: Tool, guarded: Guarded, fit: Fit, call: Call) -> _Misfit:
        self.notes.take(tool.name, guarded.engine.plan, fit)
        return _Misfit(self.refused(tool.name, guarded, fit, call))

    def _guarded(self, tool: Tool) -> Guarded:
        model = tool.fn_metadata.arg_model
        destroys = getattr(tool.annotations, "destructive_hint", None) is True
        known = self._tools.get(tool.name)
        if known is not None:
            (parameters, of_model, destroyed), guarded = known
            if parameters is tool.parameters and of_model is model and destroyed is destroys:
                return guarded
        own = binders_own(model)
        guarded = Guarded(tool.parameters, self.rules_of(destroys=destroys), drops_undeclared=True, binders_own=own)
        keep(self._tools, tool.name, ((tool.parameters, model, destroys), guarded), _KEPT)
        return guarded
