"""The tools of a FastMCP server (4.x) behind their guards.

Rules
- The guard stands before the very tool that a call from the wire reaches, wherever the server has it from; whoever
  else asks the server for a tool is given the tool itself.
- The arguments part of the tool's own pydantic schema binds, once; the function gets what was bound.
- The tool's own refusal keeps its text; a fault stays FastMCP's to log.
"""

import logging
from collections.abc import Iterable
from typing import Any, NamedTuple

from fastmcp import FastMCP
from fastmcp.exceptions import AuthorizationError, FastMCPError, NotFoundError, ToolError, ValidationError
from fastmcp.server.providers.addressing import parse_hashed_backend_name
from fastmcp.server.providers.fastmcp_provider import FastMCPProviderTool
from fastmcp.tools import FunctionTool, Tool
from fastmcp.tools.tool_transform import TransformedTool
from fastmcp.utilities.versions import VersionSpec
from pydantic import ValidationError as BindError

from argfit.adapters.fastmcp_binder import Binder
from argfit.adapters.fastmcp_calls import HANDING_ON, INSIDE, REACHING, WAY, Call, Calls, Fault, Misfit, Way, is_refusal
from argfit.adapters.mcp_calls import fitted
from argfit.adapters.pydantic_binder import faults
from argfit.core import record
from argfit.core.fit import Fit
from argfit.core.guarding import Guarded, Rules, keep
from argfit.log import LOGGER, Notes, write

_OWN_TOOLS = "fastmcp.server.transforms."  # of which some call on what their caller names
_VARIANTS = 8  # of one tool, that are kept compiled
_KEPT = 10_000  # tools


class Tools:
    """Gives out each tool to a call from the wire with its guard before it."""

    def __init__(self, calls: Calls, server: FastMCP[Any]) -> None:
        self._calls = calls
        self._known: dict[str, list[_Compiled]] = {}
        self._get_tool: Any = server.get_tool
        server.get_tool = self.get_tool  # type: ignore[method-assign] # what is injected comes by no other way

    async def get_tool(self, name: str, *args: Any, **kwargs: Any) -> Tool | None:
        """The tool as it is called, for a call that is about to reach it."""
        tool: Tool | None = await self._get_tool(name, *args, **kwargs)
        way = WAY.get()
        reaches = way is not None and way.at == REACHING and way.call is not None and way.call.calls is self._calls
        if tool is None or not reaches or isinstance(vars(tool).get("_run"), _StandIn):
            return tool
        known = self._known.setdefault(tool.key, [])
        for compiled in known:
            if compiled.stood_in_for is tool and compiled.seen == vars(tool) and compiled.destroys is _destroys(tool):
                return compiled.stand_in
        return (await self._compiled(tool, known)).standing_in_for(tool)

    async def _compiled(self, tool: Tool, known: list["_Compiled"]) -> "_Compiled":
        made = next((one for one in known if one.is_of(tool)), None)
        if made is None:
            made = _Compiled(tool, await _bound_by(tool), self._calls.rules)
            keep(self._known, tool.key, [*known[1 - _VARIANTS :], made], _KEPT)  # a provider may answer to any name
        return made


class _BoundBy(NamedTuple):
    """The tool that binds in the end, and what of its arguments is called otherwise before: the last name first."""

    origin: Tool
    renamed: list[dict[str, str]]

    def published(self, names: Iterable[str]) -> frozenset[str]:
        """The names of some of its arguments as a caller knows them."""
        for new in reversed(self.renamed):
            names = [new.get(name, name) for name in names]
        return frozenset(names)


def _transformed_from(tool: Tool) -> _BoundBy:
    """The tool that one was transformed from: itself, where it was not."""
    renamed = []
    while isinstance(tool, TransformedTool):
        arguments = tool.transform_args
        renamed.append({old: new.name for old, new in arguments.items() if isinstance(new.name, str)})
        tool = tool.parent_tool
    return _BoundBy(tool, renamed)


async def _bound_by(tool: Tool) -> _BoundBy:
    """What binds a tool: behind what it was transformed from, and behind a mounted server."""
    found, renamed = _transformed_from(tool)
    while isinstance(found, FastMCPProviderTool):
        mounted = await _mounted(found)
        if mounted is None:
            break
        found, before = _transformed_from(mounted)
        renamed += before
    return _BoundBy(found, renamed)


async def _mounted(tool: FastMCPProviderTool) -> Tool | None:
    """The tool of a mounted server that is called for one of the server it is mounted in."""
    server: FastMCP[Any] = tool._server  # noqa: SLF001 - no public way
    name = tool._original_name or ""  # noqa: SLF001 - likewise
    found = await server.get_tool(name, VersionSpec(eq=tool.version) if tool.version else None)
    by_hash = parse_hashed_backend_name(name) if found is None else None
    return await server.get_tool_by_hash(*by_hash) if by_hash else found


def _destroys(tool: Any) -> bool:
    return getattr(tool.annotations, "destructive_hint", None) is True


def _told_apart(tool: Tool) -> tuple[Any, list[dict[str, str]]]:
    """What FastMCP keeps of a tool whenever it transforms it anew."""
    origin, renamed = _transformed_from(tool)
    return getattr(origin, "fn", None), renamed


class _Compiled:
    """What is worked out once for a tool, however many copies of it FastMCP makes."""

    def __init__(self, tool: Tool, bound_by: _BoundBy, rules: Rules) -> None:
        self._made_of = (*_told_apart(tool), tool.parameters, tool.annotations)
        self.destroys = _destroys(tool)
        rules = rules.for_destroying() if self.destroys else rules
        origin = bound_by.origin
        binder = Binder(origin) if isinstance(origin, FunctionTool) else None
        self.binder = binder if origin is tool else None
        own = bound_by.published(binder.own) if binder else frozenset()
        own = own.intersection(tool.parameters.get("properties", ()))  # less what is hidden from a caller
        self.hands_on = str(getattr(getattr(origin, "fn", None), "__module__", "")).startswith(_OWN_TOOLS)
        self.guarded = Guarded(tool.parameters, rules, binders_own=own)
        self.notes = Notes()
        self.stood_in_for: Tool | None = None
        self.stand_in: Tool | None = None
        self.seen: dict[str, Any] = {}

    def is_of(self, tool: Tool) -> bool:
        """Whether a tool is the same to its guard."""
        function, renamed, parameters, annotations = self._made_of
        same = _told_apart(tool) == (function, renamed) and tool.annotations == annotations
        same = same and self.destroys is _destroys(tool)
        return same and (tool.parameters is parameters or tool.parameters == parameters)

    def standing_in_for(self, tool: Tool) -> Tool:
        """A copy of a tool with its guard before it, kept until the tool is another or altered."""
        self.stood_in_for, self.seen = tool, dict(vars(tool))
        self.stand_in = made = tool.model_copy()
        object.__setattr__(made, "_run", _StandIn(tool, self))  # a model's method, for this one copy
        return made


class _StandIn:
    """How a tool is run by a call from the wire."""

    def __init__(self, tool: Tool, compiled: _Compiled) -> None:
        self._tool = tool
        self._compiled = compiled
        binder = compiled.binder
        is_its_own = type(tool).run is not FunctionTool.run or type(tool)._run is not FunctionTool._run  # noqa: SLF001 - likewise
        self._takes_bound = None if binder is None or is_its_own else binder.bound(tool)

    async def __call__(self, arguments: dict[str, Any]) -> Any:
        """Run the tool if its arguments fit."""
        way = WAY.get()
        call = None if way is None or way.at != REACHING else way.call
        if way is None or call is None:
            return await self._tool._run(arguments)  # noqa: SLF001 - what FastMCP calls
        call.came = True
        call.calls.learn([call.name])
        before = WAY.set(Way(way.request, call, HANDING_ON if self._compiled.hands_on else INSIDE))
        try:
            return await self._decide(call, arguments)
        except AuthorizationError as error:
            error.log_level = logging.DEBUG
            raise
        except FastMCPError as error:
            if is_refusal(error):
                error.log_level = logging.DEBUG
                call.calls.refused(call, call.name)
            raise
        finally:
            WAY.reset(before)

    async def _decide(self, call: Call, sent: dict[str, Any]) -> Any:
        """Refuse a call, or run its tool with what was bound."""
        compiled = self._compiled
        guarded, binder = compiled.guarded, compiled.binder
        fit = Fit(True, sent) if not call.odd and guarded.is_right(sent) else await fitted(call, guarded, sent)
        bound: dict[str, Any] | None = None if guarded.decides(fit) else fit.arguments
        if bound is not None and binder is not None:
            try:
                bound = await binder.bind(bound)
            except BindError as error:
                fit, bound = guarded.refused_by_binder(fit, faults(error)), None
        compiled.notes.take(call.name, guarded.engine.plan, fit)
        try:
            if bound is not None:
                if self._takes_bound is not None:
                    return await self._takes_bound._run(bound)  # noqa: SLF001 - likewise
                return await self._tool._run(fit.arguments)  # noqa: SLF001 - what runs it otherwise binds by itself
        except NotFoundError as error:
            if not compiled.hands_on:
                raise
            # it was the caller who named what there is not
            raise ToolError(f"Error calling tool {call.name!r}: {error}") from None
        except (FastMCPError, BindError) as error:
            if isinstance(error, ToolError | AuthorizationError | Misfit | Fault):
                raise
            if isinstance(error, FastMCPError) and is_refusal(error):
                raise
            cause = error.__cause__
            if binder is not None or not isinstance(error, ValidationError) or not isinstance(cause, BindError):
                # it comes from the tool's body, whatever it looks like
                LOGGER.exception("MCP tool %s failed.", call.name, extra={"tool": call.name})
                raise Fault(call.name) from error
            fit = guarded.refused_by_binder(fit, faults(cause))
        if not call.told:
            write(record.misfit(call.name, guarded.engine.plan, fit.problems))
        call.is_told()
        raise Misfit(call.name, fit)
