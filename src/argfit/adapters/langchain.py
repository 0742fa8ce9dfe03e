"""langchain-mcp-adapters (0.3): `fit(client)` sends what a tool's schema takes, and refuses the rest if asked.

Rules
- The seam is a tool interceptor, the innermost: what others make of a call is fitted, too.
- The tool of a call is the one that the client gave out, as its server listed it, whatever it is called in a graph; one
  that was not given out is looked up at its server, with the headers of the call: another caller may be told of others.
"""

from asyncio import gather
from collections.abc import Awaitable, Callable, Iterable
from copy import deepcopy
from functools import wraps
from hashlib import sha256
from typing import Any

from langchain_core.tools import BaseTool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.interceptors import MCPToolCallRequest
from mcp.types import CallToolResult

from argfit.dispatch import Dispatch, Refusal, Server, all_tools


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
    get_tools, given = client.get_tools, dict[str, dict[str, Any]]()

    @wraps(get_tools)
    async def get_and_note(*, server_name: str | None = None) -> list[BaseTool]:
        if server_name is None:
            each = await gather(*(get_and_note(server_name=name) for name in client.connections))
            return [tool for tools in each for tool in tools]
        tools = await get_tools(server_name=server_name)
        prefix = f"{server_name}_" if client.tool_name_prefix else ""
        given[server_name] = {tool.name.removeprefix(prefix): _listed(tool) for tool in reversed(tools)}
        return tools

    async def fitting(request: MCPToolCallRequest, handler: Callable[[MCPToolCallRequest], Awaitable[Any]]) -> Any:
        decided = await dispatch.decide(
            request.name,
            request.args,
            lambda: _tools(client, request),
            tool=given.get(request.server_name, {}).get(request.name),
            server=Server(request.server_name, _digest(request.headers)),
        )
        if isinstance(decided, Refusal):
            return CallToolResult.model_validate(decided.result)
        return await handler(request.override(args=decided))

    client.tool_interceptors = [*(client.tool_interceptors or ()), fitting]
    client.get_tools = get_and_note
    return client


def _listed(tool: BaseTool) -> dict[str, Any]:
    # a copy: programs hide from their models what an interceptor fills in
    return deepcopy({"inputSchema": tool.args_schema, "annotations": tool.metadata or {}})


def _digest(headers: dict[str, Any] | None) -> bytes | None:
    """What tells headers apart and does not hold them."""
    return sha256(repr(sorted(headers.items())).encode()).digest() if headers else None


async def _tools(client: MultiServerMCPClient, request: MCPToolCallRequest) -> list[Any]:
    """The tools of a call's server, as they are listed to its caller."""
    name, connection = request.server_name, client.connections[request.server_name]
    if request.headers and "url" in connection:
        own: Any = connection
        connection = {**own, "headers": {**(own.get("headers") or {}), **request.headers}}
    async with MultiServerMCPClient({name: connection}, callbacks=client.callbacks).session(name) as session:
        return await all_tools(lambda cursor: session.list_tools(cursor=cursor))
