"""A raw MCP server with one tool, `goto`, that takes no float: lines in, lines out, nothing else.

A call is answered with the line it came as, so that a test sees what reached the server; `exit` and `kill` end it
in the middle of a call. A method given as an argument is never answered.
"""

import json
import os
import signal
import sys
from typing import Any

TOOL = {
    "name": "goto",
    "inputSchema": {"type": "object", "properties": {"line": {"type": "integer", "format": "int32"}}},
}


def answer(message: dict[str, Any], line: str) -> dict[str, Any]:
    if message["method"] == "initialize":
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "strict"}}
    if message["method"] == "tools/list":
        return {"tools": [TOOL]}
    call = message["params"]
    if call["name"] == "exit":
        os._exit(call["arguments"]["code"])
    if call["name"] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    refused = type(call["arguments"]["line"]) is not int
    return {"content": [{"type": "text", "text": line}], "isError": refused}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and message["method"] not in sys.argv[1:]:
            said = {"jsonrpc": "2.0", "id": message["id"], "result": answer(message, line)}
            sys.stdout.write(json.dumps(said) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
