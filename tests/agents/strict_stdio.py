"""A strict MCP server on stdio that needs nothing but Python: it takes whole numbers spelled as such only.

It answers with the very text of the arguments it was sent. Its one tool is on the second page of its listing, or on the
first where it is started with "one page". Where it is started with the path of a file, it takes text in place of whole
numbers from when that file is there.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

ONE_PAGE = "one page" in sys.argv
CHANGES = [Path(name) for name in sys.argv[1:] if name != "one page"]


def wants_text() -> bool:
    """Whether its tool has become another."""
    return any(path.exists() for path in CHANGES)


def schema() -> dict[str, Any]:
    """What its tool takes now."""
    line = {"type": "string" if wants_text() else "integer"}
    return {"type": "object", "properties": {"line": line, "file": {"type": "string"}}, "required": ["line"]}


def answer(message: dict[str, Any], line: str) -> dict[str, Any]:
    """The result of a request."""
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "strict", "version": "1"},
        }
    if method == "tools/list":
        if not params.get("cursor") and not ONE_PAGE:
            return {"tools": [{"name": "other", "inputSchema": {"type": "object"}}], "nextCursor": "2"}
        return {"tools": [{"name": "get_symbol_info", "description": "Finds.", "inputSchema": schema()}]}
    if method == "tools/call" and params["name"] == "other":
        sys.exit(0)  # a server that goes away
    if method == "tools/call":
        found = re.search(r'"arguments":\s*(\{[^{}]*\})', line)
        got = found[1].replace(" ", "") if found else "nothing"
        fine = type(params.get("arguments", {}).get("line")) is (str if wants_text() else int)
        return {"content": [{"type": "text", "text": f"{'found' if fine else 'refused'} {got}"}], "isError": not fine}
    return {}


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
            if message["method"] in ("initialize", "tools/list", "tools/call", "ping"):
                reply["result"] = answer(message, line)
            else:
                reply["error"] = {"code": -32601, "message": "Method not found"}
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
