"""The terminal client and servers that do as they like: what is then on the screen."""

from pathlib import Path

import pytest
from tests.examples.screen import PROMPT, asked, comes, needs_setsid, odd, text

pytestmark = needs_setsid


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
