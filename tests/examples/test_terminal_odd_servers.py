"""The terminal client and servers that do as they like: what is then on the screen."""

import sys
from pathlib import Path
from typing import Any
from unicodedata import category

import pytest
from tests.examples.screen import COLOUR, PROMPT, asked, comes, configured, needs_setsid, odd, terminal, text

pytestmark = needs_setsid

STEERING = [
    character
    for character in map(chr, range(sys.maxunicode + 1))
    if category(character) in ("Cc", "Cf", "Zl", "Zp") and character not in "\t\n"
]
FORGED = "✓ bank: 3 tools"


@pytest.mark.parametrize("cursor", ["", "again"])
def test_a_listing_ends_where_its_cursor_leads_nowhere_new(tmp_path: Path, cursor: str) -> None:
    with odd(tmp_path, tools=["t"], listing={"nextCursor": cursor}, t=[text("here")]) as screen:
        assert "✓ odd: " in screen.until(PROMPT)
        assert "│ answer      here" in screen.type("t")
        assert asked(tmp_path).count("tools/list") == (2 if cursor else 1)


@pytest.mark.parametrize("code", [-32000, -32600, -32603])
def test_an_error_that_a_server_answers_is_shown_whatever_its_code_and_no_end_of_it(tmp_path: Path, code: int) -> None:
    error = {"error": {"code": code, "message": "come back later"}}
    with odd(tmp_path, tools=["t", "u"], t=[error], u=[text("here")]) as screen:
        screen.until(PROMPT)
        block = screen.type("t")
        assert f"│ error       {code}: come back later" in block
        assert "connecting" not in block
        assert "│ answer      here" in screen.type("u")
        assert asked(tmp_path).count("tools/call") == 2
        assert asked(tmp_path).count("tools/list") == 1


def test_the_last_words_of_a_server_are_shown_and_it_is_connected_again_before_the_next_line(tmp_path: Path) -> None:
    last = {"error": {"code": -32000, "message": "out of memory"}}
    with odd(tmp_path, tools=["t", "u"], t=[last, None], u=[text("here")]) as screen:
        screen.until(PROMPT)
        assert "-32000: out of memory" in screen.type("t")
        assert comes(lambda: "✗ odd went away" in screen.type("help"))
        assert "│ answer      here" in screen.type("u")
        assert asked(tmp_path).count("tools/call") == 2


def test_what_a_server_writes_neither_steers_the_terminal_nor_hides_nor_breaks_a_line(tmp_path: Path) -> None:
    every = "".join(STEERING)
    tool = {
        "name": f"a{every}b\n{FORGED}",
        "description": every,
        "inputSchema": {"type": "object", "properties": {f"c\n{every}": {}}},
    }
    said: dict[str, Any] = {
        "t": [text(f"{every}\n{FORGED}")],
        "u": [{"error": {"code": -5, "message": f"{every}\n{FORGED}"}}],
        "v": [text("", structuredContent={f"{every}\n{FORGED}": 1})],
    }
    with odd(tmp_path, tools=[tool, *said], **said) as screen:
        screen.until(PROMPT)
        before = len(screen.raw)
        for line in ("tools", *said):
            screen.type(line)
        shown = COLOUR.sub("", screen.raw[before:]).replace("\r\n", "\n")
        assert {one for one in shown if one in STEERING} == set()
        assert shown.count(r"\x1b") >= 5
        assert shown.count(r"\u202e") >= 5
        assert shown.count(r"\U000e0041") >= 5
        assert shown.count(FORGED) == 4
        assert [line for line in shown.split("\n") if line.startswith(FORGED)] == []


def test_ordinary_text_stays_readable(tmp_path: Path) -> None:
    said = "one\ttwo\r\n  naïve 日本語 👩\u200d🔬 ❤️ لی\u200cلی שלום\u00a0x"
    with odd(tmp_path, tools=["t"], t=[text(said)]) as screen:
        screen.until(PROMPT)
        block = screen.type("t")
        assert "│ answer      one     two\n" in block
        assert "\n│               naïve 日本語 👩\u200d🔬 ❤️ لی\u200cلی שלום\u00a0x\n" in block


def test_what_is_wider_than_the_terminal_goes_on_under_what_it_belongs_to(tmp_path: Path) -> None:
    wide = "日" * 29 + " " * 60 + FORGED
    tool = {"name": "t", "description": " " * 20 + f"about{wide}"}
    error = {"error": {"code": 1, "message": "x" * 200 + FORGED}}
    path = configured(tmp_path, tools=[tool, "u"], t=[text(wide, "x" * 57 * 3)], u=[error])
    with terminal(path, columns=60) as screen:
        screen.until(PROMPT)
        shown = "".join(screen.type(line) for line in ("tools", "t", "u"))
        ends = ("┌ ", "│ ", "└ ", "> ", "odd", "  ")
        assert [line for line in shown.split("\n") if not line.startswith(ends)] == []
        assert shown.count("bank") == 3
        assert max(len(line) + line.count("日") for line in shown.split("\n")) == 60


def test_what_is_no_text_or_empty_is_said_as_what_it_is(tmp_path: Path) -> None:
    data = {"type": "image", "data": "A" * 400, "mimeType": "image/png"}
    link = {"type": "resource_link", "name": "n", "uri": "file:///a"}
    inner = {"type": "resource", "resource": {"uri": "file:///b", "text": "within"}}
    blob = {"type": "resource", "resource": {"uri": "file:///c", "blob": "AAAA", "mimeType": "a/b"}}
    rows: dict[str, tuple[dict[str, Any], list[str]]] = {
        "empty": (text(""), ["answer      empty text"]),
        "refused": (text("", isError=True), ["error       empty text"]),
        "nothing": ({"result": {"content": []}}, ["answer      nothing: it has no content"]),
        "parts": (
            {"result": {"content": [data, link, inner, blob]}},
            [
                "[image, image/png, 300 bytes]",
                "[resource_link, n, file:///a]",
                "within",
                "[resource, file:///c, a/b, 3 bytes]",
            ],
        ),
        "same": (text('{"a": 1}', structuredContent={"a": 1}), ['answer      {"a": 1}\n└']),
        "other": (text("one", structuredContent={"a": "é"}), ["answer      one", 'structured  {"a": "é"}']),
        "only": ({"result": {"content": [], "structuredContent": {}}}, ["│ structured  {}"]),
    }
    with odd(tmp_path, tools=list(rows), **{name: [said] for name, (said, _) in rows.items()}) as screen:
        screen.until(PROMPT)
        for name, (_, shown) in rows.items():
            block = screen.type(name)
            assert [words for words in shown if words not in block] == []
            assert block.count("nothing: ") == (name == "nothing")


def test_a_listing_or_an_answer_that_is_none_is_named_with_its_place_in_one_line(tmp_path: Path) -> None:
    with odd(tmp_path, tools=[{"name": "a", "inputSchema": {"type": "object", "required": "y"}}]) as screen:
        shown = screen.until(PROMPT)
        assert (
            "✗ odd cannot be reached: ListToolsResult is not as it should be: tools.0.inputSchema.required: " in shown
        )
        assert "errors.pydantic.dev" not in shown
        assert "no server is connected; `servers` tries again" in screen.type("tools")
    with odd(tmp_path, tools=["t", "u"], t=[{"result": {"content": 5}}], u=[text("here")]) as screen:
        screen.until(PROMPT)
        assert "is not as it should be: content: " in screen.type("t")
        assert "│ answer      here" in screen.type("u")


def test_the_data_of_an_error_is_shown(tmp_path: Path) -> None:
    error = {"error": {"code": -32602, "message": "no", "data": {"where": "line"}}}
    with odd(tmp_path, tools=["t"], t=[error]) as screen:
        screen.until(PROMPT)
        assert '│ error       -32602: no\n│ data        {"where": "line"}\n' in screen.type("t")


def test_what_a_server_last_wrote_about_itself_is_shown_where_it_ended(tmp_path: Path) -> None:
    with odd(tmp_path, tools=["t"], stderr="starting\nno such table\x1b[2J\n\n", t=[None]) as screen:
        screen.until(PROMPT)
        for _ in range(2):
            block = screen.type("t")
            assert r"may or may not have been made; its last words: no such table\x1b[2J" in block
            assert "✓ odd: 1 tool\n" in block
    with odd(tmp_path, tools=5, stderr="starting\n") as screen:
        assert "cannot be reached: Connection closed; its last words: TypeError: " in screen.until(PROMPT)


def test_what_a_server_writes_between_its_messages_is_noted_once_and_no_traceback(tmp_path: Path) -> None:
    with odd(tmp_path, tools=["t"], t=["listening \x1b[2J", "[1]", "{}", text("here")]) as screen:
        screen.until(PROMPT)
        block = screen.type("t")
        assert "note: Failed to parse JSONRPC message" in block
        assert "│ answer      here" in block
        assert "Traceback" not in block
        assert "note: " not in screen.type("t")


def test_a_server_that_writes_what_is_no_text_is_heard_all_the_same(tmp_path: Path) -> None:
    with odd(tmp_path, tools=["t", "u"], t=["caf\xe9", text("here")], u=[text("there")]) as screen:
        screen.until(PROMPT)
        assert "│ answer      here" in screen.type("t")
        assert "│ answer      there" in screen.type("u")


def test_ctrl_c_leaves_a_call_and_not_the_session(tmp_path: Path) -> None:
    with odd(tmp_path, tools=["hangs", "t"], hangs=[], t=[text("here")]) as screen:
        screen.until(PROMPT)
        screen.press(b"hangs\n")
        screen.until("dispatched")
        assert comes(lambda: "tools/call" in asked(tmp_path))
        screen.press(b"\x03")
        assert "└ left after " in screen.until(PROMPT)
        assert "│ answer      here" in screen.type("t")


@pytest.mark.parametrize("method", ["elicitation/create", "sampling/createMessage", "roots/list", "ping", "unheard/of"])
def test_a_server_that_asks_back_in_a_call_is_answered_and_the_call_goes_on(tmp_path: Path, method: str) -> None:
    asks = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {"message": "?", "messages": [], "maxTokens": 1}}
    with odd(tmp_path, tools=["t"], t=[asks, text("here")]) as screen:
        screen.until(PROMPT)
        assert "│ answer      here" in screen.type("t")
        assert comes(lambda: "answer" in asked(tmp_path))
