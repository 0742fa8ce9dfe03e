"""Answers of every kind, right and wrong, however they come: each is delivered as it is, or ends its connection."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.proxy.http_ends import run
from tests.wire.pieces import WAYS, Cut

from argfit.proxy import connection as module
from argfit.proxy.connection import Answer, Body, Connection, UpstreamError, WrongRequestError

EVERY_WAY = pytest.mark.parametrize("cut", WAYS.values(), ids=WAYS)
OK = b"HTTP/1.1 200 OK\r\n"
FOUR = OK + b"content-length: 4\r\n\r\nfour"
PARTS = b"transfer-encoding: chunked\r\n\r\n"
LONG = module.LONGEST_HEAD


class Wire(asyncio.Transport):
    """A transport that only notes what is done with it."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.unsent = 0
        self.is_cut = False
        self.is_read = True
        self.spoken = asyncio.Event()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent += bytes(data)
        self.spoken.set()

    def abort(self) -> None:
        self.is_cut = True

    def is_closing(self) -> bool:
        return self.is_cut

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True


class Talk:
    """One connection over such a wire."""

    def __init__(self) -> None:
        self.resting: list[Connection] = []
        self.connection = Connection(self.resting)
        self.wire = Wire()
        self.connection.connection_made(self.wire)

    async def asks(
        self, body: Body | None = None, *, holds: int = 0, is_to_head: bool = False
    ) -> "asyncio.Task[Answer]":
        """Send a request; what its answer comes by."""
        self.wire.spoken.clear()
        asking = asyncio.ensure_future(self.connection.ask(b"ask", body, holds=holds, is_to_head=is_to_head))
        await self.wire.spoken.wait()
        return asking

    def hears(self, *pieces: bytes) -> None:
        for piece in pieces:
            if not self.wire.is_cut:
                self.connection.data_received(piece)

    def ends(self, error: Exception | None = None) -> None:
        """The server ends the connection, or it breaks."""
        if error is None:
            self.connection.eof_received()
        self.connection.connection_lost(error)


async def told(asking: "asyncio.Task[Answer]") -> tuple[int, bytes]:
    answer = await asking
    return answer.status, await answer.rest()


# -- what is an answer ------------------------------------------------------------------------------------------


@EVERY_WAY
@pytest.mark.parametrize("holds", [0, 100])
@pytest.mark.parametrize(
    ("said", "status", "body", "keeps"),
    [
        (FOUR, 200, b"four", True),
        (OK + b"Content-Length: 0\r\n\r\n", 200, b"", True),
        (OK + PARTS + b"2\r\nfo\r\n2;a=b\r\nur\r\n0\r\n\r\n", 200, b"four", True),
        (OK + PARTS + b"4\r\nfour\r\n0\r\nx: trailer\r\nx: more\r\n\r\n", 200, b"four", True),
        (OK + b"connection: close\r\ncontent-length: 4\r\n\r\nfour", 200, b"four", False),
        (OK + b"connection: upgrade, x\r\nupgrade: h2c\r\ncontent-length: 4\r\n\r\nfour", 200, b"four", True),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 4\r\n\r\nfour", 200, b"four", False),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\n" + FOUR, 200, b"four", True),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", True),
        (b"HTTP/1.1 204 No Content\r\ncontent-length: 4\r\n\r\n", 204, b"", True),
        (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 4\r\n\r\n", 304, b"", True),
        (b"HTTP/1.1 599\r\ncontent-length: 4\r\n\r\nfour", 599, b"four", True),
    ],
)
def test_an_answer_is_whole_however_it_comes(
    said: bytes, status: int, body: bytes, holds: int, cut: Cut, *, keeps: bool
) -> None:
    async def story() -> None:
        talk = Talk()
        for _ in range(2 if keeps else 1):
            asking = await talk.asks(holds=holds)
            talk.hears(*cut(said))
            assert await told(asking) == (status, body)
            assert (talk.wire.is_cut, talk.resting) == (not keeps, [talk.connection] * keeps)
            talk.resting.clear()

    run(story())


@EVERY_WAY
def test_headers_are_those_of_the_final_answer_as_they_came_but_for_case(cut: Cut) -> None:
    async def story() -> None:
        talk = Talk()
        asking = await talk.asks()
        early = b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\n"
        talk.hears(*cut(early + OK + b"Set-Cookie: a \r\nX-Own:\r\nset-cookie: \xc3b\r\nContent-Length: 0\r\n\r\n"))
        own = [(b"set-cookie", b"a"), (b"x-own", b""), (b"set-cookie", b"\xc3b"), (b"content-length", b"0")]
        assert (await asking).headers == own

        asking = await talk.asks()
        talk.hears(*cut(OK + PARTS + b"4\r\nfour\r\n0\r\nx: trailer\r\nx: more\r\n\r\n"))
        assert await told(asking) == (200, b"four")
        assert (await asking).headers == [(b"transfer-encoding", b"chunked")]

    run(story())


@EVERY_WAY
def test_an_answer_without_a_length_ends_with_its_connection(cut: Cut) -> None:
    async def story() -> None:
        talk = Talk()
        asking = await talk.asks()
        talk.hears(*cut(OK + b"\r\nfour"))
        talk.ends()
        assert await told(asking) == (200, b"four")
        assert talk.resting == []

    run(story())


@EVERY_WAY
@pytest.mark.parametrize("length", [b"content-length: 4\r\n", PARTS[:-2], b""])
def test_an_answer_to_head_has_no_body_whatever_it_says(length: bytes, cut: Cut) -> None:
    async def story() -> None:
        talk = Talk()
        asking = await talk.asks(is_to_head=True)
        talk.hears(*cut(OK + length + b"\r\n"))
        assert await told(asking) == (200, b"")
        assert not (await asking).has_body

    run(story())


def test_an_answer_begins_with_its_head_unless_it_is_to_be_held() -> None:
    async def story() -> None:
        for holds, is_told in ((3, True), (4, False)):
            talk = Talk()
            asking = await talk.asks(holds=holds)
            talk.hears(FOUR[:-1])
            await asyncio.wait({asking}, timeout=0)
            assert asking.done() is is_told
            talk.hears(FOUR[-1:])
            assert await told(asking) == (200, b"four")

    run(story())


# -- what is none -----------------------------------------------------------------------------------------------


@EVERY_WAY
@pytest.mark.parametrize("holds", [0, 100])
@pytest.mark.parametrize(
    "said",
    [
        OK + b"content-length: 4\r\n" + PARTS + b"4\r\nfour\r\n0\r\n\r\n",
        OK + b"transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\nfour",
        OK + b"content-length: 4\r\ncontent-length: 5\r\n\r\nfour",
        OK + b"content-length: 4, 4\r\n\r\nfour",
        OK + b"content-length: -4\r\n\r\nfour",
        OK + b"content-length: 99999999999999999999999\r\n\r\nfour",
        OK + b"content-length : 4\r\n\r\nfour",
        OK + b"transfer-encoding: gzip, chunked\r\n\r\n4\r\nfour\r\n0\r\n\r\n",
        OK + b"transfer-encoding: gzip\r\n" + PARTS + b"4\r\nfour\r\n0\r\n\r\n",
        OK + b"transfer-encoding: xchunked\r\n\r\nfour",
        OK + b"transfer-encoding: identity\r\n\r\nfour",
        b"HTTP/1.0 200 OK\r\n" + PARTS + b"4\r\nfour\r\n0\r\n\r\n",
        OK + PARTS + b"four\r\n",
        OK + PARTS + b"4\r\nfourfive\r\n0\r\n\r\n",
        OK + PARTS + b"fffffffffffffffff\r\nfour",
        OK + b"x: y\r\n folded\r\ncontent-length: 0\r\n\r\n",
        OK + b"x: a\x00b\r\ncontent-length: 0\r\n\r\n",
        OK + b"x(y): z\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\ncontent-length: 4\n\nfour",
        b"HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n",
        b"HTTP/1.1 103 Early\r\ncontent-length: 4\r\n\r\nfour" + FOUR,
        b"HTTP/1.1 104 Early\r\ncontent-length: 4\r\n\r\nfour" + FOUR,
        b"HTTP/1.1 099 No\r\n\r\n" + FOUR,
        b"HTTP/1.1 600 No\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/2.0 200 OK\r\ncontent-length: 0\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x15\x03\x01\x00\x02\x02",
    ],
)
def test_what_is_not_http_is_no_answer_and_ends_its_connection(said: bytes, holds: int, cut: Cut) -> None:
    async def story() -> None:
        talk = Talk()
        asking = await talk.asks(holds=holds)
        talk.hears(*cut(said))
        with pytest.raises(UpstreamError, match="is not HTTP"):
            await told(asking)
        assert (talk.wire.is_cut, talk.resting) == (True, [])

    run(story())


@EVERY_WAY
@pytest.mark.parametrize("error", [None, ConnectionResetError()])
@pytest.mark.parametrize("holds", [0, 100])
@pytest.mark.parametrize(
    ("said", "what"),
    [
        (b"", "ended the connection without an answer"),
        (b"HTTP/1.1 103 Early\r\n\r\n", "broke off"),
        (OK[:9], "broke off"),
        (OK + b"content-length: 4\r\n", "broke off"),
        (FOUR[:-1], "broke off"),
        (OK + PARTS + b"4\r\nfour\r\n0\r\n", "broke off"),
    ],
)
def test_half_an_answer_is_none(said: bytes, what: str, holds: int, error: Exception | None, cut: Cut) -> None:
    async def story() -> None:
        talk = Talk()
        asking = await talk.asks(holds=holds)
        talk.hears(*cut(said))
        talk.ends(error)
        with pytest.raises(UpstreamError, match=what):
            await told(asking)

    run(story())


def test_an_answer_without_a_length_whose_connection_breaks_is_half_of_one() -> None:
    async def story() -> None:
        talk = Talk()
        asking = await talk.asks()
        talk.hears(OK + b"\r\nfour")
        answer = await asking
        assert await answer.part() == b"four"
        talk.ends(ConnectionResetError())
        with pytest.raises(UpstreamError, match="broke off"):
            await answer.part()

    run(story())


@EVERY_WAY
@pytest.mark.parametrize(
    "said",
    [
        OK + b"x: " + b"y" * LONG + b"\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 103 Early\r\nx: y\r\n\r\n" * (LONG // 20),
        OK + PARTS + b"4\r\nfour\r\n0\r\nx: " + b"y" * LONG,
        OK + PARTS + b"4;" + b"x" * LONG,
    ],
    ids=["header", "early answers", "trailer", "extension"],
)
def test_what_is_no_body_has_a_bound(said: bytes, cut: Cut) -> None:
    async def story() -> None:
        talk = Talk()
        asking = await talk.asks()
        talk.hears(*cut(said), b"y" * LONG, b"y")  # one piece may be longer than that
        with pytest.raises(UpstreamError):
            await told(asking)
        assert talk.wire.is_cut

    run(story())


def test_a_long_body_in_the_same_piece_does_not_make_a_head_long() -> None:
    async def story() -> None:
        talk = Talk()
        asking = await talk.asks()
        talk.hears(OK + b"content-length: %d\r\n\r\n" % LONG + b"x" * LONG)
        assert await told(asking) == (200, b"x" * LONG)

    run(story())


# -- what is said beside ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("beside", [FOUR, b"H", b"\x00", b"junk"])
def test_what_is_said_after_an_answer_is_never_the_next_one(beside: bytes) -> None:
    async def story() -> None:
        talk = Talk()
        asking = await talk.asks()
        talk.hears(FOUR + beside)
        assert await told(asking) == (200, b"four")
        assert (talk.wire.is_cut, talk.resting) == (True, [])

        talk = Talk()
        asking = await talk.asks()
        talk.hears(FOUR, beside)
        assert await told(asking) == (200, b"four")
        assert talk.wire.is_cut

    run(story())


def test_a_connection_that_is_ended_while_it_rests_is_forgotten() -> None:
    async def story() -> None:
        talk = Talk()
        asking = await talk.asks()
        talk.hears(FOUR)
        await told(asking)
        assert talk.resting == [talk.connection]
        talk.ends()
        assert talk.resting == []

    run(story())


# -- who is slow, and who leaves --------------------------------------------------------------------------------


def test_an_answer_is_read_no_faster_than_it_is_taken() -> None:
    async def story() -> None:
        talk = Talk()
        asking = await talk.asks()
        many = module._HIGH + 1  # noqa: SLF001
        talk.hears(OK + b"content-length: %d\r\n\r\n" % (many + 4), b"x" * many)
        answer = await asking
        before, taken, after = talk.wire.is_read, await answer.part(), talk.wire.is_read
        assert (before, taken, after) == (False, b"x" * many, True)
        talk.hears(b"four")
        assert await answer.part() == b"four"
        assert await answer.part() == b""

    run(story())


def test_a_connection_is_read_again_once_it_rests() -> None:
    async def story() -> None:
        talk = Talk()
        asking = await talk.asks()
        many = module._HIGH + 1  # noqa: SLF001
        talk.hears(OK + b"content-length: %d\r\n\r\n" % many + b"x" * many)
        assert (talk.wire.is_read, talk.resting) == (True, [talk.connection])
        assert await told(asking) == (200, b"x" * many)

    run(story())


class Upload:
    """The body of a request, of which a part comes when it is let."""

    def __init__(self, *parts: bytes) -> None:
        self.parts = parts
        self.taken = 0
        self.may = asyncio.Semaphore(0)

    async def come(self) -> AsyncIterator[bytes]:
        for part in self.parts:
            await self.may.acquire()
            self.taken += 1
            yield part

    async def next(self, wire: Wire) -> None:
        """Let one part come, and wait until something is sent."""
        wire.spoken.clear()
        self.may.release()
        await wire.spoken.wait()


@pytest.mark.parametrize(("length", "sent"), [(8, b"askfourfive"), (None, b"ask4\r\nfour\r\n4\r\nfive\r\n0\r\n\r\n")])
def test_a_body_is_sent_as_it_comes(length: int | None, sent: bytes) -> None:
    async def story() -> None:
        talk, upload = Talk(), Upload(b"four", b"five")
        asking = await talk.asks(Body(upload.come(), length))
        await upload.next(talk.wire)
        assert talk.wire.sent.count(b"four") == 1
        await upload.next(talk.wire)
        await asyncio.sleep(0)  # to its end
        assert talk.wire.sent == sent
        talk.hears(FOUR)
        assert await told(asking) == (200, b"four")
        assert talk.resting == [talk.connection]

    run(story())


def test_a_body_is_sent_no_faster_than_the_server_takes_it() -> None:
    async def story() -> None:
        talk, upload = Talk(), Upload(b"four", b"five")
        asking = await talk.asks(Body(upload.come(), 8))
        talk.connection.pause_writing()
        await upload.next(talk.wire)
        upload.may.release()
        await asyncio.sleep(0)
        assert upload.taken == 1
        talk.wire.spoken.clear()
        talk.connection.resume_writing()
        await talk.wire.spoken.wait()
        assert (upload.taken, talk.wire.sent) == (2, b"askfourfive")
        talk.hears(FOUR)
        await asking

    run(story())


def test_an_answer_that_is_there_before_the_body_was_sent_ends_the_connection() -> None:
    async def story() -> None:
        talk, upload = Talk(), Upload(b"four", b"five")
        asking = await talk.asks(Body(upload.come(), 8))
        await upload.next(talk.wire)
        talk.hears(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno")
        assert await told(asking) == (413, b"no")
        upload.may.release()
        await asyncio.sleep(0)
        assert (talk.wire.is_cut, talk.resting, upload.taken) == (True, [], 1)

    run(story())


def test_an_answer_that_is_there_before_the_server_took_all_ends_the_connection() -> None:
    async def story() -> None:
        talk = Talk()
        asking = await talk.asks()
        talk.wire.unsent = 1
        talk.hears(FOUR)
        assert await told(asking) == (200, b"four")
        assert talk.wire.is_cut

    run(story())


@pytest.mark.parametrize("length", [3, 9])
def test_a_body_of_another_length_than_it_says_is_no_request(length: int) -> None:
    async def story() -> None:
        talk, upload = Talk(), Upload(b"four")
        asking = await talk.asks(Body(upload.come(), length))
        upload.may.release()
        with pytest.raises(WrongRequestError):
            await asking
        assert (talk.wire.is_cut, talk.wire.sent) == (True, b"askfour" if length == 9 else b"ask")

    run(story())


def test_a_body_whose_sender_is_gone_ends_the_request() -> None:
    async def gone() -> AsyncIterator[bytes]:
        yield b"four"
        raise ConnectionResetError

    async def story() -> None:
        talk = Talk()
        asking = await talk.asks(Body(gone(), 8))
        with pytest.raises(ConnectionResetError):
            await asking
        assert talk.wire.is_cut

    run(story())


@pytest.mark.parametrize("begun", [False, True])
def test_a_request_that_is_given_up_ends_the_connection(*, begun: bool) -> None:
    async def story() -> None:
        talk = Talk()
        asking = await talk.asks()
        if begun:
            talk.hears(FOUR[:-1])
            (await asking).close()
        else:
            asking.cancel()
            await asyncio.wait({asking})
        assert (talk.wire.is_cut, talk.resting) == (True, [])

    run(story())


def test_an_answer_that_has_begun_may_take_its_time() -> None:
    async def story() -> None:
        for said, is_timed in ((OK, True), (OK + b"content-length: 4\r\n\r\n", False), (FOUR, False)):
            talk = Talk()
            asking = await talk.asks()
            talk.hears(said)
            assert (talk.connection._late is not None) is is_timed  # noqa: SLF001 - five minutes, else
            asking.cancel()
            await asyncio.wait({asking})

    run(story())


def test_a_server_that_says_nothing_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        talk = Talk()
        asking = await talk.asks()
        talk.hears(OK)
        with pytest.raises(TimeoutError):
            await asking
        assert talk.wire.is_cut

    monkeypatch.setattr(module, "ANSWER_SECONDS", 0.0)
    run(story())
