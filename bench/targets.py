"""What is started: the backends, and the relays that can stand before them."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent

Command = tuple[str, ...]


@dataclass(frozen=True)
class Backend:
    name: str
    command: Command


@dataclass(frozen=True)
class Target:
    name: str
    before: Command

    def command(self, backend: Backend) -> Command:
        return self.before + backend.command


def installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def script(name: str) -> Command:
    return (sys.executable, str(HERE / name))


def argfit_command() -> Command:
    """The installed script, which is what a client's config names; else the package from the path."""
    beside_python = Path(sys.executable).with_name("argfit")
    return (str(beside_python),) if beside_python.exists() else (sys.executable, "-m", "argfit")


TINY = Backend("tiny server", script("tiny_server.py"))
SDK = Backend("MCPServer", script("sdk_server.py"))
FETCH = Backend("mcp-server-fetch", (sys.executable, "-m", "mcp_server_fetch"))

DIRECT = Target("direct pipe", ())
BYTES = Target("byte relay", script("byte_relay.py"))
PARSE = Target("parse-only relay", script("parse_relay.py"))
ARGFIT = Target("argfit proxy", (*argfit_command(), "proxy", "--"))
ARGFIT_CHANGED = Target("argfit proxy, call changed", ARGFIT.before)
FASTMCP = Target("FastMCP create_proxy", script("fastmcp_relay.py"))


def backends(*wanted: Backend) -> tuple[list[Backend], list[str]]:
    """Those that can run here, and a line for each that cannot."""
    needs = {SDK: "mcp", FETCH: "mcp_server_fetch"}
    missing = [backend for backend in wanted if backend in needs and not installed(needs[backend])]
    return (
        [backend for backend in wanted if backend not in missing],
        [f"skipped: everything behind {backend.name}: not installed" for backend in missing],
    )


def targets(*wanted: Target) -> tuple[list[Target], list[str]]:
    if installed("fastmcp") or FASTMCP not in wanted:
        return list(wanted), []
    return [t for t in wanted if t is not FASTMCP], ["skipped: FastMCP create_proxy: fastmcp is not installed"]
