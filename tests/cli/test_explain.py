import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.terminal import Terminal

TOOL = {
    "name": "goto",
    "inputSchema": {
        "type": "object",
        "properties": {
            "file": {"type": "string", "pattern": "(("},
            "line": {"type": "integer", "minimum": 1},
            "rows": {"type": "array", "items": {"type": "number"}},
        },
        "required": ["file"],
    },
}
EXPLAINED = """\
arguments: must be an object
├─ file (required): must be text
├─ line: must be a whole number of at least 1  [whole-number]
├─ rows: must be a list  [wrap]
│  └─ each item: must be a number
└─ any other name: any value

Rules that are on:
  whole-number  a whole number sent with a point or an exponent (5.0, 1e3) is written as an integer (5, 1000)
  wrap          a single value where only a list fits becomes a list of one; not text that looks like a list
Off: plain-number (only by its name, not in all), rename, rename-case, unquote, unwrap-item, drop-null, drop-empty, \
member-case, quote; --repair NAMES switches them on.
Left out where it is sent: why.
Read as https://json-schema.org/draft/2020-12/schema.

Not usable, and left out of what is checked:
  #/properties/file/pattern: the pattern does not compile
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(document: Any) -> str:
    Path("tool.json").write_text(json.dumps(document))
    return "tool.json"


def test_a_tool_is_explained_as_a_tree_with_its_rules_and_what_is_not_usable(terminal: Terminal) -> None:
    ran = terminal.run("explain", "--schema", write(TOOL), "--repair", "wrap", "--strip", "why")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == EXPLAINED


def test_all_repairs_leave_nothing_off_but_what_has_its_own_name(terminal: Terminal) -> None:
    out = terminal.run("explain", "--schema", write(TOOL), "--repair", "all").out
    assert "Off: plain-number (only by its name, not in all); --repair NAMES switches them on.\n" in out
    assert "Not usable" not in terminal.run("explain", "--schema", write({"type": "object"})).out


def test_what_a_name_in_the_schema_holds_cannot_break_the_lines(terminal: Terminal) -> None:
    odd = {"properties": {"a\nb": {"enum": ["x\x1b[31m"]}, "\x1b": {"pattern": "a\nb"}}}
    out = terminal.run("explain", "--schema", write(odd)).out
    assert "\x1b" not in out
    assert len(out.splitlines()) == 9


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--schema", "gone.json"), "argfit explain: cannot read gone.json: No such file or directory; --schema names"),
        (("--schema", "tool.json", "--tool", "x"), "argfit explain: tool.json does not list tools, so --tool x is not"),
        (
            ("--schema", "tool.json", "--", "x"),
            "argfit explain: takes no arguments after --; see argfit explain --help",
        ),
        ((), "argfit explain: the following arguments are required: --schema; see argfit explain --help"),
    ],
)
def test_a_users_mistake_is_one_line_that_names_the_next_step(
    terminal: Terminal, words: tuple[str, ...], said: str
) -> None:
    write(TOOL)
    ran = terminal.run("explain", *words)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(said)


def test_where_lines_cannot_be_drawn_the_tree_is_plain(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("argfit.cli.explain._draws", lambda out: False)
    out = terminal.run("explain", "--schema", write(TOOL)).out
    assert out.isascii()
    assert "|- file (required): must be text\n" in out


def test_what_does_not_print_is_escaped_and_the_rest_of_its_line_is_not(terminal: Terminal) -> None:
    odd = {"properties": {"a": {"type": "string", "pattern": "^[^\u00a0]+$"}}}
    out = terminal.run("explain", "--schema", write(odd)).out
    assert "├─ a: must be text; must match the pattern ^[^\\xa0]+$\n" in out


@pytest.mark.parametrize("key", ["inputSchema", "input_schema", "parameters"])
def test_a_tool_may_come_as_a_models_api_has_it(terminal: Terminal, key: str) -> None:
    tool = {"name": "t", key: TOOL["inputSchema"]}
    assert "line: must be a whole" in terminal.run("explain", "--schema", write(tool)).out


def test_a_tool_without_a_schema_is_named(terminal: Terminal) -> None:
    ran = terminal.run("explain", "--schema", write({"name": "bare"}))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("argfit explain: the tool bare has no inputSchema; --schema names")


def test_a_long_chain_of_references_is_followed(terminal: Terminal) -> None:
    chain: dict[str, Any] = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(900)} | {"d900": {"type": "integer"}}
    ran = terminal.run("explain", "--schema", write({"properties": {"n": {"$ref": "#/$defs/d0"}}, "$defs": chain}))
    assert "├─ n: must be a whole number  [whole-number]\n" in ran.out


def test_a_schema_that_is_none_is_named(terminal: Terminal) -> None:
    ran = terminal.run("explain", "--schema", write(5))
    assert (ran.code, ran.out) == (2, "")
    assert "a schema is an object or a boolean, not a number" in ran.err
