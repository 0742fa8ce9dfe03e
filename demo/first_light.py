"""First light: a server that refuses 200.0 for an integer works behind argfit.

The official mcp-server-fetch reads one page from this program's own loopback server. The official mcp client
asks it three times: straight, through `argfit proxy`, and through `argfit proxy` with an argument no other
spelling can save. Exits 0 only if all three went as stated in STEPS.
"""

import asyncio
import contextlib
import importlib.metadata
import importlib.util
import logging
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple, TextIO

NOT_HERE = "first light: {} is not installed in the environment of {}; `make run` sets everything up"

try:
    from conversation import ANSWERED, REFUSED, Route, Seen, converse, spelled
    from side_by_side import header, row, width
except ModuleNotFoundError as missing:
    sys.exit(NOT_HERE.format(missing.name, sys.executable))

ARGUMENT = "max_length"
NOTE = f"Note: these arguments differ from the tool's published schema: {ARGUMENT} must be "
HEADING = "The harbour at first light"
PAGE = f"""<!doctype html><html><body>
<h1>{HEADING}</h1>
<p>Three boats came in on the tide before six. The pilot counted them twice, wrote down the number, and
wrote it as a whole one: there is no half of a boat.</p>
<p>The rest of this page is here to be cut off. A reader who asks for two hundred characters gets two hundred,
and is told where to go on reading.</p>
</body></html>"""


class Expectation(NamedTuple):
    """One thing a step states, in words and as a check."""

    words: str
    holds: Callable[[Seen], bool]


class Step(NamedTuple):
    """One call and what is stated about it."""

    title: str
    value: object
    expectations: tuple[Expectation, ...]


def dispatched_as(text: str) -> Callable[[Seen], bool]:
    """The server was given this spelling."""
    return lambda seen: spelled(seen.dispatched, ARGUMENT) == text


def verdict(wanted: str) -> Callable[[Seen], bool]:
    """The answer was of this kind."""
    return lambda seen: seen.verdict == wanted


def says(text: str) -> Callable[[Seen], bool]:
    """A block of the answer holds this text."""
    return lambda seen: any(text in block for block in seen.answer)


def server_named_it(seen: Seen) -> bool:
    """The server's own words, not only argfit's note, name the argument."""
    return any(ARGUMENT in block and NOTE not in block for block in seen.answer)


def untouched(seen: Seen) -> bool:
    """The server was given the very bytes that were sent."""
    return seen.sent is not None and seen.sent == seen.dispatched


def only_the_spelling_changed(seen: Seen) -> bool:
    """The bytes are those that were sent, but for 200 in the place of 200.0."""
    return seen.sent is not None and seen.sent.replace(b"200.0", b"200", 1) == seen.dispatched


STEPS = (
    Step(
        "(a) straight to the server",
        200.0,
        (
            Expectation("200.0 reaches the server", dispatched_as("200.0")),
            Expectation("the server refuses the call", verdict(REFUSED)),
            Expectation("the server's error names max_length", server_named_it),
        ),
    ),
    Step(
        "(b) the same call through argfit proxy",
        200.0,
        (
            Expectation("200 reaches the server", dispatched_as("200")),
            Expectation("no other byte of the call changes", only_the_spelling_changed),
            Expectation("the server answers", verdict(ANSWERED)),
            Expectation("the answer holds the page", says(HEADING)),
        ),
    ),
    Step(
        "(c) a bad argument through argfit proxy",
        "lots",
        (
            Expectation("the call reaches the server untouched", untouched),
            Expectation("the server refuses the call", verdict(REFUSED)),
            Expectation("the server's own error is kept and names max_length", server_named_it),
            Expectation("argfit's note says what max_length must be", says(NOTE)),
        ),
    ),
)


class Page(BaseHTTPRequestHandler):
    """Answers every GET with the page."""

    def do_GET(self) -> None:
        body = PAGE.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal belongs to the table."""


@contextlib.contextmanager
def loopback_page() -> Iterator[str]:
    """Serve the page on a free loopback port; yields its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def beside_python(name: str) -> list[str] | None:
    """The console script of this environment, not one from elsewhere on PATH."""
    scripts = (Path(sys.executable).with_name(name + suffix) for suffix in ("", ".exe"))
    return next(([str(script)] for script in scripts if script.is_file()), None)


def argfit_command() -> list[str] | None:
    """How argfit starts in this environment."""
    as_module = [sys.executable, "-m", "argfit"] if importlib.util.find_spec("argfit") else None
    return beside_python("argfit") or as_module


async def three_calls(url: str, fetch: list[str], argfit: list[str], scratch: Path, errlog: TextIO) -> list[Seen]:
    """Make the calls of STEPS: the first straight, the other two in one conversation through argfit."""
    # An empty PATH: a server that finds node there first runs `npm install` for its page reader.
    path = scratch / "empty"
    path.mkdir()
    server = [*fetch, "--allow-private-ips", "--ignore-robots-txt"]
    straight = Route((), scratch / "straight", scratch / "straight")
    through = Route([*argfit, "proxy", "--"], scratch / "sent", scratch / "dispatched")
    calls = [{"url": url, ARGUMENT: step.value} for step in STEPS]
    seen = await converse(straight, server, calls[:1], path=path, errlog=errlog)
    return seen + await converse(through, server, calls[1:], path=path, errlog=errlog)


def show(url: str, seen: list[Seen]) -> list[str]:
    """Print the table; returns one line per expectation that was not met."""
    server, client = (f"{name} {importlib.metadata.version(name)}" for name in ("mcp-server-fetch", "mcp"))
    print(f"First light: {server}, strict about integers, asked by the {client} client")
    print(f'each call: fetch {{"url": "{url}", "{ARGUMENT}": ...}}\n')
    print("\n".join(header(ARGUMENT)))
    failures: list[str] = []
    for step, one in zip(STEPS, seen, strict=True):
        unmet = [wanted.words for wanted in step.expectations if not wanted.holds(one)]
        print("\n".join(row(step.title, one, ARGUMENT, as_stated=not unmet)))
        failures += [f"{step.title[:3]} not as stated: {words}" for words in unmet]
    print("-" * width())
    return failures


def main() -> int:
    """Make the three calls, show them, and judge them."""
    fetch, argfit = beside_python("mcp-server-fetch"), argfit_command()
    if fetch is None or argfit is None:
        missing = "mcp-server-fetch" if fetch is None else "argfit"
        print(NOT_HERE.format(missing, sys.executable), file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, loopback_page() as url:
        said = Path(folder, "stderr")
        with said.open("w", encoding="utf-8") as errlog:
            logging.basicConfig(stream=errlog)  # the client's own log goes where the server's goes
            seen = asyncio.run(three_calls(url, fetch, argfit, Path(folder), errlog))
            logging.shutdown()
        failures = show(url, seen)
        if not failures:
            print("All three went as stated.")
            return 0
        print("\n".join(failures))
        print("\nWhat was written to stderr meanwhile:")
        print(said.read_text(encoding="utf-8", errors="replace"))
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
