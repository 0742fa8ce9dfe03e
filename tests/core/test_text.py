"""JSON text: read with every digit, located span by span, spliced so that all other bytes stay."""

import json
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argfit.core.spans import locate, members, splice, with_floats, without_members
from argfit.core.text import DoubledKey, NotJson, encoded, loads, number, read, settle
from argfit.core.values import whole

BOM = b"\xef\xbb\xbf"
DEEP = 10_000

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(max_size=5), part, max_size=4),
    max_leaves=12,
)
layouts = st.sampled_from([{}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}, {"indent": "\t"}])


# -- reading ------------------------------------------------------------------------------------------


@given(values, layouts)
def test_what_is_written_is_read_back(value: Any, layout: dict[str, Any]) -> None:
    text = json.dumps(value, **layout).encode("utf-8", "surrogatepass")
    reading = read(text)
    assert repr(settle(reading.value)) == repr(value)
    assert repr(loads(text)) == repr(value)


def slowly(text: bytes) -> bytes:
    """A list with the text in it, and before it an integer that only the reader with its own stack takes."""
    return b"[0.5," + b"9" * 4_301 + b"," + text.removeprefix(BOM) + b"]"


@given(values, layouts)
def test_the_reader_with_its_own_stack_reads_alike(value: Any, layout: dict[str, Any]) -> None:
    text = json.dumps(value, **layout).encode("utf-8", "surrogatepass")
    plain, slow = read(text), read(slowly(text))
    assert repr(slow.value[2]) == repr(plain.value)
    assert (repr(slow.floats), slow.spelled) == (repr([0.5, *plain.floats]), ["0.5", *plain.spelled])


def test_ten_thousand_levels_are_read() -> None:
    value, depth = read(b'{"n":' + b"[" * DEEP + b"5.0" + b"]" * DEEP + b"}").value["n"], 0
    while isinstance(value, list):
        value, depth = value[0], depth + 1
    assert (value, depth) == (5.0, DEEP)


@pytest.mark.parametrize(
    ("digits", "exact"),
    [
        ("5.0", 5.0),
        ("1.10", 1.1),
        ("1e3", 1000.0),
        ("0.1000000000000000055511151231257827", 0.1),
        ("9007199254740994.0", 9007199254740994.0),
        ("1e400", math.inf),
        ("-1e400", -math.inf),
        ("5.0000000000000001", Decimal("5.0000000000000001")),
        ("0.99999999999999999999", Decimal("0.99999999999999999999")),
        ("9007199254740993.0", Decimal("9007199254740993.0")),
        ("9007199254740992.5", Decimal("9007199254740992.5")),
        ("9223372036854775807.0", Decimal("9223372036854775807.0")),
        ("1e-400", Decimal("1e-400")),
    ],
)
def test_a_number_whose_float_would_lie_keeps_its_digits(digits: str, exact: float | Decimal) -> None:
    assert (number(digits), type(number(digits))) == (exact, type(exact))


def test_next_to_nothing_is_not_zero() -> None:
    assert whole(number("1e-99999999999999999999")) is None


@pytest.mark.parametrize("digits", ["0e-400", "0e400", "-0.00e-5", "0.0e-99999999999999999999"])
def test_zero_is_whole_whatever_its_exponent(digits: str) -> None:
    assert whole(number(digits)) == 0


@given(st.integers(0, 10**18), st.integers(0, 10**12), st.integers(-20, 20))
def test_a_number_is_whole_if_and_only_if_its_digits_say_so(before: int, after: int, exponent: int) -> None:
    digits = f"{before}.{after:012}e{exponent}"
    exact = Decimal(digits)
    says_so = exact == exact.to_integral_value() and exact < 2**63
    assert whole(number(digits)) == (int(exact) if says_so else None)


def test_numbers_with_a_fraction_or_an_exponent_are_noted_in_text_order() -> None:
    reading = read(b'{"a": [1.5, 2, 3e0], "b": "4.5", "c": 5.0000000000000001, "d": -0.0}')
    assert repr(reading.floats) == "[1.5, 3.0, Decimal('5.0000000000000001'), -0.0]"
    assert not reading.exact
    assert read(b"[1.5, 2]").exact


def test_settling_gives_the_floats_any_reader_would_give() -> None:
    reading = read(b'[5.0000000000000001, {"a": 9007199254740993.0}, "x"]')
    assert repr(settle(reading.value)) == "[5.0, {'a': 9007199254740992.0}, 'x']"


@pytest.mark.parametrize("count", [4_300, 4_301, 20_000])
def test_an_integer_of_thousands_of_digits_is_read(count: int) -> None:
    found = read(b"[" + b"9" * count + b"]").value[0]
    assert (type(found), found == 10**count - 1) == (int, True)


def test_an_integer_longer_than_is_worth_reading_is_an_infinity_when_settled() -> None:
    assert settle(read(b"[-" + b"9" * 30_000 + b"]").value) == [-math.inf]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (BOM + b'{"n": 1}', {"n": 1}),
        (b'\r\n{\t"n" :\r\n1 }\n', {"n": 1}),
        (b'"\\ud83d"', "\ud83d"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\xed\xa0\xbd"', "\ud83d"),
        (b'"\xff"', "\udcff"),
        (b'{"\xff": "\xc3\xa9"}', {"\udcff": "é"}),
        (b"[Infinity, -Infinity]", [math.inf, -math.inf]),
        (b'"\\u0000\\/"', "\x00/"),
        (b"-0", 0),
        (b"null", None),
    ],
    ids=ascii,
)
def test_what_a_strict_decoder_refuses_is_read_all_the_same(text: bytes, value: Any) -> None:
    assert repr(read(text).value) == repr(value)
    assert repr(read(slowly(text)).value[2]) == repr(value)


def test_nan_is_read() -> None:
    assert [math.isnan(part) for part in read(b"[NaN]").value] == [True]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b" ",
        b"{",
        b"[1",
        b"[1,]",
        b"[,1]",
        b"{,}",
        b'{"a"}',
        b'{"a":}',
        b'{"a":1,}',
        b'{"a" 1}',
        b"{1:1}",
        b"[1 2]",
        b"1 2",
        b"]",
        b"[]]",
        b"[}",
        b"{]",
        b"'a'",
        b'"a',
        b'"\n"',
        b'"\\x"',
        b"01",
        b"+1",
        b".5",
        b"1.",
        b"1e",
        b"tru",
        b"nan",
        b"// no\n1",
        b"\x0b1",
    ],
    ids=ascii,
)
def test_what_is_not_one_json_value_is_not_json(text: bytes) -> None:
    for refused in (text, slowly(text)):
        with pytest.raises(NotJson):
            read(refused)


@pytest.mark.parametrize(
    ("text", "last"),
    [
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'[{"b": {"a": 1, "\\u0061": 2}}]', [{"b": {"a": 2}}]),
        (b'{"": 1, "": 2.0}', {"": 2.0}),
        (BOM + b'{"a": 1, "a": 5.0000000000000001}', {"a": 5.0}),
    ],
    ids=ascii,
)
def test_a_doubled_key_is_seen_and_any_other_reader_takes_the_last(text: bytes, last: Any) -> None:
    for doubled in (text, slowly(text)):
        with pytest.raises(DoubledKey):
            read(doubled)
    assert repr(loads(text)) == repr(last)


# -- spans --------------------------------------------------------------------------------------------


def parts_of(value: Any, path: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Any]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {
        found: part
        for step, below in steps
        for found, part in {(*path, step): below, **parts_of(below, (*path, step))}.items()
    }


@given(values, layouts, st.sampled_from([b"", BOM, b" \r\n"]))
def test_every_part_is_located_where_it_stands(value: Any, layout: dict[str, Any], before: bytes) -> None:
    text = before + json.dumps(value, **layout).encode("utf-8", "surrogatepass")
    parts = parts_of(value)
    found = locate(text, parts)
    assert found.keys() == parts.keys()
    for path, member in found.items():
        assert repr(json.loads(text[member.start : member.end])) == repr(parts[path])
        if isinstance(path[-1], str):
            assert (
                json.JSONDecoder().raw_decode(text[member.key_start :].decode("utf-8", "surrogatepass"))[0] == path[-1]
            )


def test_parts_that_are_not_there_are_left_out() -> None:
    assert locate(b'{"a": [1], "b": 2}', [("c",), ("a", 1), ("b", "x"), ("a", "x")]) == {}


def test_only_what_is_asked_for_is_looked_into() -> None:
    found = locate(b'{"a": {broken, "b": [1]}, "c": 2}', [("c",)])
    assert [(member.start, member.end) for member in found.values()] == [(31, 32)]


def test_spans_are_found_below_and_behind_thousands_of_levels() -> None:
    text = b'{"deep":' + b"[" * DEEP + b"]" * DEEP + b',"n":' + b"[" * 1_500 + b" 5.0 " + b"]" * 1_500 + b"}"
    path = ("n", *(0,) * 1_500)
    member = locate(text, [path])[path]
    assert text[member.start : member.end] == b"5.0"


def test_members_are_told_with_the_first_byte_of_their_key() -> None:
    text = b'{ "a" : 1 , "\\u0062":"}" }'
    assert [(m.step, text[m.key_start :][:3], text[m.start : m.end]) for m in members(text, 0)] == [
        ("a", b'"a"', b"1"),
        ("b", b'"\\u', b'"}"'),
    ]


@pytest.mark.parametrize("text", [b"5", b'"x"', b"", b"null"])
def test_what_is_no_container_has_no_members(text: bytes) -> None:
    assert list(members(text, 0)) == []


@pytest.mark.parametrize("text", [b'{"a"', b'{"a" 1}', b"[1", b'{"a": "x', b"[[1]", b"[ "])
def test_a_text_that_ends_too_early_is_not_json(text: bytes) -> None:
    with pytest.raises(NotJson):
        list(members(text, 0))


@pytest.mark.parametrize(
    ("text", "wanted", "spliced"),
    [
        (b'{"a": 3.5, "b": [6e1, -7.50], "d": 8.0}', {0: b"A", 2: b"B"}, b'{"a": A, "b": [6e1, B], "d": 8.0}'),
        (b'{"1.5": "2.5", "a": 3.5, "b": 4, "c": 5.5}', {1: b"C"}, b'{"1.5": "2.5", "a": 3.5, "b": 4, "c": C}'),
        (b"[1.0, 1.0, 1.0]", {1: b"B"}, b"[1.0, B, 1.0]"),
        (b"[1.0, 11.0, 1.00, 1e1, 11e1]", {0: b"A", 3: b"D"}, b"[A, 11.0, 1.00, D, 11e1]"),
        (b'["2.0", 2.0]', {0: b"A"}, b'["2.0", A]'),
        (b'{"\\"2.0": 1, "x\\\\": 2.0}', {0: b"A"}, b'{"\\"2.0": 1, "x\\\\": A}'),
        (b"[2, 3.0, 3]", {0: b"A"}, b"[2, A, 3]"),
        (b"[1.5]", {}, b"[1.5]"),
    ],
    ids=ascii,
)
def test_floats_are_found_by_their_order_and_texts_and_integers_do_not_count(
    text: bytes, wanted: dict[int, bytes], spliced: bytes
) -> None:
    assert with_floats(text, read(text), wanted) == spliced


@given(values, layouts)
def test_the_floats_of_a_reading_are_the_spans_of_its_text(value: Any, layout: dict[str, Any]) -> None:
    text = json.dumps(value, **layout).encode("utf-8", "surrogatepass")
    reading = read(text)
    numbered = {index: f"<{spelled}>".encode() for index, spelled in enumerate(reading.spelled)}
    assert with_floats(text, reading, {index: found.encode() for index, found in enumerate(reading.spelled)}) == text
    assert with_floats(text, reading, numbered).count(b"<") == len(reading.spelled) + text.count(b"<")
    assert [float(spelled) for spelled in reading.spelled] == [float(found) for found in reading.floats]


def test_edits_are_spliced_whatever_their_order() -> None:
    assert splice(b"0123456789", [(8, 9, b"I"), (0, 1, b""), (3, 3, b"+"), (4, 6, b"four")]) == b"12+3four67I9"
    assert splice(b"as it was", []) == b"as it was"


# -- leaving out --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (b'{"x": 1, "a": 2, "b": 3}', b'{"a": 2, "b": 3}'),
        (b'{"a": 2, "x": 1, "b": 3}', b'{"a": 2, "b": 3}'),
        (b'{"a": 2, "b": 3, "x": 1}', b'{"a": 2, "b": 3}'),
        (b'{ "x": 1 }', b"{  }"),
        (b'{"x":1,"y":2}', b"{}"),
        (b'{"x":1,"y":2,"a":3}', b'{"a":3}'),
        (b'{"a":3,"x":1,"y":2}', b'{"a":3}'),
        (b'{"x":1,"a":3,"y":2}', b'{"a":3}'),
        (b'{"a":1,"x":{"x":[1,2]},"b":"x"}', b'{"a":1,"b":"x"}'),
        (b'{\r\n\t"a": 1,\r\n\t"x": 2\r\n}', b'{\r\n\t"a": 1\r\n}'),
        (b'{"a":1, "\\u0078":2}', b'{"a":1}'),
        (b'{"a":{"x":1}}', b'{"a":{"x":1}}'),
        (b"{}", b"{}"),
    ],
    ids=["first", "middle", "last", "only", "all", "first-two", "last-two", "around", "nested", "lines", "escaped",
         "inner", "empty"],
)  # fmt: skip
def test_members_are_left_out_with_one_comma_each(text: bytes, left: bytes) -> None:
    assert splice(text, without_members(text, frozenset("xy"))) == left


@given(
    st.dictionaries(st.text(max_size=3), values, max_size=5), st.frozensets(st.text(max_size=3), max_size=3), layouts
)
def test_what_is_left_is_json_without_the_members(
    value: dict[str, Any], names: frozenset[str], layout: dict[str, Any]
) -> None:
    names |= frozenset(list(value)[1::2])
    text = json.dumps(value, **layout).encode("utf-8", "surrogatepass")
    left = splice(text, without_members(text, names))
    assert repr(json.loads(left)) == repr({key: part for key, part in value.items() if key not in names})


def test_members_are_left_out_behind_a_byte_order_mark() -> None:
    text = BOM + b'{"x": 1, "a": 2}'
    assert splice(text, without_members(text, frozenset("x"))) == BOM + b'{"a": 2}'


@pytest.mark.parametrize(
    ("value", "text"),
    [(5, b"5"), (True, b"true"), (None, b"null"), (5.0, b"5.0"), (2**64, b"18446744073709551616"), ("é", b'"\\u00e9"'),
     ({"a": [1, 2]}, b'{"a":[1,2]}')],
    ids=str,
)  # fmt: skip
def test_a_value_is_written_compact_and_in_ascii(value: Any, text: bytes) -> None:
    assert encoded(value) == text
