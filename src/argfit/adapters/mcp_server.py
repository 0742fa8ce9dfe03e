"""The official SDK's servers (mcp 2.x): `guard(server)` names a bad argument, runs nothing, and logs one quiet line.

Rules
- A call is decided on as far inside as the SDK lets us: after every middleware, so that a caller who may not call
  learns nothing, and before the tool's dependencies are resolved.
- What the tool is given is what was bound, once: the SDK's own reading of text as JSON does not touch it again.
- The tool's own refusal keeps its text; a fault stays the SDK's to log, and tells the caller nothing.
"""

from collections.abc import Iterable
from typing import Any, TypeVar

from mcp.server import MCPServer, Server
from mcp.server.mcpserver.exceptions import ResourceError, ToolError, UnexpectedResourceError, UnexpectedToolError
from mcp.server.mcpserver.tools.base import Tool
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, ValidationError

from argfit.adapters.mcp_calls import COMING, Call, Guard, error_of
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


class _Misfit(ToolError):
    """Arguments that do not fit, on their way out; `result` is what the caller is told."""

    def __init__(self, result: CallToolResult) -> None:
        super().__init__(*(part.text for part in result.content if isinstance(part, TextContent)))
        self.result = result


class _Bound(dict[str, Any]):
    """Arguments as they were fitted, on their way to the binder, and what they were bound to or why they cannot be."""

    values_bound: dict[str, Any]
    error: Exception | None = None


class _OfMcpServer(Guard):
    """An `MCPServer`: its tools publish a schema and bind by a pydantic model."""

    def __init__(self, server: MCPServer[Any], rules: Rules) -> None:
        super().__init__(rules, rules)
        self._call_tool = server.call_tool
        self._tools: dict[str, tuple[Any, Any, Guarded]] = {}
        self._tool_manager = server._tool_manager  # noqa: SLF001 - no public way
        self._run_tool: Any = self._tool_manager.call_tool
        server.call_tool = self.call_tool  # type: ignore[method-assign] # what every call from the wire ends in
        self._tool_manager.call_tool = self.run_tool  # type: ignore[method-assign] # and what that ends in

    def knows(self, name: str) -> bool:
        """Whether there is a tool of this name."""
        return self._tool_manager.get_tool(name) is not None

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """See how a call from the wire ends; calls from inside a tool are the tool's own."""
        call = self._from_the_wire(context)
        if call is None:
            return await self._call_tool(name, arguments, context)
        call.came = True
        try:
            return await self._call_tool(name, arguments, context)
        except MCPError:
            raise
        except _Misfit as misfit:
            return misfit.result
        except (UnexpectedToolError, UnexpectedResourceError) as error:
            call.told = True
            raise UnexpectedToolError(refusal.fault_of(name)) from error
        except (ToolError, ResourceError) as error:
            return error_of(str(error))
        except Exception as error:
            call.told = True
            raise UnexpectedToolError(refusal.fault_of(name)) from error

    async def run_tool(self, name: str, arguments: dict[str, Any], context: Any, *args: Any, **kwargs: Any) -> Any:
        """Decide on a call from the wire, behind all that a server's author put around `call_tool`."""
        call = self._from_the_wire(context)
        tool = None if call is None else self._tool_manager.get_tool(name)
        if call is None or tool is None:
            return await self._run_tool(name, arguments, context, *args, **kwargs)
        bound = self._bind(tool, arguments, call)
        before = COMING.set(None)
        try:
            return await self._run_tool(name, bound, context, *args, **kwargs)
        finally:
            COMING.reset(before)

    def _from_the_wire(self, context: Any) -> Call | None:
        """The call from the wire that comes to its tool now; None for one that is made in process."""
        call = COMING.get()
        if call is None or context is None or call.guard is not self:
            return None
        if call.context is None:
            call.context = context  # what the SDK made of the request; to ask it costs as much as to fit
        if context is not call.context:
            try:
                if not call.is_of(context.request_context):
                    return None
            except ValueError:  # there is no request behind it
                return None
        return call

    def _bind(self, tool: Tool, arguments: dict[str, Any], call: Call) -> _Bound:
        """The arguments of a call that may run, bound; raises `_Misfit` where it may not."""
        binder: Any = tool.fn_metadata
        if isinstance(binder, _BoundOnce):
            binder = binder.binder
        else:
            tool.fn_metadata = _BoundOnce(binder)  # type: ignore[assignment] # stands in for it
        model = binder.arg_model
        guarded = self._guarded(tool, model)
        fit = call.fitted(guarded, arguments if type(arguments) is dict else dict(arguments))
        bound = None
        if not guarded.decides(fit):
            bound = _Bound(fit.arguments)
            try:
                bound.values_bound = model.model_validate(_as_read(binder, guarded, fit)).model_dump_one_level()
            except ValidationError as error:
                fit, bound = guarded.refused_by_binder(fit, faults(error)), None
            except Exception as error:  # noqa: BLE001 - raised again where the SDK binds, so that it is the SDK's to log
                bound.error = error
        self.notes.take(tool.name, guarded.engine.plan, fit)
        if bound is None:
            raise _Misfit(self.refused(tool.name, guarded, fit, call))
        return bound

    def _guarded(self, tool: Tool, model: type[BaseModel]) -> Guarded:
        known = self._tools.get(tool.name)
        if known is None or known[0] is not tool.parameters or known[1] is not model:
            own = binders_own(model)
            rules = self.rules_of(destroys=getattr(tool.annotations, "destructive_hint", None) is True)
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
        if not isinstance(arguments, _Bound):
            bound: dict[str, Any] = self.binder.validate_arguments(arguments)
            return bound
        if arguments.error is not None:
            raise arguments.error
        return arguments.values_bound


def _as_read(binder: Any, guarded: Guarded, fit: Fit) -> dict[str, Any]:
    """The arguments to bind: the SDK reads text as JSON where it does not fit as it is."""
    arguments: dict[str, Any] = fit.arguments
    if not fit.problems and not guarded.binders_own:
        return arguments
    as_sdk = guarded.binders_own | {str(problem.path[0]) for problem in fit.problems if problem.path}
    as_text = {name: part for name, part in arguments.items() if name in as_sdk}
    return {**arguments, **binder.pre_parse_json(as_text)}
