"""Google's Agent Development Kit (2.x): `before_tool_callback=fit()` sends what a tool's schema takes.

Rules
- The seam is an agent's callback before a tool. It has the tool of the call at hand, as its server listed it, and tells
  MCP tools from the agent's own, which it leaves alone.
- Its server is listed again by the toolset that the tool is of, which knows its connection and its filter.
- The arguments are the framework's own copy of what the model wrote, to be changed in place.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any
from weakref import ref

from google.adk.tools.mcp_tool.mcp_tool import McpTool
from google.adk.tools.mcp_tool.mcp_toolset import McpToolset

from argfit.dispatch import Dispatch, Refusal, Server

Callback = Callable[[Any, dict[str, Any], Any], Awaitable[dict[str, Any] | None]]


def fit(
    *, repairs: Iterable[str] | str = (), formats: Iterable[str] | str = (), on_misfit: str = "forward"
) -> Callback:
    """A `before_tool_callback` for an `LlmAgent`, that fits the arguments of its MCP tools.

    `repairs` names repairs to make (none by default), `formats` those that count; with `on_misfit="refuse"` a call that
    does not fit is answered here, as a result with `isError`. Raises ValueError for a name that is none of these.
    """
    return _Fitting(Dispatch(repairs=repairs, formats=formats, on_misfit=on_misfit))


class _Fitting:
    """A callback that goes wherever its agent is sent."""

    def __init__(self, dispatch: Dispatch) -> None:
        self._dispatch = dispatch

    async def __call__(self, tool: Any, args: dict[str, Any], tool_context: Any) -> dict[str, Any] | None:
        if not isinstance(tool, McpTool):
            return None
        listed = tool.raw_mcp_tool
        manager = tool._mcp_session_manager  # noqa: SLF001 - no public way to tell whose a tool is

        async def listing() -> list[Any]:
            toolset = _toolset_of(manager, tool_context)
            if toolset is None:
                return [listed]
            getattr(toolset, "_tool_list_cache", {}).clear()  # there is no public way
            tools = await toolset.get_tools(tool_context)
            return [one.raw_mcp_tool for one in tools if isinstance(one, McpTool)]

        here = Server(ref(manager), tool_context.invocation_id)  # headers may be another user's in another
        decided = await self._dispatch.decide(listed.name, args, listing, tool=listed, server=here)
        if isinstance(decided, Refusal):
            return decided.result
        if decided is not args:
            args.clear()
            args.update(decided)
        return None


def _toolset_of(manager: Any, tool_context: Any) -> McpToolset | None:
    """The toolset of the agent that a tool is of; None where the agent was given the tool itself."""
    for toolset in getattr(tool_context.get_invocation_context().agent, "tools", ()):
        if isinstance(toolset, McpToolset) and toolset._mcp_session_manager is manager:  # noqa: SLF001 - as above
            return toolset
    return None
