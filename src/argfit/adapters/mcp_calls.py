"""The way of one call through the official SDK's servers (mcp 2.x), and what both kinds of guard share.

Rules
- Arguments that are no object are shown to all that stand in between as the object they spell, or as none; and what
  spells none is refused where the tool begins.
- A call is known on its way by its session and its request. A tool's own calls of tools are none of these.
"""

from collections.abc import Iterator
from contextlib import contextmanager
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
    """One call on its way in: what was sent, what it is seen as, and how far it came."""

    def __init__(self, sent: Any, rules: Rules, ctx: Context, call_next: CallNext) -> None:
        super().__init__(sent, rules)
        self.ctx = ctx
        self.call_next = call_next
        self.came = self.inside = False  # the tool, or what decides for it, was reached; is at work
        self.told = False  # in the log
        self.running = 0  # its tool, once or at once
        self.level = 0  # which of the handlers is at work
        # what everyone on the way sees: the object that a text spells, or none, which is then refused
        self.shaped = (self.spelled_out or {}) if self.odd else None


class Guard:
    """What both kinds of server share: the way in and out of a call."""

    def __init__(self, lowlevel: Server[Any], rules: Rules) -> None:
        self._lowlevel = lowlevel
        self.chosen = self._rules = rules
        self._inners: list[Any] = []  # what handled calls before, and what was put around that since
        self._notes = Notes()
        self._on_their_way: dict[tuple[int, Any], Call] = {}  # by session and request

    async def middleware(self, ctx: Context, call_next: CallNext) -> Any:
        """Let a call in whatever the shape of its arguments, and see how it ends."""
        params = ctx.params
        if ctx.method != CALL or not isinstance(params, dict):
            result = await call_next(ctx)
            if ctx.method == LIST:
                self.learn(result)
            return result
        self._wrap_handler()
        call = Call(params.get("arguments"), self._rules, ctx, call_next)
        if call.shaped is not None:
            ctx = replace(ctx, params={**params, "arguments": call.shaped})
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

    def on_its_way(self, ctx: Context) -> Call | None:
        """The call from the wire that is answered in a request; None where there is none."""
        return self._on_their_way.get((id(ctx.session), ctx.request_id))

    @contextmanager
    def coming_in(self, ctx: Context) -> Iterator[Call | None]:
        """The call from the wire that comes to its handler now; None for one from inside of a tool."""
        call = self.on_its_way(ctx)
        if call is None or call.inside:
            yield None
            return
        call.came = call.inside = True
        try:
            yield call
        finally:
            call.inside = False  # a middleware may call on again

    def learn(self, listed: Any) -> None:
        """Take note of a listing that a client is given."""

    def knows(self, name: str) -> bool:
        """Whether there is a tool of this name."""
        raise NotImplementedError

    def _known_as(self, name: Any) -> str:
        """A tool's name as a log shows it: not what a caller made up."""
        return name if isinstance(name, str) and self.knows(name) else record.NO_TOOL

    def _wrap_handler(self) -> None:
        entry = self._lowlevel.get_request_handler(CALL)
        if entry is not None and entry.handler != self.handle:
            self._inners.append(entry.handler)
            self._lowlevel.add_request_handler(CALL, entry.params_type, self.handle)

    async def handle(self, ctx: Context, params: Any) -> Any:
        """Decide on a call, and pass it on where it may run."""
        raise NotImplementedError

    async def inner(self, call: Call | None, ctx: Context, params: Any) -> Any:
        """Go on to what handled calls before: the outermost of it first, which may come back here for the rest."""
        coming = self.on_its_way(ctx)
        if call is not None:
            call.level = len(self._inners) - 1
        elif coming is not None and coming.level:
            coming.level -= 1
        return await self._inners[coming.level if coming is not None else 0](ctx, params)

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
