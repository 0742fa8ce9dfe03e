"""Run the terminal client: `python -m terminal mcp.json`."""

import asyncio
import contextlib
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

from mcp import MCPError

from terminal import block, config, typed
from terminal.servers import GoneError, Servers

with contextlib.suppress(ImportError):
    import readline

HELP = """\
  TOOL name=value …     call a tool; a value is text until its schema says otherwise
  TOOL {"name": …}      the same, with the arguments as JSON
  SERVER/TOOL …         the tool of one server
  !TOOL …               send it even where it does not fit
  tools                 what there is
  servers               who is connected
  quit                  or Ctrl-D"""


class Loop:
    """An event loop in a thread of its own, so that the prompt and Ctrl-C are the terminal's."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run_forever, daemon=True)
        self._thread.start()

    def _run_forever(self) -> None:
        # Ctrl-C is the prompt's: it goes neither to this thread nor to the servers that are started from it
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        self._loop.run_forever()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine to its end; Ctrl-C leaves it."""
        running = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return running.result()
        except KeyboardInterrupt:
            running.cancel()
            raise

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)


class Session:
    """One user's session."""

    def __init__(self, servers: Servers, loop: Loop) -> None:
        self._servers = servers
        self._loop = loop

    def connect(self) -> None:
        """Connect every server, and say which."""
        for name in self._servers.entries:
            self._say_connected(name)

    def _say_connected(self, name: str) -> None:
        print(block.coloured(f"connecting {block.plain(name)} …", "2"))
        try:
            tools = self._loop.run(self._servers.connect(name))
        except KeyboardInterrupt:
            print(block.coloured(f"\n✗ {block.plain(name)} is left out; `servers` tries again", "31"))
        except GoneError as gone:
            print(block.coloured(f"✗ {block.plain(str(gone))}", "31"))
        else:
            print(block.coloured(f"✓ {block.plain(name)}: {len(tools)} tools", "32"))

    def call(self, line: str) -> None:
        """Make the call that a line says, and show its block."""
        call = typed.read(line, list(self._servers.entries))
        server = call.server or self._first_with(call.tool)
        if server is None:
            raise typed.TypedError(f"no server has a tool {call.tool!r}; `tools` lists them")
        fit = self._servers.catalog.fit(call.tool, call.arguments, server)
        print(block.head(server, self._servers.catalog.render(call.tool, call.arguments, server)))
        print(*block.row("typed", call.as_typed or "no arguments"), sep="\n")
        _print(block.changes(fit))
        if not fit.ok and not call.anyway:
            _print(block.problems(fit))
            print(block.foot(f"not sent; `!{block.plain(call.tool)} …` sends it all the same"))
            return
        sent = fit.arguments
        if not isinstance(sent, dict | None):
            print(block.foot("not sent: arguments are an object, and no client can send anything else"))
            return
        _print(block.row("dispatched", self._servers.catalog.render("", sent, "").partition("(")[2][:-1] or "nothing"))
        began = time.monotonic()
        try:
            result = self._loop.run(self._servers.call(server, call.tool, sent))
        except GoneError as gone:
            _print(block.row("gone", str(gone), "31"))
            print(block.foot("connecting it again"))
            self._say_connected(server)
        except MCPError as error:
            _print(block.row("error", f"{error.code}: {error.message}", "31"))
            print(block.foot("the server refused the call"))
        else:
            _print(block.answer(result))
            print(block.foot(f"{(time.monotonic() - began) * 1000:.0f} ms"))

    def tools(self) -> None:
        """List what there is."""
        _print(block.listing(self._servers.tools))

    def servers(self) -> None:
        """Connect who went away, and say who is there."""
        self.connect()

    def _first_with(self, tool: str) -> str | None:
        listed = self._servers.tools.items()
        return next((server for server, tools in listed if any(one.name == tool for one in tools)), None)


def main(arguments: list[str]) -> int:
    """Talk until the user has had enough."""
    if len(arguments) != 1:
        print("usage: python -m terminal MCP_JSON", file=sys.stderr)
        return 2
    try:
        entries = config.read(Path(arguments[0]))
    except config.ConfigError as error:
        print(f"terminal: {error}", file=sys.stderr)
        return 2
    loop = Loop()
    with tempfile.TemporaryFile("w+") as errlog:
        servers = Servers(entries, errlog)
        try:
            _talk(Session(servers, loop), servers)
        finally:
            loop.run(servers.close())
            loop.close()
    return 0


def _talk(session: Session, servers: Servers) -> None:
    session.connect()
    _complete([*servers.tools, "tools", "servers", "quit"], servers)
    print(block.coloured("Type a tool and its arguments; `help` says more.", "2"))
    commands: dict[str, Callable[[], None]] = {
        "tools": session.tools,
        "servers": session.servers,
        "help": lambda: print(HELP),
    }
    while True:
        try:
            line = input("> ").strip()
            if line in ("quit", "exit"):
                return
            if line:
                commands.get(line, lambda line=line: session.call(line))()  # type: ignore[misc]
        except typed.TypedError as error:
            print(block.coloured(block.plain(str(error)), "31"))
        except KeyboardInterrupt:
            print(block.coloured("\nleft; Ctrl-D ends the session", "2"))
        except EOFError:
            print()
            return


def _complete(words: list[str], servers: Servers) -> None:
    if "readline" not in globals():
        return
    names = [*words, *(tool.name for tools in servers.tools.values() for tool in tools)]

    def complete(text: str, state: int) -> str | None:
        found = [name for name in names if name.startswith(text)]
        return found[state] if state < len(found) else None

    readline.set_completer_delims(" ")
    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        print(line)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
