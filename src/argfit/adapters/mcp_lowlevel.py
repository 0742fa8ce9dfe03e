"""A guard for the official SDK's lowlevel `Server`: its listing says what a tool takes, and nothing binds.

Rules
- A caller is held to what that caller is listed, through all middleware: by their own listings, and by one of the
  guard's on a miss, and before a change or a refusal.
"""

from dataclasses import replace
from typing import Any

from mcp.server import Server
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult
from pydantic import BaseModel
from pydantic_core import to_json

from argfit.adapters.mcp_calls import CALL, COMING, LIST, Call, Context, Guard, error_of, fitted
from argfit.core import refusal
from argfit.core.guarding import Guarded, Rules, keep
from argfit.log import LOGGER

_FORMATS = frozenset({"date", "uuid"})  # no binder stands behind the schema here
_CALLERS = 1_000  # whose listings are kept
_PAGES = 100  # of one listing
_KEPT = 10_000  # tools that are kept compiled
_VARIANTS = 8  # of one tool's schema, that are kept compiled


_NONE: dict[str, "_Listed"] = {}


class _Listed:
    """A tool as a lowlevel server lists it, compiled when it is called."""

    def __init__(self, schema: Any, *, destroys: bool) -> None:
        self.published = (schema, destroys)
        self.guarded: Guarded | None = None


class OfLowlevel(Guard):
    """A lowlevel `Server`: its listing says what a tool takes, and nothing binds."""

    def __init__(self, lowlevel: Server[Any], rules: Rules) -> None:
        super().__init__(lowlevel, rules, rules.with_formats(_FORMATS))
        self._add_handler = lowlevel.add_request_handler
        lowlevel.add_request_handler = self._handler_added  # type: ignore[method-assign] # what comes later stands behind
        entry = lowlevel.get_request_handler(CALL)
        if entry is not None:
            lowlevel.add_request_handler(CALL, entry.params_type, entry.handler)
        self._listed: dict[Any, dict[str, _Listed]] = {}  # by caller
        self._compiled: dict[str, list[tuple[tuple[Any, bool], Guarded]]] = {}

    def knows(self, name: str) -> bool:
        """Whether any caller was listed a tool of this name."""
        return any(name in tools for tools in self._listed.values())

    def learn(self, params: Any, listed: Any) -> None:
        """Take note of what a caller is listed, a page of it."""
        is_first = not isinstance(params, dict) or params.get("cursor") is None
        self._keep({**({} if is_first else self._listed.get(_caller(), _NONE)), **_tools_of(listed)})

    def _keep(self, tools: dict[str, _Listed]) -> None:
        keep(self._listed, _caller(), tools, _CALLERS)

    def _handler_added(self, method: str, params_type: Any, handler: Any, *args: Any, **kwargs: Any) -> None:
        self._add_handler(method, params_type, self._guarding(handler) if method == CALL else handler, *args, **kwargs)

    def _guarding(self, handler: Any) -> Any:
        """A handler with the guard before it: for a call from the wire, that is not decided on yet."""

        async def handle(ctx: Context, params: Any) -> Any:
            call = COMING.get()
            if call is None or call.guard is not self or not call.is_of(ctx):
                return await handler(ctx, params)
            call.came = True
            before = COMING.set(None)  # what it calls, or calls on with what it was given, is its own
            try:
                tool = self._listed.get(_caller(), _NONE).get(params.name)
                guarded = None if tool is None or call.odd else tool.guarded
                if guarded is None or not guarded.is_right(params.arguments):
                    refused = await self._refused(call, params)
                    if refused is not None:
                        return refused
                return _sendable(await handler(ctx, params))
            except MCPError:
                raise
            except Exception:  # noqa: BLE001 - logged with its traceback
                call.told = True
                LOGGER.exception("MCP tool %s failed.", params.name, extra={"tool": params.name})
                return error_of(refusal.fault_of(params.name))
            finally:
                COMING.reset(before)

        return handle

    async def _refused(self, call: Call, params: Any) -> CallToolResult | None:
        """Fit a call by the listing of this caller, read anew on a miss and before a change; or refuse it."""
        guarded = self._guarded(params.name)
        fit = None if guarded is None else await fitted(call, guarded, params.arguments)
        if fit is None or not fit.ok or fit.changes:
            await self._list(call, params.name)
            guarded = self._guarded(params.name)
            fit = None if guarded is None else await fitted(call, guarded, params.arguments)
        if guarded is not None and fit is not None:
            self.notes.take(params.name, guarded.engine.plan, fit)
            if not fit.ok:
                return self.refused(params.name, guarded, fit, call)
            if params.arguments is not None:
                params.arguments = fit.arguments
        return None

    def _guarded(self, name: str) -> Guarded | None:
        tool = self._listed.get(_caller(), {}).get(name)
        if tool is None:
            return None
        if tool.guarded is None:
            tool.guarded = self._compiled_as(name, *tool.published)
        return tool.guarded

    def _compiled_as(self, name: str, schema: Any, destroys: bool) -> Guarded:  # noqa: FBT001 - as it was published
        known = self._compiled.setdefault(name, [])
        guarded = next((made for published, made in known if published == (schema, destroys)), None)
        if guarded is None:
            guarded = Guarded(schema, self.rules_of(destroys=destroys))
            keep(self._compiled, name, [*known[1 - _VARIANTS :], ((schema, destroys), guarded)], _KEPT)
        return guarded

    async def _list(self, call: Call, wanted: str) -> None:
        """List the tools as this caller would, through all that stands in between, until the one that is wanted."""
        meta = {key: part for key, part in _meta_of(call.ctx.params).items() if key != "progressToken"}
        listing = replace(call.ctx, method=LIST, meta=None)
        found: dict[str, _Listed] = {}
        cursor = None
        for _ in range(_PAGES):
            params = {"_meta": meta, **({} if cursor is None else {"cursor": cursor})}
            try:
                page = await call.call_next(replace(listing, params=params))
            except Exception:  # noqa: BLE001 - a server that cannot list its tools now is held to what it listed before
                return
            found.update(_tools_of(page))
            cursor = _part(page, "nextCursor", "next_cursor")
            if cursor is None or wanted in found:
                break
        known = self._listed.get(_caller(), {}) if cursor is not None else {}
        self._keep({**known, **found})


def _meta_of(params: Any) -> dict[str, Any]:
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _part(listed: Any, key: str, attribute: str) -> Any:
    """A part of a listing as it goes over the wire, or as a model."""
    return listed.get(key) if isinstance(listed, dict) else getattr(listed, attribute, None)


def _tools_of(listed: Any) -> dict[str, _Listed]:
    found: dict[str, _Listed] = {}
    for tool in _part(listed, "tools", "tools") or ():
        destroys = _part(_part(tool, "annotations", "annotations"), "destructiveHint", "destructive_hint")
        found[_part(tool, "name", "name")] = _Listed(
            _part(tool, "inputSchema", "input_schema"), destroys=destroys is True
        )
    return found


def _sendable(result: Any) -> Any:
    """A handler's result; TypeError where the SDK would not even look at it, ValueError where it cannot write it."""
    if type(result) is CallToolResult and result.structured_content is None and not result.meta:
        return result  # it holds nothing but what its model has checked
    if isinstance(result, BaseModel):
        result.model_dump_json()
        return result
    if isinstance(result, dict):
        to_json(result)
        return result
    if result is None:
        return result
    raise TypeError(f"the handler of {CALL} returned {type(result).__name__}")


def _caller() -> Any:
    user = auth_context_var.get()
    return None if user is None else user.access_token.token
