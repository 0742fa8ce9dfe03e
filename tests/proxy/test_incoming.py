"""What a client may send beside bodies has a bound; bodies, and requests one after the other, have none."""

import asyncio
from contextlib import suppress

import pytest
from tests.proxy.http_ends import Seen, connected, post, relayed, run, upstream
from tests.proxy.test_http import call, plain

from argfit.proxy.connection import LONGEST_HEAD

LONG = b"x" * LONGEST_HEAD
HEAD = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\n"
PARTS = HEAD + b"transfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "request_",
    [
        b"POST /" + LONG,
        HEAD + LONG,
        HEAD + b"x: " + LONG,
        HEAD + b"x: y\r\n" * (LONGEST_HEAD // 5),
    ],
    ids=["target", "name", "value", "headers"],
)
def test_a_head_that_is_too_long_is_refused_before_its_end(request_: bytes) -> None:
    async def story() -> None:
        async with upstream(plain) as server, relayed(server.port) as own, connected(own) as client:
            client.writer.write(request_)
            assert (await client.head())[0] == 431
            with suppress(ConnectionResetError):
                assert await client.reader.read() == b""
            assert server.seen == []

    run(story())


def test_what_is_not_http_is_refused() -> None:
    async def story() -> None:
        async with upstream(plain) as server, relayed(server.port) as own, connected(own) as client:
            status, headers, body = await client.ask(b"garbage\r\n\r\n")
            assert (status, headers["connection"], body) == (400, "close", b"Invalid HTTP request received.")
            assert await client.reader.read() == b""

    run(story())


@pytest.mark.parametrize("beside", [b"4;" + LONG, b"0\r\nx: " + LONG], ids=["extension", "trailer"])
def test_what_is_too_long_beside_a_body_ends_the_connection(beside: bytes) -> None:
    async def story() -> None:
        async with upstream(plain) as server, relayed(server.port) as own, connected(own) as client:
            client.writer.write(PARTS + beside + LONG + LONG)  # one piece may be longer than that
            assert (await client.head())[0] == 431
            with suppress(ConnectionResetError):
                assert await client.reader.read() == b""
            assert server.seen == []

    run(story())


@pytest.mark.parametrize("after", [HEAD + b"x: " + LONG, b"garbage\r\n\r\n"], ids=["long", "garbage"])
def test_what_cannot_be_read_after_a_request_leaves_half_of_its_answer(after: bytes) -> None:
    async def story() -> None:
        async def streaming(seen: Seen, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: hello\n\n")
            await asyncio.Event().wait()

        async with upstream(streaming) as server, relayed(server.port) as own, connected(own) as client:
            client.writer.write(b"GET /mcp HTTP/1.1\r\nhost: x\r\n\r\n")
            await client.head()
            assert await client.chunk() == b": hello\n\n"
            client.writer.write(after)
            with suppress(ConnectionResetError):
                assert await client.reader.read() == b""
            await server.gone.wait()

    run(story())


def test_bodies_and_many_requests_are_of_any_length() -> None:
    async def story() -> None:
        async with upstream(plain) as server, relayed(server.port, limit=20) as own, connected(own) as client:
            body = call() + b" " * LONGEST_HEAD * 2
            for _ in range(3):
                assert (await client.ask(post(body, f"x: {'y' * (LONGEST_HEAD // 4)}")))[0] == 200
            small = call() + b"\n" * (2**10 - len(call()))
            parts = b"400;x=y\r\n" + small + b"\r\n" + (b"400;x=y\r\n" + b"\n" * 2**10 + b"\r\n") * 300 + b"0\r\n\r\n"
            assert (await client.ask(PARTS + parts))[0] == 200
            assert [len(seen.body) for seen in server.seen] == [len(body)] * 3 + [301 * 2**10]

    run(story())
