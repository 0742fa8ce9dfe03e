"""What the parts of the stack cost: argfit's relay, reading nothing, on each event loop and parser that uvicorn has.

The client to the server is the same in all; docs/design/http-stack.md says what others cost before it was chosen.
"""

from __future__ import annotations

import contextlib
import sys

from http_relay import DIRECT, ENDS, ERAS, FULL, QUICK, Started, measured, row
from report import Part, table

STACKS = {
    "uvloop, httptools": ("uvloop", "httptools"),
    "asyncio, httptools": ("asyncio", "httptools"),
    "uvloop, h11": ("uvloop", "h11"),
    "asyncio, h11": ("asyncio", "h11"),
}


def run(*, quick: bool) -> Part:
    """The table of one era: the stack reads nothing, so that they do not differ."""
    part = Part("stack: what the event loop and the server's parser cost a call")
    with contextlib.ExitStack() as stack:
        started = Started(stack)
        server = started(sys.executable, ENDS, "server", "PORT")
        url = f"http://127.0.0.1:{server}/mcp"
        ports = {name: started(sys.executable, ENDS, "bare", "PORT", url, *parts) for name, parts in STACKS.items()}
        ports = {DIRECT: server, **ports}
        rows = []
        for connections in (1, 16):
            found = measured(ports, ERAS[1], connections, QUICK if quick else FULL)
            rows += [row(connections, name, found) for name in ports]
    part.lines += table(("connections", "uvicorn on", "added", "p99", "calls/s"), rows)
    return part
