"""The catalogue of problems: every maker's words are pinned here, and every code has a maker."""

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from argfit.core import problem
from argfit.core.choices import TEXT_FORMATS
from argfit.core.judge import meets
from argfit.core.problem import CODES, Bounds, Path, Problem, fold, message, show_number, show_path

AT: Path = ("limit",)
WHOLE, ANY = ("integer",), ("number",)
MANY = [f"m{i}" for i in range(145)]

# What only a host framework's own binding refuses is said by that framework's adapter.
MADE_ELSEWHERE = {"binder"}

Maker = Callable[..., Problem]


class Pin(NamedTuple):
    """A maker called, and the words that come of it."""

    words: str
    maker: Maker
    made: Problem


def pin(words: str, maker: Maker, *args: Any, **named: Any) -> Pin:
    return Pin(words, maker, maker(AT, *args, **named))


def of_type(words: str, types: list[str], format: str | None = None, *, null_counts: bool = True) -> Pin:
    return pin(words, problem.wrong_type, types, format, null_counts=null_counts)


def too_low(words: str, types: tuple[str, ...], bounds: Bounds) -> Pin:
    return pin(words, problem.out_of_bounds, types, bounds, too_low=True)


def too_high(words: str, types: tuple[str, ...], bounds: Bounds) -> Pin:
    return pin(words, problem.out_of_bounds, types, bounds, too_low=False)


PINNED: dict[str, list[Pin]] = {
    "type": [
        of_type("must be a whole number", ["integer"]),
        of_type("must be a number", ["number"]),
        of_type("must be text", ["string"]),
        of_type("must be true or false", ["boolean"]),
        of_type("must be a list", ["array"]),
        of_type("must be an object", ["object"]),
        of_type("must be null", ["null"], null_counts=False),
        of_type("must be a whole number", ["integer", "null"], null_counts=False),
        of_type("must be a whole number or null", ["integer", "null"]),
        of_type("must be a whole number, text or a list", ["integer", "string", "array", "string"]),
        of_type("must be a date, YYYY-MM-DD", ["string"], "date"),
        of_type("must be a date and time, YYYY-MM-DDThh:mm:ssZ", ["string"], "date-time"),
        of_type("must be a time, hh:mm:ssZ", ["string"], "time"),
        of_type("must be an id", ["string"], "uuid"),
        of_type("must be text", ["string"], "uri"),
    ],
    "minimum": [
        too_low("must be a whole number from -2147483648 to 2147483647", WHOLE, Bounds(-(2**31), 2**31 - 1)),
        too_low("must be a whole number of at least 1", WHOLE, Bounds(1)),
        too_low("must be a whole number of at least 1", WHOLE, Bounds(0, open_low=True)),
        too_low("must be a whole number from 1 to 8", WHOLE, Bounds(0, 9, open_low=True, open_high=True)),
        too_low("must be a number from 0 to 1.5", ANY, Bounds(0, 1.5)),
        too_low("must be a number of at least 0.5", ANY, Bounds(0.5)),
        too_low("must be more than 0", ANY, Bounds(0, open_low=True)),
        too_low("must be more than 0 and at most 1", ANY, Bounds(0, 1, open_low=True)),
    ],
    "maximum": [
        too_high("must be a whole number of at most 9", WHOLE, Bounds(None, 9)),
        too_high("must be a whole number of at most 8", WHOLE, Bounds(None, 9, open_high=True)),
        too_high("must be a number from 0 to 1.5", ANY, Bounds(0, 1.5)),
        too_high("must be a number of at most 9", ANY, Bounds(None, 9.0)),
        too_high("must be less than 1", ANY, Bounds(None, 1, open_high=True)),
        too_high("must be at least 0 and less than 1", ANY, Bounds(0, 1, open_high=True)),
        too_high("must be more than 0 and less than 1", ANY, Bounds(0, 1, open_low=True, open_high=True)),
    ],
    "required": [
        pin("is required", problem.missing),
        pin("is required with page", problem.missing, "page"),
        pin('is required with "a b"', problem.missing, "a b"),
    ],
    "unknown": [
        pin("is not an argument of this tool", problem.unknown, []),
        pin("is not an argument of this tool (did you mean Limit?)", problem.unknown, ["Limit"]),
    ],
    "enum": [
        pin("must be one of: a, b", problem.not_a_member, ["a", "b"], "c"),
        pin("must be one of: a, b (did you mean a?)", problem.not_a_member, ["a", "b"], "A", ["a", "b"]),
        pin('must be one of: 1, 2.5, null, true, ""', problem.not_a_member, [1, 2.5, None, True, ""], 0),
        pin(f"must be one of: {', '.join(MANY[:12])}", problem.not_a_member, MANY[:12], 0),
        pin(f"must be one of: {', '.join(MANY[:12])}, … (133 more)", problem.not_a_member, MANY, 0),
    ],
    "const": [
        pin("must be v1", problem.not_a_member, ["v1"], "v2"),
        pin('must be {"a": [1]}', problem.not_a_member, [{"a": [1]}], "v2"),
        pin(f"must be {'x' * 64}…", problem.not_a_member, ["x" * 65], "v2"),
    ],
    "length": [
        pin("must not be empty", problem.wrong_length, 1, None, 0),
        pin("must be at least 2 characters", problem.wrong_length, 2, 5, 1),
        pin("must be at most 5 characters", problem.wrong_length, 2, 5, 6),
        pin("must be at most 1 character", problem.wrong_length, 0, 1, 2),
    ],
    "items": [
        pin("must not be empty", problem.wrong_count, 1, None, 0),
        pin("must have at least 2 items", problem.wrong_count, 2, None, 0),
        pin("must have at most 1 item", problem.wrong_count, 0, 1, 2),
        pin("must have from 2 to 5 items", problem.wrong_count, 2, 5, 6),
    ],
    "unique": [pin("must not repeat an item", problem.repeated)],
    "pattern": [pin("must match the pattern ^[a-z]+$", problem.off_pattern, "^[a-z]+$")],
    "format": [
        pin("must be a date, YYYY-MM-DD", problem.off_format, "date"),
        pin("must be a date and time, YYYY-MM-DDThh:mm:ssZ", problem.off_format, "date-time"),
        pin("must be a time, hh:mm:ssZ", problem.off_format, "time"),
        pin("must be an id", problem.off_format, "uuid"),
        pin("must be a web address", problem.off_format, "uri"),
        pin("must be an e-mail address", problem.off_format, "email"),
        pin("is not in an allowed form", problem.off_format, "hostname"),
    ],
    "multiple": [
        pin("must be a multiple of 5", problem.not_multiple, 5),
        pin("must be a multiple of 0.5", problem.not_multiple, 0.5),
    ],
    "union": [
        pin("needs a or b", problem.needs_one, [["a"], ["b"]]),
        pin('needs a and b, c or "d e"', problem.needs_one, [["a", "b"], ["c"], ["d e"], ["c"]]),
        pin("fits more than one of the allowed shapes", problem.ambiguous),
    ],
    "not": [
        pin("is not in an allowed form", problem.other),
        pin("must not be sent", problem.forbidden),
        of_type("is not in an allowed form", []),
        pin("is not in an allowed form", problem.not_a_member, [], "v2"),
    ],
    "arguments": [Pin("must be an object", problem.not_an_object, problem.not_an_object())],
}


@pytest.mark.parametrize("code", PINNED)
def test_the_words_of_a_code_are_pinned(code: str) -> None:
    rows = PINNED[code]
    assert [row.made.words for row in rows] == [row.words for row in rows]
    assert {row.made.code for row in rows} == {code}


def test_every_code_can_be_made_and_no_other() -> None:
    assert {row.made.code for rows in PINNED.values() for row in rows} == CODES - MADE_ELSEWHERE


def test_every_maker_is_pinned() -> None:
    functions = [function for _, function in inspect.getmembers(problem, inspect.isfunction)]
    makers = {function for function in functions if function.__annotations__.get("return") is Problem}
    assert makers == {row.maker for rows in PINNED.values() for row in rows}


def test_a_problem_further_in_is_not_said_to_be_an_argument() -> None:
    assert str(problem.unknown(("rows", 0, "limit"), [])) == "rows[0].limit is not expected here"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ((), "arguments"),
        (("limit",), "limit"),
        (("grades", 0, "quantity"), "grades[0].quantity"),
        (("a", "b", 10, 2), "a.b[10][2]"),
        (("$top", "x-y", "_1"), "$top.x-y._1"),
        (("größe",), "größe"),
        (("a b",), '["a b"]'),
        (("a", "b c", "d"), 'a["b c"].d'),
        (("",), '[""]'),
        (("1st",), '["1st"]'),
        (("-x",), '["-x"]'),
        (("a\nb",), '["a\\nb"]'),
        (('a"b',), '["a\\"b"]'),
        (("a\u202eb",), '["a\\u202eb"]'),
        (("\ud800",), '["\\ud800"]'),
        (("a\n",), '["a\\n"]'),
        (("n" * 64,), "n" * 64),
        (("n" * 65,), '["' + "n" * 64 + '"]'),
        (("\x00" * 65,), '["' + "\\u0000" * 64 + '"]'),
    ],
    ids=ascii,
)
def test_a_path_reads_as_a_person_writes_it_escaped_and_cut(path: Path, shown: str) -> None:
    assert show_path(path) == shown


@pytest.mark.parametrize(
    ("count", "more", "text"),
    [
        (0, 0, ""),
        (1, 0, "a is required."),
        (2, 0, "a is required; b is required."),
        (2, 3, "a is required; b is required; and 3 more."),
    ],
)
def test_problems_are_joined_into_one_sentence(count: int, more: int, text: str) -> None:
    assert message([problem.missing((name,)) for name in "ab"[:count]], more) == text


@pytest.mark.parametrize(
    ("name", "absent", "suggested"),
    [
        ("limt", ["limit"], "limit"),
        ("limits", ["limit"], "limit"),
        ("limat", ["limit"], "limit"),
        ("LIMIT", ["limit"], "limit"),
        ("max-results", ["maxResults"], "maxResults"),
        ("maxresults", ["max_results", "max-results"], None),
        ("tresholt", ["threshold"], "threshold"),
        ("lmt", ["limit"], None),
        ("abcde", ["abxye"], None),
        ("abcdef", ["abxyef"], "abxyef"),
        ("abcdef", ["uvwxef"], None),
        ("limt", ["limit", "lime"], None),
        ("limt", ["limit", "limit"], "limit"),
        ("a", ["b"], None),
        ("", ["a"], None),
        ("n" * 65, ["n" * 64], None),
        ("two word", ["two words"], '"two words"'),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_name_is_suggested_when_exactly_one_is_near(name: str, absent: list[str], suggested: str | None) -> None:
    words = problem.unknown((name,), absent).words
    assert words.removeprefix("is not an argument of this tool") == (
        f" (did you mean {suggested}?)" if suggested else ""
    )


@pytest.mark.parametrize(
    ("bounds", "low", "high"),
    [
        (Bounds(), None, None),
        (Bounds(1, 9), 1, 9),
        (Bounds(1, 9, open_low=True, open_high=True), 2, 8),
        (Bounds(0.5, 8.5), 1, 8),
        (Bounds(0.5, 8.5, open_low=True, open_high=True), 1, 8),
        (Bounds(-1.5, -0.5), -1, -1),
        (Bounds(-1e300, 2**63, open_low=True, open_high=True), -1e300, 2**63),
    ],
    ids=str,
)
def test_the_whole_numbers_inside_bounds(bounds: Bounds, low: int | None, high: int | None) -> None:
    assert (bounds.whole_low, bounds.whole_high) == (low, high)


AS_TOLD = {"YYYY": "2026", "MM": "11", "DD": "30", "hh": "12", "mm": "34", "ss": "56"}
UNTOLD = {"uuid": str(UUID(int=5)), "uri": "https://example.com/", "email": "a@example.com"}


@pytest.mark.parametrize("format", problem.FORMATS)
def test_who_does_what_the_words_of_a_format_say_passes_its_check(format: str) -> None:
    shape = problem.FORMATS[format].rpartition(", ")[2]
    sent = UNTOLD.get(format) or re.sub("YYYY|MM|DD|hh|mm|ss", lambda found: AS_TOLD[found[0]], shape)
    assert meets("format", format, sent)
    assert not meets("format", format, "x")


def test_each_format_with_words_is_one_that_can_be_asked_for() -> None:
    assert set(problem.FORMATS) <= set(TEXT_FORMATS)


@pytest.mark.parametrize(
    ("value", "shown"), [(1, "1"), (1.0, "1"), (-0.5, "-0.5"), (1e300, "1e+300"), (2**64, str(2**64))]
)
def test_a_bound_is_shown_as_a_person_writes_it(value: Any, shown: str) -> None:
    assert show_number(value) == shown


def test_case_and_marks_do_not_count_in_a_folded_name() -> None:
    assert len({fold(name) for name in ("max_results", "maxResults", "MAX-RESULTS", "maxresults")}) == 1


def test_a_problem_is_a_value() -> None:
    made = problem.missing(("a", 0))
    assert made == Problem(("a", 0), "required", "is required")
    assert len({made, problem.missing(("a", 0))}) == 1
    with pytest.raises(AttributeError):
        made.words = ""  # type: ignore[misc]
