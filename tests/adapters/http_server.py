"""A guarded server over streamable HTTP, of the kind that is named; its port is the first line that it prints."""

import logging
import socket
import sys
from typing import Any

import uvicorn
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError as FastToolError
from mcp.server import MCPServer, Server
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool
from tests.adapters.rows import BODIES, add_farm

from argfit.adapters import fastmcp_server, mcp_server

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def lowlevel() -> Any:
    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name=name, input_schema=NUMBER) for name in ("evens", "value_error")])

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        number = params.arguments["n"]
        if params.name == "value_error":
            BODIES["value_error"](number)
        return CallToolResult(content=[TextContent(type="text", text=repr(number))])

    return mcp_server.guard(Server("low", on_list_tools=list_tools, on_call_tool=call_tool)).streamable_http_app()


def mcpserver() -> Any:
    server: MCPServer[Any] = MCPServer("farm")
    add_farm(server.tool(), ToolError)
    server.tool()(BODIES["value_error"])
    return mcp_server.guard(server).streamable_http_app()


def fastmcp() -> Any:
    server: FastMCP[Any] = FastMCP("farm")
    add_farm(server.tool, FastToolError)
    server.tool(BODIES["value_error"])
    return fastmcp_server.guard(server).http_app()


KINDS = {"lowlevel": lowlevel, "mcpserver": mcpserver, "fastmcp": fastmcp}


def main(kind: str) -> None:
    """Serve on a free port until the process is ended."""
    application = KINDS[kind]()
    logging.basicConfig(
        stream=sys.stderr, level=logging.DEBUG, format="%(levelname)s %(name)s: %(message)s", force=True
    )
    host = logging.getLogger("fastmcp")
    host.handlers, host.propagate = [], True
    with socket.create_server(("127.0.0.1", 0)) as listening:
        sys.stdout.write(f"{listening.getsockname()[1]}\n")
        sys.stdout.flush()
        uvicorn.Server(uvicorn.Config(application, log_config=None, access_log=False)).run(sockets=[listening])


if __name__ == "__main__":
    main(sys.argv[1])
