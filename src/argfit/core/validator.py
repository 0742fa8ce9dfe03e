"""The one door to jsonschema-rs.

Rules
- Always offline: no reference is ever fetched. `format` is an annotation.
- It is imported when the first schema is compiled, not before: `argfit proxy` relays a server's first answer
  before it knows any tool, and the import is a fifth of its start.
"""

from typing import Any


class Unjudgeable(Exception):
    """jsonschema-rs does not take this schema: a keyword is broken, or a reference does not resolve."""


def validator(document: Any, registry: Any = None) -> Any:
    """Compile a schema; Unjudgeable where that is refused."""
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(document, registry=registry, offline=True, validate_formats=False)
    except (ValueError, TypeError, jsonschema_rs.ReferencingError) as refused:
        raise Unjudgeable from refused


def registry_of(uri: str, document: Any) -> Any:
    """A registry in which a schema is known by a URI, so that its parts can be compiled by reference."""
    import jsonschema_rs

    return jsonschema_rs.Registry([(uri, document)])
