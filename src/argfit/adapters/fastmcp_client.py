"""FastMCP's client (4.x): `fit(client)` sends what the tool's schema takes, and refuses the rest on request.

Rules
- The seam is `call_tool_mcp` of the very object: `call_tool` goes through it. A client made of it (`new`) fits, too.
"""

from collections.abc import Iterable
from copy import copy
from functools import wraps
from typing import Any

from fastmcp import Client
from mcp_types import CallToolResult

from argfit.catalog import named_by
from argfit.dispatch import Dispatch, Refusal, Server, beside, connection_of, learning

_META = 2  # where `call_tool_mcp` has it among the rest: progress_handler, timeout, meta


def fit(
    client: Client[Any],
    *,
    repairs: Iterable[str] | str = (),
    formats: Iterable[str] | str = (),
    on_misfit: str = "forward",
) -> Client[Any]:
    """Fit what a client sends, and return the client.

    `repairs` names repairs to make (none by default), `formats` those that count; with `on_misfit="refuse"` a call that
    does not fit is answered here, as a result with `isError`, which `call_tool` raises as a `ToolError` unless told not
    to. Raises ValueError for a name that is none of these.
    """
    return _fitting(client, Dispatch(repairs=repairs, formats=formats, on_misfit=on_misfit))


def _fitting(client: Client[Any], dispatch: Dispatch) -> Client[Any]:
    target: Any = client
    call, new = target.call_tool_mcp, target.new

    @wraps(call)
    async def call_tool_mcp(name: str, arguments: dict[str, Any], *rest: Any, **options: Any) -> Any:
        args, kwargs = beside(rest, options)
        meta = args[_META] if len(args) > _META else kwargs.get("meta")
        decided = await dispatch.decide(
            named_by(name, meta),
            arguments,
            lambda: client.list_tools(cache_mode="refresh"),
            server=Server(connection=connection_of(client)),
        )
        if isinstance(decided, Refusal):
            return CallToolResult.model_validate(decided.result)
        return await call(name, decided, *args, **kwargs)

    @wraps(new)
    def new_client() -> Client[Any]:
        made: Any = new()
        for name in ("call_tool_mcp", "list_tools_mcp", "new"):  # the copies are of this one's, and not its own
            made.__dict__.pop(name, None)
        return _fitting(made, copy(dispatch))

    target.call_tool_mcp, target.new = call_tool_mcp, new_client
    target.list_tools_mcp = learning(dispatch, client, target.list_tools_mcp)
    return client
