"""The way to a server over real sockets, on both event loops: connections that are kept, lost, refused and verified."""

import asyncio
import datetime as dt
import os
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.proxy.http_ends import Seen, read_request
from tests.proxy.running import PATIENCE
from tests.proxy.test_connection import Talk

from argfit.proxy import upstream as module
from argfit.proxy.connection import Body, Connection, UpstreamError, WrongRequestError
from argfit.proxy.upstream import Upstream
from argfit.wire.mirror import Headers

FOUR = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfour"
NONE: Headers = []

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Story = Callable[[], Awaitable[None]]
Run = Callable[[Story], None]


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """Perform a story on one of the loops; it ends in time or fails."""

    def performed(story: Story) -> None:
        factory = asyncio.new_event_loop if request.param == "asyncio" else uvloop.new_event_loop
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(asyncio.wait_for(story(), PATIENCE))

    return performed


class Server:
    """What was seen, connection by connection."""

    def __init__(self) -> None:
        self.port = 0
        self.seen: list[list[Seen]] = []


@asynccontextmanager
async def listening(
    handler: Handler, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncIterator[Server]:
    """A server each of whose connections is in a handler's hands."""
    server = Server()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        going.append(asyncio.current_task())
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await handler(reader, writer)
        writer.close()
        with suppress(OSError, asyncio.CancelledError):
            await writer.wait_closed()

    going: list[asyncio.Task[None] | None] = []
    made = await asyncio.start_server(talk, host, 0, ssl=tls)
    server.port = made.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        made.close()
        for task in filter(None, going):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


@asynccontextmanager
async def answering(
    *answers: bytes, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncIterator[Server]:
    """A server whose connections each give these answers, and then end."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen: list[Seen] = []
        server.seen.append(seen)
        for said in answers:
            seen.append(await read_request(reader))
            writer.write(said)
        writer.close()

    async with listening(answer, host, tls) as server:
        yield server


@asynccontextmanager
async def asking(port: int) -> AsyncIterator[Upstream]:
    upstream = Upstream(f"http://127.0.0.1:{port}/mcp")
    try:
        yield upstream
    finally:
        upstream.close()


async def told(upstream: Upstream, body: bytes | Body | None = b"{}", method: bytes = b"POST") -> bytes:
    answer = await upstream.ask(method, upstream.target, NONE, body)
    try:
        return await answer.rest()
    finally:
        answer.close()


# -- connections that are kept ----------------------------------------------------------------------------------


def test_a_connection_is_kept_for_the_next_request(run: Run) -> None:
    async def story() -> None:
        async with answering(FOUR, FOUR, FOUR) as server, asking(server.port) as upstream:
            assert [await told(upstream) for _ in range(3)] == [b"four"] * 3
            assert [len(seen) for seen in server.seen] == [3]

    run(story)


def test_requests_at_the_same_time_have_a_connection_each(run: Run) -> None:
    async def story() -> None:
        async with answering(FOUR, FOUR) as server, asking(server.port) as upstream:
            assert await asyncio.gather(*(told(upstream) for _ in range(5))) == [b"four"] * 5
            assert [len(seen) for seen in server.seen] == [1] * 5

    run(story)


def test_a_connection_that_the_server_ended_is_not_used(run: Run) -> None:
    async def story() -> None:
        async with answering(FOUR) as server, asking(server.port) as upstream:
            for _ in range(3):
                assert await told(upstream) == b"four"
                while upstream._resting:  # noqa: ASYNC110, SLF001 - nothing tells when its end has come here
                    await asyncio.sleep(0)
            assert [len(seen) for seen in server.seen] == [1, 1, 1]

    run(story)


def test_a_connection_that_rested_too_long_is_not_used(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async with answering(FOUR, FOUR) as server, asking(server.port) as upstream:
            await asyncio.gather(told(upstream), told(upstream))
            monkeypatch.setattr(module, "KEPT_SECONDS", -1.0)
            assert await told(upstream) == b"four"
            assert [len(seen) for seen in server.seen] == [1, 1, 1]

    run(story)


@pytest.mark.parametrize("resets", [False, True])
def test_a_request_that_a_kept_connection_lost_is_not_sent_again(run: Run, *, resets: bool) -> None:
    async def story() -> None:
        requests = 0

        async def dying(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal requests
            await read_request(reader)
            writer.write(FOUR)
            await read_request(reader)
            requests += 1
            if resets:
                own: socket.socket = writer.get_extra_info("socket")
                own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

        async with listening(dying) as server, asking(server.port) as upstream:
            assert await told(upstream) == b"four"
            with pytest.raises(UpstreamError, match="without an answer"):
                await told(upstream)
            assert requests == 1

    run(story)


def test_connections_that_are_closing_or_of_another_event_loop_are_left_alone() -> None:
    async def rested() -> Connection | None:
        return upstream._rested()  # noqa: SLF001

    async def story() -> None:
        assert await rested() is None
        talk = Talk()
        upstream._resting.append(talk.connection)  # noqa: SLF001
        talk.connection.rests_since = asyncio.get_running_loop().time()
        assert await rested() is talk.connection
        talk.wire.is_cut = True
        upstream._resting.append(talk.connection)  # noqa: SLF001
        assert await rested() is None
        talk.wire.is_cut = False
        upstream._resting.append(talk.connection)  # noqa: SLF001

    upstream = Upstream("http://127.0.0.1:9/mcp")
    asyncio.run(story())
    assert asyncio.run(rested()) is None


# -- who is slow, and who leaves --------------------------------------------------------------------------------


def test_an_answer_that_is_not_taken_stands_still_at_the_server(run: Run) -> None:
    async def story() -> None:
        whole = b"x" * 2**25
        stuck, sent = asyncio.Event(), asyncio.Event()

        async def flooding(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(whole) + whole)
            draining = asyncio.ensure_future(writer.drain())
            await asyncio.wait({draining}, timeout=0.2)
            assert not draining.done()
            stuck.set()
            await draining
            sent.set()

        async with listening(flooding) as server, asking(server.port) as upstream:
            answer = await upstream.ask(b"GET", upstream.target, NONE, None)
            await stuck.wait()
            assert await answer.rest() == whole
            await sent.wait()

    run(story)


def test_a_body_that_is_not_taken_is_not_asked_for(run: Run) -> None:
    async def story() -> None:
        taken = 0
        may_read = asyncio.Event()

        async def parts() -> AsyncIterator[bytes]:
            nonlocal taken
            for _ in range(256):
                taken += 1
                yield b"x" * 2**17

        async def idle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await may_read.wait()
            assert len((await read_request(reader)).body) == 2**25
            writer.write(FOUR)

        async with listening(idle) as server, asking(server.port) as upstream:
            going = asyncio.ensure_future(told(upstream, Body(parts(), 2**25)))
            await asyncio.wait({going}, timeout=0.2)
            assert 0 < taken < 256
            may_read.set()
            assert await going == b"four"
            assert taken == 256

    run(story)


def test_an_early_answer_is_told_while_the_body_still_comes(run: Run) -> None:
    async def story() -> None:
        ended = asyncio.Event()

        async def parts() -> AsyncIterator[bytes]:
            yield b"x"
            await asyncio.Event().wait()

        async def refusing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 401 No\r\ncontent-length: 2\r\n\r\nno")
            with suppress(ConnectionResetError):
                while await reader.read(1000):
                    pass
            ended.set()

        async with listening(refusing) as server, asking(server.port) as upstream:
            assert await told(upstream, Body(parts())) == b"no"
            await ended.wait()

    run(story)


@pytest.mark.parametrize("begun", [False, True])
def test_the_server_is_told_of_a_request_that_is_given_up(run: Run, *, begun: bool) -> None:
    async def story() -> None:
        ended, came = asyncio.Event(), asyncio.Event()

        async def waiting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            if begun:
                writer.write(FOUR[:-1])
            came.set()
            with suppress(ConnectionResetError):
                assert await reader.read() == b""
            ended.set()

        async with listening(waiting) as server, asking(server.port) as upstream:
            going = asyncio.ensure_future(told(upstream))
            await came.wait()
            going.cancel()
            await ended.wait()

    run(story)


# -- what is sent -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "body", "length"),
    [(b"POST", b"{}", "2"), (b"POST", None, "0"), (b"GET", None, None), (b"DELETE", None, None), (b"PUT", b"", "0")],
)
def test_a_request_says_what_length_its_body_has(
    run: Run, method: bytes, body: bytes | None, length: str | None
) -> None:
    async def story() -> None:
        async with answering(FOUR) as server, asking(server.port) as upstream:
            await told(upstream, body, method)
            ((seen,),) = server.seen
            assert (seen.method, seen.target, seen.body) == (method.decode(), "/mcp", body or b"")
            expected = [("host", f"127.0.0.1:{server.port}")]
            assert seen.headers == expected + ([("content-length", length)] if length else [])

    run(story)


@pytest.mark.parametrize(
    ("target", "headers"),
    [
        (b"/mcp", [(b"x", b"1\r\ncontent-length: 0")]),
        (b"/mcp", [(b"x", b"1\ny: 2")]),
        (b"/mcp", [(b"x\r\ny", b"1")]),
        (b"/mcp", [(b"x", b"1\r")]),
        (b"/mcp HTTP/1.1\r\nhost: other\r\n\r\nGET /", NONE),
    ],
)
def test_a_line_that_would_be_two_is_no_request(run: Run, target: bytes, headers: Headers) -> None:
    async def story() -> None:
        async with answering(FOUR) as server, asking(server.port) as upstream:
            with pytest.raises(WrongRequestError):
                await upstream.ask(b"POST", target, headers, b"")
            assert server.seen == []

    run(story)


@pytest.mark.parametrize(
    ("url", "target", "path"),
    [
        ("http://x", b"/", "/"),
        ("HTTPS://[::1]:80?", b"/", "/"),
        ("http://x:80/a%20b/", b"/a%20b/", "/a b/"),
        ("http://bücher.example/a b/ü", b"/a%20b/%C3%BC", "/a b/ü"),
    ],
)
def test_a_url_may_be_spelled_in_many_ways(url: str, target: bytes, path: str) -> None:
    upstream = Upstream(url)
    assert (upstream.target, upstream.path) == (target, path)


@pytest.mark.parametrize(
    "url",
    [
        "http://s3cret@x/mcp",
        "http://user:s3cret@x/mcp",
        "ftp://user:s3cret@x/mcp",
        "http://x/mcp?key=s3cret",
        "http://x/mcp#s3cret",
        "http://x/mcp?key=user@s3cret",
        "http://s3cret@[::1/mcp",
        "user:s3cret@x",
        "http://x:0/mcp",
        "http://x:99999/mcp",
        "http://[::1/mcp",
        f"http://{'x' * 64}/mcp",
    ],
)
def test_a_url_that_is_none_is_an_error_without_what_may_be_secret(url: str) -> None:
    with pytest.raises(ValueError, match="URL") as caught:
        Upstream(url)
    said = str(caught.value)
    assert "give" in said
    assert "s3cret" not in said


def test_a_server_has_an_address_of_either_kind(run: Run) -> None:
    async def story() -> None:
        async with answering(FOUR, host="::1") as server:
            upstream = Upstream(f"http://[::1]:{server.port}/mcp")
            assert await told(upstream) == b"four"
            assert server.seen[0][0].header("host") == f"[::1]:{server.port}"
            upstream.close()

    run(story)


# -- what cannot be reached -------------------------------------------------------------------------------------


def test_who_does_not_listen_cannot_be_reached(run: Run) -> None:
    async def story() -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        async with asking(port) as upstream:
            assert not await upstream.is_up()
            with pytest.raises(UpstreamError, match="cannot be reached"):
                await told(upstream)

    run(story)


def test_a_connection_that_takes_too_long_is_given_up(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            async with asking(silent.getsockname()[1]) as upstream:
                assert await upstream.is_up()
                monkeypatch.setattr(module, "CONNECT_SECONDS", 0.0)
                assert not await upstream.is_up()
                with pytest.raises(TimeoutError):
                    await told(upstream)

    run(story)


@pytest.mark.parametrize(("trusts", "host"), [(True, "localhost"), (False, "localhost"), (True, "127.0.0.1")])
def test_what_https_says_is_verified(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, *, trusts: bool
) -> None:
    tls = tls_of(tmp_path)
    if trusts:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / CERTIFICATE))

    async def story() -> None:
        async with answering(FOUR, FOUR, tls=tls) as server:
            upstream = Upstream(f"https://{host}:{server.port}/mcp")
            if trusts and host == "localhost":
                assert [await told(upstream), await told(upstream)] == [b"four", b"four"]
                assert [len(seen) for seen in server.seen] == [2]
            else:
                with pytest.raises(UpstreamError, match="cannot be reached"):
                    await told(upstream)
                assert server.seen == [[]] * len(server.seen)
            upstream.close()

    run(story)


@pytest.mark.parametrize("says", [b"", b"garbage"])
def test_what_a_server_says_or_does_before_it_is_asked_is_no_answer(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: bytes
) -> None:
    tls = tls_of(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / CERTIFICATE))

    async def story() -> None:
        async def hasty(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(says)
            writer.close()

        for kind in (tls, None):
            async with listening(hasty, tls=kind) as server:
                upstream = Upstream(f"http{'s' if kind else ''}://localhost:{server.port}/mcp")
                with pytest.raises(UpstreamError):
                    await told(upstream)
                upstream.close()

    run(story)


@pytest.mark.parametrize("is_told", [False, True])
def test_an_answer_over_tls_ends_with_its_connection_only_where_tls_says_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_told: bool
) -> None:
    tls = tls_of(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / CERTIFICATE))

    async def story() -> None:
        async def ending(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            writer.write(b"HTTP/1.1 200 OK\r\n\r\nfour")
            await writer.drain()
            if not is_told:
                own: socket.socket = writer.get_extra_info("socket")
                with socket.socket(fileno=os.dup(own.fileno())) as same:
                    same.shutdown(socket.SHUT_WR)

        async with listening(ending, tls=tls) as server:
            upstream = Upstream(f"https://localhost:{server.port}/mcp")
            if is_told:
                assert await told(upstream) == b"four"
            else:
                with pytest.raises(UpstreamError):
                    await told(upstream)
            upstream.close()

    run(story)


CERTIFICATE = "certificate.pem"


def tls_of(folder: Path) -> ssl.SSLContext:
    """What a server on localhost proves itself with: a certificate of its own, which it leaves in a folder."""
    certificate = folder / CERTIFICATE
    write_certificate(certificate, "localhost")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    return tls


def write_certificate(path: Path, name: str) -> None:
    """A certificate of its own for a name, and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    named = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder(named, named, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    secret = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(made.public_bytes(encoding) + secret)
