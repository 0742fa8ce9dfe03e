from typing import Any

import pytest

from argfit import SchemaError
from argfit.core.schema import read


@pytest.mark.parametrize(
    "schema", [None, [], "{}", b"{}", 5, 1.5, (), object()], ids=lambda value: type(value).__name__
)
def test_what_is_neither_object_nor_boolean_is_no_schema(schema: Any) -> None:
    with pytest.raises(SchemaError, match=r"not [a-z ]+; pass the tool's inputSchema$"):
        read(schema)


def test_a_schema_error_is_a_value_error() -> None:
    assert issubclass(SchemaError, ValueError)


@pytest.mark.parametrize(
    "schema", [{}, True, False, {"type": "object", "properties": {"n": {"type": "integer"}}}], ids=str
)
def test_a_schema_that_says_all_it_means_is_read_as_it_stands(schema: Any) -> None:
    source = read(schema)
    assert source.document is schema
    assert tuple(source.unusable) == ()
    assert source.validator is not None


def test_an_unknown_draft_is_taken_away_and_the_rest_read_as_2020_12() -> None:
    source = read({"$schema": "https://example.com/mine", "type": "object"})
    assert source.document == {"type": "object"}
    assert source.dialect.uri == "https://json-schema.org/draft/2020-12/schema"


def test_a_schema_of_hundreds_of_levels_is_not_usable_and_no_crash() -> None:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(3000):
        schema = {"properties": {"n": schema}}
    assert tuple(read(schema).unusable) == ("#",)
