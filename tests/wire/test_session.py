from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.playbook import converse
from tests.wire.script import (
    EXITED,
    EXPLAIN,
    REFUSE,
    START,
    answered,
    asks,
    at,
    call,
    client,
    client_closes,
    goes_on,
    handshake,
    listing,
    log,
    ours,
    question,
    refused,
    request,
    result,
    sent,
    server,
    server_exits,
    to_client,
    to_server,
    waits_until,
)

from argfit.wire.conversation import Conversation
from argfit.wire.session import Session, ToClient, ToServer

AS_SENT, FITTED, BAD = (call("1", text) for text in ('{"line":5.0}', '{"line":5}', '{"line":"x"}'))
DEEP = b"[" * 10_000 + b"]" * 10_000

# -- every byte that needs no change ------------------------------------------------------------------

ODD = [
    b"\n",
    b"\r\n",
    b" \t\n",
    b"listening on 8080\n",
    b"[info] up\n",
    b"{not json}\n",
    b"\xff\xfe\x00\n",
    b'{"jsonrpc":"2.0","id":1.0,"method":"ping"}\n',
    b'{"id":"1","result":{},"unknown":[1.0,1e2,-0]}\r\n',
    b'{ "method" : "x" , "id":null }\n',
    b'[{"id":1,"method":"ping"}, {"id":2,"result":5} ]\n',
    b"[]\n",
    b'{"id":1,"id":2,"method":"x","method":"y"}\n',
    b'{"id":1e400,"error":{"code":1.0,"message":"\\u00e9 \xe9"}}\n',
    b'\xef\xbb\xbf{"id":7,"method":"tools/list","params":{"cursor":null}}\n',
    b'{"id":7,"result":{"tools":"none","nextCursor":5}}\n',
    b'{"id":9,"result":%s}\n' % DEEP,
    DEEP + b"\n",
    call("9", '{"line": 5}'),
    call("9", '{"line":5.5}'),
    call("9", '{"line":5.0,"line":6.0}'),
    call('"9"', '{"lines":[1.0]}'),
    b'{"method":"notifications/cancelled","params":{"requestId":9}}\n',
]


@pytest.mark.parametrize("line", ODD, ids=range(len(ODD)))
def test_odd_lines_pass_both_ways_as_the_very_bytes(line: bytes) -> None:
    converse(*START, *sent(line), *answered(line), *sent(FITTED), *answered(line))


LINES = st.lists(st.sampled_from(ODD) | st.binary(max_size=40), max_size=6).map(b"".join)


@given(up=LINES, down=LINES, limit=st.sampled_from([1, 30, 100, 10_000_000]), data=st.data())
def test_whatever_passes_and_however_it_is_cut_it_comes_out_as_it_went_in(
    up: bytes, down: bytes, limit: int, data: st.DataObject
) -> None:
    session = Session(EXPLAIN, "t0", limit=limit)
    passed = {ToServer: b"", ToClient: b""}
    for feed, stream in ((session.client_bytes, up), (session.server_bytes, down), (session.client_bytes, up)):
        cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=9)) | {0, len(stream)})
        for start, end in pairwise(cuts):
            for command in feed(stream[start:end], 0.0):
                assert isinstance(command, ToServer | ToClient)
                passed[type(command)] += command.data
    for command in session.client_end(0.0):
        assert isinstance(command, ToServer)
        passed[ToServer] += command.data
    said = b"".join(command.data for command in session.server_end(0, 0.0) if isinstance(command, ToClient))
    assert passed[ToServer] == up + up
    assert (passed[ToClient] + said).startswith(down)


BLANK = st.sampled_from([b"", b" ", b"\t", b"  \r "])


PARTS = b'|{|"params"|:|{|"name"|:|"goto"|,|"arguments"|:|{|"line"|:|5.0|}|}|,|"method"|:|"tools/call"|,|"id"|:|1|}|'


@given(st.lists(BLANK, min_size=PARTS.count(b"|"), max_size=PARTS.count(b"|")), st.sampled_from([b".0", b".00", b"e0"]))
def test_however_a_call_is_spaced_only_its_whole_float_changes(blanks: list[bytes], tail: bytes) -> None:
    parts = PARTS.split(b"|")[1:]
    line = b"".join(blank + part for blank, part in zip(blanks, parts, strict=True)) + b"\n"
    converse(*START, client(line.replace(b".0", tail)), to_server(line.replace(b".0", b"")))


# -- order --------------------------------------------------------------------------------------------

CANCEL = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n'


def test_what_the_client_sends_after_a_waiting_call_waits_behind_it_and_a_cancellation_too() -> None:
    ping, noise = request("2", "ping"), b"not a message\n"
    converse(
        *handshake(),
        client(AS_SENT + CANCEL),
        to_server(question(1)),
        waits_until(2.0),
        client(ping),
        client(noise),
        *answered(request("1", "ping")),
        server(listing(ours(1))),
        to_server(FITTED + CANCEL + ping + noise),
        goes_on(),
    )


def test_what_waits_behind_a_call_goes_on_with_it_when_its_time_is_up() -> None:
    waits = (client(AS_SENT + CANCEL), to_server(question(1)), waits_until(2.0))
    converse(*handshake(), *waits, at(2.0), to_server(AS_SENT + CANCEL), goes_on())


def test_what_came_before_a_waiting_call_and_its_question_go_at_once() -> None:
    ping = request("2", "ping")
    converse(*handshake(), client(ping + AS_SENT), to_server(ping + question(1)), waits_until(2.0))


def test_a_call_behind_a_waiting_one_may_wait_in_its_turn() -> None:
    converse(
        *handshake(),
        *asks("1", '{"line":5.0}'),
        client(call("2", '{"line":6.0}', "other")),
        at(1.0),
        server(listing(ours(1))),
        to_server(FITTED + question(2)),
        waits_until(3.0),
        server(listing(ours(2), tool="other")),
        to_server(call("2", '{"line":6}', "other")),
        goes_on(),
    )


def test_the_servers_side_passes_while_a_call_waits() -> None:
    progress = b'{"method":"notifications/progress"}\n'
    converse(*handshake(), *asks("1", "{}"), *answered(progress), *answered(b"up\n"))


def test_a_client_that_closes_while_its_call_waits_is_still_heard_out() -> None:
    unended = request("2", "ping")[:-1]
    converse(
        *handshake(),
        client(AS_SENT + unended),
        to_server(question(1)),
        waits_until(2.0),
        client_closes(),
        server(listing(ours(1))),
        to_server(FITTED + unended),
        goes_on(),
    )


def test_a_last_line_without_an_ending_counts_on_either_side() -> None:
    converse(
        *START,
        client(AS_SENT[:-1]),
        client_closes(),
        to_server(FITTED[:-1]),
        server(result("1")[:-1]),
        server_exits(3),
        to_client(result("1")[:-1]),
    )


# -- answers of ours fall between whole lines ---------------------------------------------------------


def test_an_answer_of_ours_does_not_wait_for_a_line_that_is_still_held() -> None:
    converse(
        *START,
        server(b"half"),
        client(BAD),
        to_client(refused(b"1")),
        server(b" whole\n"),
        to_client(b"half whole\n"),
        settings=REFUSE,
    )


def test_an_answer_of_ours_waits_for_the_end_of_a_line_that_passes_in_parts() -> None:
    long = b"x" * 900
    converse(
        *START,
        *answered(long),
        client(BAD),
        *answered(long),
        server(b"\nnext\n"),
        to_client(b"\n" + refused(b"1") + b"next\n"),
        settings=REFUSE,
        limit=800,
    )


def test_where_the_server_ends_in_the_middle_of_a_line_our_answers_begin_on_their_own() -> None:
    converse(
        *START,
        *sent(request("5", "ping")),
        *answered(b"x" * 900),
        client(BAD),
        server_exits(3),
        to_client(b"\n" + refused(b"1") + EXITED % b"5"),
        client(request("6", "ping")),
        to_client(EXITED % b"6"),
        settings=REFUSE,
        limit=800,
    )


def test_an_answer_of_ours_that_still_waits_when_the_server_ends_is_not_lost() -> None:
    waits = (*answered(b"x" * 900), client(BAD))
    converse(*START, *waits, server_exits(0), to_client(b"\n" + refused(b"1")), settings=REFUSE, limit=800)


def test_the_servers_last_words_come_before_the_errors_for_what_it_left_open() -> None:
    last = result("5")[:-1]
    converse(
        *sent(request("5", "ping") + request("6", "ping")),
        server(last),
        server_exits(3),
        to_client(last + b"\n" + EXITED % b"6"),
    )


def test_what_comes_for_a_server_that_has_ended_is_answered_as_well() -> None:
    converse(
        *START,
        server_exits(3),
        client(request("5", "ping") + b'{"method":"notifications/x"}\n'),
        to_client(EXITED % b"5"),
        client(b"[%s,%s]\n" % (request("6", "ping")[:-1], BAD[:-1])),
        to_client(EXITED % b"6" + EXITED % b"1"),
        client(request("7", "ping")[:-1]),
        client_closes(),
        to_client(EXITED % b"7"),
    )


# -- messages above the limit -------------------------------------------------------------------------

LIMIT = 300


def padded(line: bytes, size: int) -> bytes:
    """The message with a last member that makes it as long as this."""
    return line[:-2] + b',"x":"' + b"x" * (size - len(line) - 7) + b'"}\n'


def test_a_message_as_long_as_the_limit_is_fitted_and_a_longer_one_is_relayed_unparsed() -> None:
    fits, longer = padded(AS_SENT, LIMIT), padded(AS_SENT, LIMIT + 1)
    assert len(fits) == LIMIT
    converse(*START, client(fits), to_server(fits.replace(b"5.0", b"5")), *sent(longer), *sent(longer), limit=LIMIT)


def test_an_overlong_message_passes_before_it_has_ended() -> None:
    converse(*START, *sent(b"x" * LIMIT + b"y"), *sent(b"more"), *sent(b"\n"), *sent(request("1", "ping")), limit=LIMIT)


@pytest.mark.parametrize("first", [True, False], ids=["id first", "id last"])
def test_an_overlong_request_is_open_until_it_is_answered(first: bool) -> None:
    rest = b'"method":"tools/call","params":{"x":"%s"}' % (b"x" * LIMIT)
    asked = b'{"id":"7",%s}\n' % rest if first else b'{%s,"id":"7"}\n' % rest
    one_more = asked.replace(b'"7"', b'"8"')
    converse(
        *sent(asked),
        *sent(one_more),
        *answered(result('"7"')),
        server_exits(3),
        to_client(EXITED % b'"8"'),
        limit=LIMIT,
    )


@pytest.mark.parametrize("first", [True, False], ids=["id first", "id last"])
def test_an_overlong_answer_closes_its_request(first: bool) -> None:
    rest = b'"result":{"id":8,"x":"%s"}' % (b"x" * LIMIT)
    answer = b'{"id":7.0,%s}\n' % rest if first else b'{%s,"jsonrpc":"2.0","id":7.0}\n' % rest
    converse(
        *sent(request("7", "ping") + request("8", "ping")),
        *answered(answer),
        server_exits(3),
        to_client(EXITED % b"8"),
        limit=LIMIT,
    )


def test_an_overlong_answer_to_us_is_hidden_and_keeps_the_call_waiting_no_longer() -> None:
    long = listing(ours(1), description="x" * LIMIT)
    after = (to_server(AS_SENT), to_client(b"next\n"), goes_on())
    converse(*handshake(), *asks("1", '{"line":5.0}'), server(long + b"next\n"), *after, limit=LIMIT)


def test_an_overlong_request_of_the_servers_closes_nothing() -> None:
    asked = b'{"id":7,"method":"sampling/createMessage","params":"%s"}\n' % (b"x" * LIMIT)
    converse(*sent(request("7", "ping")), *answered(asked), server_exits(3), to_client(EXITED % b"7"), limit=LIMIT)


def test_an_overlong_line_keeps_its_place_behind_a_waiting_call() -> None:
    long = b"x" * LIMIT + b"yz\n"
    converse(
        *handshake(),
        client(AS_SENT + long + CANCEL),
        to_server(question(1)),
        waits_until(2.0),
        server(listing(ours(1))),
        to_server(FITTED + long + CANCEL),
        goes_on(),
        limit=LIMIT,
    )


def test_an_overlong_last_line_without_an_ending_passes() -> None:
    long = b'{"id":7,"method":"x","params":"%s"}' % (b"x" * LIMIT)
    converse(*sent(long), client_closes(), server_exits(3), to_client(EXITED % b"7"), limit=LIMIT)


# -- a fault of ours ----------------------------------------------------------------------------------


def test_a_fault_of_ours_costs_the_fit_and_never_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Conversation, "client_message", fails)
    monkeypatch.setattr(Conversation, "server_message", fails)
    said = log("ERROR", "A message was relayed as it came after a fault of argfit's own.")
    converse(*sent(AS_SENT), said, *answered(result("1")), said)
