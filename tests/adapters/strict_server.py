"""A server that keeps the arguments it is sent, as it is sent them; and what its tools take, which may change."""

from typing import Any

from mcp.server import Server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool


class Strict:
    """A lowlevel server of one tool, `get_symbol_info`, that takes whole numbers spelled as such only."""

    def __init__(self, line: str = "integer") -> None:
        self.line = line
        self.listed = 0
        self.got: list[Any] = []
        self.meta: dict[str, Any] = {}  # of the last call
        self.server: Server[Any] = Server("strict", on_list_tools=self._list, on_call_tool=self._call)

    async def _list(self, ctx: Any, params: Any) -> ListToolsResult:
        self.listed += 1
        schema = {
            "type": "object",
            "properties": {"file": {"type": "string"}, "line": {"type": self.line}},
            "required": ["line"],
        }
        # on two pages, and the tool on the second
        if not (params and params.cursor):
            return ListToolsResult(tools=[Tool(name="other", input_schema={"type": "object"})], next_cursor="2")
        return ListToolsResult(tools=[Tool(name="get_symbol_info", input_schema=schema)])

    async def _call(self, ctx: Any, params: Any) -> CallToolResult:
        self.got.append(params.arguments)
        self.meta = dict(ctx.meta or {})
        line = (params.arguments or {}).get("line")
        wanted = {"integer": int, "string": str}[self.line]
        text = "found" if type(line) is wanted else f"line must be of {wanted.__name__}, not {line!r}"
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=text != "found")
