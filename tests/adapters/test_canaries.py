"""Secrets in every corner of a call: after whatever kind of refusal, no log holds one."""

import json
import logging
import random
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError as FastMcpToolError
from mcp.server import MCPServer, Server
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool
from pydantic import AfterValidator, BaseModel, ConfigDict
from tests.adapters.speaking import ERAS, Said, call

from argfit.adapters import fastmcp_server, mcp_server


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")

    n: int
    note: str = ""


def refuse(value: str) -> str:
    raise ValueError(f"{value} is refused by its author")


Refused = Annotated[str, AfterValidator(refuse)]


def probing(error: type[Exception]) -> Callable[..., str]:
    def probe(
        n: int = 0,
        labels: dict[str, int] | None = None,
        inner: Inner | None = None,
        rows: list[Inner] | None = None,
        own: Refused = "",
        flock: str = "",
    ) -> str:
        if flock:
            raise error(f"No flock is named {flock}.")
        return "ran"

    return probe


def official() -> Any:
    server: MCPServer[Any] = MCPServer("probes")
    server.tool()(probing(ToolError))
    return mcp_server.guard(server, unknown="refuse")


def fast() -> Any:
    server: FastMCP[Any] = FastMCP("probes")
    server.tool(probing(FastMcpToolError))
    return fastmcp_server.guard(server)._mcp_server  # noqa: SLF001 - the official client speaks to the SDK's


def low() -> Any:
    schema = published()

    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="probe", input_schema=schema)])

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        flock = (params.arguments or {}).get("flock", "")
        text = f"No flock is named {flock}."
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=bool(flock))

    return mcp_server.guard(Server("low", on_list_tools=list_tools, on_call_tool=call_tool))


def published() -> dict[str, Any]:
    """The schema that the official SDK publishes for the probe, closed."""
    server: MCPServer[Any] = MCPServer("probes")
    server.tool()(probing(ToolError))
    tool = server._tool_manager.get_tool("probe")  # noqa: SLF001 - no public way
    assert tool is not None
    return {**tool.parameters, "additionalProperties": False}


SERVERS: dict[str, Callable[[], Any]] = {"official": official, "fastmcp": fast, "lowlevel": low}


def corners(secret: str) -> dict[str, Any]:
    """A call for each place where a secret may stand."""
    return {
        "a value": {"n": secret},
        "an unknown key": {secret: 1},
        "a key of a free map": {"labels": {secret: secret}},
        "a key of a free map, twice": {"labels": {secret: {secret: 1}}},
        "a value inside": {"inner": {"n": secret, "note": secret}},
        "an unknown key inside": {"inner": {"n": 1, secret: 1}},
        "a value in a list": {"rows": [{"n": 1}, {"n": secret}]},
        "an unknown key in a list": {"rows": [{"n": 1, secret: secret}]},
        "text of JSON": {"inner": json.dumps({"n": secret, secret: 1})},
        "text that is cut off": {"inner": json.dumps({"n": secret})[:-1]},
        "a wrong container": {"labels": [secret], "rows": {secret: secret}},
        "a repaired neighbour": {"n": "5", "inner": {"n": secret}},
        "what its author refuses": {"own": secret},
        "what the tool refuses": {"flock": secret},
    }


def leaks(said: Said, secret: str) -> list[str]:
    return [
        f"{record.name} {record.levelname}"
        for record in said.records
        if (record.name.startswith("argfit") or record.levelno >= logging.INFO) and secret in repr(vars(record))
    ]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", SERVERS)
@pytest.mark.parametrize("corner", corners(""))
def test_no_log_holds_a_secret_of_a_refused_call(kind: str, era: str, corner: str) -> None:
    secret = f"canary-{random.randrange(10**12):012d}"  # noqa: S311 - unguessed, not unguessable
    said = call(SERVERS[kind](), era, "probe", corners(secret)[corner])
    ran = kind == "lowlevel" and corner == "what its author refuses"  # nothing binds there
    assert said.is_error is not ran
    assert leaks(said, secret) == []
    assert not any(record.exc_info for record in said.records if record.levelno >= logging.INFO)
    assert [record.levelname for record in said.records if record.levelno >= logging.INFO] == ["INFO"] * (not ran)


def test_a_leak_would_be_seen() -> None:
    server: MCPServer[Any] = MCPServer("probes")
    server.tool()(probing(ToolError))
    said = call(server, "auto", "probe", {"flock": "canary-1"})
    assert leaks(said, "canary-1") == ["mcp.server.mcpserver.server INFO"]
