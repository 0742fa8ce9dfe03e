"""The same tool on the official SDK's MCPServer, strict about integers."""

# ruff: noqa: FBT001, FBT002, PLR0913 - the arguments are what this tool is for

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import MCPServer
from pydantic import Field

Whole = Annotated[int, Field(strict=True, ge=0)]

server = MCPServer("notes", log_level="ERROR")


@server.tool()
def add_note(
    file: str,
    line: Whole,
    body: str,
    column: Whole = 0,
    end_line: Whole = 0,
    title: str = "",
    weight: float = 1.0,
    draft: bool = False,
    tags: tuple[str, ...] = (),
    reply_to: str | None = None,
) -> str:
    """Add a note."""
    return "noted"


if __name__ == "__main__":
    server.run("stdio")
