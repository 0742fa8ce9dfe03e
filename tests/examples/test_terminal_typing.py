"""What is typed in the terminal client: lines as people write them, and what is sent of them."""

import json
import os
import subprocess
from pathlib import Path

from tests.examples.screen import CLIENT, PROMPT, ROOT, configured, needs_setsid, odd, text

pytestmark = needs_setsid

LOOSE = {"type": "object", "properties": {name: {} for name in ("filter", "names", "note")}}
STRICT = {"type": "object", "properties": {"filter": {"type": "object"}, "names": {"type": "array"}}}


def sent(block: str) -> object:
    """The arguments that a block says were dispatched."""
    line = next(line for line in block.splitlines() if line.startswith("│ dispatched  "))
    return json.loads(line.removeprefix("│ dispatched  "))


def test_a_value_keeps_its_quotes_within_brackets_and_in_words_and_loses_those_around_it(tmp_path: Path) -> None:
    rows: dict[str, str] = {
        'note="two words"': "two words",
        "note='two \"words\"'": 'two "words"',
        r'note="a \"b\" \\ \n"': r'a "b" \ \n',
        'note=""': "",
        "note=": "",
        "note=don't": "don't",
        'note=5"': '5"',
        'note=say"cheese"': 'say"cheese"',
        r"note=C:\dir\x": r"C:\dir\x",
        "note=a=b": "a=b",
        "note=[a-z]+": "[a-z]+",
        'note={"a":"b c","d":["}", 1]}': '{"a":"b c","d":["}", 1]}',
        'note=["it\'s", "x y"]': '["it\'s", "x y"]',
    }
    with odd(tmp_path, tools=[{"name": "t", "inputSchema": LOOSE}], t=[text("here")]) as screen:
        screen.until(PROMPT)
        for typed, value in rows.items():
            assert sent(screen.type(f"t {typed}")) == {"note": value}
        together = {"filter": '{"a": "b c"}', "names": "x y", "note": "z"}
        assert sent(screen.type('t filter={"a": "b c"}  names=\'x y\' note=z')) == together


def test_a_value_in_brackets_becomes_what_it_spells_where_the_schema_wants_that(tmp_path: Path) -> None:
    with odd(tmp_path, tools=[{"name": "t", "inputSchema": STRICT}], t=[text("here")]) as screen:
        screen.until(PROMPT)
        block = screen.type('t filter={"a": "b c"} names=["x", "y z"]')
        assert sent(block) == {"filter": {"a": "b c"}, "names": ["x", "y z"]}


def test_a_line_that_cannot_be_read_is_not_sent_and_says_how_to_write_it(tmp_path: Path) -> None:
    rows = {
        'note="b c': "a quote of 'note' is not closed; write it as note='a value'",
        "note='tis": "a quote of 'note' is not closed; write it as note='a value'",
        'note={"a": "b}': "a quote of 'note' is not closed; as plain text, write it as note='a value'",
        "note=[draft": "a bracket of 'note' is not closed; as plain text, write it as note='a value'",
        'note="a","b"': "follows a quote that is closed; quote all of 'note', or none of it",
        "note=two words": "'words' is no argument; write name=value, or name='a value' where there are spaces",
    }
    with odd(tmp_path, tools=["t"], t=[text("here")]) as screen:
        screen.until(PROMPT)
        for typed, words in rows.items():
            shown = screen.type(f"t {typed}")
            assert words in shown
            assert "dispatched" not in shown


def test_a_long_line_is_read_in_time_that_grows_with_its_length(tmp_path: Path) -> None:
    path = configured(tmp_path, tools=["t"], t=[text("here")])
    listed = "[" + '"a b",' * 200_000 + "1]"
    run = subprocess.run(
        [*CLIENT, str(path)],
        input=f"t note={listed} other='{'a' * 4_000_000}' more={'b' * 4_000_000}\n",
        cwd=ROOT / "examples" / "terminal",
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0
    assert "answer      here" in run.stdout


def test_a_tool_is_called_by_its_whole_name_whatever_is_in_it(tmp_path: Path) -> None:
    tools = ["get", "get it", "a/b", "odd/a"]
    with odd(tmp_path, tools=tools, **{name: [text(f"of {name}")] for name in tools}) as screen:
        screen.until(PROMPT)
        for called, tool in {
            "get": "get",
            "get it": "get it",
            "! get it": "get it",
            "odd/get it x=1": "get it",
            "a/b": "a/b",
            "odd/a/b": "a/b",
            "odd/odd/a": "odd/a",
            "odd/a": "odd/a",
            "get ite=1": "get",
        }.items():
            assert f"│ answer      of {tool}\n" in screen.type(called)


def test_a_tool_that_is_not_there_is_called_of_a_server_on_purpose_only(tmp_path: Path) -> None:
    with odd(tmp_path, tools=["t"], new=[text("here")]) as screen:
        screen.until(PROMPT)
        assert "no server has a tool 'new'" in screen.type("!new")
        assert "odd lists no tool 'new'; with `!` before it, it is called all the same" in screen.type("odd/new")
        assert "│ answer      here" in screen.type("!odd/new")
        assert "no tool is named" in screen.type("!")
        assert "no tool is named" in screen.type("odd/")
