"""Asking in 2026-07-28: no handshake, every call carries its `_meta`, and a listing lives for its `ttlMs`."""

from typing import Any

import pytest
from tests.wire.playbook import converse
from tests.wire.script import (
    LIST_CHANGED,
    MODERN,
    answered,
    at,
    call,
    client,
    goes_on,
    handshake,
    listing,
    ours,
    question,
    request,
    result,
    sent,
    server,
    to_server,
    waits_until,
)

TEXT = {"properties": {"line": {"type": "string"}}}
MODERN_SENT, MODERN_FITTED = (call("1", text, _meta=MODERN) for text in ('{"line":5.0}', '{"line":5}'))


def modern_listing(id: str, **more: Any) -> bytes:
    return listing(id, resultType="complete", **more)


def test_our_question_carries_the_meta_of_the_call_it_serves_but_not_its_progress_token() -> None:
    meta = {**MODERN, "io.modelcontextprotocol/clientCapabilities": {}, "x/y": [1.0]}
    converse(
        client(call("1", '{"line":5.0}', _meta={"progressToken": 7, **meta})),
        to_server(question(1, _meta=meta)),
        waits_until(2.0),
        server(modern_listing(ours(1), tool="other", nextCursor="2")),
        to_server(question(2, cursor="2", _meta=meta)),
        server(modern_listing(ours(2))),
        to_server(call("1", '{"line":5}', _meta={"progressToken": 7, **meta})),
        goes_on(),
    )


def test_after_a_handshake_our_question_carries_no_meta() -> None:
    converse(
        *handshake(), client(call("1", "{}", _meta={"progressToken": 7})), to_server(question(1)), waits_until(2.0)
    )


def test_a_server_that_discovers_no_tools_is_asked_nothing() -> None:
    converse(
        *sent(request("0", "server/discover", _meta=MODERN)),
        *answered(result("0", resultType="complete", capabilities={"resources": {}})),
        *sent(MODERN_SENT),
    )


@pytest.mark.parametrize("age", [{"ttlMs": 0}, {}], ids=["no time", "no word of a time"])
def test_a_listing_that_lives_for_no_time_is_asked_for_at_each_call(age: dict[str, int]) -> None:
    converse(
        *sent(request("5", "tools/list", _meta=MODERN)),
        *answered(modern_listing("5", **age)),
        client(MODERN_SENT),
        to_server(question(1, _meta=MODERN)),
        waits_until(2.0),
        server(modern_listing(ours(1), **age)),
        to_server(MODERN_FITTED),
        goes_on(),
        at(1.0),
        client(MODERN_SENT),
        to_server(question(2, _meta=MODERN)),
        waits_until(3.0),
    )


def test_a_listing_lives_for_its_ttl_and_is_then_asked_for_anew() -> None:
    converse(
        *sent(request("5", "tools/list", _meta=MODERN)),
        *answered(modern_listing("5", ttlMs=1500)),
        at(1.4),
        client(MODERN_SENT),
        to_server(MODERN_FITTED),
        at(1.5),
        client(MODERN_SENT),
        to_server(question(1, _meta=MODERN)),
        waits_until(3.5),
        server(modern_listing(ours(1), schema=TEXT, ttlMs=1500)),
        to_server(MODERN_SENT),
        goes_on(),
    )


def test_a_call_that_is_right_by_a_listing_that_has_expired_goes_without_asking() -> None:
    asked = (client(MODERN_SENT), to_server(question(1, _meta=MODERN)), waits_until(2.0))
    converse(
        *asked,
        server(modern_listing(ours(1), ttlMs=0)),
        to_server(MODERN_FITTED),
        goes_on(),
        *sent(MODERN_FITTED),
        *answered(LIST_CHANGED),
        client(MODERN_FITTED),
        to_server(question(2, _meta=MODERN)),
        waits_until(2.0),
    )


def test_a_listing_that_has_expired_is_not_used_where_the_next_one_is_late() -> None:
    converse(
        *sent(request("5", "tools/list", _meta=MODERN)),
        *answered(modern_listing("5", ttlMs=0)),
        client(MODERN_SENT),
        to_server(question(1, _meta=MODERN)),
        waits_until(2.0),
        at(2.0),
        to_server(MODERN_SENT),
        goes_on(),
    )


def test_a_tool_that_is_in_no_listing_is_asked_for_again_when_the_listing_has_expired() -> None:
    asked = (client(MODERN_SENT), to_server(question(1, _meta=MODERN)), waits_until(2.0))
    converse(
        *asked,
        server(modern_listing(ours(1), tool="other", ttlMs=1500)),
        to_server(MODERN_SENT),
        goes_on(),
        at(1.4),
        *sent(MODERN_SENT),
        at(1.5),
        client(MODERN_SENT),
        to_server(question(2, _meta=MODERN)),
        waits_until(3.5),
    )


def test_list_changed_on_a_subscription_makes_a_fresh_listing_old() -> None:
    converse(
        *sent(request("4", "subscriptions/listen", _meta=MODERN)),
        *sent(request("5", "tools/list", _meta=MODERN)),
        *answered(modern_listing("5", ttlMs=60000)),
        *answered(LIST_CHANGED),
        client(MODERN_SENT),
        to_server(question(1, _meta=MODERN)),
        waits_until(2.0),
    )
