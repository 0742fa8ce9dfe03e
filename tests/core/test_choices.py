"""What can be chosen by name."""

import pytest

from argfit import Fitter
from argfit.core.choices import (
    ALL_REPAIRS,
    INTEGER_FORMATS,
    PLAIN_NUMBER,
    REPAIRS,
    TEXT_FORMATS,
    chosen,
    formats_named,
    repairs_named,
)


def test_all_is_every_repair_and_rename_holds_rename_case() -> None:
    assert repairs_named("all") == ALL_REPAIRS == frozenset(REPAIRS) - {"rename-case"}
    assert repairs_named(["wrap", "all"]) == ALL_REPAIRS
    assert repairs_named(()) == frozenset()


def test_plain_number_is_an_exact_rule_chosen_like_a_repair_and_no_part_of_all() -> None:
    assert repairs_named([PLAIN_NUMBER, "wrap"]) == {PLAIN_NUMBER, "wrap"}
    assert PLAIN_NUMBER not in repairs_named("all")


def test_all_formats_are_those_of_text_and_those_of_integers() -> None:
    assert formats_named("all") == set(TEXT_FORMATS) | set(INTEGER_FORMATS)
    assert INTEGER_FORMATS["int32"] == (-2147483648, 2147483647)
    assert INTEGER_FORMATS["uint64"] == (0, 18446744073709551615)


@pytest.mark.parametrize(
    ("given_name", "nearest"),
    [("unqoute", "unquote"), ("drop_null", "drop-null"), ("Wrap", "wrap"), ("plainnumber", "plain-number")],
)
def test_an_unknown_repair_is_an_error_that_names_the_nearest(given_name: str, nearest: str) -> None:
    with pytest.raises(ValueError, match=f"there is no repair {given_name!r}; the nearest is {nearest!r}"):
        Fitter({}, repairs=[given_name])


@pytest.mark.parametrize(
    ("given_name", "nearest"), [("datetime", "date-time"), ("guid", "uuid"), ("url", "uri"), ("int-32", "int32")]
)
def test_an_unknown_format_is_an_error_that_names_the_nearest(given_name: str, nearest: str) -> None:
    with pytest.raises(ValueError, match=f"there is no format {given_name!r}; the nearest is {nearest!r}"):
        Fitter({}, formats=[given_name])


def test_a_choice_that_is_none_is_an_error_that_names_those_there_are() -> None:
    assert chosen("contract", "schema", ("schema", "binder")) == "schema"
    with pytest.raises(ValueError, match="contract is one of 'schema', 'binder', not 'x'"):
        chosen("contract", "x", ("schema", "binder"))
