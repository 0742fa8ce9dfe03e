"""The processes of the HTTP bench: a server, and what stands before it.

python bench/http_ends.py server|bare|fastmcp PORT [URL]
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any
from urllib.parse import urlsplit

QUIET = {"log_level": "critical", "access_log": False, "date_header": False, "server_header": False}


def server() -> Any:
    """A strict tool on the official SDK's lowlevel server, with a listing that lives long."""
    from mcp.server import Server
    from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

    schema = {"type": "object", "properties": {"line": {"type": "integer"}, "file": {"type": "string"}}}

    async def listed(ctx: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="goto", input_schema=schema)])

    async def called(ctx: Any, params: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=repr(params.arguments["line"]))])

    return Server("bench", on_list_tools=listed, on_call_tool=called).streamable_http_app()


def bare(url: str) -> Any:
    """The same stack, which reads nothing: the server's own path is said to be another."""
    from argfit.proxy.http import app

    parts = urlsplit(url)
    return app(f"{parts.scheme}://{parts.netloc}/elsewhere")


async def fastmcp(url: str, port: int) -> None:
    """FastMCP's proxy with one connected client."""
    import fastmcp
    from fastmcp import Client
    from fastmcp.server import create_proxy

    fastmcp.settings.check_for_updates = "off"  # the bench asks nothing of the network
    async with Client(url) as client:
        proxy = create_proxy(client)
        await proxy.run_http_async(show_banner=False, host="127.0.0.1", port=port, log_level="critical")


def main(role: str, port: str, url: str = "") -> None:
    """Serve as one of them."""
    import uvicorn

    if role == "fastmcp":
        asyncio.run(fastmcp(url, int(port)))
    else:
        uvicorn.run(server() if role == "server" else bare(url), host="127.0.0.1", port=int(port), **QUIET)


if __name__ == "__main__":
    main(*sys.argv[1:])
