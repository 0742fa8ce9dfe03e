"""Faults at every byte of an exchange: either end stops, leaves or breaks there, and it comes to an end in order.

Each exchange has an id of its own, and all of a story go through one relay: what one leaves behind shows in the next.
"""

import asyncio
import gc
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from tests.proxy.http_ends import Client, answer, connected, post, read_request, run, serving
from tests.proxy.test_http import call, is_listing, listing

from argfit.core.text import encoded
from argfit.proxy import connection, http
from argfit.proxy.http import app

NOTE = b"Note: these arguments differ from the tool's published schema: line must be a whole number."
EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def chunked(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (*parts, b""))


def said(id: int, *, fails: bool = False) -> bytes:
    return encoded({"jsonrpc": "2.0", "id": id, "result": {"content": [], "isError": fails}})


def in_one_piece(id: int) -> bytes:
    body = said(id)
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
    return b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\n" + head + body


def in_events(id: int, *, fails: bool = False) -> bytes:
    return EVENTS + chunked(
        b": hello\n\n", b"data: " + said(id, fails=fails)[:20], said(id, fails=fails)[20:] + b"\n\n"
    )


def in_explained_events(id: int) -> bytes:
    return in_events(id, fails=True)


def in_explained_parts(id: int) -> bytes:
    body = said(id, fails=True)
    return EVENTS.replace(b"text/event-stream", b"application/json") + chunked(body[:20], body[20:])


RECORDED = pytest.mark.parametrize("recorded", [in_one_piece, in_events, in_explained_events, in_explained_parts])


class Server:
    """A server that knows one tool, and that answers a call with what it is told to; then it ends in some way."""

    def __init__(self) -> None:
        self.port = 0
        self.says = b""
        self.ends = "wait"
        self.hears = -1  # bytes of a call, then it is answered; all of it
        self.calls: list[bytes] = []
        self.going: set[asyncio.Task[None]] = set()
        self.reached = asyncio.Semaphore(0)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.going.add(task)
        task.add_done_callback(self.going.discard)
        with suppress(OSError, ValueError, asyncio.IncompleteReadError):  # a half request
            await self._hear(reader, writer)
            writer.write(self.says)
            self.reached.release()
            if self.ends == "reset":
                own: socket.socket = writer.get_extra_info("socket")
                own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                if self.ends == "half-close":
                    writer.write_eof()
                while more := await reader.read(2**16):  # until the relay ends it
                    assert self.hears >= 0 or b"HTTP/1.1" not in more
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async def _hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.hears >= 0:
            self.calls.append(await reader.readexactly(self.hears))
            return
        while is_listing(seen := await read_request(reader)):
            await answer(writer, listing(seen))
        self.calls.append(seen.body)

    async def rests(self) -> None:
        """Wait until all connections to it have ended."""
        while self.going:
            await asyncio.wait(self.going)


class Relay:
    """The relay before that server, and what is left of its work."""

    def __init__(self, server: Server, **options: Any) -> None:
        self._gateway = app(f"http://127.0.0.1:{server.port}/mcp", **options)
        self.port = 0
        self.ended = asyncio.Semaphore(0)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await self._gateway(scope, receive, send)
        finally:
            self.ended.release()

    @property
    def resting(self) -> list[connection.Connection]:
        return self._gateway._upstream._resting  # noqa: SLF001


@asynccontextmanager
async def between(**options: Any) -> AsyncIterator[tuple[Server, Relay]]:
    """Such a server, and a relay; after the story nothing is left, and nothing went wrong unnoticed."""
    loop, wrong = asyncio.get_running_loop(), list[dict[str, Any]]()
    loop.set_exception_handler(lambda _, context: wrong.append(context))
    before = asyncio.all_tasks()
    server = Server()
    listened = await asyncio.start_server(server.talk, "127.0.0.1", 0)
    server.port = listened.sockets[0].getsockname()[1]
    relay = Relay(server, **options)
    async with serving(relay) as relay.port:
        yield server, relay
        await server.rests()
        assert relay.resting == []
    listened.close()
    await listened.wait_closed()
    gc.collect()
    assert wrong == []
    assert asyncio.all_tasks() == before


@pytest.fixture(autouse=True)
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_PROMPT", 0.0)


def asked(id: int, *, wrongly: bool = False) -> bytes:
    return post(call('{"line":"x"}' if wrongly else '{"line":5.0}', str(id)))


def failed(id: int, status: int) -> list[tuple[int, bytes]]:
    """What may be said to a request of which nothing came of the server's."""
    words = {502: ("the server ended the connection without an answer", "the server's answer broke off")}
    texts = words.get(status, ("the server does not answer",))
    errors = ({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": text}} for text in texts)
    return [(status, encoded(error) + b"\n") for error in errors]


async def outcome(client: Client, request: bytes) -> tuple[int, bytes] | None:
    """The answer to a request; None where that is half of one."""
    client.writer.write(request)
    try:
        status, _, body = await client.answer()
    except asyncio.IncompleteReadError:
        return None
    return status, body


def leave(client: Client, how: str) -> None:
    """Go away."""
    if how == "reset":
        own: socket.socket = client.writer.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.writer.close()


# -- the server ---------------------------------------------------------------------------------------------------


@RECORDED
@pytest.mark.parametrize("ends", ["half-close", "reset"])
def test_a_server_that_stops_at_any_byte_of_its_answer_leaves_an_error_or_half_of_one(recorded: Any, ends: str) -> None:
    wrongly = recorded in (in_explained_events, in_explained_parts)

    async def story() -> None:
        async with between() as (server, relay):
            server.ends = ends
            for id in range(100, 100 + len(recorded(100))):
                server.says = recorded(id)[: id - 100]
                async with connected(relay.port) as client:
                    got = await outcome(client, asked(id, wrongly=wrongly))
                    head_is_sent = b"200 OK" in server.says and b"\r\n\r\n" in server.says.partition(b"200 OK")[2]
                    if got is None:
                        assert recorded in (in_events, in_explained_events)
                        assert head_is_sent
                    else:
                        assert got in failed(id, 502)
                await server.rests()
                assert relay.resting == []
                assert len(server.calls) == id - 99

    run(story())


@RECORDED
@pytest.mark.parametrize("more", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"], ids=["", "garbage"])
def test_whatever_follows_a_whole_answer_is_nobodys(recorded: Any, more: bytes) -> None:
    wrongly = recorded in (in_explained_events, in_explained_parts)

    async def story() -> None:
        async with between() as (server, relay):
            server.ends = "half-close"
            for id in range(100, 101 + len(more)):
                server.says = recorded(id) + more[: id - 100]
                async with connected(relay.port) as client:
                    got = await outcome(client, asked(id, wrongly=wrongly))
                assert got is not None
                assert (got[0], b'"id":%d,' % id in got[1], NOTE in got[1]) == (200, True, wrongly)
                await server.rests()
                assert relay.resting == []
            assert len(server.calls) == 1 + len(more)

    run(story())


@RECORDED
def test_a_server_that_goes_silent_at_any_byte_is_left_with_its_client(recorded: Any) -> None:
    wrongly = recorded in (in_explained_events, in_explained_parts)

    async def story() -> None:
        async with between() as (server, relay):
            for id in range(100, 100 + len(recorded(100))):
                server.says = recorded(id)[: id - 100]
                async with connected(relay.port) as client:
                    client.writer.write(asked(id, wrongly=wrongly))
                    await server.reached.acquire()
                    leave(client, "reset" if id % 2 else "close")
                    await relay.ended.acquire()
                await server.rests()
                assert relay.resting == []
            assert len(server.calls) == len(recorded(100))

    run(story())


@pytest.mark.parametrize("recorded", [in_one_piece, in_events])
def test_a_server_that_goes_silent_before_its_answer_is_known_is_named(
    recorded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with between() as (server, relay), connected(relay.port) as client:
            server.ends = "half-close"
            server.says = in_one_piece(1)
            assert await outcome(client, asked(1)) == (200, said(1))
            monkeypatch.setattr(connection, "ANSWER_SECONDS", 0.0)
            server.ends = "wait"
            whole = recorded(100)
            until = len(whole) if recorded is in_one_piece else whole.index(b"\r\n\r\n") + 4
            for id in range(100, 100 + until):
                server.says = recorded(id)[: id - 100]
                assert await outcome(client, asked(id)) in failed(id, 504)
                await server.rests()
                assert relay.resting == []

    run(story())


@pytest.mark.parametrize("ends", ["half-close", "reset"])
def test_a_server_that_ends_a_connection_at_any_byte_of_a_request_is_not_asked_again(ends: str) -> None:
    async def story() -> None:
        async with between(limit=20) as (server, relay), connected(relay.port) as client:
            server.ends, server.hears = ends, 0
            while server.hears < len(asked(100)):
                id = server.hears + 100
                assert await outcome(client, asked(id)) in failed(id, 502) + failed_unread(502)
                await server.rests()
                assert relay.resting == []
                assert len(server.calls) == id - 99
                server.hears += 1

    run(story())


def failed_unread(status: int) -> list[tuple[int, bytes]]:
    """What may be said to a request that nobody read."""
    return [(code, body.replace(b'"id":0', b'"id":null')) for code, body in failed(0, status)]


def test_an_answer_that_comes_at_any_byte_of_a_request_is_the_answer() -> None:
    async def story() -> None:
        async with between(limit=20) as (server, relay):
            for id in range(100, 100 + len(asked(100)) - 30):  # the relay's own headers are shorter
                server.says, server.hears = in_one_piece(id), id - 100
                async with connected(relay.port) as client:
                    assert await outcome(client, asked(id)[:-1]) == (200, said(id))
                await server.rests()
                assert relay.resting == []

    run(story())


# -- the client ---------------------------------------------------------------------------------------------------


PARTS = b"POST /mcp HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("how", ["close", "reset"])
@pytest.mark.parametrize("limit", [2**20, 20], ids=["read", "streamed"])
@pytest.mark.parametrize(
    "request_", [post(call("{}")), PARTS + chunked(call("{}")[:40], call("{}")[40:])], ids=["whole", "parts"]
)
def test_a_client_that_goes_at_any_byte_of_its_request_has_asked_for_nothing(
    request_: bytes, limit: int, how: str
) -> None:
    async def story() -> None:
        async with between(limit=limit) as (server, relay):
            head = request_.index(b"\r\n\r\n") + 4
            for at in range(len(request_)):
                async with connected(relay.port) as client:
                    client.writer.write(request_[:at])
                    leave(client, how)
                    if at >= head:
                        await relay.ended.acquire()
                await server.rests()
                assert relay.resting == []
            assert server.calls == []

    run(story())


@RECORDED
@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_client_that_goes_at_any_byte_of_an_answer_takes_its_request_along(recorded: Any, how: str) -> None:
    wrongly = recorded in (in_explained_events, in_explained_parts)

    async def story() -> None:
        async with between() as (server, relay):
            request = asked(7, wrongly=wrongly).replace(b"host: ", b"connection: close\r\nhost: ")
            server.ends, server.says = "half-close", recorded(7)
            async with connected(relay.port) as client:
                client.writer.write(request)
                whole = await client.reader.read(-1)
            await relay.ended.acquire()
            for at in range(1, len(whole)):
                async with connected(relay.port) as client:
                    client.writer.write(request)
                    await client.reader.readexactly(at)
                    leave(client, how)
                    await relay.ended.acquire()
                await server.rests()
                assert relay.resting == []
            assert len(server.calls) == len(whole)

    run(story())
