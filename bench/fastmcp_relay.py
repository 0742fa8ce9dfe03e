"""FastMCP's own proxy, stdio to stdio, as its documentation makes one.

python bench/fastmcp_relay.py COMMAND ARG…
"""

from __future__ import annotations

import sys

import fastmcp
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

if __name__ == "__main__":
    fastmcp.settings.check_for_updates = "off"  # the bench asks nothing of the network
    create_proxy(StdioTransport(sys.argv[1], sys.argv[2:])).run("stdio", show_banner=False, log_level="ERROR")
