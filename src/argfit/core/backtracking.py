"""Patterns that a backtracking engine (JavaScript's, Python's) may take exponential time for.

Rules
- What is looked for is a loop that can go through the same text in two ways. A part of its body that may take more or
  less (or nothing, in two ways) could as well take what comes after it, or what begins the next round.
- A loop whose every round holds a mark that nothing else in it takes, such as `(?:[a-z]+-)*`, has its rounds told
  apart by the mark: there only two such parts side by side are a hazard, also across the mark of the next round.
- A pattern that Python cannot read is not looked at: its syntax is another engine's.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from re import _constants as op  # type: ignore[attr-defined] # the parser of `re`; there is no public one
from re import _parser  # type: ignore[attr-defined]
from typing import Any

Chars = frozenset[int]

_LOOPS = (op.MAX_REPEAT, op.MIN_REPEAT)  # a possessive loop never goes back
_GROUPS = (op.SUBPATTERN, op.BRANCH, op.ATOMIC_GROUP, *_LOOPS)
_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    op.CATEGORY_DIGIT: str.isdigit,
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_WORD: lambda letter: letter.isalnum() or letter == "_",
}
_OPPOSITES = {
    op.CATEGORY_NOT_DIGIT: op.CATEGORY_DIGIT,
    op.CATEGORY_NOT_SPACE: op.CATEGORY_SPACE,
    op.CATEGORY_NOT_WORD: op.CATEGORY_WORD,
}
MAX_LETTER = 0x10FFFF  # Unicode
MANY = 4  # rounds: so many of a body with two ways take the fourth power of the text's length
SIDE_BY_SIDE = 4  # loops that could take what the next one takes: likewise
LONGEST = 5_000  # characters; a longer pattern is not looked at


def backtracks(pattern: str) -> bool:
    """Whether a pattern has a loop that can go through the same text in more than one way."""
    if len(pattern) > LONGEST:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = _parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return _Reading(parsed).is_ambiguous(parsed)


class _Reading:
    """One pattern, over the letters that it tells apart."""

    def __init__(self, parsed: Any) -> None:
        flags = parsed.state.flags
        self._folds = bool(flags & re.IGNORECASE)
        self._dot_takes_all = bool(flags & re.DOTALL)
        named = {code for literal in _literals(parsed) for code in (literal - 1, literal, literal + 1)}
        letters = {*range(0x80), 0xE9, 0x3B1, 0x4E2D, *(code for code in named if 0 <= code <= MAX_LETTER)}
        self._letters: Chars = frozenset(letters)

    def is_ambiguous(self, parts: Any) -> bool:
        """Whether a sequence of parts holds what may take exponential time, or a high power."""
        if self._row(parts) >= SIDE_BY_SIDE:
            return True
        for code, argument in parts:
            if code in _LOOPS and argument[1] >= MANY and self._has_two_ways(argument[2], argument[0]):
                return True
            if any(self.is_ambiguous(inner) for inner in _inside(code, argument)):
                return True
        return False

    def _has_two_ways(self, body: Any, least: int) -> bool:
        """Whether rounds of a body, so many at least, can go through one text in more than one way."""
        body = _opened(body)
        if self._two_ways_to_be_empty(body):
            return True
        if self._is_marked(body):
            return self._touching(body)
        if least < MANY and len(body) == 1 and body[0][0] in _LOOPS and body[0][1][:2] == (0, 1):
            return self._has_two_ways(body[0][1][2], least)  # a round that takes nothing is no round
        meetings = self._meetings(body, self._first(body)[0])
        return any(not one.isdisjoint(after) for one, after in meetings) or self._branches_alike(body)

    def _row(self, parts: Any) -> int:
        """How many loops without a bound stand side by side, each of which could take what the next one takes."""
        longest, row, before = 0, 0, frozenset[int]()
        for code, argument in _opened(parts):
            chars, may_be_empty = self._first_of(code, argument)
            endless = code in _LOOPS and argument[1] is op.MAXREPEAT
            if endless:
                row = row + 1 if not before.isdisjoint(chars) else 1
                before = chars
                longest = max(longest, row)
            elif not may_be_empty and not chars <= before:
                row, before = 0, frozenset()
        return longest

    def _is_marked(self, body: Any) -> bool:
        """Whether each round holds, once for sure, what nothing else in the round takes."""
        for index, (code, argument) in enumerate(body):
            chars, may_be_empty = self._first_of(code, argument)
            if may_be_empty or code in (*_LOOPS, op.BRANCH):
                continue
            others = [self._all_of(*other) for place, other in enumerate(body) if place != index]
            if chars and all(chars.isdisjoint(other) for other in others):
                return True
        return False

    def _touching(self, parts: Any, *, goes_on: bool = True) -> bool:
        """Whether two parts that may take more or less stand side by side, and could take the same."""
        row = [self._first_of(*part)[0] if _varies(*part) else None for part in parts]
        if any(
            self._touching(_opened(inner), goes_on=False)
            for code, argument in parts
            if code in _GROUPS
            for inner in _inside(code, argument)
        ):
            return True
        around = [*row, row[0]] if goes_on and len(row) > 1 else row
        return any(one and other and not one.isdisjoint(other) for one, other in pairwise(around))

    def _two_ways_to_be_empty(self, parts: Any) -> bool:
        for code, argument in parts:
            inner = _inside(code, argument)
            empties = [part for part in inner if self._first(part)[1]]
            if code is op.BRANCH and len(empties) > 1:
                return True
            if code in _LOOPS and argument[0] == 0 and argument[1] > 0 and empties:
                return True
            if any(self._two_ways_to_be_empty(part) for part in inner):
                return True
        return False

    def _meetings(self, parts: Any, after: Chars) -> Iterator[tuple[Chars, Chars]]:
        """For each part that may take more or less: what it takes, and what may come after it, next round included."""
        parts = list(parts)
        for index, (code, argument) in enumerate(parts):
            following, may_end = self._first(parts[index + 1 :])
            ahead = following | after if may_end else following
            chars, may_be_empty = self._first_of(code, argument)
            if (code in _LOOPS and argument[1] > argument[0]) or (code is op.BRANCH and may_be_empty):
                yield chars, ahead
            if code in _GROUPS:
                for inner in _inside(code, argument):
                    yield from self._meetings(inner, ahead)

    def _branches_alike(self, parts: Any) -> bool:
        for code, argument in parts:
            if code is op.BRANCH and self._alike(argument[1]):
                return True
            if any(self._branches_alike(inner) for inner in _inside(code, argument)):
                return True
        return False

    def _alike(self, branches: Any) -> bool:
        """Whether two branches could take the same text, as far as their first letters say."""
        texts = [text for branch in branches if (text := _text(branch)) is not None]
        if len(texts) == len(branches):
            return len(set(texts)) < len(texts) or any(_is_made_of(text, texts) for text in texts)
        seen: Chars = frozenset()
        for branch in branches:
            first = self._first(branch)[0]
            if not seen.isdisjoint(first):
                return True
            seen |= first
        return False

    # -- letters --------------------------------------------------------------------------------------

    def _first(self, parts: Any) -> tuple[Chars, bool]:
        """The letters that a sequence may begin with, and whether it may be empty."""
        found: Chars = frozenset()
        for code, argument in parts:
            chars, empty = self._first_of(code, argument)
            found |= chars
            if not empty:
                return found, False
        return found, True

    def _first_of(self, code: Any, argument: Any) -> tuple[Chars, bool]:
        inner = [self._first(part) for part in _inside(code, argument)]
        if code is op.BRANCH:
            return frozenset().union(*(chars for chars, _ in inner)), any(empty for _, empty in inner)
        if code in _LOOPS or code is op.POSSESSIVE_REPEAT:
            return inner[0][0], inner[0][1] or argument[0] == 0
        if code in (op.SUBPATTERN, op.ATOMIC_GROUP):
            return inner[0]
        chars = self._letters_of(code, argument)
        return (chars, False) if chars is not None else (frozenset(), True)

    def _all_of(self, code: Any, argument: Any) -> Chars:
        """All letters that a part may take anywhere."""
        own = self._letters_of(code, argument) or frozenset()
        inner = (self._all_of(*part) for parts in _inside(code, argument) for part in parts)
        return own.union(*inner)

    def _letters_of(self, code: Any, argument: Any) -> Chars | None:
        """The letters of a part that takes one letter; None for anchors, look-arounds and references back."""
        if code is op.LITERAL:
            return self._folded(frozenset((argument,)))
        if code is op.NOT_LITERAL:
            return self._letters - {argument}
        if code is op.ANY:
            return self._letters if self._dot_takes_all else self._letters - {ord("\n")}
        return self._folded(self._class(argument)) if code is op.IN else None

    def _folded(self, chars: Chars) -> Chars:
        if not self._folds:
            return chars
        other = {ord(case) for code in chars for case in (chr(code).lower(), chr(code).upper()) if len(case) == 1}
        return chars | other

    def _class(self, parts: Any) -> Chars:
        found: Chars = frozenset()
        for code, argument in parts:
            if code is op.LITERAL:
                found |= {argument}
            elif code is op.RANGE:
                low, high = argument
                found |= frozenset(letter for letter in self._letters if low <= letter <= high)
            elif code is op.CATEGORY:
                holds = _CATEGORIES.get(_OPPOSITES.get(argument, argument), str.isalnum)
                taken = frozenset(letter for letter in self._letters if holds(chr(letter)))
                found |= self._letters - taken if argument in _OPPOSITES else taken
        return self._letters - found if parts and parts[0][0] is op.NEGATE else found


# -- the shape of a parsed pattern ------------------------------------------------------------------------


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


def _opened(parts: Any) -> list[Any]:
    """The parts with those of plain groups in their place."""
    found: list[Any] = []
    for code, argument in parts:
        found += _opened(argument[3]) if code is op.SUBPATTERN else [(code, argument)]
    return found


def _varies(code: Any, argument: Any) -> bool:
    return code in _LOOPS and bool(argument[1] > argument[0])


def _literals(parts: Any) -> Iterator[int]:
    """The letters that a pattern names: literals, and the ends of ranges."""
    for code, argument in parts:
        if code in (op.LITERAL, op.NOT_LITERAL):
            yield argument
        elif code is op.RANGE:
            yield from argument
        elif code is op.IN:
            yield from _literals(argument)
        for inner in _inside(code, argument):
            yield from _literals(inner)


def _text(branch: Any) -> str | None:
    """The text that a branch spells, if it spells one."""
    parts = list(branch)
    return "".join(chr(argument) for _, argument in parts) if all(code is op.LITERAL for code, _ in parts) else None


def _is_made_of(text: str, others: list[str]) -> bool:
    """Whether a text can be put together from other texts of a list."""
    reached = {0}
    for end in range(1, len(text) + 1):
        if any(
            part and part != text and end >= len(part) and end - len(part) in reached and text[:end].endswith(part)
            for part in others
        ):
            reached.add(end)
    return bool(text) and len(text) in reached
