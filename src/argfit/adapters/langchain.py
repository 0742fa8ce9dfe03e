"""langchain-mcp-adapters (0.3): `fit(client)` sends what a tool's schema takes, and refuses the rest if asked.

Rules
- The seam is a tool interceptor, the innermost: what others make of a call is fitted, too.
- In a graph the tool of the call is at hand (`runtime.tools`); one that is called by itself is looked up at its server.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.interceptors import MCPToolCallRequest
from mcp.types import CallToolResult

from argfit.dispatch import Dispatch, Refusal, all_tools


def fit(
    client: MultiServerMCPClient,
    *,
    repairs: Iterable[str] | str = (),
    formats: Iterable[str] | str = (),
    on_misfit: str = "forward",
) -> MultiServerMCPClient:
    """Fit what the tools of a client send, those that are got from now on, and return the client.

    `repairs` names repairs to make (none by default), `formats` those that count; with `on_misfit="refuse"` a call that
    does not fit is answered here, as a result with `isError`, which the model sees as a `ToolMessage` of status
    `error`. Raises ValueError for a name that is none of these.
    """
    dispatch = Dispatch(repairs=repairs, formats=formats, on_misfit=on_misfit)

    async def fitting(request: MCPToolCallRequest, handler: Callable[[MCPToolCallRequest], Awaitable[Any]]) -> Any:
        server = request.server_name
        at_hand = _at_hand(client, request)
        decided = await dispatch.decide(
            request.name, request.args, lambda: _tools(client, server), tool=at_hand, server=server
        )
        if isinstance(decided, Refusal):
            return CallToolResult.model_validate(decided.result)
        return await handler(request.override(args=decided))

    client.tool_interceptors = [*(client.tool_interceptors or ()), fitting]
    return client


def _at_hand(client: MultiServerMCPClient, request: MCPToolCallRequest) -> dict[str, Any] | None:
    """The tool of a call that is made in a graph, as its server listed it; None elsewhere."""
    name = f"{request.server_name}_{request.name}" if client.tool_name_prefix else request.name
    for tool in getattr(request.runtime, "tools", None) or ():
        schema = getattr(tool, "args_schema", None)
        if getattr(tool, "name", None) == name and isinstance(schema, dict):
            return {"name": request.name, "inputSchema": schema, "annotations": getattr(tool, "metadata", None) or {}}
    return None


async def _tools(client: MultiServerMCPClient, server: str) -> list[Any]:
    async with client.session(server) as session:
        return await all_tools(lambda cursor: session.list_tools(cursor=cursor))
