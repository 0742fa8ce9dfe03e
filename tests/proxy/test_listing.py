"""Real servers asked for their tools, and what is left of them."""

import os
import select
import sys
from pathlib import Path

import pytest
from tests.proxy.running import PATIENCE, STRICT, python

from argfit.proxy import listing
from argfit.proxy.listing import NoListing, list_tools


def test_a_server_is_started_asked_and_ended() -> None:
    assert [tool["name"] for tool in list_tools(STRICT, PATIENCE).tools] == ["goto"]


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
    assert list_tools([sys.executable, str(stubborn)], PATIENCE).tools == []


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


def test_a_server_that_floods_us_costs_no_more_than_its_time() -> None:
    with pytest.raises(NoListing, match=r"did not list its tools in 0\.2 s"):
        list_tools(python("while True: print('x' * 1000)"), 0.2)


def test_a_server_that_asks_much_and_reads_nothing_costs_no_more_than_its_time() -> None:
    asks = 'import time\nfor i in range(20000): print(\'{"jsonrpc":"2.0","id":%d,"method":"ping"}\' % i)\n'
    with pytest.raises(NoListing, match="did not list its tools"):
        list_tools(python(asks + "import sys; sys.stdout.flush(); time.sleep(60)"), 0.5)


def test_the_last_line_of_a_server_may_lack_its_end() -> None:
    says = (
        'import sys; sys.stdout.write(\'{"id":"argfit-greeting","result":{}}\\n\''
        '\'{"id":"argfit-listing","result":{"tools":[]}}\')'
    )
    assert list_tools(python(says), PATIENCE).over


def test_what_a_server_has_started_ends_with_it() -> None:
    ours, theirs = os.pipe()
    os.set_inheritable(theirs, True)
    stays = f"import os, signal; os.write({theirs}, b'here'); signal.pause()"
    starts = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {stays!r}], pass_fds=[{theirs}])"
    with pytest.raises(NoListing):
        list_tools(python(f"{starts}; sys.stdin.read()"), 2.0)
    os.close(theirs)
    assert os.read(ours, 99) == b"here"
    assert select.select([ours], [], [], PATIENCE)[0]  # whoever holds the other end has ended
    assert os.read(ours, 99) == b""
    os.close(ours)


def test_a_command_that_cannot_start_is_an_error_of_the_system() -> None:
    with pytest.raises(OSError, match="No such file"):
        list_tools(["./missing"], PATIENCE)
