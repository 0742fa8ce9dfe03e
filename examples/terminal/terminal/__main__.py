"""Run the terminal client: `python -m terminal mcp.json`."""

import asyncio
import contextlib
import io
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

from mcp import MCPError

from terminal import block, config, sending, typed
from terminal.screen import DIM, GREEN, RED, YELLOW, line, plain, show
from terminal.servers import GoneError, Servers, why

with contextlib.suppress(ImportError):
    import readline

HELP = """\
  TOOL name=value …     call a tool; a value is text until its schema says otherwise
  TOOL {"name": …}      the same, with the arguments as JSON
  SERVER/TOOL …         the tool of one server
  !TOOL …               send it even where it does not fit
  tools                 what there is
  servers               who is connected
  quit                  or Ctrl-D; Ctrl-C leaves a call"""


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


class Notes(logging.Handler):
    """What the SDK and argfit have to say, each thing once, and as text."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record's text."""
        said = record.getMessage()
        if said not in self._said:
            self._said.add(said)
            show(line(f"note: {said}", YELLOW))


class Session:
    """One user's session."""

    def __init__(self, servers: Servers, loop: Loop) -> None:
        self._servers = servers
        self._loop = loop

    def connect(self) -> None:
        """Connect every server that is not, and say which are."""
        for name in self._servers.entries:
            if self._servers.is_connected(name):
                self._say_tools(name)
            else:
                self._say_connected(name)

    def reconnect(self) -> None:
        """Connect again who went away since the last line, and say so."""
        for name in self._servers.gone():
            show(line(f"✗ {name} went away", RED))
            self._say_connected(name)

    def _say_connected(self, name: str) -> None:
        show(line(f"connecting {name} …", DIM))
        try:
            self._loop.run(self._servers.connect(name))
        except KeyboardInterrupt:
            print()
            show(line(f"✗ {name} is left out; `servers` tries again", RED))
        except GoneError as gone:
            show(line(f"✗ {gone}", RED))
        else:
            self._say_tools(name)

    def _say_tools(self, name: str) -> None:
        count = len(self._servers.tools[name])
        show(line(f"✓ {name}: {count} {'tool' if count == 1 else 'tools'}", GREEN))

    def call(self, typed_line: str) -> None:
        """Make the call that a line says, and show its block."""
        listed = self._servers.tools
        tools = {name: [tool.name for tool in listed.get(name, ())] for name in self._servers.entries}
        call = typed.read(typed_line, tools)
        server = call.server or next((name for name in tools if call.tool in tools[name]), None)
        if server is None:
            raise typed.TypedError(f"no server has a tool {call.tool!r}; `tools` lists them")
        if server in listed and call.tool not in tools[server] and not call.anyway:
            raise typed.TypedError(
                f"{server} lists no tool {call.tool!r}; with `!` before it, it is called all the same"
            )
        if not self._servers.is_connected(server):
            self._say_connected(server)
            if not self._servers.is_connected(server):
                return
        catalog = self._servers.catalog
        if call.json is None:
            fit = catalog.fit(call.tool, call.arguments, server)
        else:
            fit = catalog.fit_json(call.tool, call.json, server)
        sent = fit.arguments if call.as_typed else None
        show(block.head(server, catalog.render(call.tool, sent, server)))
        show(block.row("typed", call.as_typed or "no arguments"))
        show(*block.changes(fit))
        if not fit.ok and not call.anyway:
            show(*block.problems(fit))
            show(block.foot(f"not sent; `!{call.tool} …` sends it all the same"))
            return
        if call.as_typed and not isinstance(sent, dict):
            show(block.foot("not sent: arguments are an object, and no client can send anything else"))
            return
        why_not = sending.unsendable(sent)
        if why_not is not None:
            show(block.foot(f"not sent: {why_not}"))
            return
        show(*block.roundings(sending.rounded(fit.json or b"")))
        show(block.row("dispatched", catalog.render("", sent, "").partition("(")[2][:-1] or "nothing"))
        self._send(server, call.tool, sent)

    def _send(self, server: str, tool: str, arguments: Any) -> None:
        began = time.monotonic()
        try:
            result = self._loop.run(self._servers.call(server, tool, arguments))
        except KeyboardInterrupt:
            print()
            show(block.foot(f"left after {_since(began)}; the server may have done its work, or be at it"))
        except GoneError as gone:
            show(block.row("gone", str(gone), RED))
            show(block.foot("connecting it again"))
            self._say_connected(server)
        except MCPError as error:
            show(*block.error(error))
            show(block.foot(f"no answer but an error, {_since(began)}"))
        except (ValueError, RuntimeError) as error:  # as the SDK has it
            show(block.row("error", why(error), RED))
            show(block.foot("the server answered, and not as it should"))
        else:
            show(*block.answer(result), block.foot(_since(began)))

    def tools(self) -> None:
        """List what there is."""
        show(*block.listing(self._servers.tools))


def main(arguments: list[str]) -> int:
    """Talk until the user has had enough."""
    if len(arguments) != 1:
        print("usage: python -m terminal MCP_JSON", file=sys.stderr)
        return 2
    try:
        entries = config.read(Path(arguments[0]))
    except config.ConfigError as error:
        print(plain(f"terminal: {error}"), file=sys.stderr)
        return 2
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # what this terminal's encoding has not
    logging.getLogger().addHandler(logging.NullHandler())  # in place of stderr, which is the screen too
    for name in ("argfit", "mcp"):
        logging.getLogger(name).addHandler(Notes())
    loop = Loop()
    servers = Servers(entries)
    try:
        _talk(Session(servers, loop), servers)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # for the seconds that it takes: no server is left behind
        loop.run(servers.close())
        loop.close()
    return 0


def _talk(session: Session, servers: Servers) -> None:
    session.connect()
    _complete([*servers.tools, "tools", "servers", "quit"], servers)
    show(line("Type a tool and its arguments; `help` says more.", DIM))
    commands: dict[str, Callable[[], None]] = {
        "tools": session.tools,
        "servers": session.connect,
        "help": lambda: print(HELP),
    }
    while True:
        try:
            typed_line = input("> ").strip(typed.SPACE)
            if typed_line in ("quit", "exit"):
                return
            if typed_line:
                session.reconnect()
                commands.get(typed_line, partial(session.call, typed_line))()
        except typed.TypedError as error:
            show(line(str(error), RED))
        except UnicodeDecodeError:
            show(line("that line is no text in this terminal's encoding", RED))
        except KeyboardInterrupt:
            print()
            show(line("left; Ctrl-D ends the session", DIM))
        except EOFError:
            print()
            return


def _since(began: float) -> str:
    passed = time.monotonic() - began
    return f"{passed * 1000:.0f} ms" if passed < 10 else f"{passed:.0f} s"


def _complete(words: list[str], servers: Servers) -> None:
    if "readline" not in globals():
        return

    def complete(text: str, state: int) -> str | None:
        names = [*words, *(tool.name for tools in servers.tools.values() for tool in tools)]
        found = [name for name in names if name.startswith(text) and plain(name) == name]
        return found[state] if state < len(found) else None

    readline.set_completer_delims(" ")
    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
