"""An MCP server on stdio that says what it is told to: `odd_stdio.py '{"tools": ["t"], "t": [{"result": …}]}' [NOTE]`.

`tools` are the tools, by their name or whole; `listing` is what else stands in the answer that lists them. What is
under a tool's name is said to a call of it, one after the other: an answer (it has a `result` or an `error`) with the
call's id, another message as it is, text as it is (in Latin-1), null for the server's end. `stderr` is written there at
the start. The methods it is asked are put into NOTE, and `answer` for an answer that it gets.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

ODD = Path(__file__)
SAID: dict[str, Any] = json.loads(sys.argv[1]) if __name__ == "__main__" else {}
NOTE = sys.argv[2] if len(sys.argv) > 2 else os.devnull


def replies(message: dict[str, Any]) -> list[Any]:
    """What is said to a request."""
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        info = {"name": "odd", "version": "1"}
        version = params["protocolVersion"]
        return [{"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}]
    if method == "tools/list":
        tools = [one if isinstance(one, dict) else {"name": one} for one in SAID["tools"]]
        listed = [{"inputSchema": {"type": "object"}, **tool} for tool in tools]
        return [{"result": {"tools": listed, **SAID.get("listing", {})}}]
    if method == "tools/call":
        said: list[Any] = SAID[params["name"]]
        return said
    return [{"error": {"code": -32601, "message": "Method not found"}}]


def main() -> None:
    """Answer until the input ends, or what is told does."""
    sys.stderr.write(SAID.get("stderr", ""))
    for line in sys.stdin:
        message = json.loads(line)
        with Path(NOTE).open("a") as note:
            note.write(message.get("method", "answer") + "\n")
        for said in replies(message) if "id" in message and "method" in message else ():
            if said is None:
                sys.exit(1)
            answer = isinstance(said, dict) and ("result" in said or "error" in said)
            whole = {"jsonrpc": "2.0", "id": message["id"], **said} if answer else said
            out = whole if isinstance(whole, str) else json.dumps(whole)
            sys.stdout.buffer.write(out.encode("latin-1") + b"\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
