"""A live run: the farm as its own process, a real client through real consent twice, every call in both eras.

    python -m farm.check [--behind-argfit] [DATABASE_URL]

With --behind-argfit the client comes, and signs in, through `argfit serve`. Prints each reply, then reads the server's
log of those calls and states what is in it. Exits with 1 where a reply or the log is not as it should be.
"""

import asyncio
import contextlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.auth.oauth2 import AuthorizationCodeResult
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp.shared.exceptions import MCPError
from pydantic import AnyUrl

from farm.auth import READ, WRITE
from farm.sample import CUSTOMER

PATIENCE = 30.0  # seconds
CALLBACK = "http://127.0.0.1:1/callback"  # nobody listens: the check itself is the browser
REFUSED = "An error occurred invoking '{}': {}"
NOWHERE = "00000000-0000-0000-0000-000000000001"
DAY = {"date": "2026-11-01", "flock": "1"}
ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28"}

# Who calls what, and how the reply must begin; what is sent is looked for in the log afterwards.
CALLS: list[tuple[str, str, dict[str, Any], str]] = [
    ("reader", "list_daily_entries", {"from": "10/11/2026"}, "from must be a date, YYYY-MM-DD."),
    ("reader", "list_daily_entries", {"from": 123}, "from must be a date, YYYY-MM-DD."),
    ("reader", "list_flocks", {"limit": "ten"}, "limit must be a whole number."),
    ("reader", "list_flocks", {"limit": None}, "limit must be a whole number."),
    ("reader", "list_flocks", {"limit": " 1"}, "limit must be a whole number."),
    ("reader", "list_flocks", {"limit": True}, "limit must be a whole number."),
    ("reader", "list_flocks", {"limit": 5.5}, "limit must be a whole number."),
    ("reader", "list_flocks", {"limit": 2147483648}, "limit must be a whole number from -2147483648 to 2147483647."),
    ("reader", "list_flocks", {"limit": "2"}, ""),
    ("reader", "list_flocks", {"limit": 2.0}, ""),
    ("reader", "list_sales_orders", {"customerId": "Acme"}, "customerId must be an id."),
    ("writer", "record_daily_entry", {**DAY, "grades": "invalid"}, "grades must be a list."),
    ("writer", "record_daily_entry", {**DAY, "grades": [1]}, "grades[0] must be an object."),
    *(
        ("writer", "record_daily_entry", {**DAY, "grades": [{"grade": "A", key: value}]}, words)
        for key in ("quantity", "Quantity")
        for value in ("ten", None)
        for words in ["grades[0].quantity must be a whole number."]
    ),
    ("writer", "record_daily_entry", {"flock": "1", "grades": []}, "date is required."),
    ("reader", "list_daily_entries", {"from": "2026-10-01", "flock": "No Such Flock"}, "=No flock is named"),
    (
        "reader",
        "list_daily_entries",
        {"from": "2026-10-01", "flock": "Meadow"},
        "=More than one flock is named 'Meadow'",
    ),
    ("reader", "list_egg_lot_movements", {"lotId": NOWHERE}, f"=No egg lot {NOWHERE} exists on this farm."),
    ("worker", "list_sales_orders", {"customerId": str(CUSTOMER)}, "=Only the owner of the farm may see sales orders."),
    ("reader", "record_daily_entry", {**DAY, "grades": []}, "!This call needs the scope daily-entries:write"),
]


class Kept(TokenStorage):
    """Tokens of one client, for as long as the check runs."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Person:
    """Somebody at a browser, who allows reading, or writing too."""

    def __init__(self, name: str, password: str, scope: str) -> None:
        self._name = name
        self._password = password
        self._writes = WRITE in scope
        self._came_back = ""

    async def consent(self, url: str) -> None:
        """Sign in on the page, say on the next what is allowed, and follow it back to the client."""
        async with httpx2.AsyncClient() as browser:
            page = await browser.get(url, follow_redirects=True)
            signs_in = {"person": self._name, "password": self._password}
            allows = {"password": self._password} if self._writes else {"reading": "1"}
            for answer in (signs_in, allows):
                found = re.search(r'name=request value="([^"]+)"', page.text)
                form = {"request": found[1] if found else "", **answer}
                page = await browser.post(str(page.url), data=form, follow_redirects=False)
            self._came_back = page.headers["location"]

    async def code(self) -> AuthorizationCodeResult:
        """What the client was sent back with."""
        said = {name: values[0] for name, values in parse_qs(urlsplit(self._came_back).query).items()}
        return AuthorizationCodeResult(code=said["code"], state=said.get("state"), iss=said.get("iss"))


def connected(base: str, name: str, password: str, scope: str) -> httpx2.AsyncClient:
    """An HTTP client that has this person's consent for a scope as soon as it is asked for it."""
    person = Person(name, password, scope)
    wants = OAuthClientMetadata(client_name="Farm check", redirect_uris=[AnyUrl(CALLBACK)], scope=scope)
    auth = OAuthClientProvider(f"{base}/mcp", wants, Kept(), person.consent, person.code)
    return httpx2.AsyncClient(auth=auth, timeout=PATIENCE)


def broken(tool: str, expected: str, text: str, error: MCPError | None) -> str | None:
    """What is wrong with a reply; None where it is as it should be."""
    if expected.startswith("!"):
        return None if error is not None and str(error).startswith(expected[1:]) else "the scope is not asked for"
    if error is not None:
        return f"a protocol error: {error}"
    if expected.startswith("="):
        return None if expected[1:] in text else "not the tool's own words"
    if expected:
        return None if text == REFUSED.format(tool, expected) else "not the words of a refusal"
    whole = '"complete": false' in text and '"nextOffset": 2' in text and text.count('"number"') == 2
    return None if whole else "not two flocks of more"


async def walk(base: str) -> Iterator[str]:
    """Make all calls in both eras; returns what is wrong."""
    wrong = []
    olive, walt = ("Olive", "hen-house"), ("Walt", "feed-bin")
    for era, version in ERAS.items():
        print(f"\n{version}")
        callers = {
            "reader": connected(base, *olive, READ),
            "writer": connected(base, *olive, f"{READ} {WRITE}"),
            "worker": connected(base, *walt, READ),
        }
        for who, http in callers.items():
            async with http, Client(streamable_http_client(f"{base}/mcp", http_client=http), mode=era) as client:
                for caller, tool, arguments, expected in CALLS:
                    if caller != who:
                        continue
                    text, error = "", None
                    try:
                        result = await client.call_tool(tool, arguments)
                        text = "".join(getattr(part, "text", "") for part in result.content)
                    except MCPError as refused:
                        error = refused
                    said = str(error) if error else " ".join(text.split())
                    print(f"  {tool} {arguments}\n    {said[:110]}")
                    fault = broken(tool, expected, text, error)
                    if fault:
                        wrong.append(f"{version} {tool} {arguments}: {fault}")
    return iter(wrong)


def of_log(lines: list[str]) -> Iterator[str]:
    """State what the log of the calls holds; yields what it should not."""
    records = [line for line in lines if re.match(r"\d{4}-\d\d-\d\d ", line)]
    loud = [line for line in records if re.search(r" (WARNING|ERROR|CRITICAL) ", line)]
    traces = [line for line in lines if line.startswith("Traceback") or "Error:" in line]
    sent = {"10/11/2026", "ten", "Acme", "invalid", "No Such Flock", "Meadow", NOWHERE, "Quantity", str(CUSTOMER)}
    told = [line.removesuffix(" is invalid.") for line in lines]  # which is also a value that is sent
    leaks = sorted(value for value in sent if any(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", one) for one in told))
    quiet = [line for line in records if " argfit: " in line]
    print(f"\nThe server's log of these calls: {len(records)} records, {len(quiet)} of them refusals by argfit,")
    print(f"{len(loud)} at WARNING or above, {len(traces)} with an exception, {len(leaks)} values that were sent.")
    yield from (f"loud: {line}" for line in loud)
    yield from (f"exception: {line}" for line in traces)
    yield from (f"in the log: {value}" for value in leaks)
    if not quiet:
        yield "no refusal is in the log"


class Log:
    """What a process writes, line by line, as it comes."""

    def __init__(self, farm: subprocess.Popen[str]) -> None:
        self.lines: list[str] = []
        self.started = threading.Event()
        self._reader = threading.Thread(target=self._read, args=(farm.stdout,))
        self._reader.start()

    def _read(self, output: Iterable[str]) -> None:
        for line in output:
            self.lines.append(line.rstrip("\n"))
            if "Uvicorn running" in line:
                self.started.set()
        self.started.set()  # or it never will

    def whole(self) -> list[str]:
        """All lines, once the process has ended."""
        self._reader.join()
        return self.lines


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def listening(port: int) -> None:
    """Wait until somebody listens on a port of this machine; TimeoutError where nobody comes to."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), PATIENCE):
            return
        time.sleep(0.05)
    raise TimeoutError(f"nobody listens on port {port}")


@contextlib.contextmanager
def relayed(server: str, port: int) -> Iterator[None]:
    """`argfit serve` before a server, at this port."""
    command = [sys.executable, "-m", "argfit", "serve", "--to", server, "--port", str(port), "--on-misfit", "forward"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as relay:
        try:
            print(relay.stderr.readline().rstrip() if relay.stderr else "")
            yield
        finally:
            relay.terminate()


def main(*words: str) -> int:
    """Run the check, on a new file of SQLite or the database given; 1 where something is not as it should be."""
    behind = "--behind-argfit" in words
    database = next((word for word in words if word != "--behind-argfit"), None)
    port = free_port()
    public = free_port() if behind else port
    base = f"http://127.0.0.1:{public}"
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        if behind:
            stack.enter_context(relayed(f"http://127.0.0.1:{port}/mcp", public))
        url = database or f"sqlite:///{Path(folder, 'farm.db')}"
        command = [sys.executable, "-m", "farm.server", "--port", str(port), "--database", url, "--public-url", base]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as farm:
            log = Log(farm)
            try:
                log.started.wait(PATIENCE)
                before = len(log.lines)
                wrong = list(asyncio.run(walk(base))) if farm.poll() is None else ["the farm did not start"]
            finally:
                farm.terminate()
            written = log.whole()[before:]
    wrong += of_log([line for line in written if "uvicorn" not in line])
    for one in wrong:
        print(f"NOT SO: {one}")
    print("All as it should be." if not wrong else f"{len(wrong)} things are not as they should be.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
