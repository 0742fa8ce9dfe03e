import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.terminal import Terminal
from tests.proxy.running import STRICT

TEXT = {"type": "string"}
CLEAN = {
    "name": "clean",
    "inputSchema": {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False},
}
OPEN = {"name": "open", "inputSchema": {"type": "object", "properties": {"a": TEXT}}}
ODD = {
    "name": "odd",
    "inputSchema": {
        "type": "object",
        "properties": {"id": {"type": ["string", "integer"]}, "n": {}, "p": {**TEXT, "pattern": "(("}},
        "additionalProperties": False,
    },
}
FOUND = """\
error  pattern: a pattern does not compile
  Why: Strict clients refuse the whole tool; others do not check the pattern at all.
  Instead: Keep to what ECMA-262 with the u flag and Python both read: no needless backslash, no Python-only groups.
    odd: p (pattern "((")

warning  text-or-other: text and another type will both do
  Why: A model may send "5" or 5, "[1]" or [1]: both fit, so nobody can tell which was meant, and none is repaired.
  Instead: Take one type. Where the two mean different things, give them two arguments.
    odd: id (text or a whole number)

warning  untyped: the argument has no type
  Why: A client shows the model no type, and the model sends a list or an object as text, which then fits.
  Instead: Name the type; where there are many, a list of types, so that a client can show them.
    odd: n

3 findings in 3 tools; 1 below the level (--level info shows all)
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(document: Any) -> str:
    Path("tools.json").write_text(json.dumps(document))
    return "tools.json"


def test_hazards_are_told_the_worst_first_with_why_they_bite_and_what_to_write(terminal: Terminal) -> None:
    assert terminal.run("lint", write({"tools": [CLEAN, OPEN, ODD]})) == (1, FOUND, "")


@pytest.mark.parametrize(
    ("document", "level", "code", "last"),
    [
        ([CLEAN], "info", 0, "0 findings in 1 tool\n"),
        ([OPEN], "warning", 0, "0 findings in 1 tool; 1 below the level (--level info shows all)\n"),
        ([OPEN], "info", 1, "1 finding in 1 tool\n"),
        ([ODD], "error", 1, "1 finding in 1 tool; 2 below the level (--level info shows all)\n"),
    ],
)
def test_the_level_says_what_is_shown_and_what_the_exit_code_is(
    terminal: Terminal, document: Any, level: str, code: int, last: str
) -> None:
    ran = terminal.run("lint", "--level", level, write(document))
    assert (ran.code, ran.out.splitlines(keepends=True)[-1]) == (code, last)


def test_findings_as_json_carry_everything(terminal: Terminal) -> None:
    ran = terminal.run("lint", "--format", "json", "--level", "error", write([ODD]))
    assert (ran.code, json.loads(ran.out)) == (
        1,
        [
            {
                "tool": "odd",
                "path": "p",
                "rule": "pattern",
                "level": "error",
                "found": 'pattern "(("',
                "what": "a pattern does not compile",
                "why": "Strict clients refuse the whole tool; others do not check the pattern at all.",
                "instead": "Keep to what ECMA-262 with the u flag and Python both read: no needless backslash, "
                "no Python-only groups.",
            }
        ],
    )
    assert terminal.run("lint", "--format", "json", write([CLEAN])) == (0, "[]\n", "")


@pytest.mark.parametrize(
    "document", [CLEAN, [CLEAN], {"tools": [CLEAN]}, {"jsonrpc": "2.0", "result": {"tools": [CLEAN]}}]
)
def test_tools_are_read_from_whatever_holds_them(terminal: Terminal, document: Any) -> None:
    assert terminal.run("lint", write(document)).out == "0 findings in 1 tool\n"


def test_tools_may_come_on_stdin(terminal: Terminal) -> None:
    assert terminal.run("lint", "-", stdin=json.dumps([CLEAN]).encode()).out == "0 findings in 1 tool\n"


def test_a_server_is_started_and_asked(terminal: Terminal) -> None:
    ran = terminal.run("lint", "--level", "info", "--format", "json", "--", *STRICT)
    assert [finding["rule"] for finding in json.loads(ran.out)] == ["open", "format"]


def test_many_places_of_one_hazard_are_counted(terminal: Terminal) -> None:
    names: dict[str, Any] = {f"n{count}": {} for count in range(40)}
    out = terminal.run("lint", write([{"name": "wide", "inputSchema": {"type": "object", "properties": names}}])).out
    assert "    wide: n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, and 28 more\n" in out


def test_a_tool_without_name_or_schema_is_looked_at_all_the_same(terminal: Terminal) -> None:
    out = terminal.run("lint", write([{"inputSchema": {"type": "object"}}, {"name": "bare"}, 5])).out
    assert "    bare: arguments (it is null)\n" in out
    assert "1 finding in 2 tools" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "argfit lint: name a FILE, or a server's command after --: argfit lint -- COMMAND ARG...\n"),
        (("tools.json", "--", "x"), "argfit lint: give one of them, a FILE or a server's command after --, not both\n"),
        (
            ("gone.json",),
            "argfit lint: cannot read gone.json: No such file or directory; FILE is what a server answered",
        ),
        (("text.json",), "argfit lint: text.json is not JSON; FILE is what a server answered to tools/list"),
        (("empty.json",), "argfit lint: empty.json lists no tools; FILE is what a server answered to tools/list, or a"),
        (("schema.json",), "argfit lint: schema.json lists no tools; FILE is what a server answered to tools/list, or"),
        (("--", "./missing"), "argfit lint: cannot start ./missing: No such file or directory; check the command"),
        (("--", "a\0b"), "argfit lint: cannot start 'a\\x00b': embedded null byte; check the command after --"),
        (("--wait", "x", "--", "a"), "argfit lint: argument --wait: x is not a number of seconds from 0 to 3600"),
        (("--level", "bad", "f"), "argfit lint: argument --level: invalid choice: 'bad'"),
    ],
)
def test_a_users_mistake_is_one_line_that_names_the_next_step(
    terminal: Terminal, words: tuple[str, ...], said: str
) -> None:
    Path("text.json").write_text("tools")
    Path("empty.json").write_text("[]")
    Path("schema.json").write_text('{"type": "object"}')
    ran = terminal.run("lint", *words)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(said)
