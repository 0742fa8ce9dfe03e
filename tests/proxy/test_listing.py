"""Real servers asked for their tools, and what is left of them."""

import sys
from pathlib import Path

import pytest
from tests.proxy.running import PATIENCE, STRICT, python

from argfit.proxy import listing
from argfit.proxy.listing import NoListing, list_tools


def test_a_server_is_started_asked_and_ended() -> None:
    assert [tool["name"] for tool in list_tools(STRICT, PATIENCE)] == ["goto"]


def test_a_server_that_takes_no_hint_is_ended_all_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(listing, "FAREWELL", 0.05)
    stubborn = tmp_path / "stubborn.py"
    stubborn.write_text(
        "import signal, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "sys.stdin.readline()\n"
        'print(\'{"jsonrpc":"2.0","id":"argfit-greeting","result":{}}\', flush=True)\n'
        'print(\'{"jsonrpc":"2.0","id":"argfit-listing","result":{"tools":[]}}\', flush=True)\n'
        "while True: signal.pause()\n"
    )
    assert list_tools([sys.executable, str(stubborn)], PATIENCE) == []


@pytest.mark.parametrize(
    ("code", "patience", "reason"),
    [
        ("raise SystemExit(3)", PATIENCE, "the server ended before it had listed its tools; run its command by itself"),
        ("import sys; sys.stdin.read()", 0.1, "the server did not list its tools in 0.1 s; --wait gives it more"),
        ("print('x' * 9_000_000)", PATIENCE, "the server's answer is longer than 8 MiB; lint a file that holds it"),
        (
            'print(\'{"id":"argfit-greeting","result":{}}\\n{"id":"argfit-listing","error":{"message":"no"}}\')',
            PATIENCE,
            "the server refused to list its tools: no",
        ),
    ],
    ids=["ended", "silent", "too long", "refused"],
)
def test_a_server_that_does_not_list_its_tools_is_an_error_with_the_next_step(
    code: str, patience: float, reason: str
) -> None:
    with pytest.raises(NoListing, match=reason):
        list_tools(python(code), patience)


def test_a_command_that_cannot_start_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError, match="No such file"):
        list_tools(["./missing"], PATIENCE)
