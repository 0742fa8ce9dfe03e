"""The relay with real processes on either side: `argfit proxy` as it is started, raw servers, raw clients."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.proxy.running import PATIENCE, PROXY, STRICT, STUCK, Gate, Running, Sign, python, running, running_at_pace
from tests.wire.script import INITIALIZED, NOTE, call, request

CAT = ("cat",)
MEBI = 1 << 20


def hello(proxy: Running) -> None:
    proxy.send(request("0", "initialize"), INITIALIZED)
    assert json.loads(proxy.line())["id"] == 0


def called(proxy: Running, id: str, arguments: str, tool: str = "goto") -> dict[str, Any]:
    """Call a tool; the result."""
    proxy.send(call(id, arguments, tool))
    answer = json.loads(proxy.line())
    assert answer["id"] == json.loads(id)
    return dict(answer["result"])


def texts_of(result: dict[str, Any]) -> list[str]:
    return [block["text"] for block in result["content"]]


# -- calls --------------------------------------------------------------------------------------------


def test_a_client_that_calls_before_it_lists_gets_its_call_fitted_and_no_answer_of_ours() -> None:
    with running(*STRICT) as proxy:
        hello(proxy)
        result = called(proxy, "1", '{"line":5.0}')
        assert texts_of(result) == [call("1", '{"line":5}').decode()]
        assert result["isError"] is False
        assert proxy.end() == (b"", 0)


def test_calls_sent_at_once_are_answered_in_order_with_only_their_floats_changed() -> None:
    with running(*STRICT) as proxy:
        hello(proxy)
        proxy.send(*(call(str(number), f'{{"line":{number}.0}}') for number in range(1, 201)))
        for number in range(1, 201):
            answer = json.loads(proxy.line())
            assert texts_of(answer["result"]) == [call(str(number), f'{{"line":{number}}}').decode()]


def test_a_schema_that_does_not_come_in_time_leaves_the_call_untouched() -> None:
    with running(*STRICT, "tools/list", options=["--schema-wait", "0"]) as proxy:
        hello(proxy)
        assert texts_of(called(proxy, "1", '{"line":5.0}')) == [call("1", '{"line":5.0}').decode()]
        assert proxy.end() == (b"", 0)


def test_a_call_that_the_server_refuses_is_explained() -> None:
    with running(*STRICT) as proxy:
        hello(proxy)
        assert texts_of(called(proxy, "1", '{"line":"x"}')) == [call("1", '{"line":"x"}').decode(), NOTE]


def test_refuse_answers_in_the_servers_place() -> None:
    with running(*STRICT, options=["--on-misfit", "refuse"]) as proxy:
        hello(proxy)
        words = "An error occurred invoking 'goto': line must be a whole number."
        assert texts_of(called(proxy, "1", '{"line":"x"}')) == [words]
        assert texts_of(called(proxy, "2", '{"line":5.0}')) == [call("2", '{"line":5}').decode()]
        assert proxy.end() == (b"", 0)


# -- how it ends --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tool", "code"), [("exit", 3), ("exit", 0), ("kill", 128 + signal.SIGKILL)])
def test_a_server_that_dies_in_mid_call_leaves_no_request_unanswered(tool: str, code: int) -> None:
    with running(*STRICT) as proxy:
        hello(proxy)
        called(proxy, "1", '{"line":5}')
        proxy.send(call('"the \\u0063all"', f'{{"code":{code}}}', tool))
        said = b'{"jsonrpc":"2.0","id":"the \\u0063all","error":{"code":-32000,"message":"server exited (code %d)"}}\n'
        assert proxy.line() == said % code
        assert proxy.exit_code() == code
        assert proxy.line() == b""


def test_a_request_that_comes_when_the_server_is_dead_is_answered_too() -> None:
    with running_at_pace(*python("input(); raise SystemExit(3)"), linger=PATIENCE, drain=PATIENCE) as proxy:
        for id in ("1", "2", "3"):
            proxy.send(request(id, "ping"))
            answer = json.loads(proxy.line())
            assert answer["id"] == int(id)
            assert answer["error"] == {"code": -32000, "message": "server exited (code 3)"}
        proxy.send(request("4", "ping").rstrip())
        said, code = proxy.end()
        assert json.loads(said)["id"] == 4
        assert code == 3


def test_a_request_is_answered_too_where_the_server_read_no_more_before_it_died(gate: Gate) -> None:
    deaf = "import os, sys; os.close(0); os.write(1, b'deaf\\n'); open(sys.argv[1]).readline(); os._exit(3)"
    with running_at_pace(*python(deaf), gate.path, linger=PATIENCE, drain=PATIENCE) as proxy:
        assert proxy.line() == b"deaf\n"
        proxy.send(request("1", "ping"))
        gate.open()
        assert json.loads(proxy.line())["id"] == 1
        proxy.send(request("2", "ping"))
        assert json.loads(proxy.line())["id"] == 2
        proxy.send(request("3", "ping").rstrip())
        said, code = proxy.end()
        assert json.loads(said)["id"] == 3
        assert code == 3


def test_a_client_that_never_stops_talking_to_a_dead_server_does_not_keep_us() -> None:
    with running_at_pace(*python("raise SystemExit(3)"), linger=0.2, drain=0.1) as proxy:
        with pytest.raises(BrokenPipeError):
            proxy.send(NEWS * 100)
        assert proxy.exit_code() == 3


def test_a_client_learns_that_a_server_reads_no_more_though_it_lives() -> None:
    deaf = "import os; os.close(0); os.write(1, b'deaf\\n'); import signal; signal.pause()"
    with running_at_pace(*python(deaf)) as proxy:
        assert proxy.line() == b"deaf\n"
        with pytest.raises(BrokenPipeError):
            proxy.send(NEWS)


def test_closing_our_stdin_closes_the_servers() -> None:
    with running(*python("import sys; sys.stdin.read(); print('bye'); sys.exit(5)")) as proxy:
        assert proxy.end() == (b"bye\n", 5)


def test_a_last_line_without_an_ending_reaches_the_other_side() -> None:
    with running(*CAT) as proxy:
        proxy.send(b"one\ntwo")
        assert proxy.end() == (b"one\ntwo", 0)


HANDLES = """
import signal, sys
number, code = int(sys.argv[1]), int(sys.argv[2])
signal.signal(number, (lambda *_: sys.exit(code)) if code else signal.SIG_DFL)
print("ready", flush=True)
signal.pause()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("code", [7, None], ids=["handled", "not handled"])
def test_a_signal_reaches_the_server_and_how_that_ends_becomes_our_exit_code(number: int, code: int | None) -> None:
    with running(*python(HANDLES), str(int(number)), str(code or 0)) as proxy:
        assert proxy.line() == b"ready\n"
        proxy.process.send_signal(number)
        assert proxy.exit_code() == (code or 128 + number)


STAYS = """
import signal
signal.signal(signal.SIGTERM, lambda *_: print("no", flush=True))
print("ready", flush=True)
input()
"""


def test_a_signal_that_the_server_lives_through_does_not_end_us() -> None:
    with running(*python(STAYS)) as proxy:
        assert proxy.line() == b"ready\n"
        proxy.process.send_signal(signal.SIGTERM)
        assert proxy.line() == b"no\n"
        proxy.send(b"now\n")
        assert proxy.exit_code() == 0


def test_a_client_that_reads_no_more_is_seen_by_the_server() -> None:
    with running("yes") as proxy:
        assert proxy.line() == b"y\n"
        proxy.close_stdout()
        assert proxy.exit_code() == 128 + signal.SIGPIPE


def test_a_client_that_does_not_take_our_own_answers_is_gone_and_the_server_sees_that() -> None:
    with running_at_pace(*STRICT, options=["--on-misfit", "refuse"]) as proxy:
        hello(proxy)
        called(proxy, "1", '{"line":5}')
        proxy.close_stdout()
        proxy.send(call("2", '{"line":"x"}'))
        assert proxy.exit_code() == 0


# -- a slow reader stops the other side ---------------------------------------------------------------


NEWS = b"".join(b'{"method":"notifications/x","params":%d}\n' % number for number in range(60_000))


def test_a_client_that_does_not_read_can_send_little_and_loses_nothing() -> None:
    with running(*CAT) as proxy:
        sent = proxy.send_until_stuck(NEWS)
        assert sent < MEBI < len(NEWS)
        assert proxy.end() == (NEWS[:sent], 0)


def test_a_server_that_does_not_read_stops_the_client_and_loses_nothing(gate: Gate) -> None:
    with running("sh", "-c", 'read -r x < "$0"; exec cat', gate.path) as proxy:
        sent = proxy.send_until_stuck(NEWS)
        assert sent < MEBI < len(NEWS)
        gate.open()
        assert proxy.end() == (NEWS[:sent], 0)


FLOOD = """
import os, sys
size, lines = int(sys.argv[1]), int(sys.argv[2])
for line in range(lines):
    for _ in range(0, size, 65536):
        os.write(1, b"x" * min(65536, size))
        os.write(2, b".")
    os.write(1, b"\\n")
"""


def test_a_client_that_does_not_read_stops_the_server() -> None:
    with running(*python(FLOOD), "65536", "1536", stderr=subprocess.PIPE) as proxy:
        assert 0 < len(proxy.complaints_until_stuck()) * 65536 < MEBI


@pytest.mark.skipif(sys.platform != "linux", reason="how much memory was in use is read from /proc")
@pytest.mark.parametrize("lines", [1, 20_000], ids=["one line", "many lines"])
def test_memory_stays_bounded_however_much_passes(lines: int) -> None:
    size = 96 * MEBI // lines
    with running(*python(f"{FLOOD}input()"), str(size), str(lines)) as proxy:
        passed = newlines = 0
        while newlines < lines:
            chunk = proxy.some()
            passed += len(chunk)
            newlines += chunk.count(b"\n")
        assert passed == size * lines + lines
        assert proxy.memory() < 64 * MEBI
        proxy.send(b"\n")
        assert proxy.exit_code() == 0


def speaks_and_ends(sign: Sign) -> tuple[str, ...]:
    """A server that says more than one pipe holds, and less than two."""
    return python(f"import os; os.open({sign.path!r}, os.O_WRONLY); os.write(1, b'x' * 90_000 + b'\\n')")


def test_a_client_that_reads_late_gets_all_that_a_dead_server_said(sign: Sign) -> None:
    with running_at_pace(*speaks_and_ends(sign)) as proxy:
        sign.wait_for_end()
        with pytest.raises(subprocess.TimeoutExpired):
            proxy.process.wait(STUCK)  # many times what the relay waits for anything else
        assert proxy.end() == (b"x" * 90_000 + b"\n", 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_us_when_only_a_client_that_does_not_read_is_left(sign: Sign, number: signal.Signals) -> None:
    with running(*speaks_and_ends(sign)) as proxy:
        sign.wait_for_end()
        for _ in range(1000):  # the first one may still go to the server, which has just ended
            proxy.process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                proxy.process.wait(0.05)
                break
        assert proxy.exit_code() == -number


# -- descriptors --------------------------------------------------------------------------------------


TELLS = """
import os
for line in (b"before", b"after"):
    os.write(2, b"%s %d\\n" % (line, os.get_blocking(2)))
    os.write(1, os.read(0, 100))
"""


def test_the_servers_stderr_goes_through_and_stays_blocking_where_our_stdout_is_the_same_pipe() -> None:
    with running(*python(TELLS), stderr=subprocess.STDOUT) as proxy:
        assert proxy.line() == b"before 1\n"
        proxy.send(b"one\n")
        assert sorted([proxy.line(), proxy.line()]) == [b"after 1\n", b"one\n"]
        proxy.send(b"two\n")
        assert proxy.end() == (b"two\n", 0)


def test_stdin_and_stdout_may_be_files(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(NEWS)
    with (tmp_path / "in").open("rb") as taken, (tmp_path / "out").open("wb") as given:
        subprocess.run([*PROXY, "--", *CAT], stdin=taken, stdout=given, timeout=PATIENCE, check=True)
    assert (tmp_path / "out").read_bytes() == NEWS


def test_pipes_that_somebody_else_made_non_blocking_are_no_trouble() -> None:
    its_stdin, our_end = os.pipe()
    our_other_end, its_stdout = os.pipe()
    os.set_blocking(its_stdin, False)
    os.set_blocking(its_stdout, False)
    with running(*CAT, stdin=its_stdin, stdout=its_stdout) as proxy:
        os.close(its_stdin)
        os.close(its_stdout)
        proxy.stdin, proxy.stdout = our_end, our_other_end
        sent = proxy.send_until_stuck(NEWS)
        os.close(our_end)
        passed = b""
        while chunk := proxy.some():
            passed += chunk
        os.close(our_other_end)
        assert passed == NEWS[:sent]
        assert proxy.exit_code() == 0


def test_a_grandchild_that_keeps_stdout_open_does_not_keep_us(gate: Gate) -> None:
    with running_at_pace("sh", "-c", '(echo up; read -r x <> "$0") & read -r x; exit 3', gate.path) as proxy:
        assert proxy.line() == b"up\n"
        proxy.send(b"go\n")
        assert proxy.exit_code() == 3
        assert proxy.line() == b""
        gate.open()
