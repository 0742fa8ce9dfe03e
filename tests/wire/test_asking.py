from collections import OrderedDict

import pytest
from tests.wire.playbook import converse
from tests.wire.script import (
    INITIALIZED,
    LIST_CHANGED,
    answered,
    asks,
    at,
    call,
    client,
    error,
    goes_on,
    handshake,
    listed,
    listing,
    ours,
    question,
    request,
    result,
    sent,
    server,
    to_client,
    to_server,
    waits_until,
)

from argfit.wire import asking, message

AS_SENT, FITTED = call("1", '{"line":5.0}'), call("1", '{"line":5}')
TEXT = {"properties": {"line": {"type": "string"}}}
TOOLS = [{"name": name, "inputSchema": {"properties": {"line": {"type": "integer"}}}} for name in ("goto", "other")]

# -- the handshake versions ---------------------------------------------------------------------------


def test_a_call_before_any_listing_waits_for_our_own_question_whose_answer_is_hidden() -> None:
    converse(
        *handshake(),
        client(AS_SENT),
        to_server(b'{"jsonrpc":"2.0","id":"argfit-t0-1","method":"tools/list","params":{}}\n'),
        waits_until(2.0),
        server(listing(ours(1))),
        to_server(FITTED),
        goes_on(),
        client(call("2", '{"line":6.0}')),
        to_server(call("2", '{"line":6}')),
    )


def test_a_call_after_the_clients_listing_asks_nothing() -> None:
    converse(*handshake(), *listed(), client(AS_SENT), to_server(FITTED))


def test_what_the_client_listed_still_counts_after_a_question_of_ours_for_another_tool() -> None:
    converse(
        *handshake(),
        *listed(),
        client(call("1", "{}", "other")),
        to_server(question(1)),
        waits_until(2.0),
        server(listing(ours(1), tool="other")),
        to_server(call("1", "{}", "other")),
        goes_on(),
        client(AS_SENT),
        to_server(FITTED),
    )


def test_each_page_the_client_lists_is_learned() -> None:
    converse(
        *handshake(),
        *listed(tool="other", nextCursor="2"),
        *sent(request("5", "tools/list", cursor="2")),
        *answered(listing("5")),
        client(AS_SENT),
        to_server(FITTED),
        client(call("2", '{"line":1.0}', "other")),
        to_server(call("2", '{"line":1}', "other")),
    )


def test_all_pages_are_asked_for_before_a_call_goes_on() -> None:
    converse(
        *handshake(),
        *asks("1", '{"line":5.0}'),
        server(listing(ours(1), tool="other", nextCursor="2")),
        to_server(question(2, cursor="2")),
        server(listing(ours(2), tool="more", nextCursor="3")),
        to_server(question(3, cursor="3")),
        server(listing(ours(3))),
        to_server(FITTED),
        goes_on(),
    )


def test_the_pages_share_one_wait() -> None:
    converse(
        *handshake(),
        *asks("1", '{"line":5.0}'),
        at(1.5),
        server(listing(ours(1), tool="other", nextCursor="2")),
        to_server(question(2, cursor="2")),
        at(2.0),
        to_server(AS_SENT),
        goes_on(),
    )


def test_a_listing_that_comes_round_to_a_page_again_is_over() -> None:
    converse(
        *handshake(),
        *asks("1", '{"line":5.0}'),
        server(listing(ours(1), nextCursor="2")),
        to_server(question(2, cursor="2")),
        server(listing(ours(2), nextCursor="2")),
        to_server(FITTED),
        goes_on(),
    )


def test_a_listing_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "PAGES", 3)
    converse(
        *handshake(),
        *asks("1", '{"line":5.0}'),
        server(listing(ours(1), nextCursor="2")),
        to_server(question(2, cursor="2")),
        server(listing(ours(2), nextCursor="3")),
        to_server(question(3, cursor="3")),
        server(listing(ours(3), nextCursor="4")),
        to_server(FITTED),
        goes_on(),
    )


def test_an_answer_to_us_is_hidden_even_where_it_nests_too_deep_to_be_read() -> None:
    deep = listing(ours(1)).replace(b'"name"', b'"x":%s,"name"' % (b"[" * 2000 + b"]" * 2000))
    converse(*handshake(), *asks("1", '{"line":5.0}'), server(deep), to_server(FITTED), goes_on())


@pytest.mark.parametrize("odd", [b"NaN", b"tru"], ids=["too long to be read slowly", "no JSON"])
def test_an_answer_to_us_that_is_not_read_is_hidden_as_well(odd: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message, "SLOW_LIMIT", 50)
    unread = listing(ours(1)).replace(b'"name"', b'"x":%s,"name"' % odd)
    converse(*handshake(), *asks("1", '{"line":5.0}'), server(unread), to_server(AS_SENT), goes_on())


def test_a_client_with_an_id_like_ours_gets_its_answers() -> None:
    like_ours = '"argfit-1"'
    converse(*handshake(), *sent(request(like_ours, "tools/list")), *answered(listing(like_ours)))


def test_a_request_of_the_servers_is_never_taken_for_an_answer_to_us() -> None:
    converse(*handshake(), *asks("1", "{}"), *answered(request(ours(1), "sampling/createMessage")))


def test_before_initialized_a_call_goes_on_untouched_and_nothing_is_asked() -> None:
    converse(
        *sent(request("0", "initialize")),
        *sent(AS_SENT),
        *answered(result("0", capabilities={"tools": {}})),
        *sent(AS_SENT),
    )


def test_a_tool_called_too_early_is_asked_for_once_that_is_allowed() -> None:
    converse(
        *sent(request("0", "initialize")),
        *sent(call("2", '{"line":5.0}')),
        *answered(result("0", capabilities={"tools": {}})),
        *sent(call("3", '{"line":5.0}')),
        *sent(INITIALIZED),
        *asks("4", '{"line":5.0}'),
    )


def test_a_new_handshake_is_waited_for_as_well() -> None:
    converse(*handshake(), *sent(request("0", "initialize")), *sent(AS_SENT))


def test_a_server_without_the_tools_capability_is_asked_nothing() -> None:
    converse(*handshake(prompts={}), *sent(AS_SENT))


@pytest.mark.parametrize("answer", [error("0", -32602, "no"), result("0"), result("0", capabilities=[])])
def test_a_server_that_does_not_say_what_it_has_is_asked_nothing(answer: bytes) -> None:
    converse(*sent(request("0", "initialize")), *answered(answer), *sent(INITIALIZED), *sent(AS_SENT))


def test_a_call_of_a_client_that_awaits_no_handshake_waits_for_it_and_then_for_the_tools() -> None:
    converse(
        *sent(request("0", "initialize")),
        client(INITIALIZED + AS_SENT),
        to_server(INITIALIZED),
        waits_until(2.0),
        at(1.0),
        *answered(b"starting up\n"),
        server(result("0", capabilities={"tools": {}})),
        to_server(question(1)),
        to_client(result("0", capabilities={"tools": {}})),
        server(listing(ours(1))),
        to_server(FITTED),
        goes_on(),
    )


@pytest.mark.parametrize("answer", [error("0", -32602, "no"), result("0", capabilities={"prompts": {}})])
def test_where_the_handshake_shows_no_tools_a_call_that_awaits_it_goes_on_at_once(answer: bytes) -> None:
    waits = (client(INITIALIZED + AS_SENT), to_server(INITIALIZED), waits_until(2.0))
    ends = (server(answer), to_server(AS_SENT), to_client(answer), goes_on())
    converse(*sent(request("0", "initialize")), *waits, *ends)


def test_a_call_waits_for_a_handshake_no_longer_than_for_a_schema() -> None:
    waits = (client(INITIALIZED + AS_SENT), to_server(INITIALIZED), waits_until(2.0))
    converse(*sent(request("0", "initialize")), *waits, at(2.0), to_server(AS_SENT), goes_on())


def test_after_list_changed_the_tools_are_asked_for_anew() -> None:
    converse(
        *handshake(),
        *listed(TEXT),
        *sent(AS_SENT),
        *answered(LIST_CHANGED),
        *asks("1", '{"line":5.0}'),
        server(listing(ours(1))),
        to_server(FITTED),
        goes_on(),
    )


def test_a_listing_asked_for_before_the_change_does_not_count() -> None:
    converse(
        *handshake(),
        *sent(request("5", "tools/list")),
        *answered(LIST_CHANGED),
        *answered(listing("5", TEXT)),
        *asks("1", '{"line":5.0}'),
    )


def test_where_the_listing_changes_meanwhile_it_is_asked_for_again() -> None:
    converse(
        *handshake(),
        *asks("1", '{"line":5.0}'),
        *answered(LIST_CHANGED),
        server(listing(ours(1), TEXT)),
        to_server(question(2)),
        server(listing(ours(2))),
        to_server(FITTED),
        goes_on(),
    )


def test_a_listing_that_changes_as_it_comes_still_fits_the_call_that_waits() -> None:
    converse(
        *handshake(),
        *asks("1", '{"line":5.0}'),
        server(listing(ours(1)) + LIST_CHANGED),
        to_server(FITTED),
        to_client(LIST_CHANGED),
        goes_on(),
    )


def test_a_server_that_says_changed_at_every_listing_is_believed_so_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "RESTARTS", 2)
    converse(
        *handshake(),
        *asks("1", '{"line":5.0}'),
        server(LIST_CHANGED + listing(ours(1), TEXT)),
        to_server(question(2)),
        to_client(LIST_CHANGED),
        server(LIST_CHANGED + listing(ours(2), TEXT)),
        to_server(question(3)),
        to_client(LIST_CHANGED),
        server(LIST_CHANGED + listing(ours(3))),
        to_server(FITTED),
        to_client(LIST_CHANGED),
        goes_on(),
        client(AS_SENT),
        to_server(FITTED),
    )


# -- the wait and its end -----------------------------------------------------------------------------


def test_after_the_wait_a_call_goes_on_untouched() -> None:
    converse(*handshake(), *asks("1", '{"line":5.0}'), at(1.9), at(2.0), to_server(AS_SENT), goes_on())


def test_nobody_waits_again_for_a_late_listing_and_what_it_says_is_learned() -> None:
    converse(
        *handshake(),
        *asks("1", '{"line":5.0}'),
        at(2.0),
        to_server(AS_SENT),
        goes_on(),
        *sent(call("2", '{"line":6.0}')),
        server(listing(ours(1))),
        client(call("3", '{"line":7.0}')),
        to_server(call("3", '{"line":7}')),
    )


def test_a_late_listing_that_is_old_by_now_is_waited_for_no_more_and_asked_for_anew() -> None:
    converse(
        *handshake(),
        *asks("1", '{"line":5.0}'),
        at(2.0),
        to_server(AS_SENT),
        goes_on(),
        *answered(LIST_CHANGED),
        client(AS_SENT),
        to_server(question(2)),
        waits_until(4.0),
        server(listing(ours(1), TEXT)),
        server(listing(ours(2))),
        to_server(FITTED),
        goes_on(),
        server(listing(ours(2), TEXT)),
        client(AS_SENT),
        to_server(FITTED),
    )


def test_a_late_listing_is_asked_for_to_its_last_page() -> None:
    converse(
        *handshake(),
        *asks("1", '{"line":5.0}'),
        at(2.0),
        to_server(AS_SENT),
        goes_on(),
        server(listing(ours(1), tool="other", nextCursor="2")),
        client(call("2", '{"line":6.0}')),
        to_server(question(2, cursor="2")),
        waits_until(4.0),
    )


def test_calls_that_wait_share_one_question() -> None:
    other = call("2", '{"line":6.0}', "other")
    converse(
        *handshake(),
        *asks("1", '{"line":5.0}'),
        client(other),
        server(result(ours(1), tools=TOOLS)),
        to_server(FITTED + call("2", '{"line":6}', "other")),
        goes_on(),
    )


def test_a_tool_that_is_in_no_listing_is_asked_for_once_per_listing() -> None:
    converse(
        *handshake(),
        *asks("1", '{"line":5.0}'),
        server(listing(ours(1), tool="other")),
        to_server(AS_SENT),
        goes_on(),
        *sent(call("2", '{"line":5.0}')),
        *answered(LIST_CHANGED),
        *asks("3", '{"line":5.0}', number=2),
    )


@pytest.mark.parametrize(
    "answer",
    [error(ours(1), -32601, "Method not found"), result(ours(1)), result(ours(1), tools=5)],
    ids=["an error", "no listing", "no list"],
)
def test_where_the_server_has_no_listing_for_us_the_call_goes_on_at_once(answer: bytes) -> None:
    converse(*handshake(), *asks("1", '{"line":5.0}'), server(answer), to_server(AS_SENT), goes_on())


def test_what_is_remembered_is_bounded_and_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "REMEMBERED", 2)
    memory: OrderedDict[str, int] = OrderedDict()
    for number, key in enumerate("abac"):
        asking.keep(memory, key, number)
    assert memory == {"a": 2, "c": 3}
