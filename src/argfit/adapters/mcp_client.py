"""The official SDK's clients (mcp 2.x): `fit(client)` sends what a tool's schema takes, and refuses the rest if asked.

Rules
- The seam is `call_tool` of the very object: once per call, above the rounds in which a server asks for more, so that
  each round sends the same arguments (their hash is in `requestState`), and above the headers that mirror arguments.
  Where a caller makes the rounds, each is a call, and the later ones go as the first went: with a `ClientSession` as
  that one was fitted; with a `Client`, which makes all rounds itself or none, as they came, for the first was its
  session's.
"""

from collections.abc import Iterable
from functools import wraps
from typing import Any, TypeVar

from mcp import Client, ClientSession
from mcp_types import CallToolResult, InputRequiredResult, PaginatedRequestParams

from argfit.catalog import named_by
from argfit.dispatch import Dispatch, Refusal, Server, all_tools, as_now, beside, connection_of, learning

AnyClient = TypeVar("AnyClient", Client, ClientSession)


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
    async def call_tool(name: str, arguments: dict[str, Any] | None = None, *rest: Any, **options: Any) -> Any:
        args, kwargs = beside(rest, options)
        state = kwargs.get("request_state")
        if state is not None and isinstance(target, Client):
            return await call(name, arguments, *args, **kwargs)
        if kwargs.get("allow_input_required"):
            arguments = as_now(arguments)  # and as it was, when the next round is made
        asked = named_by(name, kwargs.get("meta"))
        here = Server(connection=connection_of(client))
        decided = await dispatch.decide(asked, arguments, lambda: _tools(client), server=here, state=state)
        if isinstance(decided, Refusal):
            return CallToolResult.model_validate(decided.result)
        result = await call(name, decided, *args, **kwargs)
        if isinstance(result, InputRequiredResult) and result.request_state is not None:
            dispatch.asked(result.request_state, asked, arguments, decided)
        return result

    target.call_tool = call_tool
    target.list_tools = learning(dispatch, client, target.list_tools)
    return client


async def _tools(client: Client | ClientSession) -> list[Any]:
    async def page(cursor: str | None) -> Any:
        if isinstance(client, Client):
            return await client.list_tools(cursor=cursor, cache_mode="refresh")
        return await client.list_tools(params=PaginatedRequestParams(cursor=cursor))

    return await all_tools(page)
