import pytest

from argfit.core.dialect import DEFAULT, dialect_of

DRAFT4 = "http://json-schema.org/draft-04/schema#"
DRAFT6 = "http://json-schema.org/draft-06/schema#"
DRAFT7 = "http://json-schema.org/draft-07/schema#"
D2019 = "https://json-schema.org/draft/2019-09/schema"
D2020 = "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("uri", [DRAFT4, DRAFT6, DRAFT7, D2019, D2020])
def test_a_draft_is_known_by_its_uri_by_http_and_https_with_and_without_its_last_mark(uri: str) -> None:
    path = uri.partition("://")[2].rstrip("#")
    spellings = [f"{scheme}://{path}{mark}" for scheme in ("http", "https") for mark in ("", "#")]
    found = [dialect_of({"$schema": spelled}) for spelled in spellings]
    assert [dialect and dialect.uri for dialect in found] == [uri] * 4


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, True, False], ids=str)
def test_a_schema_that_names_no_draft_reads_as_2020_12(schema: object) -> None:
    assert dialect_of(schema) is DEFAULT
    assert DEFAULT.uri == D2020


@pytest.mark.parametrize("named", ["https://example.com/mine", "http://json-schema.org/schema#", "", 7, None])
def test_a_draft_that_is_not_known_is_told_apart_from_none_named(named: object) -> None:
    assert dialect_of({"$schema": named}) is None


@pytest.mark.parametrize(
    ("keyword", "since"),
    [
        ("items", DRAFT4),
        ("dependencies", DRAFT4),
        ("const", DRAFT6),
        ("contains", DRAFT6),
        ("propertyNames", DRAFT6),
        ("if", DRAFT7),
        ("then", DRAFT7),
        ("dependentSchemas", D2019),
        ("unevaluatedProperties", D2019),
        ("minContains", D2019),
        ("prefixItems", D2020),
        ("$dynamicRef", D2020),
    ],
)
def test_a_keyword_is_known_from_the_draft_that_brought_it_on(keyword: str, since: str) -> None:
    drafts = [DRAFT4, DRAFT6, DRAFT7, D2019, D2020]
    known = [uri for uri in drafts if (dialect := dialect_of({"$schema": uri})) and keyword in dialect.keywords]
    assert known == drafts[drafts.index(since) :]


def test_a_keyword_that_was_dropped_is_no_longer_known() -> None:
    assert {"$recursiveRef", "additionalItems"} & DEFAULT.keywords == set()
