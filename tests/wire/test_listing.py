"""Asking a server for its tools: what is said to it, what its answers come to."""

import json
from typing import Any

import pytest

from argfit.wire.listing import PAGES, Listing

TOOL: dict[str, Any] = {"name": "a", "inputSchema": {"type": "object"}}
GREETED = {"id": "argfit-greeting", "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}}


def answer(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


def listed(*tools: Any, **more: Any) -> bytes:
    return answer(id="argfit-listing", result={"tools": list(tools), **more})


def started() -> Listing:
    listing = Listing("1.0")
    listing.opening()
    listing.receive(answer(**GREETED))
    return listing


def methods(said: bytes) -> list[Any]:
    return [json.loads(line).get("method") for line in said.splitlines()]


def test_a_server_is_greeted_and_then_asked_for_its_tools() -> None:
    listing = Listing("1.0")
    assert json.loads(listing.opening())["params"]["clientInfo"] == {"name": "argfit", "version": "1.0"}
    said = listing.receive(answer(**GREETED))
    assert methods(said) == ["notifications/initialized", "tools/list"]
    assert not listing.over
    assert listing.receive(listed(TOOL)) == b""
    assert (listing.over, listing.tools, listing.refusal) == (True, [TOOL], "")


def test_all_pages_are_asked_for() -> None:
    listing = started()
    question = json.loads(listing.receive(listed(TOOL, nextCursor="2")))
    assert question["params"] == {"cursor": "2"}
    assert listing.receive(listed({**TOOL, "name": "b"})) == b""
    assert [tool["name"] for tool in listing.tools] == ["a", "b"]


def test_a_server_that_never_ends_its_listing_is_not_asked_on() -> None:
    listing = started()
    assert listing.receive(listed(nextCursor="2"))
    assert listing.receive(listed(nextCursor="2")) == b""
    assert (listing.over, listing.unfinished) == (True, True)
    listing = started()
    asked = 0
    while listing.receive(listed(nextCursor=str(asked))):
        asked += 1
    assert (asked, listing.over) == (PAGES, True)


def test_a_server_that_knows_no_greeting_is_asked_as_the_newer_protocol_has_it() -> None:
    listing = Listing("1.0")
    listing.opening()
    refused = {"code": -32601, "message": "Method not found"}
    question = json.loads(listing.receive(answer(id="argfit-greeting", error=refused)))
    assert question["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert "_meta" in json.loads(listing.receive(listed(TOOL, nextCursor="2", resultType="complete")))["params"]


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        (answer(id="argfit-listing", error={"code": -32603, "message": "no database"}), "no database"),
        (answer(id="argfit-listing", error=5), "it answered tools/list with an error"),
        (answer(id="argfit-listing", result={}), "its answer to tools/list holds no list of tools"),
        (answer(id="argfit-listing", result=5), "its answer to tools/list holds no list of tools"),
    ],
    ids=str,
)
def test_a_server_that_would_not_say_is_told_of(said: bytes, refusal: str) -> None:
    listing = started()
    assert listing.receive(said) == b""
    assert (listing.over, listing.refusal) == (True, refusal)


def test_what_the_server_asks_is_answered_and_whatever_else_it_says_is_passed_over() -> None:
    listing = started()
    assert json.loads(listing.receive(answer(id=1, method="ping"))) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert json.loads(listing.receive(answer(id="x", method="roots/list")))["error"]["code"] == -32601
    for noise in (
        answer(method="notifications/message", params={}),
        b"starting up...\n",
        b"\n",
        b'{"id": 7}\n',
        answer(id=7, result={"tools": [TOOL]}),
        answer(**GREETED)[:-9],
        b"[]\n",
    ):
        assert listing.receive(noise) == b""
    assert (listing.over, listing.tools) == (False, [])


def test_a_server_that_goes_round_in_circles_has_each_tool_once() -> None:
    listing = started()
    listing.receive(listed(TOOL, nextCursor="2"))
    listing.receive(listed(TOOL, nextCursor="2"))
    assert (listing.tools, listing.unfinished) == ([TOOL], True)


def test_a_command_that_only_repeats_what_it_is_told_is_no_server() -> None:
    listing = Listing("1.0")
    assert listing.receive(listing.opening()) == b""
    assert (listing.over, listing.refusal) == (True, "it repeats what it is told, and is no MCP server")
