"""Requests at the level of bytes: however they come they are one request, and what could be two is none."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from tests.proxy.http_ends import Seen, answer, connected, post, relayed, run, serving, upstream
from tests.proxy.test_http import call, listing, plain
from tests.wire.pieces import WAYS, Cut

from argfit.core.text import encoded
from argfit.proxy.http import app
from argfit.wire.conversation import Settings
from argfit.wire.exchange import LIMIT, as_event

EVERY_WAY = pytest.mark.parametrize("cut", WAYS.values(), ids=WAYS)
ANSWERED = encoded({"jsonrpc": "2.0", "id": 7, "result": {"content": []}})
NOTE = b"Note: these arguments differ from the tool's published schema: line must be a whole number."


def chunked(body: bytes, size: int) -> bytes:
    parts = (body[at : at + size] for at in range(0, len(body), size))
    head = b"POST /mcp HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


@EVERY_WAY
@pytest.mark.parametrize(
    "request_", [post(call()), chunked(call(), 1), chunked(call(), 30)], ids=["whole", "in bytes", "in chunks"]
)
def test_a_request_is_one_however_it_comes(request_: bytes, cut: Cut) -> None:
    async def story() -> None:
        async with upstream(plain) as server, relayed(server.port) as own, connected(own) as client:
            for piece in cut(request_):
                client.writer.write(piece)
                await client.writer.drain()
            status, _, body = await client.answer()
            assert (status, body) == (200, ANSWERED)
            assert server.seen[-1].body == call('{"line":5}')
            assert server.seen[-1].header("expect") is None

    run(story())


@EVERY_WAY
@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
def test_an_answer_is_explained_however_it_comes(ending: bytes, cut: Cut) -> None:
    async def story() -> None:
        async def failing(seen: Seen, writer: asyncio.StreamWriter) -> None:
            if b'"tools/list"' in seen.body:
                await answer(writer, listing(seen))
                return
            error = encoded({"jsonrpc": "2.0", "id": 7, "result": {"content": [], "isError": True}})
            events = (b": hello\n\n" + as_event(error) + b": bye\n\n").replace(b"\n", ending)
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            for piece in cut(events):
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                await writer.drain()
            writer.write(b"0\r\n\r\n")

        async with upstream(failing) as server, relayed(server.port) as own, connected(own) as client:
            status, _, body = await client.ask(post(call('{"line":"x"}')))
            assert (status, body.count(NOTE)) == (200, 1)
            assert body.startswith(b": hello" + ending * 2)
            assert body.endswith(b": bye" + ending * 2)

    run(story())


@pytest.mark.parametrize(
    "headers",
    [
        b"content-length: 5\r\ntransfer-encoding: chunked\r\n",
        b"content-length: 5\r\ncontent-length: 6\r\n",
        b"content-length: +5\r\n",
        b"content-length : 5\r\n",
        b"transfer-encoding: chunked, identity\r\n",
        b"transfer-encoding: xchunked\r\n",
        b"transfer-encoding:\x0bchunked\r\n",
        b"content-length: 5\r\n continued: x\r\n",
    ],
)
def test_what_others_may_take_for_two_requests_is_none(headers: bytes) -> None:
    async def story() -> None:
        async with upstream(plain) as server, relayed(server.port) as own, connected(own) as client:
            hidden = b"0\r\n\r\nGET /hidden HTTP/1.1\r\nhost: x\r\n\r\n"
            client.writer.write(b"POST /mcp HTTP/1.1\r\nhost: x\r\n" + headers + b"\r\n" + hidden)
            status, _ = await client.head()
            assert (status, server.seen) == (400, [])

    run(story())


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("application/json, text/event-stream", "application/json"),
        ("text/event-stream", "text/event-stream"),
        ("*/*", "application/json"),
    ],
)
def test_an_answer_of_our_own_is_what_the_client_takes(accept: str, media_type: str) -> None:
    async def story() -> None:
        async with (
            upstream(plain) as server,
            relayed(server.port, Settings("refuse")) as own,
            connected(own) as client,
        ):
            status, headers, body = await client.ask(post(call('{"line":"x"}'), f"accept: {accept}"))
            assert (status, headers["content-type"]) == (200, media_type)
            assert body.startswith(b"event: message\ndata: {" if "event" in media_type else b"{")
            assert [one for one in server.seen if b'"tools/list"' not in one.body] == []

    run(story())


BODY = call("{}")


@pytest.mark.parametrize(
    "headers",
    [
        b"transfer-encoding: gzip, chunked\r\n",
        b"transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n",
        b"connection: upgrade\r\nupgrade: h2c\r\ntransfer-encoding: chunked\r\n",
        b"connection: http2-settings, Upgrade\r\nupgrade: h2c\r\ncontent-length: %d\r\n" % len(BODY),
        b"connection: upgrade\r\nupgrade: websocket\r\ncontent-length: %d\r\n" % len(BODY),
    ],
)
def test_a_body_that_would_not_go_on_as_it_came_is_refused_with_all_that_follows_it(headers: bytes) -> None:
    async def story() -> None:
        async with upstream(plain) as server, relayed(server.port) as own, connected(own) as client:
            client.writer.write(b"POST /mcp HTTP/1.1\r\nhost: x\r\n" + headers + b"\r\n")
            status, _ = await client.head()
            with suppress(OSError):
                client.writer.write(b"GET /hidden HTTP/1.1\r\nhost: x\r\n\r\n")
                assert b"HTTP/1.1" not in await client.reader.read()
            assert (status, server.seen) == (501, [])

    run(story())


@pytest.mark.parametrize("upgrade", [b"upgrade: h2c\r\n", b"connection: upgrade\r\n"])
def test_a_body_beside_half_of_an_upgrade_goes_on(upgrade: bytes) -> None:
    async def story() -> None:
        async with upstream(plain) as server, relayed(server.port) as own, connected(own) as client:
            status, _, _ = await client.ask(post(call()).replace(b"host: ", upgrade + b"host: "))
            assert (status, server.seen[-1].body) == (200, call('{"line":5}'))

    run(story())


def test_events_that_say_their_length_are_explained_without_one() -> None:
    async def story() -> None:
        async def failing(seen: Seen, writer: asyncio.StreamWriter) -> None:
            if b'"tools/list"' in seen.body:
                await answer(writer, listing(seen))
                return
            error = encoded({"jsonrpc": "2.0", "id": 7, "result": {"content": [], "isError": True}})
            await answer(writer, b": " + b"x" * 2**17 + b"\n\n" + as_event(error), "text/event-stream", "x-own: 1")

        async with upstream(failing) as server, relayed(server.port) as own, connected(own) as client:
            status, headers, body = await client.ask(post(call('{"line":"x"}')))
            assert (status, headers.get("content-length"), headers["x-own"]) == (200, None, "1")
            assert (len(body) > 2**17, body.count(NOTE)) == (True, 1)

    run(story())


def test_an_answer_that_is_too_large_to_be_explained_is_held_no_longer_than_it_might_be() -> None:
    async def story() -> None:
        async def endless(seen: Seen, writer: asyncio.StreamWriter) -> None:
            if b'"tools/list"' in seen.body:
                await answer(writer, listing(seen))
                return
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % 2**40)
            with suppress(ConnectionResetError):
                while True:
                    writer.write(b"x" * 2**20)
                    await writer.drain()

        async with upstream(endless) as server, relayed(server.port) as own, connected(own) as client:
            client.writer.write(post(call('{"line":"x"}')))
            status, headers = await client.head()
            assert (status, headers["content-length"]) == (200, str(2**40))
            assert await client.reader.readexactly(LIMIT * 2) == b"x" * LIMIT * 2

    run(story())


@pytest.mark.parametrize(("path", "codings"), [("/mcp", "identity"), ("/other", "gzip, br")])
def test_an_answer_may_come_in_a_coding_where_nobody_reads_it(path: str, codings: str) -> None:
    async def story() -> None:
        async with upstream(plain) as server, relayed(server.port) as own, connected(own) as client:
            await client.ask(post(call(), "accept-encoding: gzip, br", path=path))
            assert server.seen[-1].header("accept-encoding") == codings

    run(story())


@pytest.mark.parametrize(
    ("path", "target"), [("/gw", "/"), ("/gw?a=b", "/?a=b"), ("/gw/", "/"), ("/gw/%2F//x", "/%2F//x")]
)
def test_a_path_goes_on_as_it_stands_under_the_root(path: str, target: str) -> None:
    async def story() -> None:
        async def mounted(scope: Any, receive: Any, send: Any) -> None:
            await gateway({**scope, "root_path": "/gw"}, receive, send)

        async with upstream(plain) as server:
            gateway = app(f"http://127.0.0.1:{server.port}/mcp")
            async with serving(mounted) as own, connected(own) as client:
                await client.ask(post(call(), path=path))
            assert [seen.target for seen in server.seen] == [target]

    run(story())
