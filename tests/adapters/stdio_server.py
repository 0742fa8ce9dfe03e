"""A guarded server on stdio, of the kind that is named: mcpserver, lowlevel or fastmcp."""

import sys
from typing import Any

import anyio
from fastmcp import FastMCP
from mcp.server import MCPServer, Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

from argfit.adapters import fastmcp_server, mcp_server

SCHEMA = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}


def list_flocks(limit: int = 50, labels: dict[str, str] | None = None) -> str:
    return repr(limit)


async def serve_lowlevel() -> None:
    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="list_flocks", input_schema=SCHEMA)])

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        limit = (params.arguments or {}).get("limit", 50)
        return CallToolResult(content=[TextContent(type="text", text=repr(limit))])

    server = mcp_server.guard(Server("low", on_list_tools=list_tools, on_call_tool=call_tool))
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def serve(kind: str) -> None:
    if kind == "mcpserver":
        official: MCPServer[Any] = MCPServer("farm")
        official.tool()(list_flocks)
        mcp_server.guard(official).run()
    elif kind == "fastmcp":
        fast: FastMCP[Any] = FastMCP("farm")
        fast.tool(list_flocks)
        fastmcp_server.guard(fast).run(show_banner=False)
    else:
        anyio.run(serve_lowlevel)


if __name__ == "__main__":
    serve(sys.argv[1])
