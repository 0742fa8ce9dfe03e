"""Server-sent events: told apart however the stream is cut, and every byte of it passed on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.pieces import WAYS, Cut

from argfit.wire.events import Event, Events

EVERY_WAY = pytest.mark.parametrize("cut", WAYS.values(), ids=WAYS)


def heard(stream: bytes, cut: Cut, limit: int = 1000) -> tuple[list[bytes], bytes]:
    """The data of the events of a stream, and all that was passed on."""
    events = Events(limit)
    found = [event for piece in cut(stream) for event in events.feed(piece)]
    data = [event.data for event in found if event.data is not None]
    return data, b"".join(event.raw for event in found) + events.rest()


@EVERY_WAY
@pytest.mark.parametrize(
    ("stream", "data"),
    [
        (b"", []),
        (b"data: one\n\ndata: two\n\n", [b"one", b"two"]),
        (b"data: one\r\n\r\ndata: two\r\n\r\n", [b"one", b"two"]),
        (b"data: one\r\rdata: two\r\r", [b"one", b"two"]),
        (b"data: one\r\n\ndata: two\n\r\n", [b"one", b"two"]),
        (b"data: one\n\rdata: two\r\n\r", [b"one", b"two"]),
        (b"\xef\xbb\xbfdata: one\n\n", [b"one"]),
        (b"data: a\n\xef\xbb\xbfdata: b\n\n", [b"a"]),
        (b"data:one\ndata:  two\ndata\n\n", [b"one\n two\n"]),
        (b": comment\n\n:\n\nid: 1\nretry: 3\n\n", []),
        (b"event: message\nid: 7\ndata: one\nretry: 10\n\n", [b"one"]),
        (b"data: one\ndata: never ended\n", []),
        (b"dataset: no\nDATA: no\n\n", []),
        (b"\n\n\r\n\n", []),
    ],
)
def test_events_are_told_apart_and_every_byte_passes(stream: bytes, data: list[bytes], cut: Cut) -> None:
    assert heard(stream, cut) == (data, stream)


@pytest.mark.parametrize("ending", [b"\n\n", b"\r\n\r\n", b"\r\r", b"\n\r\n", b"\r\n\n"])
def test_an_event_is_passed_on_at_its_last_byte(ending: bytes) -> None:
    events = Events(1000)
    came = [event for piece in (b"data: one" + ending[:-1], ending[-1:]) for event in events.feed(piece)]
    assert b"".join(event.raw for event in came) == b"data: one" + ending
    assert events.rest() == b""


@EVERY_WAY
@pytest.mark.parametrize("length", range(30, 60))
def test_an_event_that_is_too_large_passes_unread_and_the_next_is_read(cut: Cut, length: int) -> None:
    large = b"data: " + b"x" * length + b"\ndata: more\n\n"
    stream = large + b"data: two\n\n"
    data, passed = heard(stream, cut, limit=50)
    assert (data[-1], passed) == (b"two", stream)
    assert data[:-1] in ([], [b"x" * length + b"\nmore"])


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"data: one\n\n", b"data: new\n\n"),
        (b"id: 1\ndata: one\r\ndata: two\n: c\n\n", b"id: 1\ndata: new\r\n: c\n\n"),
    ],
)
def test_an_event_that_says_something_else_keeps_what_else_it_has(raw: bytes, said: bytes) -> None:
    assert Event(raw, b"").saying(b"new") == said


@given(st.lists(st.sampled_from([b"\r", b"\n", b"data", b":", b" ", b"x", b"id: 1", b"\xef\xbb\xbf", b"data: y"])))
def test_a_stream_is_read_alike_however_it_is_cut(pieces: list[bytes]) -> None:
    stream = b"".join(pieces)
    whole, byte_by_byte, at_random = (heard(stream, cut) for cut in WAYS.values())
    assert whole == byte_by_byte == at_random
    assert whole[1] == stream
