"""Pydantic AI (2.x): `fit(toolset)` sends what a tool's schema takes, and refuses the rest if asked.

Rules
- The seam is a toolset around an MCP toolset: it has the tool of the call at hand, and function tools are none of its.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset

from argfit.dispatch import Dispatch, Refusal, Server


@dataclass
class _Fitting(WrapperToolset[Any]):
    dispatch: Dispatch = field(kw_only=True)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        async def listing() -> list[Any]:
            self.wrapped.apply(_forget)
            return [_listed(one) for one in (await self.wrapped.get_tools(ctx)).values()]

        run = Server(connection=ctx.run_id)  # a toolset may list others in another
        decided = await self.dispatch.decide(name, tool_args, listing, tool=_listed(tool), server=run)
        if isinstance(decided, Refusal):
            raise ToolFailed(decided.text)
        return await self.wrapped.call_tool(name, decided, ctx, tool)


def fit(
    toolset: AbstractToolset[Any],
    *,
    repairs: Iterable[str] | str = (),
    formats: Iterable[str] | str = (),
    on_misfit: str = "forward",
) -> AbstractToolset[Any]:
    """A toolset that sends what an `MCPToolset`'s tools take; give it to the agent in the other's place.

    `repairs` names repairs to make (none by default), `formats` those that count; with `on_misfit="refuse"` a call that
    does not fit is answered here, as a `ToolFailed`. Raises ValueError for a name that is none of these.
    """
    return _Fitting(toolset, dispatch=Dispatch(repairs=repairs, formats=formats, on_misfit=on_misfit))


def _forget(toolset: AbstractToolset[Any]) -> None:
    """Have an MCP toolset, of however many, ask its server again: what changed is not told to it in every era."""
    if hasattr(toolset, "_cached_tools"):
        toolset._cached_tools = None  # noqa: SLF001 - no public way


def _listed(tool: ToolsetTool[Any]) -> dict[str, Any]:
    defined = tool.tool_def
    return {
        "name": defined.name,
        "inputSchema": defined.parameters_json_schema,
        "annotations": (defined.metadata or {}).get("annotations") or {},
    }
