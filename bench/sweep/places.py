"""The places of a right call: where each value stands, and what the schema wants there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from edits import Path
from schema import Document, Flat, Schema

Spelling = Literal["integer", "number", "either"]


@dataclass(frozen=True)
class Place:
    """A value in a right call; `sure` where no choice between branches leads to it."""

    path: Path
    value: Any
    flats: tuple[Flat, ...]
    sure: bool
    declared: bool = False
    owed: bool = False
    owed_by_some: bool = False  # required by one way to meet the schema, not by all

    @cached_property
    def types(self) -> frozenset[str]:
        return frozenset().union(*(flat.types for flat in self.flats))

    @property
    def takes_text(self) -> bool:
        """Whether some branch takes text other than listed members."""
        return any("string" in flat.types and flat.members is None for flat in self.flats)

    @property
    def members(self) -> list[Any]:
        return [member for flat in self.flats for member in flat.members or ()]

    @property
    def hosts(self) -> list[Flat]:
        """The flats that a container of this kind can mean."""
        kind = "object" if isinstance(self.value, dict) else "array"
        return [flat for flat in self.flats if kind in flat.types]

    @property
    def plain(self) -> bool:
        """Whether what is inside this container can be told for sure."""
        return self.sure and len(self.hosts) == 1 and not self.hosts[0].odd

    @property
    def spelling(self) -> Spelling:
        """How a whole number is to be spelled here."""
        wanted: set[Spelling] = set()
        for flat in self.flats:
            if flat.types & {"integer", "number"}:
                listed = [member for member in flat.members or () if member == self.value]
                plain_number = "number" in flat.types and not any(type(member) is int for member in listed)
                wanted.add("number" if plain_number else "integer")
        return wanted.pop() if len(wanted) == 1 and self.sure else "either"


def places(document: Document, call: dict[str, Any]) -> list[Place]:
    return list(_below(document, Place((), call, document.flats(document.root), sure=True)))


def _below(document: Document, place: Place) -> Iterator[Place]:
    yield place
    if isinstance(place.value, dict):
        for name, value in place.value.items():
            schemas = [flat.of_member(name) for flat in place.hosts]
            declared = any(name in flat.properties for flat in place.hosts)
            owed = [name in flat.required for flat in place.hosts]
            some = any(owed) and not all(owed)
            flats = _flats(document, schemas)
            path = (*place.path, name)
            yield from _below(document, Place(path, value, flats, place.plain, declared, any(owed), some))
    elif isinstance(place.value, list):
        for index, value in enumerate(place.value):
            flats = _flats(document, [flat.of_item(index) for flat in place.hosts])
            yield from _below(document, Place((*place.path, index), value, flats, place.plain, owed=True))


def _flats(document: Document, schemas: Sequence[Schema | None]) -> tuple[Flat, ...]:
    return tuple(flat for schema in schemas if schema is not None for flat in document.flats(schema))
