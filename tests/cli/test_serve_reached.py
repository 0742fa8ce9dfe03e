"""`argfit serve` as it is reached: over TLS, and under a path of a reverse proxy."""

import ssl
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.proxy.running import PATIENCE
from tests.proxy.test_upstream import write_certificate


class _Telling(BaseHTTPRequestHandler):
    """A server that tells what it was asked for."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        told = self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing of it."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Telling) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}/mcp"
        serving.shutdown()
        thread.join()


@contextmanager
def served(server: str, *words: str) -> Iterator[str]:
    """The URL at which a server is served."""
    command = [sys.executable, "-m", "argfit", "serve", "--to", server, "--port", "0", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            yield process.stderr.readline().split()[-1]
        finally:
            process.terminate()


def got(url: str, trusted: Path | None = None) -> str:
    tls = None if trusted is None else ssl.create_default_context(cafile=trusted)
    with urllib.request.urlopen(url, timeout=PATIENCE, context=tls) as answer:  # noqa: S310 - ours
        return bytes(answer.read()).decode()


def test_it_serves_over_tls_with_a_certificate_and_its_key(server: str, tmp_path: Path) -> None:
    certificate = tmp_path / "certificate.pem"
    write_certificate(certificate, "localhost")
    words = ("--host", "localhost", "--tls-cert", str(certificate), "--tls-key", str(certificate))
    with served(server, *words) as url:
        assert url.startswith("https://localhost:")
        assert got(f"{url}?a=%2F", certificate) == "/mcp?a=%2F"
        with pytest.raises(OSError, match="certificate verify failed"):
            got(url, None)


@pytest.mark.parametrize("path", ["/mcp", "/gate/mcp"], ids=["cut off by the proxy", "left on by the proxy"])
@pytest.mark.parametrize("root", ["/gate", "/gate/"])
def test_under_a_path_of_a_reverse_proxy_the_server_is_asked_by_its_own(server: str, root: str, path: str) -> None:
    with served(server, "--root-path", root) as url:
        origin = url.removesuffix("/mcp")
        assert got(f"{origin}{path}?a=%2F") == "/mcp?a=%2F"
        assert got(f"{origin}{path.removesuffix('/mcp')}/-/health") == "ok\n"
        assert got(f"{origin}/.well-known/x") == "/.well-known/x"
