"""The way of one call through the official SDK's servers (mcp 2.x), and what both kinds of guard share.

Rules
- A text that spells an object is shown to all that stand in between as that object. What spells none goes on as it
  came, which ends where the SDK reads it, before any tool; what is said of it then are our words.
- A call is known on its way by the task that goes it, and its request.
- What takes long holds up no other call.
"""

from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import anyio
from mcp.server.context import CallNext, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, SERVER_INFO_META_KEY, CallToolResult, TextContent
from mcp_types.methods import serialize_server_result
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from argfit.core import record, refusal
from argfit.core.fit import Fit
from argfit.core.guarding import Guarded, Rules, Sent
from argfit.core.values import is_large
from argfit.log import Notes, write

Context = ServerRequestContext[Any, Any]

CALL, LIST = "tools/call", "tools/list"

_MANY = 500  # values, to fit which may take some 50 ms
_FLAT = 200  # levels: no reader of the SDK's takes more, and a thread's stack may be small

_ANYTHING = Guarded(True, Rules(frozenset()))


class Call(Sent):
    """One call on its way in: what was sent, and how far it came."""

    came = False  # the tool, or what decides for it, was reached
    told = False  # in the log

    def __init__(self, sent: Any, guard: "Guard", ctx: Context, call_next: CallNext) -> None:
        super().__init__(sent, guard.rules)
        self.guard = guard
        self.ctx = ctx
        self.call_next = call_next

    def is_of(self, ctx: Context) -> bool:
        """Whether it is the call that is answered in a request; its session may be one that an author put around it."""
        return self.ctx.request_id == ctx.request_id

    def is_to(self, tool: str | None) -> bool:
        """Whether it is a call of a tool, by the name that was sent."""
        return tool is not None and (self.ctx.params or {}).get("name") == tool


# The call from the wire that a task is on its way with.
COMING: ContextVar[Call | None] = ContextVar("argfit_coming", default=None)


class Guard:
    """What both kinds of server share: the way in and out of a call."""

    def __init__(self, server: Server[Any], chosen: Rules, rules: Rules) -> None:
        self.chosen = chosen
        self.rules = rules
        self.notes = Notes()
        self._server = server

    async def middleware(self, ctx: Context, call_next: CallNext) -> Any:
        """Let a call in whatever the shape of its arguments, and see how it ends."""
        params = ctx.params
        if ctx.method != CALL or not isinstance(params, dict):
            return await self._other(ctx, call_next)
        call = Call(params.get("arguments"), self, ctx, call_next)
        if call.spelled_out is not None:
            ctx = replace(ctx, params={**params, "arguments": call.spelled_out})
        before = COMING.set(call)
        try:
            result = await call_next(ctx)
        except MCPError as error:
            if not call.came and error.code not in (INVALID_PARAMS, METHOD_NOT_FOUND):
                write(record.refused(self._known_as(params.get("name"))))
            raise
        except Exception:
            if call.came or not call.spells_none(params.get("name")):
                raise
            return no_object(self._server, call, ctx, self._known_as(params["name"]))
        finally:
            COMING.reset(before)
        is_error = result.get("isError") if isinstance(result, dict) else getattr(result, "is_error", None)
        if is_error is True and not call.told:
            write(record.refused(self._known_as(params.get("name"))))
        return result

    async def _other(self, ctx: Context, call_next: CallNext) -> Any:
        before = COMING.set(None)  # it may have begun on the way of a call
        try:
            result = await call_next(ctx)
        finally:
            COMING.reset(before)
        if ctx.method == LIST:
            self.learn(ctx.params, result)
        return result

    def learn(self, params: Any, listed: Any) -> None:
        """Take note of a listing that a client is given, as it asked for it."""

    def knows(self, name: str) -> bool:
        """Whether there is a tool of this name."""
        raise NotImplementedError

    def _known_as(self, name: Any) -> str:
        """A tool's name as a log shows it: not what a caller made up."""
        return name if isinstance(name, str) and self.knows(name) else record.NO_TOOL

    def rules_of(self, *, destroys: bool) -> Rules:
        """The rules of one tool: one that destroys gets no repair that may widen its call."""
        return self.rules.for_destroying() if destroys else self.rules

    def refused(self, name: str, guarded: Guarded, fit: Fit, call: Call) -> CallToolResult:
        """The answer to a call whose arguments do not fit."""
        if not call.told:
            write(record.misfit(name, guarded.engine.plan, fit.problems))
        call.told = True
        return error_of(refusal.text_of(name, fit), refusal.meta_of(fit))


async def fitted(call: Sent, guarded: Guarded, arrived: dict[str, Any] | None) -> Fit:
    """Fit the arguments of a call; where they are many, beside all that goes on meanwhile."""
    if is_large(arrived, _MANY, _FLAT):
        return await anyio.to_thread.run_sync(call.fitted, guarded, arrived)
    return call.fitted(guarded, arrived)


def error_of(text: str, meta: dict[str, Any] | None = None) -> CallToolResult:
    """A result that is an error."""
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True, _meta=meta)


def no_object(server: Server[Any], call: Sent, ctx: Context, known_as: str) -> dict[str, Any]:
    """The answer to a call whose arguments are no object: no handler saw it, so that nothing else writes it."""
    fit = call.fitted(_ANYTHING, None)
    write(record.misfit(known_as, _ANYTHING.engine.plan, fit.problems))
    params: Any = ctx.params
    result = error_of(refusal.text_of(params["name"], fit), refusal.meta_of(fit))
    written = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        written["_meta"][SERVER_INFO_META_KEY] = server.server_info_stamp
    return serialize_server_result(CALL, ctx.protocol_version, written)
