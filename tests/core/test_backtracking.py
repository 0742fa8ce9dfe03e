import pytest

from argfit.core.backtracking import backtracks

SLOW = (
    "(a+)+$",
    "(a|aa)+$",
    "(aa?)+",
    "(.*)*",
    r"(\w+\s?)*$",
    r"(\s*,\s*\w+\s*)*",
    r"^\s*(?:\S+\s*)*$",
    r"^\w+([.-]?\w+)*@\w+([.-]?\w+)*(\.\w{2,3})+$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(x+x+)+y",
    "(a{1,100}){1,100}",
    "(?:a?){20}",
    "(?=(a+)+)b",
    "(?:a|[^b])+",
    "^(?:[\u0430-\u044f]+)+$",
    "^([ぁ-ん]+)*$",
    r"^([\u0600-\u06ff]+\s*)+$",
    "^(?:ä|[^x])+$",
    r"^(\w+(\s*)?,(\s*)?)+$",
    "^(?:(?:a*)?c)+$",
    r"^(?:(?:\d*|[a-z]*)-)+$",
    "^(?:(?:a?|b?)c)+$",
    "^(?:(?:(?:a|a)))+$",
    "^(?:(?:|)a)+$",
    r"^(?:\w+\s?){1,5}$",
    "(?:(?:a{0,9}){0,9}){0,9}$",
    "^(?:(?:a|a){5}){6}$",
    r"(?s)^(?:.|\n)+!$",
    "(?i)^(?:a?A)+$",
    "^(.*)(.*)(.*)(.*)(.*)(.*)x$",
    "(?:a|b|ab)+",
)
QUICK = (
    "^(?:[a-z]+-)*$",
    "^[a-z0-9]+(-[a-z0-9]+)*$",
    r"^\d{4}-\d{2}-\d{2}$",
    "([^,]+,)*",
    "(a|b|c)*",
    "(ab|ac)*",
    "(a|ab)*",
    "(?:(?:a)+)?b",
    r"^(\d+)(,\s*\d+)*$",
    r"^(\w+)(\s+\w+)*$",
    r"^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$",
    r"^([0-9]{1,3}\.){3}[0-9]{1,3}$",
    "^(/[^/]+)+/?$",
    "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    "(a++)+",
    r"^\S+$",
    "",
    r"^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$",
    r"^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$",
    r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$",
    "^(?:get|put|post)(?:,(?:get|put|post))*$",
    "^(?:foo|far|baz)+$",
    "^(?:#(?:[0-9a-f]{3}|[0-9a-f]{6}),)+$",
    "(?:a?)+",
    "^(?:mon|tue|wed|thu|fri|sat|sun)(?:,(?:mon|tue|wed|thu|fri|sat|sun))*$",
    "^.*foo.*bar.*$",
)


@pytest.mark.parametrize("pattern", SLOW)
def test_a_loop_with_two_ways_through_one_text_is_seen(pattern: str) -> None:
    assert backtracks(pattern)


@pytest.mark.parametrize("pattern", QUICK)
def test_a_loop_with_one_way_through_any_text_is_none(pattern: str) -> None:
    assert not backtracks(pattern)


@pytest.mark.parametrize("pattern", [r"\p{L}+", "(", "[[]", r"\1(", "(?P<a", "(?i", "a" * 100_000, "(" * 5_000])
def test_what_another_engine_reads_is_not_looked_at(pattern: str) -> None:
    assert not backtracks(pattern)
