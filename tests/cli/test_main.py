import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from tests.cli.terminal import Terminal

from argfit.cli import fit, proxy


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ((), ["usage: argfit ", "fit ", fit.SUMMARY, "proxy ", proxy.SUMMARY, "--version"]),
        (("fit",), ["usage: argfit fit ", "--schema FILE", "--tool NAME", "--strip NAME", "ARGS", "Exit codes: 0 "]),
        (
            ("proxy",),
            [
                "usage: argfit proxy [options] -- COMMAND [ARG ...]\n",
                "--on-misfit {forward,explain,refuse}",
                "--strip NAME",
                "--schema-wait SECONDS",
                "(default: 2)",
                "--verbose",
                "argfit proxy -- uvx mcp-server-fetch",
            ],
        ),
    ],
    ids=["argfit", "fit", "proxy"],
)
def test_help_shows_what_can_be_said(terminal: Terminal, words: tuple[str, ...], shown: list[str]) -> None:
    ran = terminal.run(*words, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert [text for text in shown if text not in ran.out] == []
    assert ran == terminal.run(*words, "-h")


def test_the_examples_in_the_help_are_commands_that_exist(terminal: Terminal) -> None:
    for command in ("fit", "proxy"):
        examples = [line.split() for line in terminal.run(command, "--help").out.splitlines() if "  argfit" in line]
        assert examples
        assert all(words[:2] == ["argfit", command] for words in examples)


def test_the_version_on_stdout_is_that_of_the_package(terminal: Terminal) -> None:
    assert terminal.run("--version") == (0, f"argfit {metadata.version('argfit')}\n", "")


@pytest.mark.parametrize(
    ("words", "said", "where"),
    [
        ((), "argfit: the following arguments are required: COMMAND", "argfit"),
        (
            ("mend",),
            "argfit: argument COMMAND: invalid choice: 'mend' (choose from 'fit', 'explain', 'lint', 'proxy', 'serve')",
            "argfit",
        ),
        (("--vers",), "argfit: the following arguments are required: COMMAND", "argfit"),
        (("fit",), "argfit fit: the following arguments are required: --schema", "argfit fit"),
        (("fit", "--schema"), "argfit fit: argument --schema: expected one argument", "argfit fit"),
        (("fit", "--sch", "x"), "argfit fit: the following arguments are required: --schema", "argfit fit"),
        (("fit", "--schema", "x", "--mend"), "argfit fit: unrecognized arguments: --mend", "argfit fit"),
    ],
)
def test_a_usage_error_is_one_line_that_names_the_next_step(
    terminal: Terminal, words: tuple[str, ...], said: str, where: str
) -> None:
    assert terminal.run(*words) == (2, "", f"{said}; see {where} --help\n")


def test_argfit_runs_as_a_module_with_the_commands_exit_code(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text('{"properties": {"line": {"type": "integer"}}}')
    command = [sys.executable, "-m", "argfit", "fit", "--schema", "schema.json"]
    for arguments, code in (('{"line": 5.0}', 0), ('{"line": "x"}', 1), ("{", 2)):
        ran = subprocess.run([*command, arguments], cwd=tmp_path, capture_output=True, timeout=30, check=False)
        assert ran.returncode == code


def test_a_reader_that_has_gone_ends_a_command_without_a_word_and_with_141(tmp_path: Path) -> None:
    (tmp_path / "true.json").write_text("true")
    ours, its = os.pipe()
    os.close(ours)
    command = [sys.executable, "-m", "argfit", "fit", "--schema", "true.json", "{}"]
    ran = subprocess.run(command, cwd=tmp_path, stdout=its, stderr=subprocess.PIPE, timeout=30, check=False)
    os.close(its)
    assert (ran.returncode, ran.stderr) == (141, b"")


def test_an_interrupted_command_ends_with_130(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(fit, "run", interrupted)
    assert terminal.run("fit", "--schema", "x") == (130, "", "")
