"""Reading a tool's schema as the world writes it: what is meant is kept, what is broken is left out."""

from argfit.core.adapt import adapt
from argfit.core.dialect import DEFAULT, dialect_of
from argfit.core.prune import prune
from argfit.core.source import SchemaError, Source, judged, nothing_usable


def read(schema: object, formats: frozenset[str] = frozenset(), *, nulls: bool = True) -> Source:
    """Adapt a schema and leave out what the judge cannot use; SchemaError where it is no schema at all.

    `formats` are those to be judged, all others are annotations; without `nulls` a null is allowed only where the
    schema's own types allow it.
    """
    if not isinstance(schema, dict | bool):
        raise SchemaError(schema)
    dialect = dialect_of(schema)
    if dialect is None and isinstance(schema, dict):
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    dialect = dialect or DEFAULT
    try:
        source = adapt(schema, dialect, formats, nulls=nulls)
        return judged(source) or prune(source)
    except RecursionError:  # hundreds of levels written out: nobody's schema
        return nothing_usable(dialect)
