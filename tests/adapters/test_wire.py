"""Guarded servers on stdio, asked in raw lines: what a client library would never send."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.proxy.running import PATIENCE

KINDS = ("mcpserver", "lowlevel", "fastmcp")
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
}
HELLO: list[dict[str, Any]] = [
    {
        "jsonrpc": "2.0",
        "id": "hello",
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]
ABSENT = object()
SENT: dict[str, tuple[Any, str]] = {
    "object": ({"limit": "2"}, "2"),
    "text": ('{"limit": "3"}', "3"),
    "empty": ({}, "50"),
    "null": (None, "50"),
    "absent": (ABSENT, "50"),
    "words": ("s3cret words", "arguments must be an object."),
    "list": ([{"limit": 1}], "arguments must be an object."),
    "number": (5, "arguments must be an object."),
    "bad text": ('{"limit": "s3cret"}', "limit must be a whole number."),
    "bad": ({"limit": "s3cret"}, "limit must be a whole number."),
    "free map": ({"labels": {"s3cret": 5}}, "labels.s3cret must be text."),
}


def asked(kind: str, *, modern: bool) -> tuple[dict[str, Any], str]:
    """The answers of a server by what was sent, and its stderr."""
    messages: list[dict[str, Any]] = [] if modern else list(HELLO)
    for id, (arguments, _) in SENT.items():
        params: dict[str, Any] = {"name": "list_flocks"} | ({"_meta": MODERN} if modern else {})
        if arguments is not ABSENT:
            params["arguments"] = arguments
        messages.append({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    script = Path(__file__).with_name("stdio_server.py")
    server = subprocess.Popen(
        [sys.executable, str(script), kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stdin
    assert server.stdout
    answers: dict[str, Any] = {}
    try:
        for message in messages:
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            while "id" in message and message["id"] not in answers:
                answer = json.loads(server.stdout.readline())
                answers[answer.get("id")] = answer
        _, stderr = server.communicate(timeout=PATIENCE)
    finally:
        server.kill()
        server.wait()
    return answers, stderr


@pytest.mark.parametrize("modern", [False, True], ids=["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_the_shape_of_the_arguments_the_call_is_answered_by_name_in_its_own_era(
    kind: str, modern: bool
) -> None:
    answers, stderr = asked(kind, modern=modern)
    for id, (_, words) in SENT.items():
        result = answers[id]["result"]
        (block,) = result["content"]
        bad = words.endswith(".")
        assert (id, result.get("isError", False)) == (id, bad)
        assert block["text"] == (f"An error occurred invoking 'list_flocks': {words}" if bad else words)
        assert ("resultType" in result) is modern
    assert "s3cret" not in stderr
    assert "Traceback" not in stderr
