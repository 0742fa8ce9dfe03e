"""Requests and answers over HTTP: what is fitted and explained, and what passes as it came."""

from typing import Any

import msgspec
import pytest
from tests.wire.pieces import WAYS, Cut
from tests.wire.script import EXPLAIN, REFUSE, TOKEN

from argfit.core.text import encoded
from argfit.wire.asking import Ask
from argfit.wire.conversation import Memory, Settings
from argfit.wire.exchange import EVENTS, JSON, Exchange, Passed, as_event
from argfit.wire.mirror import Headers

EVERY_WAY = pytest.mark.parametrize("cut", WAYS.values(), ids=WAYS)
SCHEMA = {"type": "object", "properties": {"line": {"type": "integer", "x-mcp-header": "Line"}}}
LISTING = encoded({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "goto", "inputSchema": SCHEMA}]}})
ERROR = encoded({"jsonrpc": "2.0", "id": 2, "result": {"content": [], "isError": True}})
NOTE = b"Note: these arguments differ from the tool's published schema: line must be a whole number."
NO_HEADERS: Headers = []


def call(arguments: str) -> bytes:
    params = f'{{"name":"goto","arguments":{arguments}}}'
    return f'{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{params}}}'.encode()


def listed(settings: Settings = EXPLAIN, media_type: bytes = JSON, cut: Cut = WAYS["whole"]) -> Memory:
    """What is known to a client that has listed the tools."""
    memory = Memory(settings, TOKEN, greets=False)
    exchange = Exchange(settings, memory)
    ask = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    assert exchange.request(ask, NO_HEADERS, 0.0) == Passed(ask, NO_HEADERS)
    body = LISTING if media_type == JSON else as_event(LISTING)
    assert answered(exchange, body, media_type, cut) == body
    return memory


def answered(exchange: Exchange, body: bytes, media_type: bytes, cut: Cut) -> bytes:
    """What passes on of an answer."""
    answer = exchange.answer(media_type)
    return b"".join(answer.chunk(piece, 0.0) for piece in cut(body)) + answer.end(0.0)


@EVERY_WAY
@pytest.mark.parametrize("media_type", [JSON, EVENTS, b"Application/JSON; charset=utf-8"])
def test_a_call_is_fitted_by_the_listing_that_went_by(media_type: bytes, cut: Cut) -> None:
    memory = listed(media_type=JSON if b"J" in media_type or b"j" in media_type else EVENTS, cut=cut)
    exchange = Exchange(EXPLAIN, memory)
    assert exchange.request(call('{"line":5.0}'), NO_HEADERS, 0.0) == Passed(call('{"line":5}'), NO_HEADERS)
    answer = encoded({"jsonrpc": "2.0", "id": 2, "result": {"content": []}})
    assert answered(exchange, answer, media_type, cut) == answer


def test_a_call_of_a_tool_that_is_not_known_asks_for_it_first() -> None:
    memory = Memory(EXPLAIN, TOKEN, greets=False)
    exchange = Exchange(EXPLAIN, memory)
    ask = exchange.request(call('{"line":5.0}'), NO_HEADERS, 0.0)
    assert isinstance(ask, Ask)
    assert b"tools/list" in ask.question
    memory.asking.failed()
    waited = exchange.request(call('{"line":5.0}'), NO_HEADERS, 0.0, waited=True)
    assert waited == Passed(call('{"line":5.0}'), NO_HEADERS)


@pytest.mark.parametrize(
    ("arguments", "header", "fitted", "then"),
    [
        ('{"line":5.0}', b"5.0", '{"line":5}', b"5.0"),
        ('{"line":5e0}', b"5", '{"line":5}', b"5"),
        ('{"line":5.0}', b"6", '{"line":5.0}', b"6"),
    ],
)
def test_headers_stay_true_and_a_wrong_one_leaves_all_as_it_came(
    arguments: str, header: bytes, fitted: str, then: bytes
) -> None:
    passed = Exchange(EXPLAIN, listed()).request(call(arguments), [(b"Mcp-Param-Line", header)], 0.0)
    assert passed == Passed(call(fitted), [(b"Mcp-Param-Line", then)])


@EVERY_WAY
def test_an_error_is_explained_in_a_body_that_is_held_to_its_end(cut: Cut) -> None:
    exchange = Exchange(EXPLAIN, listed())
    assert exchange.request(call('{"line":"x"}'), NO_HEADERS, 0.0) == Passed(call('{"line":"x"}'), NO_HEADERS)
    assert exchange.answer(JSON).is_held
    passed = answered(exchange, ERROR, JSON, cut)
    assert NOTE in passed
    assert passed.startswith(ERROR.partition(b"[")[0])


@EVERY_WAY
def test_an_error_is_explained_in_its_event_and_other_events_pass(cut: Cut) -> None:
    exchange = Exchange(EXPLAIN, listed())
    exchange.request(call('{"line":"x"}'), NO_HEADERS, 0.0)
    before, after = b": hello\n\nid: 7\ndata: {}\n\n", b"data: not JSON\n\ndata: cut off"
    halves = ERROR.partition(b",")
    error = b"id: 8\ndata: " + halves[0] + b",\ndata: " + halves[2] + b"\n\n"
    passed = answered(exchange, before + error + after, EVENTS, cut)
    assert passed.startswith(before + b"id: 8\ndata: {")
    assert passed.endswith(b"}\n\n" + after)
    assert passed.count(NOTE) == 1


def test_a_call_that_does_not_fit_is_refused_here() -> None:
    passed = Exchange(REFUSE, listed(REFUSE)).request(call('{"line":"x"}'), NO_HEADERS, 0.0)
    assert isinstance(passed, Passed)
    assert passed.body == b""
    assert b"An error occurred invoking 'goto': line must be a whole number." in passed.answers


@EVERY_WAY
def test_an_answer_in_another_coding_passes(cut: Cut) -> None:
    exchange = Exchange(EXPLAIN, listed())
    exchange.request(call('{"line":"x"}'), NO_HEADERS, 0.0)
    assert answered(exchange, b"\x1f\x8b\x00", b"application/octet-stream", cut) == b"\x1f\x8b\x00"


@pytest.mark.parametrize("media_type", [JSON, EVENTS])
def test_an_answer_in_one_piece_is_explained_as_one_that_comes_in_parts(media_type: bytes) -> None:
    exchange = Exchange(EXPLAIN, listed())
    exchange.request(call('{"line":"x"}'), NO_HEADERS, 0.0)
    error = ERROR if media_type == JSON else as_event(ERROR)
    whole = exchange.heard(media_type, error, 0.0)
    assert (whole.count(NOTE), whole.startswith(b"event")) == (1, media_type == EVENTS)


def test_news_beside_the_answer_to_a_right_call_is_heard() -> None:
    memory = listed()
    right = call('{"line":5}')
    answer = as_event(encoded({"jsonrpc": "2.0", "id": 2, "result": {"content": []}}))
    for news, asks in (
        (b"", False),
        (as_event(b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'), True),
    ):
        exchange = Exchange(EXPLAIN, memory)
        assert exchange.request(right, NO_HEADERS, 0.0) == Passed(right, NO_HEADERS)
        assert exchange.heard(EVENTS, news + answer, 0.0) == news + answer
        later = Exchange(EXPLAIN, memory).request(call('{"line":5.0}'), NO_HEADERS, 0.0)
        assert isinstance(later, Ask) is asks


@pytest.mark.parametrize("state", ["s", "\ud800" + "x" * 100_000, None])
def test_a_state_in_the_answer_to_a_right_call_is_carried(state: str | None) -> None:
    memory = listed()
    exchange = Exchange(EXPLAIN, memory)
    exchange.request(call('{"line":5}'), NO_HEADERS, 0.0)
    result: dict[str, Any] = {"resultType": "inputRequired", "requestState": state} if state else {"content": []}
    answer = encoded({"jsonrpc": "2.0", "id": 2, "result": result})
    assert exchange.heard(JSON, answer, 0.0) == answer
    assert len(memory.legs) == (state is not None)
    assert all(type(kept) is int for kept in memory.legs)  # however long it is
    if state:
        schema = msgspec.Raw(encoded({"tools": [{"name": "goto", "inputSchema": {"type": "object"}}]}))
        memory.tools.learn(schema, 0, 0.0)  # which would have 5.0 as it is
        params = {"name": "goto", "arguments": {"line": 5.0}, "requestState": state}
        leg = encoded({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params})
        passed = Exchange(EXPLAIN, memory).request(leg, NO_HEADERS, 0.0)
        assert passed == Passed(leg.replace(b"5.0", b"5"), NO_HEADERS)


@pytest.mark.parametrize(("verbose", "lines"), [(True, 1), (False, 0)])
def test_a_tools_own_refusal_in_one_piece_is_logged_where_that_is_asked_for(lines: int, *, verbose: bool) -> None:
    settings = Settings(verbose=verbose)
    exchange = Exchange(settings, listed(settings))
    exchange.request(call('{"line":5}'), NO_HEADERS, 0.0)
    assert exchange.heard(JSON, ERROR, 0.0) == ERROR
    assert [line.text % line.args for line in exchange.take_logs()] == ["MCP tool goto refused the call."] * lines
