"""Arguments that stand in a header, too, and what becomes of the header when they are fitted."""

from typing import Any

import pytest
from mcp.shared.inbound import mcp_param_headers, validate_mcp_param_headers, x_mcp_header_map

from argfit.wire.mirror import WrongHeaderError, mirror, mirrored

SCHEMA = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer", "x-mcp-header": "Limit"},
        "where": {"type": "object", "properties": {"city": {"type": "string", "x-mcp-header": "City"}}},
        "all": {"type": "boolean", "x-mcp-header": "All"},
        "note": {"type": "string"},
    },
}
MARKS = mirrored(SCHEMA)
OTHERS = [(b"Authorization", b"Bearer x"), (b"mcp-name", b"t")]


def as_sent(arguments: Any) -> list[tuple[bytes, bytes]]:
    """The headers that the official client sends with these arguments."""
    made = mcp_param_headers(x_mcp_header_map(SCHEMA), arguments)
    return [*OTHERS, *((name.encode(), value.encode()) for name, value in made.items())]


def is_taken(headers: list[tuple[bytes, bytes]], arguments: Any) -> bool:
    """Whether the official server takes these headers with these arguments."""
    said = {name.decode(): value.decode() for name, value in headers}
    return validate_mcp_param_headers(SCHEMA, arguments, said) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"limit": 5.0}, {"limit": 5}),
        ({"limit": "5"}, {"limit": 5}),
        ({"limit": None}, {}),
        ({"limit": "", "note": "x"}, {"note": "x"}),
        ({"Limit": 5}, {"limit": 5}),
        ({"where": '{"city":"Ä "}'}, {"where": {"city": "Ä "}}),
        ({"where": {"city": "=?base64?eA==?="}, "all": "true"}, {"where": {"city": "=?base64?eA==?="}, "all": True}),
        ({"limit": "9007199254740993"}, {"limit": 9007199254740993}),
    ],
)
def test_the_server_takes_the_headers_of_what_was_fitted(before: Any, after: Any) -> None:
    headers = mirror(MARKS, as_sent(before), before, after)
    assert is_taken(headers, after)
    assert headers[: len(OTHERS)] == OTHERS


def test_a_header_that_says_the_same_value_stays_as_it_is_spelled() -> None:
    headers = [(b"MCP-PARAM-LIMIT", b"5.0")]
    assert mirror(MARKS, headers, {"limit": 5.0}, {"limit": 5}) is headers


@pytest.mark.parametrize("value", [b"6", b"five", b"=?base64?!?=", b"=?base64?/w==?="])
def test_a_header_that_was_wrong_is_told(value: bytes) -> None:
    with pytest.raises(WrongHeaderError):
        mirror(MARKS, [(b"mcp-param-limit", value)], {"limit": 5.0}, {"limit": 5})


@pytest.mark.parametrize("headers", [[(b"mcp-param-limit", b"5")] * 2, [(b"mcp-param-all", b"true")]])
def test_a_header_that_is_doubled_or_mirrors_nothing_is_told(headers: list[tuple[bytes, bytes]]) -> None:
    with pytest.raises(WrongHeaderError):
        mirror(MARKS, headers, {"limit": 5.0}, {"limit": 5})


def test_a_client_that_mirrors_nothing_is_left_alone() -> None:
    assert mirror(MARKS, OTHERS, {"limit": 5.0}, {"limit": 5}) is OTHERS


@pytest.mark.parametrize(
    "schema",
    [
        True,
        None,
        {"properties": []},
        {"properties": {"a": True}},
        {"properties": {"a": {"type": "number", "x-mcp-header": "A"}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": "A b"}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}},
    ],
)
def test_what_is_marked_wrongly_is_not_mirrored(schema: Any) -> None:
    assert mirrored(schema) == ()
