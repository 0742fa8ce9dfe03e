"""What pydantic binds: which arguments it takes by rules of their author's own, and what it refused where."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from pydantic import BaseModel, ValidationError

from argfit.core.guarding import BindFault

_TYPES = ("pydantic.types", "pydantic.networks", "pydantic.color")  # whose validators are a type's, not an author's
ANY_SHAPE = frozenset({"function-before", "function-plain", "function-wrap"})
ANY_SHAPE_OR_NOT = ANY_SHAPE | {"function-after"}
_KINDS = {"missing": "required", "missing_argument": "required", "missing_keyword_only_argument": "required"} | {
    "extra_forbidden": "unknown",
    "unexpected_keyword_argument": "unknown",
    # by a rule of their author's own: of the declared type they may well be
    "value_error": "other",
    "assertion_error": "other",
}


def binders_own(model: type[BaseModel]) -> frozenset[str]:
    """The arguments, by their published names, that a validator of their author's own may take in any shape."""
    schema = model.__pydantic_core_schema__
    definitions = {part["ref"]: part for part in _parts(schema) if "ref" in part}
    fields = _fields_of(schema, definitions)
    return frozenset(
        _published(name, field.get("validation_alias"))
        for name, field in fields.items()
        if has_own(field, definitions.values())
    )


def _published(name: str, alias: Any) -> str:
    """The name by which pydantic publishes a field: of several aliases, the first that is no path."""
    if isinstance(alias, list):
        alias = next((path[0] for path in alias if isinstance(path, list) and len(path) == 1), None)
    return str(alias or name)


def _fields_of(schema: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The core schemas of a model's own fields: what is around them is seen through."""
    while isinstance(schema, dict) and "fields" not in schema:
        schema = definitions.get(schema.get("schema_ref", "")) or schema.get("schema")
    return schema["fields"] if isinstance(schema, dict) else {}


def faults(error: ValidationError) -> list[BindFault]:
    """What pydantic refused, without the values it was given."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return [BindFault(tuple(detail["loc"]), _KINDS.get(detail["type"], "type")) for detail in details]


def has_own(core: Any, definitions: Iterable[dict[str, Any]], kinds: frozenset[str] = ANY_SHAPE) -> bool:
    """Whether a part of a core schema holds a validator of its author's own, of those that may take any shape."""
    by_name = {part.get("ref"): part for part in definitions}
    pending, seen = [core], set()
    while pending:
        for part in _parts(pending.pop()):
            kind = part.get("type")
            if (kind in kinds and not _is_pydantics(part)) or (kind == "tagged-union" and _is_told_apart_by_code(part)):
                return True
            reference = part.get("schema_ref")
            if reference in by_name and reference not in seen:
                seen.add(reference)
                pending.append(by_name[reference])
    return False


def _is_told_apart_by_code(part: dict[str, Any]) -> bool:
    return callable(part.get("discriminator"))  # what it publishes is `oneOf`, of shapes that may well overlap


def _is_pydantics(part: dict[str, Any]) -> bool:
    function = part.get("function", {}).get("function")
    if isinstance(function, partial):
        function = function.func
    module = str(getattr(function, "__module__", ""))
    return module.startswith("pydantic._internal") or module in _TYPES


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """All parts of a core schema, less how it is written out again."""
    pending = [schema]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            yield part
            pending += [inner for key, inner in part.items() if key != "serialization"]
        elif isinstance(part, list | tuple):
            pending += part
