import json
import subprocess
from pathlib import Path

import pytest
from tests.cli.terminal import Terminal
from tests.proxy.running import PATIENCE, PROXY, STRICT, python
from tests.wire.script import INITIALIZED, call, request

PLACE = "argfit proxy: put -- and then the server's command last: argfit proxy -- COMMAND ARG...\n"


@pytest.mark.parametrize("words", [(), ("--",), ("server",), ("server", "--", "server"), ("--verbose",)])
def test_without_a_command_after_two_dashes_the_next_step_is_named(terminal: Terminal, words: tuple[str, ...]) -> None:
    assert terminal.run("proxy", *words) == (2, "", PLACE)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--on-misfit", "mend"),
            "argfit proxy: argument --on-misfit: invalid choice: 'mend' (choose from 'forward', 'explain', 'refuse')",
        ),
        (
            ("--schema-wait", "soon"),
            "argfit proxy: argument --schema-wait: soon is not a number of seconds from 0 to 3600",
        ),
        (
            ("--schema-wait", "-1"),
            "argfit proxy: argument --schema-wait: -1 is not a number of seconds from 0 to 3600",
        ),
        (
            ("--schema-wait", "nan"),
            "argfit proxy: argument --schema-wait: nan is not a number of seconds from 0 to 3600",
        ),
        (
            ("--schema-wait", "3600.5"),
            "argfit proxy: argument --schema-wait: 3600.5 is not a number of seconds from 0 to 3600",
        ),
        (("--strip",), "argfit proxy: argument --strip: expected one argument"),
    ],
)
def test_a_usage_error_is_one_line_and_nothing_is_started(
    terminal: Terminal, words: tuple[str, ...], said: str
) -> None:
    assert terminal.run("proxy", *words, "--", "missing") == (2, "", f"{said}; see argfit proxy --help\n")


def test_a_command_that_cannot_start_is_one_line_that_names_it_and_exits_127(
    terminal: Terminal, tmp_path: Path
) -> None:
    plain = tmp_path / "plain"
    plain.write_text("not a program")
    for command, reason in (
        (str(tmp_path / "missing"), "No such file or directory"),
        (str(plain), "Permission denied"),
    ):
        said = f"argfit: cannot start {command}: {reason}; check the command after --\n"
        assert terminal.run("proxy", "--", command, "--help") == (127, "", said)


def test_a_command_with_a_nul_in_it_cannot_start_either(terminal: Terminal) -> None:
    ran = terminal.run("proxy", "--", "a\0b")
    assert (ran.code, ran.out, ran.err.count("\n")) == (127, "", 1)


CALLS = (
    request("0", "initialize"),
    INITIALIZED,
    call("1", '{"line":5.0}'),
    call("2", '{"line":"s3cret"}'),
)


def proxied(*options: str, said: bytes = b"".join(CALLS)) -> "subprocess.CompletedProcess[bytes]":
    command = [*PROXY, *options, "--", *STRICT]
    return subprocess.run(command, input=said, capture_output=True, timeout=PATIENCE, check=False)


def test_nothing_is_written_to_stderr_unless_it_is_asked_for() -> None:
    ran = proxied("--on-misfit", "refuse")
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert sorted(json.loads(line)["id"] for line in ran.stdout.splitlines()) == [0, 1, 2]


def test_verbose_writes_the_log_to_stderr_without_values() -> None:
    ran = proxied("--on-misfit", "refuse", "--verbose")
    assert ran.stderr.decode().splitlines() == [
        "DEBUG argfit: MCP tool goto: argument line fitted (whole-number).",
        "INFO argfit: MCP tool goto refused the call: argument line is invalid.",
    ]
    assert sorted(json.loads(line)["id"] for line in ran.stdout.splitlines()) == [0, 1, 2]


def test_verbose_writes_what_the_server_says_of_a_call_as_well() -> None:
    assert sorted(proxied("--on-misfit", "forward", "--verbose").stderr.decode().splitlines()) == [
        "DEBUG argfit: MCP tool goto: argument line fitted (whole-number).",
        "INFO argfit: MCP tool goto refused the call.",
    ]


def test_strip_may_be_repeated() -> None:
    asked = (*CALLS[:2], call("1", '{"line":5,"why":1,"who":2}'))
    ran = proxied("--strip", "why", "--strip", "who", said=b"".join(asked))
    answer = json.loads(ran.stdout.splitlines()[-1])
    assert answer["result"]["content"][0]["text"] == call("1", '{"line":5}').decode()


def test_repairs_and_formats_may_be_named_for_all_tools_and_for_one() -> None:
    asked = (*CALLS[:2], call("1", '{"line":"5"}'))
    for option in ("unquote", "goto=unquote", "all"):
        answer = json.loads(proxied("--repair", option, said=b"".join(asked)).stdout.splitlines()[-1])
        assert answer["result"]["content"][0]["text"] == call("1", '{"line":5}').decode()
    answer = json.loads(proxied("--repair", "other=unquote", said=b"".join(asked)).stdout.splitlines()[-1])
    assert answer["result"]["content"][0]["text"] != call("1", '{"line":5}').decode()
    asked = (*CALLS[:2], call("1", '{"line":4294967296}'))
    ran = proxied("--on-misfit", "refuse", "--formats", "goto=int32", said=b"".join(asked))
    assert b"line must be a whole number from -2147483648 to 2147483647." in ran.stdout


def test_the_servers_own_options_are_not_ours() -> None:
    says = python("import sys; print(sys.argv[1:])")
    command = [*PROXY, "--", *says, "--verbose", "--", "--help"]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
    assert ran.stdout == b"['--verbose', '--', '--help']\n"


def test_the_servers_exit_code_becomes_ours() -> None:
    command = [*PROXY, "--", *python("raise SystemExit(42)")]
    assert subprocess.run(command, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False).returncode == 42
