import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.terminal import Terminal

SCHEMA = {"type": "object", "properties": {"line": {"type": "integer"}, "file": {"type": "string"}}}
TOOL = {"name": "goto", "description": "Go to a line.", "inputSchema": SCHEMA}
OTHER = {"name": "open", "inputSchema": {"properties": {"line": {"type": "string"}}}}
LISTING = {"tools": [TOOL, OTHER]}
ANSWER = {"jsonrpc": "2.0", "id": 1, "result": LISTING}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(document: Any, name: str = "given.json") -> str:
    """A file that holds this, as JSON unless it is text; its name."""
    Path(name).write_text(document if isinstance(document, str) else json.dumps(document))
    return name


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (SCHEMA, ()),
        (TOOL, ()),
        (TOOL, ("--tool", "goto")),
        ({"tools": [TOOL]}, ()),
        ([TOOL], ()),
        (LISTING, ("--tool", "goto")),
        ([TOOL, OTHER], ("--tool", "goto")),
        (ANSWER, ("--tool", "goto")),
        ({"tools": [5, {"name": 5}, {"inputSchema": {}}, TOOL]}, ()),
    ],
    ids="schema,tool,named tool,only tool,list of one,listing,list,answer,odd company".split(","),
)
def test_the_schema_is_taken_from_whatever_holds_it(terminal: Terminal, document: Any, words: tuple[str, ...]) -> None:
    ran = terminal.run("fit", "--schema", write(document), *words, '{"line": 5.0}')
    assert ran == (0, '{"line": 5}\n', "")


@pytest.mark.parametrize(
    ("arguments", "fitted"),
    [
        ('{"line": 5}', '{"line": 5}'),
        (' { "line" :5.0 ,"x": 1.0, "y":"\\u00e9"}', ' { "line" :5 ,"x": 1.0, "y":"\\u00e9"}'),
        ('{"line": 5.0}\r\n', '{"line": 5}'),
        ('{"line": 9007199254740993.0}', '{"line": 9007199254740993}'),
        ('{"line": 5.0, "line": 6.0}', '{"line": 5.0, "line": 6.0}'),
        ("{}", "{}"),
    ],
)
def test_what_fits_is_written_with_every_other_byte_kept_and_exits_0(
    terminal: Terminal, arguments: str, fitted: str
) -> None:
    assert terminal.run("fit", "--schema", write(SCHEMA), arguments) == (0, f"{fitted}\n", "")


@pytest.mark.parametrize(
    ("arguments", "fitted", "said"),
    [
        ('{"line": "x"}', '{"line": "x"}', "line must be a whole number.\n"),
        ('{"line": 5.0, "file": 5}', '{"line": 5, "file": 5}', "file must be text.\n"),
        ('{"line": 5.5, "file": 5}', '{"line": 5.5, "file": 5}', "line must be a whole number; file must be text.\n"),
        ("[5.0]", "[5.0]", "arguments must be an object.\n"),
    ],
)
def test_what_does_not_fit_is_named_written_as_far_as_it_was_fitted_and_exits_1(
    terminal: Terminal, arguments: str, fitted: str, said: str
) -> None:
    assert terminal.run("fit", "--schema", write(SCHEMA), arguments) == (1, f"{fitted}\n", said)


@pytest.mark.parametrize("words", [(), ("-",)], ids=["nothing", "a dash"])
def test_without_arguments_they_are_read_from_stdin(terminal: Terminal, words: tuple[str, ...]) -> None:
    ran = terminal.run("fit", "--schema", write(SCHEMA), *words, stdin=b'{"line": 5.0}\n')
    assert ran == (0, '{"line": 5}\n', "")


def test_what_stands_after_two_dashes_is_the_arguments(terminal: Terminal) -> None:
    assert terminal.run("fit", "--schema", write(SCHEMA), "--", '{"line": 5.0}') == (0, '{"line": 5}\n', "")
    assert terminal.run("fit", "--schema", write(True), "--", "-5") == (1, "-5\n", "arguments must be an object.\n")


def test_text_that_utf_8_cannot_hold_comes_out_as_it_went_in(terminal: Terminal) -> None:
    for odd in ("\\ud800", "\udcff"):  # an escape, and a byte as the command line hands it over
        ran = terminal.run("fit", "--schema", write(SCHEMA), f'{{"line": 5.0, "file": "{odd}"}}')
        assert ran == (0, f'{{"line": 5, "file": "{odd}"}}\n', "")


def test_repair_makes_the_repairs_it_names(terminal: Terminal) -> None:
    words = ("fit", "--schema", write({"properties": {"a": {"type": "integer"}, "b": {"enum": ["x"]}}}))
    sent = '{"a": "5", "b": "X"}'
    assert terminal.run(*words, sent).out == sent + "\n"
    assert terminal.run(*words, "--repair", "unquote", sent).out == '{"a": 5, "b": "X"}\n'
    assert terminal.run(*words, "--repair", "unquote,member-case", sent) == (0, '{"a": 5, "b": "x"}\n', "")
    ran = terminal.run(*words, "--repair", "unqote", sent)
    assert (ran.code, ran.out) == (2, "")
    assert "there is no repair 'unqote'; the nearest is 'unquote'" in ran.err


def test_formats_count_where_they_are_named(terminal: Terminal) -> None:
    words = ("fit", "--schema", write({"properties": {"day": {"type": "string", "format": "date"}}}))
    assert terminal.run(*words, '{"day": "x"}').code == 0
    ran = terminal.run(*words, "--formats", "date,int32", '{"day": "x"}')
    assert ran == (1, '{"day": "x"}\n', "day must be a date, YYYY-MM-DD.\n")


def test_strip_leaves_out_undeclared_names_and_may_be_repeated(terminal: Terminal) -> None:
    words = ("fit", "--schema", write(SCHEMA), "--strip", "why", "--strip", "who", "--strip", "file")
    assert terminal.run(*words, '{"why":1,"line":5.0,"file":"f","who":2}') == (0, '{"line":5,"file":"f"}\n', "")


def test_a_part_of_the_schema_that_is_not_usable_is_named_and_the_rest_counts(terminal: Terminal) -> None:
    odd = {"properties": {"line": {"type": "integer", "minimum": "low"}}}
    said = "argfit fit: schema at #/properties/line/minimum is not usable and is left out\n"
    assert terminal.run("fit", "--schema", write(odd), '{"line": 5.0}') == (0, '{"line": 5}\n', said)


@pytest.mark.parametrize(
    ("document", "words", "said"),
    [
        (
            None,
            (),
            "cannot read given.json: No such file or directory; --schema names a schema, a tool or a tools/list result",
        ),
        ("{", (), "given.json is not JSON; --schema names a schema, a tool or a tools/list result"),
        (LISTING, (), "given.json lists several tools; name one with --tool: goto, open"),
        ({"tools": [TOOL]}, ("--tool", "shut"), "given.json has no tool shut; name one with --tool: goto"),
        (True, ("--tool", "goto"), "given.json does not list tools, so --tool goto is not in it; leave --tool out"),
        (LISTING, ("--tool", "shut"), "given.json has no tool shut; name one with --tool: goto, open"),
        ({"tools": []}, (), "given.json lists no tools; --schema takes a schema, a tool or a tools/list result"),
        (SCHEMA, ("--tool", "goto"), "given.json does not list tools, so --tool goto is not in it; leave --tool out"),
        (TOOL, ("--tool", "shut"), "given.json does not list tools, so --tool shut is not in it; leave --tool out"),
    ],
    ids="missing,no json,several,not the only,no object,not there,none,schema,another tool".split(","),
)
def test_a_schema_that_cannot_be_used_is_one_line_with_the_next_step_and_exits_2(
    terminal: Terminal, document: Any, words: tuple[str, ...], said: str
) -> None:
    name = "given.json" if document is None else write(document)
    assert terminal.run("fit", "--schema", name, *words, "{}") == (2, "", f"argfit fit: {said}\n")


@pytest.mark.parametrize("document", [5, '"text"', "null", {"inputSchema": 5}])
def test_what_is_no_schema_at_all_is_one_line_and_exits_2(terminal: Terminal, document: Any) -> None:
    ran = terminal.run("fit", "--schema", write(document), "{}")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("argfit fit: ")


@pytest.mark.parametrize("arguments", ["", "{", "{'line': 5}", "{} {}", "line=5"])
def test_arguments_that_are_not_json_are_one_line_with_the_next_step_and_exit_2(
    terminal: Terminal, arguments: str
) -> None:
    said = "argfit fit: the arguments are not JSON; pass one JSON object, as in '{\"line\": 5.0}'\n"
    assert terminal.run("fit", "--schema", write(SCHEMA), arguments) == (2, "", said)
    assert terminal.run("fit", "--schema", write(SCHEMA), stdin=arguments.encode()) == (2, "", said)


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        ("sys.stdin", "stdin is closed; pass the arguments as one word: '{\"line\": 5.0}'"),
        ("sys.stdout", "stdout is closed; the fitted JSON has nowhere to go"),
    ],
)
def test_where_a_stream_is_closed_that_is_said_and_exits_2(terminal: Terminal, stream: str, said: str) -> None:
    words = () if stream == "sys.stdin" else ("{}",)
    assert terminal.run("fit", "--schema", write(SCHEMA), *words, closed=stream) == (2, "", f"argfit fit: {said}\n")


def test_a_name_with_a_line_break_stays_in_its_line(terminal: Terminal) -> None:
    ran = terminal.run("fit", "--schema", write(LISTING), "--tool", "a\nb", "{}")
    assert ran.err == "argfit fit: given.json has no tool 'a\\nb'; name one with --tool: goto, open\n"


def test_more_than_one_word_of_arguments_is_an_error_with_the_next_step(terminal: Terminal) -> None:
    said = "argfit fit: more than one ARGS; put the JSON into one word: '{\"line\": 5.0}'\n"
    assert terminal.run("fit", "--schema", write(SCHEMA), "--", "{line:", "5.0}") == (2, "", said)
