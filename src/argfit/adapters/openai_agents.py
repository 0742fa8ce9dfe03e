"""The OpenAI Agents SDK (0.x): `fit(server)` sends what a tool's schema takes, and refuses the rest if asked.

Rules
- The seam is `call_tool` of the very MCP server object. What it returns with `isError` the model sees as it is; what it
  raises the SDK hides behind words of its own.
- The tool of a call is the one that the SDK listed last, which it does at each turn unless it caches: each listing is
  learned when it comes, and forgotten when the SDK is told to forget it.
"""

from collections.abc import Iterable
from functools import wraps
from typing import Any, TypeVar

from agents.mcp import MCPServer
from mcp.types import CallToolResult, PaginatedRequestParams

from argfit.catalog import named_by
from argfit.dispatch import Dispatch, Refusal, Server, all_tools, beside, connection_of

AnyServer = TypeVar("AnyServer", bound=MCPServer)


def fit(
    server: AnyServer,
    *,
    repairs: Iterable[str] | str = (),
    formats: Iterable[str] | str = (),
    on_misfit: str = "forward",
) -> AnyServer:
    """Fit what is sent to an MCP server, and return the server.

    `server` is any `agents.mcp.MCPServer`, connected or not; `repairs` names repairs to make (none by default),
    `formats` those that count; with `on_misfit="refuse"` a call that does not fit is answered here, as a result with
    `isError`. Raises ValueError for a name that is none of these.
    """
    dispatch = Dispatch(repairs=repairs, formats=formats, on_misfit=on_misfit)
    target: Any = server
    call, list_all, invalidate = (
        target.call_tool,
        target.list_tools,
        getattr(target, "invalidate_tools_cache", _nothing),
    )
    learned: Any = None

    def here() -> Server:
        return Server(connection=connection_of(target))

    @wraps(list_all)
    async def list_tools(*args: Any, **kwargs: Any) -> Any:
        nonlocal learned
        asked = here()
        result = await list_all(*args, **kwargs)
        # below the filters; the public way to it copies all tools
        listed = getattr(target, "_tools_list", None) or result
        if listed is not learned:
            dispatch.learn(asked, listed)
            learned = listed
        return result

    def invalidate_tools_cache() -> None:
        invalidate()
        dispatch.forget(here())

    async def listing() -> list[Any]:
        invalidate()
        session = getattr(target, "session", None)  # below the filters, which may ask for an agent
        return list(await (list_all() if session is None else _all_tools(session)))

    @wraps(call)
    async def call_tool(tool_name: str, arguments: dict[str, Any] | None, *rest: Any, **options: Any) -> Any:
        meta, kwargs = beside(rest, options)
        name = named_by(tool_name, meta[0] if meta else kwargs.get("meta"))
        decided = await dispatch.decide(name, arguments, listing, server=here())
        if isinstance(decided, Refusal):
            return CallToolResult.model_validate(decided.result)
        return await call(tool_name, decided, *meta, **kwargs)

    target.call_tool, target.list_tools = call_tool, list_tools
    if invalidate is not _nothing:
        target.invalidate_tools_cache = invalidate_tools_cache
    return server


def _nothing() -> None:
    """What a server forgets that keeps no listing."""


async def _all_tools(session: Any) -> list[Any]:
    return await all_tools(lambda cursor: session.list_tools(params=PaginatedRequestParams(cursor=cursor)))
