import argparse

import pytest

from argfit.cli.options import add_formats, add_repair, gathered


def parsed(*words: str, by_tool: bool) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_repair(parser, by_tool=by_tool)
    add_formats(parser, by_tool=by_tool)
    return parser.parse_args(words)


def test_names_stand_with_commas_and_none_are_on_unless_named() -> None:
    assert parsed(by_tool=False).repair == parsed(by_tool=False).formats == frozenset()
    options = parsed("--repair", "unquote,wrap", "--formats", "date,,int32", by_tool=False)
    assert (options.repair, options.formats) == ({"unquote", "wrap"}, {"date", "int32"})


def test_names_for_all_tools_and_for_some_are_gathered() -> None:
    words = ("--repair", "unquote", "--repair", "a=wrap,quote", "--repair", "wrap", "--repair", "a=unquote")
    options = parsed(*words, by_tool=True)
    assert gathered(options.repair) == (
        frozenset({"unquote", "wrap"}),
        {"a": frozenset({"wrap", "quote", "unquote"})},
    )
    assert gathered(options.formats) == (frozenset(), {})


def test_a_tool_may_have_an_equals_sign_in_its_name() -> None:
    assert gathered(parsed("--formats", "a=b=date", by_tool=True).formats) == (
        frozenset(),
        {"a=b": frozenset({"date"})},
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--repair", "mend"), "there is no repair 'mend'; the nearest is"),
        (("--formats", "datum"), "there is no format 'datum'; the nearest is 'date'"),
    ],
)
def test_an_unknown_name_is_a_usage_error_that_names_the_nearest(words: tuple[str, str], said: str) -> None:
    with pytest.raises(argparse.ArgumentError, match=said):
        parsed(*words, by_tool=False)
