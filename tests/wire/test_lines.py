import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.pieces import WAYS, Cut

from argfit.wire.lines import LIMIT, Lines, Part

EVERY_WAY = pytest.mark.parametrize("cut", WAYS.values(), ids=WAYS)


def cut_up(data: bytes, cut: Cut, limit: int = 8) -> list[bytes | Part]:
    lines = Lines(limit)
    return [line for piece in cut(data) for line in lines.feed(piece)] + lines.rest()


def whole(found: list[bytes | Part]) -> list[bytes]:
    """The lines of a stream, those that came in parts put together."""
    joined: list[bytes] = []
    for line in found:
        if isinstance(line, Part) and not line.first:
            joined[-1] += line.data
        else:
            joined.append(line.data if isinstance(line, Part) else line)
    return joined


@EVERY_WAY
@pytest.mark.parametrize(
    ("stream", "lines"),
    [
        (b"", []),
        (b"one\n", [b"one\n"]),
        (b"one\ntwo\n", [b"one\n", b"two\n"]),
        (b"one\r\ntwo\r\n", [b"one\r\n", b"two\r\n"]),
        (b"\n\n \n", [b"\n", b"\n", b" \n"]),
        (b"one\ntwo", [b"one\n", b"two"]),
        (b"a\rb\x0bc\xe2\x80\xa8\n", [b"a\rb\x0bc\xe2\x80\xa8\n"]),
        (b"a\x00\xff\n", [b"a\x00\xff\n"]),
        (b"1234567\n", [b"1234567\n"]),
        (b"12345678", [b"12345678"]),
    ],
)
def test_a_stream_is_cut_after_each_newline_and_keeps_every_byte(stream: bytes, lines: list[bytes], cut: Cut) -> None:
    assert cut_up(stream, cut, limit=9) == lines


@EVERY_WAY
def test_a_line_as_long_as_the_limit_is_whole_and_one_byte_more_comes_in_parts(cut: Cut) -> None:
    found = cut_up(b"1234567\n12345678\n1\n", cut)
    assert found[0] == b"1234567\n"
    assert found[-1] == b"1\n"
    assert all(isinstance(part, Part) for part in found[1:-1])
    assert whole(found) == [b"1234567\n", b"12345678\n", b"1\n"]


def test_the_parts_of_a_line_say_where_it_begins_and_ends() -> None:
    lines = Lines(4)
    assert lines.feed(b"123") == []
    assert lines.feed(b"45") == [Part(b"12345", first=True, last=False)]
    assert lines.feed(b"67") == [Part(b"67", first=False, last=False)]
    assert lines.feed(b"8\n") == [Part(b"8\n", first=False, last=True)]
    assert lines.feed(b"9\n") == [b"9\n"]


def test_an_overlong_line_in_one_piece_is_one_part() -> None:
    assert Lines(4).feed(b"12345\n1\n") == [Part(b"12345\n", first=True, last=True), b"1\n"]


def test_an_overlong_line_without_an_ending_ends_with_the_stream() -> None:
    lines = Lines(4)
    lines.feed(b"12345")
    assert lines.rest() == [Part(b"", first=False, last=True)]
    assert lines.rest() == []


def test_a_message_of_8_mib_is_still_one_that_is_read() -> None:
    assert LIMIT == 8 * 1024 * 1024


def test_nothing_is_held_beyond_the_limit() -> None:
    lines = Lines(4)
    assert [lines.feed(b"x") for _ in range(4)] == [[], [], [], []]
    assert lines.feed(b"x") != []


@given(st.lists(st.sampled_from([b"\n", b"\r", b"{}", b"longer than the limit", b"\xff"]), max_size=12), st.data())
def test_however_a_stream_is_cut_its_lines_are_the_same(words: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(words)
    ends = sorted(data.draw(st.sets(st.integers(0, len(stream)))) | {0, len(stream)})
    found = cut_up(stream, lambda _: (stream[start:end] for start, end in pairwise(ends)))
    assert whole(found) == re.findall(rb"[^\n]*\n|[^\n]+", stream)
    within = False
    for line in found:
        if isinstance(line, Part):
            assert line.first is not within
            assert line.data.find(b"\n") in (-1, len(line.data) - 1)
            within = not line.last
        else:
            assert not within
            assert len(line) <= 8
    assert not within
