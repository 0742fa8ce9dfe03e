"""The way of one call through the official SDK's servers (mcp 2.x), and what both kinds of guard share.

Rules
- Arguments that are no object are shown to all that stand in between as the object they spell, or as none; and what
  spells none is refused where the tool begins.
- A call is known on its way by its session and its request. A tool's own calls of tools are none of these.
"""

from dataclasses import replace
from typing import Any

from mcp.server import Server
from mcp.server.context import CallNext, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, CallToolResult, TextContent

from argfit.core import record, refusal
from argfit.core.fit import Fit
from argfit.core.guarding import Guarded, Rules, Sent
from argfit.log import Notes, write

Context = ServerRequestContext[Any, Any]

CALL, LIST = "tools/call", "tools/list"


class Call(Sent):
    """One call on its way in: what was sent, and how far it came."""

    def __init__(self, sent: Any, rules: Rules, ctx: Context, call_next: CallNext) -> None:
        super().__init__(sent, rules)
        self.ctx = ctx
        self.call_next = call_next
        self.came = self.inside = False  # the tool, or what decides for it, was reached; is at work
        self.told = False  # in the log
        self.level = 0  # which of the handlers is at work
        self.context: Any = None  # what an MCPServer makes of the request, as it was seen last


class Guard:
    """What both kinds of server share: the way in and out of a call."""

    def __init__(self, lowlevel: Server[Any], rules: Rules) -> None:
        self.chosen = self._rules = rules
        self._notes = Notes()
        self._on_their_way: dict[tuple[int, Any], Call] = {}  # by session and request
        self._handlers: list[Any] = []  # what handled calls before, and what was put around that since
        self._add_handler = lowlevel.add_request_handler
        lowlevel.add_request_handler = self._handler_added  # type: ignore[method-assign] # what comes later stands behind
        entry = lowlevel.get_request_handler(CALL)
        if entry is not None:
            lowlevel.add_request_handler(CALL, entry.params_type, entry.handler)

    def _handler_added(self, method: str, params_type: Any, handler: Any, *args: Any, **kwargs: Any) -> None:
        if method == CALL:
            self._handlers.append(handler)
            handler = self.handle
        self._add_handler(method, params_type, handler, *args, **kwargs)

    async def middleware(self, ctx: Context, call_next: CallNext) -> Any:
        """Let a call in whatever the shape of its arguments, and see how it ends."""
        params = ctx.params
        if ctx.method != CALL or not isinstance(params, dict):
            result = await call_next(ctx)
            if ctx.method == LIST:
                self.learn(result)
            return result
        call = Call(params.get("arguments"), self._rules, ctx, call_next)
        if call.odd:
            ctx = replace(ctx, params={**params, "arguments": call.spelled_out or {}})
        key = (id(ctx.session), ctx.request_id)
        self._on_their_way[key] = call
        try:
            result = await call_next(ctx)
        except MCPError as error:
            if not call.came and error.code not in (INVALID_PARAMS, METHOD_NOT_FOUND):
                write(record.refused(self._known_as(params.get("name"))))
            raise
        finally:
            self._on_their_way.pop(key, None)
        is_error = result.get("isError") if isinstance(result, dict) else getattr(result, "is_error", None)
        if is_error is True and not call.told:
            write(record.refused(self._known_as(params.get("name"))))
        return result

    async def handle(self, ctx: Context, params: Any) -> Any:
        """Decide on a call from the wire; what comes here from inside of a handler goes on to the one behind it."""
        call = self.on_its_way(ctx)
        if call is None:
            return await self._handlers[0](ctx, params)
        if call.inside:
            call.level -= bool(call.level)
            return await self._handlers[call.level](ctx, params)
        call.came = call.inside = True
        try:
            return await self.decide(call, ctx, params)
        finally:
            call.inside = False  # a middleware may call on again

    async def decide(self, call: Call, ctx: Context, params: Any) -> Any:
        """Decide on a call from the wire, and pass it on where it may run."""
        raise NotImplementedError

    async def pass_on(self, call: Call, ctx: Context, params: Any) -> Any:
        """Go on to what handled calls before: the outermost of it first, which may come back to `handle`."""
        call.level = len(self._handlers) - 1
        return await self._handlers[call.level](ctx, params)

    def on_its_way(self, ctx: Context) -> Call | None:
        """The call from the wire that is answered in a request; None where there is none."""
        return self._on_their_way.get((id(ctx.session), ctx.request_id))

    def learn(self, listed: Any) -> None:
        """Take note of a listing that a client is given."""

    def knows(self, name: str) -> bool:
        """Whether there is a tool of this name."""
        raise NotImplementedError

    def _known_as(self, name: Any) -> str:
        """A tool's name as a log shows it: not what a caller made up."""
        return name if isinstance(name, str) and self.knows(name) else record.NO_TOOL

    def rules_of(self, annotations: Any) -> Rules:
        """The rules of one tool: one that destroys gets no repair that may widen its call."""
        destroys = getattr(annotations, "destructive_hint", None) is True
        return self._rules.for_destroying() if destroys else self._rules

    def refused(self, name: str, guarded: Guarded, fit: Fit, call: Call) -> CallToolResult:
        """The answer to a call whose arguments do not fit."""
        call.told = True
        write(record.misfit(name, guarded.engine.plan, fit.problems))
        return error_of(refusal.text_of(name, fit), refusal.meta_of(fit))


def error_of(text: str, meta: dict[str, Any] | None = None) -> CallToolResult:
    """A result that is an error."""
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True, _meta=meta)
