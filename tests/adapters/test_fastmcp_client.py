"""`fit` on FastMCP's client, with a real server."""

import asyncio
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from mcp_types import CallToolRequestParams
from tests.adapters.rows import SAYS

from argfit.adapters.fastmcp_client import fit


def strict() -> tuple[FastMCP[Any], list[Any]]:
    """A server that binds strictly, and what it was sent."""
    server: FastMCP[Any] = FastMCP("strict", strict_input_validation=True)
    got: list[Any] = []

    @server.tool
    def get_symbol_info(line: int, file: str = "") -> str:
        return f"found {line!r}"

    async def keep(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/call":
            got.append(CallToolRequestParams.model_validate(ctx.params).arguments)
        return await call_next(ctx)

    server._mcp_server.middleware.append(keep)  # noqa: SLF001 - no public way
    return server, got


def said(arguments: Any, **options: Any) -> tuple[str, list[Any]]:
    server, got = strict()

    async def speak() -> str:
        async with fit(Client(server), **options) as client:
            return str((await client.call_tool("get_symbol_info", arguments)).data)

    return asyncio.run(speak()), got


def test_what_a_struct_makes_of_a_call_is_sent_as_the_schema_takes_it() -> None:
    text, got = said({"line": 5.0, "file": "a.go"})
    assert (text, repr(got)) == ("found 5", "[{'line': 5, 'file': 'a.go'}]")


def test_repairs_are_made_on_request_only() -> None:
    with pytest.raises(ToolError):
        said({"line": "5"})
    assert said({"line": "5"}, repairs=["unquote"])[0] == "found 5"


def test_a_call_that_does_not_fit_is_answered_here_where_that_is_asked_for() -> None:
    server, got = strict()

    async def speak() -> Any:
        async with fit(Client(server), on_misfit="refuse") as client:
            with pytest.raises(ToolError) as refused:
                await client.call_tool("get_symbol_info", {"line": "s3cret"})
            assert str(refused.value) == SAYS.format("get_symbol_info", "line must be a whole number.")
            return await client.call_tool("get_symbol_info", {"line": "s3cret"}, raise_on_error=False)

    result = asyncio.run(speak())
    assert (result.is_error, got) == (True, [])


def test_a_server_is_listed_once_by_many_first_calls_and_again_before_a_refusal() -> None:
    server, got = strict()
    listed: list[str] = []

    async def keep(ctx: Any, call_next: Any) -> Any:
        if ctx.method == "tools/list":
            listed.append(ctx.method)
        return await call_next(ctx)

    server._mcp_server.middleware.append(keep)  # noqa: SLF001 - no public way

    async def speak() -> None:
        async with fit(Client(server), on_misfit="refuse") as client:
            await asyncio.gather(*(client.call_tool_mcp("get_symbol_info", {"line": 5.0}) for _ in range(20)))
            assert len(listed) == 1
            server.local_provider.remove_tool("get_symbol_info")

            @server.tool
            def get_symbol_info(line: str) -> str:
                return f"text {line!r}"

            result = await client.call_tool_mcp("get_symbol_info", {"line": "five"})
            assert (result.content[0].text, len(listed)) == ("text 'five'", 2)

    asyncio.run(speak())
    assert len(got) == 21


def test_a_client_that_is_made_of_it_fits_too_and_speaks_for_itself() -> None:
    server, got = strict()

    async def speak() -> str:
        first = fit(Client(server), repairs=iter(["unquote"]))
        async with first.new() as client:
            assert client is not first
            await client.call_tool("get_symbol_info", {"line": "5"})
            return str((await client.call_tool("get_symbol_info", {"line": 5.0})).data)

    assert (asyncio.run(speak()), got) == ("found 5", [{"line": 5}] * 2)


def two_versions() -> FastMCP[Any]:
    """A server with a tool in two versions, of which the newer one is listed."""
    server: FastMCP[Any] = FastMCP("versions", strict_input_validation=True)

    @server.tool(name="find", version="1")
    def old(key: str) -> str:
        return f"old {key!r}"

    @server.tool(name="find", version="2")
    def new(key: int) -> str:
        return f"new {key!r}"

    return server


@pytest.mark.parametrize("options", [{}, {"on_misfit": "refuse"}, {"repairs": ["unquote"]}], ids=repr)
@pytest.mark.parametrize("sent", ["5", "five"])
def test_a_call_of_a_version_that_is_not_listed_goes_as_it_came(options: Any, sent: str) -> None:
    async def speak() -> list[str]:
        async with fit(Client(two_versions()), **options) as client:
            pin = {"fastmcp": {"version": "1"}}
            raw = await client.call_tool_mcp("find", {"key": sent}, None, None, pin)
            named = await client.call_tool("find", {"key": sent}, meta=pin)
            return [(await client.call_tool("find", {"key": sent}, version="1")).data, named.data, raw.content[0].text]

    assert asyncio.run(speak()) == [f"old {sent!r}"] * 3


def test_a_call_of_the_version_that_is_listed_is_fitted_by_it() -> None:
    async def speak() -> list[str]:
        async with fit(Client(two_versions()), repairs=["unquote"]) as client:
            calls: list[Any] = [{}, {"version": "2"}, {"meta": {"fastmcp": {"version": "2"}}}]
            return [(await client.call_tool("find", {"key": "5"}, **how)).data for how in calls]

    assert asyncio.run(speak()) == ["new 5"] * 3


def becoming_text(server: FastMCP[Any]) -> None:
    """Have the tool of a strict server take text."""
    server.local_provider.remove_tool("get_symbol_info")

    @server.tool
    def get_symbol_info(line: str) -> str:
        return f"text {line!r}"


@pytest.mark.parametrize("again", ["opened", "listed"])
def test_a_client_that_is_opened_again_or_asked_to_list_goes_by_what_is_listed_then(again: str) -> None:
    server, got = strict()

    async def speak() -> None:
        client = fit(Client(server))
        async with client:
            await client.call_tool_mcp("get_symbol_info", {"line": 5.0})
            becoming_text(server)
            if again == "listed":
                await client.list_tools()
                await client.call_tool_mcp("get_symbol_info", {"line": 5.0})
        if again == "opened":
            async with client:
                await client.call_tool_mcp("get_symbol_info", {"line": 5.0})

    asyncio.run(speak())
    assert [repr(one) for one in got] == ["{'line': 5}", "{'line': 5.0}"]


def test_a_repair_is_made_by_what_is_listed_when_it_is_sent() -> None:
    server, got = strict()

    async def speak() -> str:
        async with fit(Client(server), repairs=["unquote"]) as client:
            await client.call_tool("get_symbol_info", {"line": "5"})
            becoming_text(server)
            return str((await client.call_tool("get_symbol_info", {"line": "5"})).data)

    assert asyncio.run(speak()) == "text '5'"
    assert got == [{"line": 5}, {"line": "5"}]


def test_a_client_that_is_not_connected_says_so_itself() -> None:
    server, _ = strict()
    with pytest.raises(RuntimeError, match="not connected"):
        asyncio.run(fit(Client(server)).call_tool("get_symbol_info", {"line": 5.0}))
