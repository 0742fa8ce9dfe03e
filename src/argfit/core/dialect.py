"""What each JSON Schema draft means, as data.

Rules
- `$schema` names the draft; absent or unknown reads as 2020-12 (contract, section 4).
- Up to draft 7 a `$ref` hides its siblings (draft-07 core 8.3); from 2019-09 they count.
- Up to 2019-09 a list under `items` is a tuple; 2020-12 calls it `prefixItems`.
- Draft 4 has boolean `exclusiveMinimum`, and 5.0 is no integer there (draft-zyp-json-schema-04, 3.5).
"""

from typing import Any

import msgspec


class Dialect(msgspec.Struct, frozen=True):
    """One draft: its `$schema` URI and the points in which it differs from the others."""

    uri: str
    keywords: frozenset[str]
    id_keyword: str = "$id"
    ref_hides_siblings: bool = False
    items_may_be_tuple: bool = False
    whole_float_is_integer: bool = True
    boolean_schemas: bool = True
    content_is_judged: bool = False  # by the judge, though these keywords only describe


# Which shape of subschemas a keyword holds.
ONE_SCHEMA = frozenset(
    "items additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames"
    " not if then else".split()
)
LIST_OF_SCHEMAS = frozenset("allOf anyOf oneOf prefixItems".split())
NAMED_SCHEMAS = frozenset("properties patternProperties definitions $defs dependentSchemas dependencies".split())

_DRAFT4 = frozenset(
    "$ref type enum minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format"
    " items additionalItems minItems maxItems uniqueItems properties patternProperties additionalProperties"
    " required minProperties maxProperties dependencies definitions allOf anyOf oneOf not".split()
)
_DRAFT6 = _DRAFT4 | {"const", "contains", "propertyNames"}
_DRAFT7 = _DRAFT6 | {"if", "then", "else"}
_2019_09 = _DRAFT7 | frozenset(  # with `dependencies`, which the judge still honours
    "$defs $recursiveRef dependentRequired dependentSchemas minContains maxContains"
    " unevaluatedItems unevaluatedProperties".split()
)
_2020_12 = (_2019_09 - {"$recursiveRef", "additionalItems"}) | {"$dynamicRef", "prefixItems"}

DEFAULT = Dialect("https://json-schema.org/draft/2020-12/schema", _2020_12)

_BY_NAME = {
    "json-schema.org/draft-04/schema": Dialect(
        "http://json-schema.org/draft-04/schema#",
        _DRAFT4,
        "id",
        True,
        True,
        whole_float_is_integer=False,
        boolean_schemas=False,
    ),
    "json-schema.org/draft-06/schema": Dialect(
        "http://json-schema.org/draft-06/schema#", _DRAFT6, "$id", True, True, content_is_judged=True
    ),
    "json-schema.org/draft-07/schema": Dialect(
        "http://json-schema.org/draft-07/schema#", _DRAFT7, "$id", True, True, content_is_judged=True
    ),
    "json-schema.org/draft/2019-09/schema": Dialect(
        "https://json-schema.org/draft/2019-09/schema", _2019_09, "$id", False, True
    ),
    "json-schema.org/draft/2020-12/schema": DEFAULT,
}


def dialect_of(schema: Any) -> Dialect | None:
    """The draft a schema names, `DEFAULT` where it names none, None where it names one we do not know."""
    if not isinstance(schema, dict) or "$schema" not in schema:
        return DEFAULT
    named = schema["$schema"]
    if not isinstance(named, str):
        return None
    return _BY_NAME.get(named.rstrip("#").partition("://")[2])
