"""Who a caller is: all that its requests say, but for what is about one request."""

import pytest

from argfit.proxy.callers import Callers
from argfit.wire.conversation import Settings
from argfit.wire.mirror import Headers

SAID: Headers = [(b"authorization", b"Bearer one"), (b"mcp-session-id", b"s"), (b"user-agent", b"client")]


def is_one(one: Headers, other: Headers, *targets: bytes) -> bool:
    callers = Callers(Settings())
    target, other_target = targets or (b"/mcp", b"/mcp")
    return callers.memory(one, target) is callers.memory(other, other_target)


@pytest.mark.parametrize(
    "beside",
    [
        (b"accept", b"text/event-stream"),
        (b"accept-encoding", b"gzip"),
        (b"content-type", b"application/json"),
        (b"content-digest", b"sha-256=:x:"),
        (b"cache-control", b"no-store"),
        (b"last-event-id", b"5"),
        (b"mcp-method", b"tools/call"),
        (b"mcp-name", b"goto"),
        (b"mcp-param-line", b"5"),
        (b"traceparent", b"00-1-2-01"),
        (b"x-request-id", b"1"),
        (b"x-b3-traceid", b"1"),
        (b"dpop", b"proof"),
        (b"idempotency-key", b"1"),
        (b"origin", b"http://localhost"),
        (b"sec-fetch-mode", b"cors"),
        (b"if-none-match", b"x"),
    ],
)
def test_what_is_about_one_request_says_nothing_of_who_calls(beside: tuple[bytes, bytes]) -> None:
    assert is_one(SAID, [beside, *SAID])


@pytest.mark.parametrize(
    "name", [b"authorization", b"cookie", b"mcp-session-id", b"x-api-key", b"x-tenant", b"x-forwarded-user", b"x-own"]
)
def test_all_else_may_say_who_calls(name: bytes) -> None:
    assert is_one([(name, b"one")], [(name, b"one")])
    assert not is_one([(name, b"one")], [(name, b"two")])
    assert not is_one([(name, b"one")], [])


def test_what_a_request_is_sent_to_may_say_who_calls() -> None:
    assert not is_one(SAID, SAID, b"/mcp?key=one", b"/mcp?key=two")


def test_two_headers_are_not_one_that_looks_the_same() -> None:
    assert not is_one([(b"a", b"1;b:1:2")], [(b"a", b"1"), (b"b", b"2")])


def test_a_session_that_is_over_is_forgotten() -> None:
    callers = Callers(Settings())
    known = callers.memory(SAID, b"/mcp")
    callers.forget([(b"accept", b"x"), *SAID], b"/mcp")
    assert callers.memory(SAID, b"/mcp") is not known
