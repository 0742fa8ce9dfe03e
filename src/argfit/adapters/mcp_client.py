"""The official SDK's clients (mcp 2.x): `fit(client)` sends what a tool's schema takes, and refuses the rest if asked.

Rules
- The seam is `call_tool` of the very object: once per call, above the rounds in which a server asks for more, so that
  each round sends the same arguments (their hash is in `requestState`), and above the headers that mirror arguments.
"""

from collections.abc import Iterable
from functools import wraps
from typing import Any, TypeVar

from mcp import Client, ClientSession
from mcp_types import CallToolResult, PaginatedRequestParams

from argfit.dispatch import Dispatch, Refusal

AnyClient = TypeVar("AnyClient", Client, ClientSession)

_PAGES = 1_000


def fit(
    client: AnyClient,
    *,
    repairs: Iterable[str] | str = (),
    formats: Iterable[str] | str = (),
    on_misfit: str = "forward",
) -> AnyClient:
    """Fit what a client sends, and return the client.

    `client` is a `Client` or a `ClientSession`, connected or not; `repairs` names repairs to make (none by default),
    `formats` those that count; with `on_misfit="refuse"` a call that does not fit is answered here, as a result with
    `is_error`. Raises ValueError for a name that is none of these.
    """
    dispatch = Dispatch(repairs=repairs, formats=formats, on_misfit=on_misfit)
    target: Any = client
    call = target.call_tool

    @wraps(call)
    async def call_tool(name: str, arguments: dict[str, Any] | None = None, *args: Any, **kwargs: Any) -> Any:
        decided = await dispatch.decide(name, arguments, lambda: _tools(client))
        if isinstance(decided, Refusal):
            return CallToolResult.model_validate(decided.result)
        return await call(name, decided, *args, **kwargs)

    target.call_tool = call_tool
    return client


async def _tools(client: Client | ClientSession) -> list[Any]:
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        if isinstance(client, Client):
            page = await client.list_tools(cursor=cursor, cache_mode="refresh")
        else:
            page = await client.list_tools(params=PaginatedRequestParams(cursor=cursor))
        found += page.tools
        if page.next_cursor in (None, cursor):
            break
        cursor = page.next_cursor
    return found
