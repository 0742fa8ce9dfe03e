"""Put argfit in front of a streamable HTTP MCP server: clients connect to argfit in its place.

Try:
  argfit serve --to http://127.0.0.1:8000/mcp

It listens on this machine only, unless --host says otherwise. Needs the extra argfit[serve].
"""

from __future__ import annotations

import argparse
import signal
import socket
from contextlib import suppress
from ipaddress import ip_address

from argfit.cli.options import add_formats, add_on_misfit, add_repair, add_schema_wait, add_strip, gathered
from argfit.cli.say import say, shown

TYPE_CHECKING = False  # as type checkers read it; `argfit proxy` shares this start
if TYPE_CHECKING:
    from typing import Any

SUMMARY = "a streamable HTTP MCP server behind argfit"
LOOPBACK = "127.0.0.1"
_MOST_WORKERS = 256
DRAIN = 30  # seconds that open calls have to end


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--to", metavar="URL", required=True, help="the server's URL, as http://127.0.0.1:8000/mcp")
    parser.add_argument("--host", default=LOOPBACK, help=f"the address to listen on (default: {LOOPBACK})")
    parser.add_argument(
        "--port", type=_port, default=8080, help="the port to listen on (default: 8080; 0 takes a free one)"
    )
    parser.add_argument("--workers", type=_count, default=1, help="processes that serve (default: 1)")
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="a further name that it may be called by; on this machine's own address only its own are, else any",
    )
    parser.add_argument(
        "--root-path",
        metavar="PATH",
        default="",
        help="the path under which a reverse proxy serves it, whether it leaves that on or not",
    )
    parser.add_argument("--tls-cert", metavar="FILE", help="the certificate to serve https with")
    parser.add_argument("--tls-key", metavar="FILE", help="its key")
    add_on_misfit(parser)
    add_strip(parser)
    add_repair(parser, by_tool=True)
    add_formats(parser, by_tool=True)
    add_schema_wait(parser)
    parser.add_argument("--verbose", action="store_true", help="write log lines to stderr, without values")


def run(options: argparse.Namespace) -> int:
    """Serve until told to end."""
    if options.after:
        say("argfit serve: it serves a URL (--to URL); a command is for argfit proxy -- COMMAND ARG...")
        return 2
    try:
        import uvicorn
        from uvicorn.supervisors import Multiprocess

        import argfit.proxy.http  # noqa: F401 - to say here what is not installed
    except ModuleNotFoundError as error:
        say(f"argfit serve: {error.name} is not installed; pip install 'argfit[serve]'")
        return 2
    try:
        _Application(options)()
    except ValueError as error:
        say(f"argfit serve: {error}")
        return 2
    try:
        _config(options).load()
    except OSError as error:  # ssl's, too
        reason = error.strerror or str(error)
        say(f"argfit serve: cannot read the certificate {shown(str(options.tls_cert))} or its key: {reason}")
        return 2
    try:
        listening = _listening(options.host, options.port)
    except OSError as error:
        reason = error.strerror or str(error)
        say(f"argfit serve: cannot listen on {options.host}:{options.port}: {reason}; choose another --port")
        return 2
    scheme = "https" if options.tls_cert else "http"
    path = "/" + options.to.split("://", 1)[-1].partition("/")[2]
    host = f"[{options.host}]" if ":" in options.host else options.host
    say(f"argfit serves {options.to} at {scheme}://{host}:{listening.getsockname()[1]}{path}")
    signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn ends by it, and then sends it once more
    with suppress(KeyboardInterrupt):  # likewise
        config = _config(options)
        if options.workers == 1:
            uvicorn.Server(config).run([listening])
        else:
            Multiprocess(config, [listening]).run()
    return 0


def _config(options: argparse.Namespace) -> Any:
    import uvicorn

    from argfit.proxy.incoming import Incoming

    return uvicorn.Config(
        _Application(options),
        factory=True,
        http=Incoming,
        ws="none",  # an upgrade is not for this connection's other end: the request goes on as what else it is
        workers=options.workers,
        ssl_certfile=options.tls_cert,
        ssl_keyfile=options.tls_key,
        log_level="critical",
        access_log=False,
        date_header=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=DRAIN,
    )


class _Application:
    """What makes the application, in each process that serves."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options

    def __call__(self) -> Any:
        from argfit.cli.log import to_stderr
        from argfit.proxy.http import app
        from argfit.wire.conversation import Settings
        from argfit.wire.tools import Chosen

        chosen = self._options
        repairs, formats = Chosen(*gathered(chosen.repair)), Chosen(*gathered(chosen.formats))
        settings = Settings(chosen.on_misfit, frozenset(chosen.strip), chosen.verbose, repairs, formats)
        log = to_stderr() if chosen.verbose else lambda line: None
        hosts = _hosts(chosen.host, chosen.allow_host)
        gateway = app(chosen.to, settings, schema_wait=chosen.schema_wait, hosts=hosts, log=log)
        root = "/" + chosen.root_path.strip("/")

        async def under_root(scope: Any, receive: Any, send: Any) -> None:
            # some proxies cut off the path under which they serve, and some leave it on
            is_left_on = scope["type"] == "http" and scope["path"].startswith(f"{root}/")
            await gateway({**scope, "root_path": root} if is_left_on else scope, receive, send)

        return gateway if root == "/" else under_root


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # else asyncio leaves Nagle's delay on
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening


def _port(text: str) -> int:
    port = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= port <= 65535:  # noqa: PLR2004 - as the message says
        raise argparse.ArgumentTypeError(f"{text} is no port, 0 to 65535")
    return port


def _count(text: str) -> int:
    count = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= count <= _MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"{text} is no number of processes, 1 to {_MOST_WORKERS}")
    return count


def _hosts(host: str, more: list[str]) -> frozenset[str] | None:
    """The names by which it may be called; None for any. On this machine only its own: DNS can be rebound."""
    own = f"[{host}]" if ":" in host else host.lower()
    try:
        is_local = ip_address(host).is_loopback
    except ValueError:
        is_local = own == "localhost"
    return frozenset(("localhost", "127.0.0.1", "[::1]", own, *map(str.lower, more))) if is_local or more else None
