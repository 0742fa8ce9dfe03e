"""The one door to jsonschema-rs.

Rules
- Always offline: no reference is ever fetched. `format` is an annotation, but for the formats that are asked for;
  these are judged alike in every draft, as 2020-12 has them.
- It is imported when the first schema is compiled, not before: `argfit proxy` relays a server's first answer
  before it knows any tool, and the import is a fifth of its start.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from argfit.core.choices import TEXT_FORMATS


class Unjudgeable(Exception):
    """jsonschema-rs does not take this schema: a keyword is broken, or a reference does not resolve."""


def validator(document: Any, registry: Any = None, formats: frozenset[str] = frozenset()) -> Any:
    """Compile a schema, of whose formats those in `formats` count; Unjudgeable where that is refused."""
    import jsonschema_rs

    checks = {name: _check(name) if name in formats else _anything for name in TEXT_FORMATS} if formats else None
    try:
        return jsonschema_rs.validator_for(
            document, registry=registry, offline=True, validate_formats=bool(formats), formats=checks
        )
    except (ValueError, TypeError, jsonschema_rs.ReferencingError) as refused:
        raise Unjudgeable from refused


def _anything(text: str) -> bool:
    return True


@cache
def _check(format: str) -> Callable[[str], bool]:
    import jsonschema_rs

    check: Callable[[str], bool] = jsonschema_rs.Draft202012Validator(
        {"format": format}, validate_formats=True
    ).is_valid
    return check


def registry_of(uri: str, document: Any) -> Any:
    """A registry in which a schema is known by a URI, so that its parts can be compiled by reference."""
    import jsonschema_rs

    return jsonschema_rs.Registry([(uri, document)])
