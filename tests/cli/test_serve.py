import asyncio
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from tests.cli.terminal import Terminal
from tests.proxy.http_ends import Seen, answer, connected, post, run, upstream
from tests.proxy.running import PATIENCE, STUCK

from argfit.cli import serve

SERVE = (sys.executable, "-m", "argfit", "serve")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--to", "localhost:8000"),
            "argfit serve: localhost:8000 is no URL of a server; give one as http://127.0.0.1:8000/mcp\n",
        ),
        (
            ("--to", "http://x/mcp", "--", "server"),
            "argfit serve: it serves a URL (--to URL); a command is for argfit proxy -- COMMAND ARG...\n",
        ),
        ((), "argfit serve: the following arguments are required: --to; see argfit serve --help\n"),
        (
            ("--to", "http://x/mcp", "--port", "70000"),
            "argfit serve: argument --port: 70000 is no port, 0 to 65535; see argfit serve --help\n",
        ),
        (
            ("--to", "http://x/mcp", "--workers", "0"),
            "argfit serve: argument --workers: 0 is no number of processes, 1 to 256; see argfit serve --help\n",
        ),
        (
            ("--to", "http://x/mcp", "--tls-cert", "/no/such.pem"),
            "argfit serve: cannot read the certificate /no/such.pem or its key: No such file or directory\n",
        ),
    ],
)
def test_a_usage_error_names_the_next_step(terminal: Terminal, words: tuple[str, ...], said: str) -> None:
    assert terminal.run("serve", *words) == (2, "", said)


def test_a_port_that_is_taken_is_named(terminal: Terminal) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = f"argfit serve: cannot listen on 127.0.0.1:{port}: Address already in use; choose another --port\n"
        assert terminal.run("serve", "--to", "http://x/mcp", "--port", str(port)) == (2, "", said)


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_serves_and_ends_when_told(end: signal.Signals, workers: str) -> None:
    words = (*SERVE, "--to", "http://127.0.0.1:9/mcp", "--port", "0", "--workers", workers)
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            url = said.split()[-1]
            assert said == f"argfit serves http://127.0.0.1:9/mcp at {url}\n"
            health = url.replace("/mcp", "/-/health")
            with urllib.request.urlopen(health, timeout=PATIENCE) as answer:  # noqa: S310 - ours
                assert answer.read() == b"ok\n"
            process.send_signal(end)
            assert (process.wait(PATIENCE), process.stderr.read()) == (0, "")
        finally:
            process.kill()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_call_that_is_open_when_it_is_told_to_end_is_answered(workers: str) -> None:
    async def story() -> None:
        async def slow(seen: Seen, writer: asyncio.StreamWriter) -> None:
            at_work.set()
            await may_answer.wait()
            await answer(writer, {"jsonrpc": "2.0", "id": 1, "result": {}})

        at_work, may_answer = asyncio.Event(), asyncio.Event()
        async with upstream(slow) as server:
            words = (*SERVE, "--to", f"http://127.0.0.1:{server.port}/mcp", "--port", "0", "--workers", workers)
            process = await asyncio.create_subprocess_exec(*words, stderr=subprocess.PIPE)
            try:
                assert process.stderr is not None
                port = int((await process.stderr.readline()).rpartition(b":")[2].partition(b"/")[0])
                async with connected(port) as client:
                    client.writer.write(post(b'{"jsonrpc":"2.0","id":1,"method":"ping"}'))
                    await at_work.wait()
                    process.send_signal(signal.SIGTERM)
                    if workers == "1":
                        await refused(port)
                    ending = asyncio.ensure_future(process.wait())
                    await asyncio.wait({ending}, timeout=STUCK)
                    assert not ending.done()
                    may_answer.set()
                    assert (await client.answer())[0] == 200
                    assert (await ending, await process.stderr.read()) == (0, b"")
                    await refused(port)
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()

    run(story())


@pytest.mark.parametrize(
    "asked",
    [
        b"GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\nmcp-method: subscriptions/listen\r\ncontent-length: 0\r\n\r\n",
    ],
    ids=["GET", "subscriptions/listen"],
)
def test_a_stream_of_news_holds_up_no_end(asked: bytes) -> None:
    async def story() -> None:
        async def news(seen: Seen, writer: asyncio.StreamWriter) -> None:
            head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            writer.write(head + b"9\r\n: hello\n\n\r\n")
            await asyncio.Event().wait()

        async with upstream(news) as server:
            words = (*SERVE, "--to", f"http://127.0.0.1:{server.port}/mcp", "--port", "0")
            process = await asyncio.create_subprocess_exec(*words, stderr=subprocess.PIPE)
            try:
                assert process.stderr is not None
                port = int((await process.stderr.readline()).rpartition(b":")[2].partition(b"/")[0])
                async with connected(port) as client:
                    client.writer.write(asked)
                    await client.reader.readuntil(b"hello")
                    process.send_signal(signal.SIGTERM)
                    async with asyncio.timeout(serve.DRAIN / 2):
                        assert (await process.wait(), await process.stderr.read()) == (0, b"")
                    assert b"0\r\n\r\n" not in await client.reader.read()  # half a stream is not ended as a whole
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()

    run(story())


async def refused(port: int) -> None:
    """Wait until nobody takes connections at a port."""
    with suppress(ConnectionRefusedError, ConnectionResetError):  # the latter in the moment in which it stops
        while True:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()


def test_an_upgrade_without_a_body_goes_on_as_the_request_that_it_is() -> None:
    async def story() -> None:
        async def plain(seen: Seen, writer: asyncio.StreamWriter) -> None:
            await answer(writer, {})

        async with upstream(plain) as server:
            words = (*SERVE, "--to", f"http://127.0.0.1:{server.port}/mcp", "--port", "0")
            process = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.PIPE)
            try:
                assert process.stderr is not None
                url = (await process.stderr.readline()).decode().split()[-1]
                async with connected(urlsplit(url).port or 0) as client:
                    upgrade = b"connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: x\r\n\r\n"
                    for _ in range(2):
                        assert (await client.ask(b"GET /mcp HTTP/1.1\r\nhost: localhost\r\n" + upgrade))[0] == 200
                assert [(seen.method, seen.header("upgrade")) for seen in server.seen] == [("GET", None)] * 2
            finally:
                process.terminate()
                await process.wait()

    run(story())


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_what_is_written_goes_at_once_on_every_event_loop(host: str) -> None:
    async def story() -> None:
        def connection() -> asyncio.Protocol:
            return made

        class Made(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                own: socket.socket = transport.get_extra_info("socket")
                delays.set_result(not own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
                transport.close()

        loop = asyncio.get_running_loop()
        made, delays = Made(), loop.create_future()
        listening = serve._listening(host, 0)  # noqa: SLF001
        async with await loop.create_server(connection, sock=listening):
            with socket.create_connection(listening.getsockname()[:2]):
                assert await delays is False

    run(story())


@pytest.mark.parametrize(
    ("host", "more", "names"),
    [
        ("127.0.0.1", [], {"localhost", "127.0.0.1", "[::1]"}),
        ("127.0.0.2", [], {"localhost", "127.0.0.1", "[::1]", "127.0.0.2"}),
        ("LocalHost", ["Farm.example"], {"localhost", "127.0.0.1", "[::1]", "farm.example"}),
        ("0:0:0:0:0:0:0:1", [], {"localhost", "127.0.0.1", "[::1]", "[0:0:0:0:0:0:0:1]"}),
        ("10.0.0.1", ["farm.example"], {"localhost", "127.0.0.1", "[::1]", "10.0.0.1", "farm.example"}),
        ("::", [], None),
        ("farm.example", [], None),
    ],
)
def test_on_any_address_of_this_machine_alone_it_answers_by_its_own_names(
    host: str, more: list[str], names: set[str] | None
) -> None:
    assert serve._hosts(host, more) == names  # noqa: SLF001
