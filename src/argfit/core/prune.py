"""What is broken in a schema is left out, the rest counts, and what was left out is reported.

Rules (contract, section 4)
- Broken is a keyword its dialect does not allow, a pattern that does not compile, a reference that dangles,
  points abroad or loops: the tool author's fault. The judge's own metaschema says what is allowed.
- A keyword that refuses more when a part of it says less (`not`, `if`, `oneOf`) goes with that part: the
  author's fault must not become the caller's.
- Nothing is ever fetched.
"""

from contextlib import suppress
from typing import Any

import msgspec

from argfit.core.dialect import LIST_OF_SCHEMAS, NAMED_SCHEMAS, ONE_SCHEMA
from argfit.core.source import REFERENCES, Source, judged, nothing_usable, part_at, step_of, steps, with_part
from argfit.core.validator import Unjudgeable, validator

PASSES = 4  # what goes may leave references dangling, and these what they stand in
_BOOLEAN_IN_DRAFT_4 = ("/additionalProperties", "/additionalItems")
_REFUSES_MORE = frozenset({"not", "if", "oneOf"})


def prune(source: Source) -> Source:
    """The source less what the judge does not take."""
    for _ in range(PASSES):
        source = _pruned(source)
        usable = judged(source)
        if usable is not None:
            return usable
    return nothing_usable(source.dialect)


def _pruned(source: Source) -> Source:
    pruning = _Pruning(source)
    document = pruning.kept(source.document, "#")
    for target in pruning.pending:  # a reference may lead to a place that no keyword leads to
        if target not in pruning.seen:
            with suppress(KeyError):  # or to one that has just gone: then it dangles in the next pass
                document = with_part(document, steps(target), pruning.kept(part_at(document, target), target))
    return msgspec.structs.replace(source, document=document, unusable={**source.unusable, **pruning.unusable})


class _Pruning:
    def __init__(self, source: Source) -> None:
        self._source = source
        self.unusable: dict[str, str] = {}
        self.pending: list[str] = []
        self.seen: set[str] = set()

    def kept(self, schema: Any, location: str) -> Any:
        """What is left of a schema."""
        self.seen.add(location)
        if isinstance(schema, bool):
            keeps = self._source.dialect.boolean_schemas or location.endswith(_BOOLEAN_IN_DRAFT_4)
            return schema if keeps else {} if schema else {"not": {}}
        if not isinstance(schema, dict):
            self.unusable[location] = "no-schema"
            return {}
        kept: dict[str, Any] = {}
        for keyword, value in schema.items():
            where = location + step_of(keyword)
            faults = len(self.unusable)
            part = self._part(keyword, value, where, location)
            if len(self.unusable) > faults and (keyword in _REFUSES_MORE or part is _GONE):
                continue
            kept[keyword] = part
        return kept

    def _part(self, keyword: Any, value: Any, where: str, location: str) -> Any:
        """What is left of a keyword's value; a keyword that is gone is noted."""
        dialect = self._source.dialect
        if keyword in REFERENCES:
            target = self._source.resolve(value, location)
            if target is not None:
                self.pending.append(target)
                return value
        elif keyword in NAMED_SCHEMAS and isinstance(value, dict):
            return self._named(keyword, value, where)
        elif keyword in dialect.keywords and isinstance(value, list) and value and self._lists_schemas(keyword):
            return [self.kept(sub, f"{where}/{i}") for i, sub in enumerate(value)]
        elif keyword in dialect.keywords and keyword in ONE_SCHEMA and isinstance(value, dict | bool):
            return self.kept(value, where)
        elif isinstance(keyword, str) and self._allows(keyword, value):
            return value
        self.unusable[where] = _reason(keyword, value)
        return _GONE

    def _lists_schemas(self, keyword: str) -> bool:
        return keyword in LIST_OF_SCHEMAS or (keyword == "items" and self._source.dialect.items_may_be_tuple)

    def _named(self, keyword: str, value: dict[Any, Any], where: str) -> dict[Any, Any]:
        kept: dict[str, Any] = {}
        for key, sub in value.items():
            at = where + step_of(key)
            if not isinstance(key, str) or not self._allows("required", [key]):  # no text, or a lone surrogate
                self.unusable[at] = "name"
            elif keyword == "patternProperties" and not self._allows("pattern", key):
                self.unusable[at] = "pattern"
            elif keyword != "dependencies" or not isinstance(sub, list):
                kept[key] = self.kept(sub, at)
            elif self._allows(keyword, {key: sub}):
                kept[key] = sub
            else:
                self.unusable[at] = "value"
        return kept

    def _allows(self, keyword: str, value: Any) -> bool:
        """Whether the dialect's own metaschema takes this keyword with this value."""
        try:
            validator({"$schema": self._source.dialect.uri, keyword: value})
        except Unjudgeable:
            return False
        return True


_GONE = object()


def _reason(keyword: Any, value: Any) -> str:
    """Why a keyword with this value is left out: one of REASONS."""
    if not isinstance(value, str):
        return "value"
    if keyword in REFERENCES:
        return "dangling" if value.startswith("#") else "remote"
    return keyword if keyword in ("type", "pattern") else "value"


def without_loop(source: Source, location: str) -> Source:
    """The source less the reference by which a circle closes, which is reported; its judge is to be made anew."""
    path = steps(_goes_with(source, location))
    parent = part_at(source.document, "#" + "".join(map(step_of, path[:-1])))
    less = {key: value for key, value in parent.items() if key != path[-1]}
    document = with_part(source.document, path[:-1], less)
    return msgspec.structs.replace(
        source, document=document, unusable={**source.unusable, location: "loop"}, validator=None
    )


def _goes_with(source: Source, location: str) -> str:
    """The outermost keyword that must go when the one at a location goes."""
    at, part = "#", source.document
    names = iter(steps(location))
    for name in names:
        at += step_of(name)
        if name in _REFUSES_MORE:
            return at
        part = part_at(source.document, at)
        if name in NAMED_SCHEMAS or isinstance(part, list):
            at += step_of(next(names, ""))
    return location
