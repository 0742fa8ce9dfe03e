"""What the official client can send of what was typed, and as what.

Rules
- The client holds arguments as Python values, and writes them anew: an integer with its digits, any other number with
  those of a float. So 1.10 goes as 1.1, which is the same; one with more digits goes as another, and that is said.
- What it could only send as something else (null for 1e400), or not write at all, is not sent.
"""

import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from pydantic_core import to_json

_SURROGATE = re.compile("[\ud800-\udfff]")


def unsendable(arguments: Any) -> str | None:
    """Why arguments cannot be sent as they are; None where they can."""
    pending = [arguments]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            pending += [*part, *part.values()]
        elif isinstance(part, list):
            pending += part
        elif isinstance(part, str) and _SURROGATE.search(part):
            return "a character in it is only half there (a lone surrogate), and no text can be sent with that"
        elif isinstance(part, float) and not math.isfinite(part):
            return "a number in it is none that JSON has, or beyond all floats: null would be sent in its place"
    try:
        to_json(arguments)
    except ValueError:
        return "it nests deeper than the client can write, or a number in it is too long"
    return None


def rounded(text: bytes) -> Iterator[tuple[str, float]]:
    """The numbers in a JSON text that are sent as others: as written there, and as sent."""
    written: list[str] = []

    def note(digits: str) -> float:
        written.append(digits)
        return float(digits)

    try:
        json.loads(text, parse_float=note)
    except (ValueError, RecursionError):
        return
    for digits in written:
        sent = float(digits)
        try:
            same = Decimal(digits) == Decimal(repr(sent))
        except InvalidOperation:  # with an exponent that no Decimal has
            same = False
        if not same:
            yield digits, sent
