"""What a file with tools may hold; what the commands do with it is in their own tests."""

from typing import Any

import pytest

from argfit.cli.schemas import Unreadable, listed

TOOL = {"name": "goto", "inputSchema": {"type": "object"}}


@pytest.mark.parametrize(
    ("found", "tools"),
    [
        ({"tools": [TOOL]}, [TOOL]),
        ([TOOL], [TOOL]),
        ({"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}}, [TOOL]),
        (TOOL, None),
        ({"type": "object"}, None),
        ({"tools": 5}, None),
        (True, None),
    ],
    ids=str,
)
def test_tools_are_found_with_and_without_their_envelope(found: Any, tools: Any) -> None:
    assert listed(found) == tools


def test_a_servers_error_is_not_taken_for_a_schema_that_accepts_everything() -> None:
    with pytest.raises(Unreadable, match="a server's error, not its tools; save the answer to tools/list"):
        listed({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "x"}})
