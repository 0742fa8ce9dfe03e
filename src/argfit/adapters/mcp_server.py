"""The official SDK's servers (mcp 2.x): `guard(server)` names a bad argument, runs nothing, and logs one quiet line.

Rules
- A call is decided on as far inside as the SDK lets us: after every middleware, so that a caller who may not call
  learns nothing, and before the tool's dependencies are resolved.
- What the tool is given is what was bound, once: the SDK's own reading of text as JSON does not touch it again.
- The tool's own refusal keeps its text; a fault stays the SDK's to log, and tells the caller nothing.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, TypeVar

from mcp.server import MCPServer, Server
from mcp.server.mcpserver.exceptions import ResourceError, ToolError, UnexpectedResourceError, UnexpectedToolError
from mcp.server.mcpserver.tools.base import Tool
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult
from pydantic import BaseModel, ValidationError

from argfit.adapters.mcp_calls import Call, Context, Guard, error_of
from argfit.adapters.mcp_lowlevel import OfLowlevel
from argfit.adapters.pydantic_binder import binders_own, faults
from argfit.core import refusal
from argfit.core.choices import chosen, repairs_named
from argfit.core.fit import Fit
from argfit.core.guarding import CONTRACTS, REPAIRS, UNKNOWN, Guarded, Rules

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


class _Sent(dict[str, Any]):
    """The arguments of a call from the wire, and what they were bound to; calls from inside a tool are plain."""

    def __init__(self, arguments: dict[str, Any], call: Call) -> None:
        super().__init__(arguments)
        self.call = call
        self.bound: dict[str, Any] | None = None
        self.error: Exception | None = None

    def begin_anew(self) -> None:
        """Forget what was bound: who passes them on twice may have changed them."""
        self.bound, self.error = None, None

    def __bool__(self) -> bool:
        return True  # or the SDK takes another empty object in its place


class _Misfit(ToolError):
    """Arguments that do not fit, on their way out; `result` is what the caller is told."""

    def __init__(self, result: CallToolResult) -> None:
        super().__init__("the arguments do not fit")
        self.result = result


class _OfMcpServer(Guard):
    """An `MCPServer`: its tools publish a schema and bind by a pydantic model."""

    def __init__(self, server: MCPServer[Any], rules: Rules) -> None:
        super().__init__(server._lowlevel_server, rules)  # noqa: SLF001 - no public way
        self._call_tool = server.call_tool
        self._tools: dict[str, tuple[Any, Any, Guarded]] = {}
        self._tool_manager = server._tool_manager  # noqa: SLF001 - likewise
        self._run_tool: Any = self._tool_manager.call_tool
        server.call_tool = self.call_tool  # type: ignore[method-assign] # what every call from the wire ends in
        self._tool_manager.call_tool = self.run_tool  # type: ignore[method-assign] # and what that ends in

    def knows(self, name: str) -> bool:
        """Whether there is a tool of this name."""
        return self._tool_manager.get_tool(name) is not None

    async def handle(self, ctx: Context, params: Any) -> Any:
        """Mark the arguments as those of a call from the wire: it is decided on where the tool is called."""
        with self.coming_in(ctx) as call:
            if call is not None:
                params.arguments = _Sent(params.arguments or {}, call)
            return await self.inner(call, ctx, params)

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """See how a call from the wire ends; calls from inside a tool are the tool's own."""
        if not isinstance(arguments, _Sent):
            return await self._call_tool(name, arguments, context)
        try:
            return await self._call_tool(name, arguments, context)
        except MCPError:
            raise
        except _Misfit as misfit:
            return misfit.result
        except (UnexpectedToolError, UnexpectedResourceError) as error:
            arguments.call.told = True
            raise UnexpectedToolError(refusal.fault_of(name)) from error
        except (ToolError, ResourceError) as error:
            return error_of(str(error))
        except Exception as error:
            arguments.call.told = True
            raise UnexpectedToolError(refusal.fault_of(name)) from error

    async def run_tool(self, name: str, arguments: dict[str, Any], context: Any, *args: Any, **kwargs: Any) -> Any:
        """Decide on a call from the wire, behind all that a server's author put around `call_tool`."""
        sent = self._from_the_wire(arguments, context)
        if sent is None:
            return await self._run_tool(name, arguments, context, *args, **kwargs)
        tool = self._tool_manager.get_tool(name)
        refused = None if tool is None else self._decide(tool, sent)
        if refused is not None:
            raise _Misfit(refused)
        sent.call.running += 1
        try:
            return await self._run_tool(name, sent, context, *args, **kwargs)
        finally:
            sent.call.running -= 1

    def _from_the_wire(self, arguments: dict[str, Any], context: Any) -> _Sent | None:
        if isinstance(arguments, _Sent):
            return arguments
        with suppress(ValueError):  # a context that no request is behind
            call = self.on_its_way(context.request_context)
            if call is not None and call.inside and not call.running:  # somebody passed on a copy
                return _Sent(arguments, call)
        return None

    def _decide(self, tool: Tool, sent: _Sent) -> CallToolResult | None:
        """The refusal of a call; None where it may run, bound."""
        binder: Any = tool.fn_metadata
        if not isinstance(binder, _BoundOnce):
            binder = _BoundOnce(binder)
            tool.fn_metadata = binder  # stands in for it
        sent.begin_anew()
        guarded = self._guarded(tool, binder.arg_model)
        fit = sent.call.fitted(guarded, dict(sent))
        if not guarded.decides(fit):
            fit = _bind(binder, guarded, fit, sent)
        self._notes.take(tool.name, guarded.engine.plan, fit)
        return None if sent.bound is not None or sent.error else self.refused(tool.name, guarded, fit, sent.call)

    def _guarded(self, tool: Tool, model: type[BaseModel]) -> Guarded:
        known = self._tools.get(tool.name)
        if known is None or known[0] is not tool.parameters or known[1] is not model:
            own = binders_own(model)
            rules = self.rules_of(tool.annotations)
            guarded = Guarded(tool.parameters, rules, drops_undeclared=True, binders_own=own)
            self._tools[tool.name] = known = (tool.parameters, model, guarded)
        return known[2]


class _BoundOnce:
    """A tool's binder that hands on what was bound before the tool was called, and else does as it always did."""

    def __init__(self, binder: Any) -> None:
        object.__setattr__(self, "binder", binder)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "binder"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.binder, name, value)

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
