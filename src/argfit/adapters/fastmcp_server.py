"""FastMCP servers (4.x): `guard(server)` names a bad argument, runs nothing, and logs one quiet line.

Rules
- A call from the wire is decided on where the tool itself begins: inside every middleware, interceptor and auth check.
  What a tool, or a program, calls in process is theirs, and goes as if there were no guard.
- All that stand in between see what the tool will get: the object that a text spells; and the errors FastMCP raises.
  What spells no object comes to none of them: it ends where the SDK reads it.
- A fault tells the caller nothing, whatever a middleware makes of it.
"""

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from fastmcp import FastMCP
from fastmcp.exceptions import AuthorizationError, FastMCPError, NotFoundError, ValidationError
from fastmcp.server.dependencies import fastmcp_request_ctx
from fastmcp.server.middleware import Middleware
from fastmcp.tools.base import ToolResult
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams

from argfit.adapters.fastmcp_calls import (
    BETWEEN,
    CALL,
    LIST,
    REACHING,
    WAY,
    Call,
    Calls,
    Fault,
    Misfit,
    Way,
    error_of,
    is_fault,
    without_fault,
)
from argfit.adapters.fastmcp_tools import Tools
from argfit.adapters.mcp_calls import no_object
from argfit.core import refusal
from argfit.core.choices import chosen, repairs_named
from argfit.core.guarding import CONTRACTS, REPAIRS, UNKNOWN, Rules


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
        outcome = _Outcome(Calls(rules), server)
        server.middleware.insert(0, outcome)
        outcome.stand_around()
        server._mcp_server.middleware.insert(0, outcome.let_in)  # noqa: SLF001 - no public way
    elif made.calls.rules != rules:
        raise ValueError("this server is guarded already, by other rules; guard it once")
    return server


class _Outcome(Middleware):
    """What becomes of a call, seen from outside of all other middleware."""

    def __init__(self, calls: Calls, server: FastMCP[Any]) -> None:
        self.calls = calls
        self._server = server
        self._innermost = _Innermost()
        Tools(calls, server)

    async def let_in(self, ctx: Any, call_next: Any) -> Any:
        """Let a call in whatever the shape of its arguments: all see the object that they spell, or none."""
        params = ctx.params
        if ctx.method != CALL or not isinstance(params, dict):
            return await call_next(ctx)
        name = params.get("name")
        call = Call(name, params.get("arguments"), self.calls)
        if call.spelled_out is not None:
            ctx = replace(ctx, params={**params, "arguments": call.spelled_out})
        key = (id(ctx.session), str(ctx.request_id))
        self.calls.on_their_way[key] = call
        self.stand_around()
        try:
            return await call_next(ctx)
        except Exception:
            if not call.spells_none(name):
                raise
            return no_object(self._server._mcp_server, call, ctx, self.calls.known_as(name))  # noqa: SLF001 - no public way
        finally:
            self.calls.on_their_way.pop(key, None)

    def stand_around(self) -> None:
        """Have the innermost stand behind all middleware, also behind what was added since."""
        standing = self._server.middleware
        if not standing or standing[-1] is not self._innermost:
            standing[:] = [*(one for one in standing if one is not self._innermost), self._innermost]

    async def __call__(self, context: Any, call_next: Any) -> Any:
        """See a call, or a listing; FastMCP's own way to the hooks takes six steps for each."""
        if not isinstance(context.message, CallToolRequestParams):
            result = await call_next(context)
            if context.method == LIST and isinstance(result, list | tuple):
                self.calls.learn(tool.name for tool in result)
            return result
        self.stand_around()
        name = context.message.name
        request = fastmcp_request_ctx.get()
        call = self.calls.from_the_wire(request, name, context.message.arguments)
        before = WAY.set(Way(request, call, BETWEEN))
        try:
            result = await call_next(context)
        except (FastMCPError, NotFoundError, MCPError) as error:
            if call is None:
                raise
            return self._told(call, name, error)
        finally:
            WAY.reset(before)
        if call is not None and getattr(result, "is_error", False):
            self.calls.refused(call, name)
        return result

    def _told(self, call: Call, name: str, error: FastMCPError | NotFoundError | MCPError) -> ToolResult:
        """What the caller is told of an error; raises it where that is FastMCP's to tell."""
        if isinstance(error.__cause__, Misfit):
            return error.__cause__.result
        if isinstance(error, Fault):
            return error_of(str(error))
        if isinstance(error, AuthorizationError):
            self.calls.refused(call, name)
            return error_of(str(error))
        if isinstance(error, MCPError):
            if not call.came:
                self.calls.refused(call, name)
            raise without_fault(error, name)
        if is_fault(error):
            if isinstance(error.__cause__, MCPError):
                raise error
            return error_of(refusal.fault_of(name))
        self.calls.refused(call, name)  # also of a tool that this caller may not see
        raise error


class _Innermost(Middleware):
    """Where a call from the wire leaves all other middleware for its tool."""

    async def __call__(self, context: Any, call_next: Any) -> Any:
        """Say so; what is called in process goes by."""
        way = WAY.get()
        if way is None or way.call is None or not isinstance(context.message, CallToolRequestParams):
            return await call_next(context)
        before = WAY.set(Way(way.request, way.call, REACHING))
        try:
            return await call_next(context)
        except Misfit as misfit:  # as all middleware knows it; further inside FastMCP would log it
            raise ValidationError(str(misfit), log_level=logging.DEBUG) from misfit
        finally:
            WAY.reset(before)
