"""The official client asks the official mcp-server-fetch, which refuses `200.0` for an integer, through the relay.

The page it reads is served on loopback. PATH is empty: with node on it the server would install its page reader.
"""

import os
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import TextContent
from tests.proxy.running import PATIENCE, PROXY

SCRIPTS = [Path(sys.executable).with_name(name) for name in ("mcp-server-fetch", "mcp-server-fetch.exe")]
SERVER = [str(script) for script in SCRIPTS if script.is_file()][:1]
PAGE = b"<!doctype html><html><body><p>Three boats came in before six.</p></body></html>"

pytestmark = pytest.mark.skipif(not SERVER, reason="mcp-server-fetch is not installed in this environment")


class Page(BaseHTTPRequestHandler):
    """Answers every GET with the page."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    """A page on a free loopback port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join(PATIENCE)


async def fetched(folder: Path, proxy: tuple[str, ...], url: str, max_length: object) -> tuple[bool, list[str]]:
    """Call `fetch` once, as the first thing of all; whether it failed, and the texts of its answer."""
    (folder / "empty").mkdir()
    words = [*proxy, *SERVER, "--allow-private-ips", "--ignore-robots-txt"]
    environment = {**os.environ, "PATH": str(folder / "empty")}
    parameters = StdioServerParameters(command=words[0], args=words[1:], env=environment)
    with (folder / "stderr").open("w") as errlog, anyio.fail_after(PATIENCE):
        async with Client(stdio_client(parameters, errlog=errlog)) as client:
            result = await client.call_tool("fetch", {"url": url, "max_length": max_length})
    return bool(result.is_error), [block.text for block in result.content if isinstance(block, TextContent)]


def test_the_server_refuses_a_whole_float_on_its_own(tmp_path: Path, url: str) -> None:
    failed, texts = anyio.run(fetched, tmp_path, (), url, 200.0)
    assert failed
    assert "max_length" in texts[0]


def test_the_same_call_through_the_relay_is_answered(tmp_path: Path, url: str) -> None:
    failed, texts = anyio.run(fetched, tmp_path, (*PROXY, "--"), url, 200.0)
    assert not failed
    assert "Three boats came in before six." in texts[0]
    assert len(texts) == 1


def test_a_call_that_no_spelling_can_save_is_explained(tmp_path: Path, url: str) -> None:
    failed, texts = anyio.run(fetched, tmp_path, (*PROXY, "--"), url, "lots")
    assert failed
    assert texts[-1].startswith("Note: these arguments differ from the tool's published schema: max_length must be ")
    assert "max_length" in texts[0]
