"""The plan as a tree: what it says of each place, and that it ends."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.generated import WORDS, arguments, outlines, with_words

from argfit import Fitter
from argfit.core.engine import compile_engine
from argfit.core.outline import Line, outline

INTEGER, TEXT = {"type": "integer"}, {"type": "string"}
OBJECT = {"type": "object", "properties": {"a": INTEGER}}


def shown(schema: Any, **options: Any) -> list[str]:
    return list(_shown(outline(compile_engine(schema, **options)), 0))


def _shown(line: Line, depth: int) -> Iterator[str]:
    required = "!" if line.required else ""
    rules = f" [{' '.join(line.rules)}]" if line.rules else ""
    yield f"{'  ' * depth}{line.label}{required}: {line.words}{rules}"
    for part in line.inside:
        yield from _shown(part, depth + 1)


def of(schema: Any, **options: Any) -> list[str]:
    """The lines of one argument, `n`."""
    return [line[2:] for line in shown({"properties": {"n": schema}}, **options)[1:-1]]


@pytest.mark.parametrize(
    ("schema", "line"),
    [
        ({}, "n: any value"),
        (True, "n: any value"),
        (False, "n: must not be sent"),
        ({"type": "string"}, "n: must be text"),
        ({"type": "string", "minLength": 1, "maxLength": 9}, "n: must be text; must not be empty; "),
        ({"type": "string", "pattern": "^a"}, "n: must be text; must match the pattern ^a"),
        ({"type": "number", "exclusiveMinimum": 0}, "n: must be more than 0"),
        ({"type": ["string", "number"], "minimum": 1}, "n: must be text or a number; if a number, must be a number of"),
        ({"type": "number", "multipleOf": 5}, "n: must be a number; must be a multiple of 5"),
        ({"enum": ["a", "b"]}, "n: must be one of: a, b"),
        ({"const": "a"}, "n: must be a"),
        ({"enum": ["a", None]}, "n: must be one of: a, null"),
        ({"type": ["boolean", "null"]}, "n: must be true or false, or null"),
        ({"type": "null"}, "n: must be null"),
        ({"type": "array", "minItems": 1, "maxItems": 3}, "n: must be a list; must have from 1 to 3 items"),
        ({"type": "array", "uniqueItems": True}, "n: must be a list; must not repeat an item"),
        ({"anyOf": [{"type": "boolean"}, {"type": "string"}]}, "n: must be true or false or text"),
        ({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, "n: must be true or false, or null"),
        (
            {"oneOf": [{"type": "string", "minLength": 2}, {"type": "null"}]},
            "n: must be text, or null; must be at least 2 c",
        ),
        ({"type": "string", "nullable": True}, "n: must be text, or null"),
        ({"allOf": [{"type": "string"}, {"maxLength": 1}]}, "n: must be text; must be at most 1 character"),
        ({"dependentRequired": {"a": ["b"]}}, "n: b is required with a"),
        ({"type": "string", "format": "date"}, "n: must be text; the format date is not checked"),
    ],
    ids=str,
)
def test_a_place_says_what_must_hold_there(schema: Any, line: str) -> None:
    (said,) = of(schema)
    assert said.startswith(line)


def test_a_format_that_counts_is_not_said_to_be_unchecked() -> None:
    assert of({"type": "string", "format": "date"}, formats=["date"]) == ["n: must be a date, YYYY-MM-DD"]
    assert of({"type": "string", "format": "ipv4"}, formats="all") == ["n: must be text; must be of the format ipv4"]
    assert of({**INTEGER, "format": "uint8"}, formats="all") == [
        "n: must be a whole number from 0 to 255 [whole-number]"
    ]


def test_members_come_as_declared_and_what_is_left_open_is_said() -> None:
    schema = {"properties": {"b": {}, "a b": {}}, "required": ["b", "c"]}
    assert shown(schema) == [
        "arguments!: any value",
        "  b!: any value",
        '  ["a b"]: any value',
        "  c!: any value",
        "  any other name: any value",
    ]
    assert shown({**schema, "additionalProperties": False})[-1] == "  any other name: is not an argument of this tool"
    assert of({**OBJECT, "additionalProperties": False})[-1] == "  any other name: is not expected here"
    assert of({"additionalProperties": INTEGER})[-1] == "  any other name: must be a whole number [whole-number]"
    assert of({"patternProperties": {"^x": {}}, "propertyNames": {"maxLength": 3}})[1:] == [
        "  names that match ^x: any value",
        "  each name: must be at most 3 characters",
    ]
    assert of({"unevaluatedProperties": False})[-1] == "  any other name: is not expected here"


def test_items_are_shown_in_their_places() -> None:
    assert of({"prefixItems": [{}, INTEGER], "items": False, "contains": {"const": 1}, "maxContains": 2}) == [
        "n: any value",
        "  item 0: any value",
        "  item 1: must be a whole number [whole-number]",
        "  each further item: must not be sent",
        "  from 1 to 2 of the items: must be 1",
    ]
    assert of({"items": {"type": "string"}}) == ["n: any value", "  each item: must be text"]


def test_the_shapes_of_a_union_are_told_apart_by_their_tag() -> None:
    shapes = [{"properties": {"kind": {"const": name}}, "required": ["kind"]} for name in ("a", "b")]
    assert of({"oneOf": shapes}) == [
        "n: ",
        "  exactly one of these: told apart by kind",
        "    a: any value",
        "      kind!: must be a",
        "      any other name: any value",
        "    b: any value",
        "      kind!: must be b",
        "      any other name: any value",
    ]
    assert of({"anyOf": [OBJECT, {"type": "string"}]})[1:3] == ["  one of these: ", "    shape 1: must be an object"]


def test_what_depends_on_the_value_is_shown_under_what_it_depends_on() -> None:
    lines = of(
        {"if": {"required": ["a"]}, "then": {"minProperties": 2}, "not": {"const": 5}, "dependentSchemas": {"b": {}}}
    )
    assert [line.strip().partition(":")[0] for line in lines] == ["n", "with b", "if", "a!", "then", "must not fit"]


def test_a_shape_is_shown_once_and_pointed_at_from_where_it_stands_again() -> None:
    tree = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}}}
    lines = shown({"$defs": {"T": tree}, "properties": {"x": {"$ref": "#/$defs/T"}, "y": {"$ref": "#/$defs/T"}}})
    assert lines[1:-1] == [
        "  x: must be an object",
        "    kids: must be a list",
        "      each item: must be an object (its parts as under x)",
        "    any other name: any value",
        "  y: must be an object (its parts as under x)",
    ]


def test_where_a_schema_only_judges_no_rule_is_told() -> None:
    judging = {
        "if": {"properties": {"n": INTEGER}},
        "not": {"items": INTEGER},
        "contains": INTEGER,
        "propertyNames": TEXT,
    }
    assert [line for line in of(judging, repairs="all")[1:] if "[" in line] == []


def test_null_is_told_where_a_list_of_values_is_in_a_union_with_it() -> None:
    assert of({"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]}) == ["n: must be one of: a, b, or null"]
    assert of({"enum": ["a", "b"], "type": ["string", "null"]}) == ["n: must be one of: a, b"]


def test_a_tree_that_would_have_no_end_has_one() -> None:
    states = {f"q{i}": {"properties": {"a": {"allOf": [{"$ref": "#/$defs/q0"}, {"$ref": f"#/$defs/q{i + 1}"}]},
                                       "b": {"$ref": "#/$defs/q0"}}} for i in range(24)}  # fmt: skip
    assert len(shown({"$ref": "#/$defs/q0", "$defs": {**states, "q24": {}}})) < 50_000


def test_unions_that_share_their_branches_make_a_tree_as_long_as_the_schema() -> None:
    levels = {
        f"d{level}": {
            "anyOf": [{"properties": {"k": {"const": k}, "n": {"$ref": f"#/$defs/d{level + 1}"}}} for k in range(4)]
        }
        for level in range(8)
    }
    lines = shown({"$ref": "#/$defs/d0", "$defs": {**levels, "d8": INTEGER}})
    assert len(lines) < 200


RULES: dict[str, list[Any]] = {
    "whole-number": [
        INTEGER,
        {"enum": [1, 2.0]},
        {"const": [{"a": 1}]},
        {"anyOf": [INTEGER, {"type": "null"}]},
        {"anyOf": [INTEGER, {"type": "boolean"}]},
    ],
    "rename": [
        {**OBJECT, "additionalProperties": False},
        {**OBJECT, "required": ["a"]},
        {**OBJECT, "unevaluatedProperties": False},
        {**OBJECT, "propertyNames": {"minLength": 1}},
    ],
    "unquote": [
        INTEGER,
        {"type": "array"},
        {"type": ["boolean", "null"]},
        {"enum": ["a", None]},
        {"anyOf": [INTEGER, {"enum": ["a"]}]},
    ],
    "unwrap-item": [{"type": "array"}],
    "drop-null": [{"type": "string"}],
    "drop-empty": [INTEGER, {"type": "string", "minLength": 1}],
    "member-case": [{"enum": ["a"]}],
    "wrap": [{"type": "array"}, {"type": ["array", "null"]}],
    "quote": [{"type": "string"}, {"type": ["string", "null"]}, {"enum": ["1"]}],
}
NOT_THERE: dict[str, list[Any]] = {
    "whole-number": [{"type": "number"}, {"type": ["integer", "number"]}, {}],
    "rename": [OBJECT, {"additionalProperties": False}],
    "unquote": [{"type": "string"}, {"type": ["integer", "string"]}, {}, {"enum": ["a"]}],
    "unwrap-item": [{}, {"type": "object"}],
    "drop-null": [{"type": ["string", "null"]}, {}],
    "drop-empty": [{"type": "string"}, {}],
    "member-case": [{"enum": [1]}, {"type": "string"}],
    "wrap": [{"type": ["array", "string"]}, {}, INTEGER],
    "quote": [{"type": ["string", "integer"]}, {"type": ["string", "boolean"]}, INTEGER],
}


def rules(schema: Any, *repairs: str) -> list[str]:
    return of(schema, repairs=repairs)[0].rpartition("[")[2].rstrip("]").split()


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_stands_where_it_may_change_what_is_sent_and_only_there(rule: str) -> None:
    assert [schema for schema in RULES[rule] if rule not in rules(schema, "all")] == []
    assert [schema for schema in NOT_THERE[rule] if rule in rules(schema, "all")] == []
    assert rule == "whole-number" or rule not in rules(RULES[rule][0])


def test_required_arguments_are_not_dropped() -> None:
    line = shown({"properties": {"n": INTEGER}, "required": ["n"]}, repairs=["drop-null", "drop-empty"])[1]
    assert line == "  n!: must be a whole number [whole-number]"


def test_plain_number_stands_at_numbers_where_it_is_on() -> None:
    assert of({"type": "number"}) == ["n: must be a number"]
    assert of({"type": "number"}, repairs=["plain-number"]) == ["n: must be a number [plain-number]"]


@given(outlines())
def test_every_schema_has_an_outline(schema: dict[str, Any]) -> None:
    assert shown(schema, repairs="all", formats="all")[0].startswith("arguments!: ")


def test_what_only_judges_in_one_place_is_shown_again_where_it_may_change_what_is_sent() -> None:
    schema = {
        "properties": {"a": {"contains": {"$ref": "#/$defs/d"}}, "b": {"$ref": "#/$defs/d"}},
        "$defs": {"d": {"type": "object", "properties": {"n": INTEGER}}},
    }
    lines = [line.strip() for line in shown(schema)]
    assert "n: must be a whole number" in lines
    assert "n: must be a whole number [whole-number]" in lines


@given(data=st.data(), schema=outlines(), words=st.lists(WORDS, max_size=3))
def test_every_rule_that_changes_a_call_stands_in_the_outline(
    data: st.DataObject, schema: dict[str, Any], words: list[str]
) -> None:
    fit = Fitter(schema, repairs=["all"]).fit(with_words(data.draw(arguments(schema)), words))
    tree = "\n".join(shown(schema, repairs=["all"]))
    listed = {rule for line in tree.splitlines() for rule in line.rpartition("[")[2].rstrip("]").split()}
    assert {change.rule for change in fit.changes} <= listed or "not shown" in tree
