"""What reaches the screen: all of it passes here, and nothing that a server or a user wrote steers the terminal.

Rules
- A line is pieces of text, each in a colour. The colours are ours. What is in the text and would steer the terminal,
  turn the direction of writing, hide or break a line is spelled out, by its Unicode category, so that none is missed.
- A zero-width joiner or non-joiner stays where it joins: between letters or emoji, and not in ASCII.
- A line that is wider than the terminal goes on below what it hangs under, as one with line breaks does: no text begins
  a line, so none can be taken for one of ours.
"""

import os
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple
from unicodedata import category, east_asian_width

PLAIN, BOLD, DIM, RED, GREEN, YELLOW = "0", "1", "2", "31", "32", "33"
_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")  # controls, formats, surrogates, line and paragraph separators
_JOINERS = ("\u200c", "\u200d")
_WIDE = "\ufe0f"  # asks for a character's emoji, which is wider
_BREAK = re.compile("\r?\n")
_WORD = 24  # characters of a word that is not cut at the end of a line
_NARROWEST = 40  # columns; in fewer, the terminal folds


class Line(NamedTuple):
    """A line as it is meant: pieces of text with their colours, and what stands before all that does not fit on it."""

    pieces: tuple[tuple[str, str], ...]
    under: str = "    "
    breaks: bool = False  # whether line breaks and tabs in it count as such


def line(text: str, colour: str = PLAIN) -> Line:
    """A line in one colour."""
    return Line(((text, colour),))


def show(*lines: Line) -> None:
    """Write lines to the screen."""
    room = _room()
    for one in lines:
        for written in _written(one, room):
            print(written)


def plain(text: str) -> str:
    """Text with all spelled out that would steer a terminal, break a line or not be seen."""
    if text.isprintable():
        return text
    return "".join(_spelled(text, at) for at in range(len(text)))


def _spelled(text: str, at: int) -> str:
    one = text[at]
    if category(one) not in _STEERING or (
        one in _JOINERS and _joins(text[at - 1 : at]) and _joins(text[at + 1 : at + 2])
    ):
        return one
    code = ord(one)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _joins(one: str) -> bool:
    return one > "\x7f" and category(one) not in _STEERING and not one.isspace()


def _room() -> int:
    """The columns that there are; 0 where nothing is folded."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return 0
    return columns if columns >= _NARROWEST else 0


def _written(meant: Line, room: int) -> Iterator[str]:
    """The lines on the screen that one becomes."""
    written, used = "", 0
    for text, colour in meant.pieces:
        for count, part in enumerate(_BREAK.split(text) if meant.breaks else [text]):
            if count:
                yield written
                written, used = meant.under, len(meant.under)
            seen = plain(part.expandtabs() if meant.breaks else part)
            for more, fitting, width in _folded(seen, used, room, len(meant.under)):
                if more:
                    yield written
                    written = meant.under
                written += _coloured(fitting, colour)
                used = width
    yield written


def _folded(text: str, used: int, room: int, hanging: int) -> Iterator[tuple[bool, str, int]]:
    """What of a text goes on this line and what on further ones; with whether it is further, and the columns used."""
    start, further = 0, False
    for at, one in enumerate(text if room else ""):
        width = _width(one)
        if used + width > room:
            space = text.rfind(" ", max(start, at - _WORD), at) + 1
            yield further, text[start : space or at], used
            start, further = space or at, True
            used = hanging + sum(map(_width, text[start:at]))
        used += width
    yield further, text[start:], used


def _width(one: str) -> int:
    if one < "\x7f":
        return 1
    if one == _WIDE or category(one) not in ("Mn", "Me"):
        return 2 if east_asian_width(one) in ("W", "F") else 1
    return 0


def _coloured(text: str, colour: str) -> str:
    shown = sys.stdout.isatty() and "NO_COLOR" not in os.environ and colour != PLAIN and text
    return f"\x1b[{colour}m{text}\x1b[0m" if shown else text
