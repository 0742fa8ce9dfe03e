"""A guard for the official SDK's lowlevel `Server`: its listing says what a tool takes, and nothing binds.

Rules
- A caller is held to what that caller is listed, through all middleware: by their own listings, and by one of the
  guard's on a miss and before a refusal.
"""

from dataclasses import replace
from typing import Any, NamedTuple

from mcp.server import Server
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from argfit.adapters.mcp_calls import CALL, LIST, Call, Context, Guard, error_of
from argfit.core import refusal
from argfit.core.guarding import Guarded, Rules
from argfit.log import LOGGER

_FORMATS = frozenset({"date", "uuid"})  # no binder stands behind the schema here
_CALLERS = 1_000  # whose listings are kept
_VARIANTS = 8  # of one tool's schema, that are kept compiled


class _Listed(NamedTuple):
    """A tool as a lowlevel server lists it."""

    schema: Any
    destroys: bool


class OfLowlevel(Guard):
    """A lowlevel `Server`: its listing says what a tool takes, and nothing binds."""

    def __init__(self, lowlevel: Server[Any], rules: Rules) -> None:
        super().__init__(lowlevel, rules.with_formats(_FORMATS))
        self.chosen = rules
        self._listed: dict[Any, dict[str, _Listed]] = {}  # by caller
        self._compiled: dict[str, list[tuple[_Listed, Guarded]]] = {}
        self._none = Guarded(True, rules)

    def knows(self, name: str) -> bool:
        """Whether any caller was listed a tool of this name."""
        return any(name in tools for tools in self._listed.values())

    def learn(self, listed: Any) -> None:
        """Take note of what a caller is listed, a page of it."""
        tools = listed.get("tools") if isinstance(listed, dict) else None
        caller = _caller()
        known = self._listed.pop(caller, {})
        self._listed[caller] = {**known, **_tools_of(tools)}
        while len(self._listed) > _CALLERS:
            del self._listed[next(iter(self._listed))]

    async def handle(self, ctx: Context, params: Any) -> Any:
        """Decide by the listing of this caller, read anew on a miss and before a refusal."""
        with self.coming_in(ctx) as call:
            if call is None:
                return await self._inner(ctx, params)
            guarded = self._guarded(params.name)
            fit = None if guarded is None else call.fitted(guarded, params.arguments)
            if fit is None or not fit.ok:
                await self._list(call)
                guarded = self._guarded(params.name) or (self._none if call.odd and not call.spelled_out else None)
                fit = None if guarded is None else call.fitted(guarded, params.arguments)
            if guarded is not None and fit is not None:
                self._notes.take(params.name, guarded.engine.plan, fit)
                if not fit.ok:
                    return self.refused(params.name, guarded, fit, call)
                if params.arguments is not None and fit.arguments is not params.arguments:
                    params.arguments = fit.arguments
            try:
                return _sendable(await self._inner(ctx, params))
            except MCPError:
                raise
            except Exception:  # noqa: BLE001 - logged with its traceback
                call.told = True
                LOGGER.exception("MCP tool %s failed.", params.name, extra={"tool": params.name})
                return error_of(refusal.fault_of(params.name))

    def _guarded(self, name: str) -> Guarded | None:
        listed = self._listed.get(_caller(), {}).get(name)
        if listed is None:
            return None
        known = self._compiled.setdefault(name, [])
        guarded = next((made for tool, made in known if tool == listed), None)
        if guarded is None:
            guarded = Guarded(listed.schema, self._rules.for_destroying() if listed.destroys else self._rules)
            self._compiled[name] = [*known[1 - _VARIANTS :], (listed, guarded)]
        return guarded

    async def _list(self, call: Call) -> None:
        """List the tools as this caller would: through all that stands in between."""
        self._listed.pop(_caller(), None)
        meta = {key: part for key, part in _meta_of(call.ctx.params).items() if key != "progressToken"}
        seen: set[Any] = set()
        cursor = None
        while cursor not in seen:
            seen.add(cursor)
            params = {"_meta": meta, **({} if cursor is None else {"cursor": cursor})}
            try:
                page = await call.call_next(replace(call.ctx, method=LIST, params=params))
            except Exception:  # noqa: BLE001 - a server that cannot list its tools is guarded in nothing
                return
            self.learn(page)
            cursor = page.get("nextCursor") if isinstance(page, dict) else None
            if cursor is None:
                return


def _meta_of(params: Any) -> dict[str, Any]:
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _tools_of(tools: Any) -> dict[str, _Listed]:
    found: dict[str, _Listed] = {}
    for tool in tools if isinstance(tools, list) else ():
        hints = tool.get("annotations") or {}
        found[tool["name"]] = _Listed(tool.get("inputSchema"), hints.get("destructiveHint") is True)
    return found


def _sendable(result: Any) -> Any:
    """A handler's result; TypeError where the SDK would not even look at it, ValueError where it cannot write it."""
    if isinstance(result, BaseModel):
        if getattr(result, "structured_content", None) is not None or getattr(result, "meta", None):
            result.model_dump_json()
        return result
    if result is None or isinstance(result, dict):
        return result
    raise TypeError(f"the handler of {CALL} returned {type(result).__name__}")


def _caller() -> Any:
    token = get_access_token()
    return None if token is None else token.token
