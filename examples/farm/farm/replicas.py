"""Two replicas of `argfit serve` behind nginx, in front of the farm, of which one after the other dies and comes back.

    python -m farm.replicas

Runs with the very files of deploy/. A client signs in through all of it, and makes calls in both eras without a pause.
Exits with 1 where a call was made twice, or was lost although its replica had not died; with 2 where nginx is missing.
"""

import asyncio
import contextlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from farm.auth import READ, WRITE
from farm.check import ERAS, PATIENCE, REFUSED, Log, connected, free_port

DEPLOY = Path(__file__).parents[3] / "deploy"
AT_ONCE = 10  # calls
NAMED = REFUSED.format("list_flocks", "limit must be a whole number.")
FIRST_DAY = date(2030, 1, 1)


class Replica:
    """One process of `argfit serve`, started as its unit says."""

    def __init__(self, port: int, server: str) -> None:
        self.port = port
        unit = (DEPLOY / "argfit@.service").read_text()
        line = next(one for one in unit.splitlines() if one.startswith("ExecStart="))
        words = shlex.split(line.removeprefix("ExecStart=").replace("%i", str(port)))
        words = [server if word.startswith("http:") else word for word in words]
        self._command = [sys.executable, "-m", "argfit", *words[1:]]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        self._process = subprocess.Popen(self._command, stderr=subprocess.DEVNULL)
        until = time.monotonic() + PATIENCE
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=PATIENCE):
                    return
            except OSError:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise
                time.sleep(0.05)

    def end(self, by: signal.Signals) -> None:
        """End it, and wait until it has."""
        if self._process is not None:
            self._process.send_signal(by)
            self._process.wait(PATIENCE)
            self._process = None


@contextlib.contextmanager
def nginx(program: str, port: int, replicas: list[Replica], folder: Path) -> Iterator[None]:
    """The nginx of deploy/nginx.conf, with this machine's ports and without TLS."""
    site = (DEPLOY / "nginx.conf").read_text().replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
    for written, replica in zip((8081, 8082), replicas, strict=True):
        site = site.replace(f"127.0.0.1:{written}", f"127.0.0.1:{replica.port}")
    site = "\n".join(line for line in site.splitlines() if "ssl_certificate" not in line)
    kept = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = (
        f"pid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{}}\nhttp {{\naccess_log off;\n{kept}{site}\n}}\n"
    )
    (folder / "nginx.conf").write_text(whole)
    command = [program, "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf", "-g", "daemon off;"]
    with subprocess.Popen(command) as process:
        try:
            yield
        finally:
            process.terminate()


@dataclass
class Counted:
    """What became of the calls."""

    answered: int = 0
    lost: int = 0
    recorded: int = 0
    wrong: list[str] = field(default_factory=list)
    day: date = FIRST_DAY

    def next_day(self) -> str:
        """A day on which nothing is recorded yet."""
        self.day += timedelta(days=1)
        return self.day.isoformat()


async def call(client: Any, counted: Counted, tool: str, arguments: dict[str, Any], *, expected: str = "") -> None:
    """One call; an answer must be the right one, and a day that was recorded must be so by this very call."""
    try:
        async with asyncio.timeout(PATIENCE):
            result = await client.call_tool(tool, arguments)
    except Exception as error:  # noqa: BLE001 - whatever the client makes of a connection that broke
        counted.lost += 1
        if isinstance(error, TimeoutError):
            counted.wrong.append(f"{tool}: no answer and no error")
        return
    text = "".join(getattr(part, "text", "") for part in result.content)
    counted.answered += 1
    counted.recorded += tool == "record_daily_entry"
    if bool(result.is_error) is not bool(expected) or not text.startswith(expected):
        counted.wrong.append(f"{tool} {arguments}: {' '.join(text.split())}")


async def some_calls(client: Any, counted: Counted) -> None:
    """Calls at once: right ones that must be fitted, wrong ones that must be named, and ones that may run but once."""
    grades = [{"grade": "A", "quantity": "12"}]
    calls = []
    for number in range(AT_ONCE):
        if number % 3 == 0:
            calls.append(call(client, counted, "list_flocks", {"limit": "ten"}, expected=NAMED))
        elif number % 3 == 1:
            calls.append(call(client, counted, "list_flocks", {"limit": 2.0}))
        else:
            day = {"date": counted.next_day(), "flock": "1", "grades": grades}
            calls.append(call(client, counted, "record_daily_entry", day))
    await asyncio.gather(*calls)


async def walk(base: str, replicas: list[Replica]) -> list[str]:
    """Make calls in both eras while replicas die and come back; what is wrong."""
    counted = Counted()
    for era, version in ERAS.items():
        http = connected(base, "Olive", "hen-house", f"{READ} {WRITE}")
        async with http, Client(streamable_http_client(f"{base}/mcp", http_client=http), mode=era) as client:
            await some_calls(client, counted)
            for replica in replicas:
                for by in (signal.SIGKILL, signal.SIGTERM):
                    before = counted.lost
                    going = asyncio.create_task(some_calls(client, counted))
                    await asyncio.sleep(0)
                    await asyncio.to_thread(replica.end, by)  # in the midst of calls
                    await going
                    died = counted.lost - before
                    for _ in range(5):
                        await some_calls(client, counted)  # with one replica
                    await asyncio.to_thread(replica.start)
                    await some_calls(client, counted)
                    lost = counted.lost - before
                    print(f"{version}: a replica ended by {by.name}: {died} calls lost with it, {lost - died} after it")
    http = connected(base, "Olive", "hen-house", READ)
    async with http, Client(streamable_http_client(f"{base}/mcp", http_client=http)) as client:
        result = await client.call_tool("list_daily_entries", {"from": FIRST_DAY.isoformat(), "flock": "1"})
        kept = str(result.structured_content or result.content).count("'grades'")
    print(f"{counted.answered} calls answered, {counted.lost} lost; {counted.recorded} days recorded, {kept} kept.")
    if not counted.recorded <= kept <= counted.recorded + counted.lost:
        counted.wrong.append(f"{kept} days are kept, of {counted.recorded} recorded")
    return counted.wrong


def main() -> int:
    """Run the check; 1 where something is not as it should be."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/bin")
    if program is None:
        print("nginx is not installed: apt install nginx-light", file=sys.stderr)
        return 2
    port, public = free_port(), free_port()
    base = f"http://127.0.0.1:{public}"
    replicas = [Replica(free_port(), f"http://127.0.0.1:{port}/mcp") for _ in range(2)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [sys.executable, "-m", "farm.server", "--port", str(port)]
        command += ["--database", f"sqlite:///{folder / 'farm.db'}", "--public-url", base]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as farm:
            log = Log(farm)
            try:
                log.started.wait(PATIENCE)
                for replica in replicas:
                    replica.start()
                with nginx(program, public, replicas, folder):
                    wrong = asyncio.run(walk(base, replicas))
            finally:
                for replica in replicas:
                    replica.end(signal.SIGTERM)
                farm.terminate()
                log.whole()
    for one in wrong:
        print(f"NOT SO: {one}")
    print("All as it should be." if not wrong else f"{len(wrong)} things are not as they should be.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
