"""The calls as a table: sent, dispatched, came back. Plain text for a terminal of 80 to 100 columns."""

import shutil
import textwrap

from conversation import Seen, spelled

INDENT = "  "
LEFT = len(INDENT) + 8 + 5 + 10 + 2 + 9  # sent, arrow, dispatched, gap, verdict


def width() -> int:
    """The terminal's width, held between 80 and 100."""
    return min(max(shutil.get_terminal_size((96, 24)).columns, 80), 100)


def cut(text: str, columns: int) -> list[str]:
    """A text cut to two lines (three where they are narrow), its white space folded."""
    lines = 2 if columns >= 50 else 3
    return textwrap.wrap(" ".join(text.split()), columns, max_lines=lines, placeholder="...")


def header(argument: str) -> list[str]:
    """The names of the columns; the first two show one argument."""
    return [f"{INDENT}{argument}", f"{INDENT}{'sent':<13}{'dispatched':<12}came back", "-" * width()]


def row(title: str, seen: Seen, argument: str, *, as_stated: bool) -> list[str]:
    """One call: its title, then the argument as sent and as dispatched, and the answer beside them."""
    mark = "as stated" if as_stated else "NOT AS STATED"
    sent, dispatched = spelled(seen.sent, argument), spelled(seen.dispatched, argument)
    arrow = "  =  " if sent == dispatched else " ==> "
    left = f"{INDENT}{sent:<8}{arrow}{dispatched:<10}  {seen.verdict:<9}"
    text = [line for block in seen.answer or ("(no text)",) for line in cut(block, width() - LEFT)]
    return [
        f"{title:<{width() - len(mark)}}{mark}",
        left + text[0],
        *(" " * LEFT + line for line in text[1:]),
    ]
