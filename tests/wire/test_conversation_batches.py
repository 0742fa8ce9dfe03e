"""Batches (MCP 2025-03-26): the messages of one line, each decided on its own, waiting as a whole."""

from tests.wire.playbook import converse
from tests.wire.script import (
    BAD,
    EXITED,
    REFUSE,
    START,
    answered,
    at,
    call,
    client,
    goes_on,
    handshake,
    listing,
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

BATCH = b' [ %s ,{"method":"x"} , %s,5 ]\r\n'


def member(line: bytes) -> bytes:
    return line.removesuffix(b"\n")


def test_the_calls_of_a_batch_are_fitted_where_they_stand() -> None:
    right, wrong, fitted = (member(call("1", f'{{"line":{spelled}}}')) for spelled in ("5", "6.0", "6"))
    converse(*START, client(BATCH % (right, wrong)), to_server(BATCH % (right, fitted)), *sent(BATCH % (right, right)))


def test_a_batch_waits_as_a_whole_for_the_schema_of_its_calls() -> None:
    batch = BATCH % (member(request("2", "ping")), member(call("1", '{"line":6.0}')))
    converse(
        *handshake(),
        client(batch),
        to_server(question(1)),
        waits_until(2.0),
        server(listing(ours(1))),
        to_server(batch.replace(b"6.0", b"6")),
        goes_on(),
    )


def test_a_batch_whose_wait_ends_goes_on_untouched() -> None:
    batch = b"[%s,%s]\n" % (member(call("1", '{"line":6.0}')), member(call("2", '{"line":6.0}', "other")))
    converse(
        *handshake(), client(batch), to_server(question(1)), waits_until(2.0), at(2.0), to_server(batch), goes_on()
    )


def test_a_batch_waits_once_even_where_one_of_its_tools_is_in_no_listing() -> None:
    calls = member(call("1", '{"line":6.0}', "other")), member(call("2", '{"line":6.0}'))
    batch = b"[%s,%s]\n" % calls
    waits = (client(batch), to_server(question(1)), waits_until(2.0))
    fitted = b"[%s,%s]\n" % (calls[0], calls[1].replace(b"6.0", b"6"))
    converse(*handshake(), *waits, server(listing(ours(1))), to_server(fitted), goes_on())


def test_a_refused_call_is_taken_out_of_its_batch_and_the_last_one_takes_the_batch() -> None:
    good, bad, ping = member(call("1", '{"line":5}')), member(call("2", BAD)), member(request("3", "ping"))
    converse(
        *START,
        client(b"[%s, %s, %s]\n" % (good, bad, ping)),
        to_server(b"[%s,%s]\n" % (good, ping)),
        to_client(refused(b"2")),
        client(b"[ %s ]\n" % bad),
        to_client(refused(b"2")),
        settings=REFUSE,
    )


def test_the_answers_of_a_batch_close_and_teach_one_by_one() -> None:
    requests = b"[%s,%s]\n" % (member(request("1", "tools/list")), member(request("2", "ping")))
    answers = b"[ %s , %s ]\n" % (member(result("2")), member(listing("1")))
    converse(
        *handshake(),
        *sent(requests),
        *answered(answers),
        client(call("3", '{"line":5.0}')),
        to_server(call("3", '{"line":5}')),
        server_exits(3),
        to_client(EXITED % b"3"),
    )


def test_an_answer_to_us_inside_a_batch_is_taken_out_of_it() -> None:
    converse(
        *handshake(),
        client(call("1", '{"line":5.0}')),
        to_server(question(1)),
        waits_until(2.0),
        server(b"[%s,%s]\n" % (member(listing(ours(1))), member(result("9")))),
        to_server(call("1", '{"line":5}')),
        to_client(b"[%s]\n" % member(result("9"))),
        goes_on(),
    )
