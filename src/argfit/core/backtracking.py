"""Patterns that a backtracking engine (JavaScript's, Python's) may take exponential time for.

Rules
- What is looked for is a loop that can go through the same text in two ways: a part of its body that may take
  more or less could as well take what comes after it, or what begins the next round; or branches begin alike.
- A loop that takes one way or another but never both, such as `(?:[a-z]+-)*`, is no hazard.
- A pattern that Python cannot read is not looked at: its syntax is another engine's.
"""

import re
import warnings
from collections.abc import Iterator
from re import _constants as op  # type: ignore[attr-defined] # the parser of `re`; there is no public one
from re import _parser  # type: ignore[attr-defined]
from typing import Any

Chars = frozenset[int]

_ALPHABET = frozenset(range(0x80)) | {0xE9, 0x3B1, 0x4E2D}  # ASCII, and some letters for all the others
_CATEGORIES = {
    op.CATEGORY_DIGIT: frozenset(code for code in _ALPHABET if chr(code).isdigit()),
    op.CATEGORY_SPACE: frozenset(code for code in _ALPHABET if chr(code).isspace()),
    op.CATEGORY_WORD: frozenset(code for code in _ALPHABET if chr(code).isalnum() or chr(code) == "_"),
}
_OPPOSITES = {
    op.CATEGORY_NOT_DIGIT: op.CATEGORY_DIGIT,
    op.CATEGORY_NOT_SPACE: op.CATEGORY_SPACE,
    op.CATEGORY_NOT_WORD: op.CATEGORY_WORD,
}
_LOOPS = (op.MAX_REPEAT, op.MIN_REPEAT)  # a possessive loop never goes back
MANY = 10  # rounds from which a bounded loop is as bad as one without a bound


def backtracks(pattern: str) -> bool:
    """Whether a pattern has a loop that can go through the same text in more than one way."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = _parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return any(_ambiguous(body) for body in _loops(parsed))


def _loops(parsed: Any) -> Iterator[Any]:
    """The bodies of the loops that go round often."""
    for code, argument in parsed:
        if code in _LOOPS and argument[1] >= MANY:
            yield argument[2]
        for inner in _inside(code, argument):
            yield from _loops(inner)


def _inside(code: Any, argument: Any) -> list[Any]:
    if code in _LOOPS or code is op.POSSESSIVE_REPEAT:
        return [argument[2]]
    if code is op.SUBPATTERN:
        return [argument[3]]
    if code is op.BRANCH:
        return list(argument[1])
    if code in (op.ASSERT, op.ASSERT_NOT):
        return [argument[1]]
    return [argument] if code is op.ATOMIC_GROUP else []


def _ambiguous(body: Any) -> bool:
    return any(not last.isdisjoint(after) for last, after in _meetings(body, _first(body)[0])) or _branches_alike(body)


def _meetings(parts: Any, after: Chars) -> Iterator[tuple[Chars, Chars]]:
    """For each part that may take more or less: what it takes, and what may come after it, also in the next round."""
    parts = list(parts)
    for index, (code, argument) in enumerate(parts):
        following, may_end = _first(parts[index + 1 :])
        ahead = following | after if may_end else following
        chars, may_be_empty = _first_of(code, argument)
        if (code in _LOOPS and argument[1] > argument[0]) or (code is op.BRANCH and may_be_empty):
            yield chars, ahead
        if code in (op.SUBPATTERN, op.BRANCH, op.ATOMIC_GROUP, *_LOOPS):
            for inner in _inside(code, argument):
                yield from _meetings(inner, ahead)


def _branches_alike(parts: Any) -> bool:
    for code, argument in parts:
        if code is op.BRANCH:
            seen: Chars = frozenset()
            for branch in argument[1]:
                first = _first(branch)[0]
                if not seen.isdisjoint(first):
                    return True
                seen |= first
        if any(_branches_alike(inner) for inner in _inside(code, argument)):
            return True
    return False


def _first(parts: Any) -> tuple[Chars, bool]:
    """The characters that a sequence may begin with, and whether it may be empty."""
    found: Chars = frozenset()
    for code, argument in parts:
        chars, empty = _first_of(code, argument)
        found |= chars
        if not empty:
            return found, False
    return found, True


def _first_of(code: Any, argument: Any) -> tuple[Chars, bool]:
    if code is op.LITERAL:
        return frozenset((argument,)), False
    if code is op.NOT_LITERAL:
        return _ALPHABET - {argument}, False
    if code is op.ANY:
        return _ALPHABET - {ord("\n")}, False
    if code is op.IN:
        return _class(argument), False
    if code is op.BRANCH:
        firsts = [_first(branch) for branch in argument[1]]
        return frozenset().union(*(chars for chars, _ in firsts)), any(empty for _, empty in firsts)
    if code in _LOOPS or code is op.POSSESSIVE_REPEAT:
        chars, empty = _first(argument[2])
        return chars, empty or argument[0] == 0
    if code in (op.SUBPATTERN, op.ATOMIC_GROUP):
        return _first(_inside(code, argument)[0])
    return frozenset(), True  # an anchor, a look-around, a reference back


def _class(parts: Any) -> Chars:
    found: Chars = frozenset()
    for code, argument in parts:
        if code is op.LITERAL:
            found |= {argument}
        elif code is op.RANGE:
            low, high = argument
            found |= frozenset(letter for letter in _ALPHABET if low <= letter <= high)
        elif code is op.CATEGORY:
            opposite = _OPPOSITES.get(argument)
            found |= _ALPHABET - _CATEGORIES[opposite] if opposite else _CATEGORIES.get(argument, frozenset())
    return _ALPHABET - found if parts and parts[0][0] is op.NEGATE else found
