"""Mangled keys, and the arguments mangled as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from edits import Edit, Quoted, Raw, edited, written
from mangle import Kind, Mangle, Scene, Verdict, integer_in, put
from places import Place
from schema import Flat

UNKNOWN_KEY = "mark_unknown_7f3a"


def optional_names(place: Place) -> list[str]:
    return [name for name in place.hosts[0].properties if name not in place.hosts[0].required]


def nothing_for_optional(scene: Scene, place: Place) -> Iterator[Mangle]:
    if not isinstance(place.value, dict) or not place.hosts:
        return
    names = optional_names(place)
    if not names:
        return
    name = scene.rng.choice(names)
    path = (*place.path, name)
    before = (Edit(path, "drop"),) if name in place.value else ()
    flats = scene.document.flats(place.hosts[0].properties[name])
    for kind, value in (("null: for optional", None), ("empty text: for optional", "")):
        allowed = any(takes_nothing(flat, value) for flat in flats)
        hope = Verdict.REFUSE if allowed else Verdict.RECOVER
        yield Mangle(kind, (Edit(path, "put", value),), hope if place.plain else Verdict.OPEN, before=before)


def takes_nothing(flat: Flat, value: str | None) -> bool:
    """Whether null or empty text is right at a place, whatever refuses it from outside."""
    if flat.members is not None:
        return value in flat.members
    if value is None:
        return "null" in flat.types
    return "string" in flat.types and not flat.keywords.get("minLength") and "pattern" not in flat.keywords


def nothing_for_something(scene: Scene, place: Place) -> Iterator[Mangle]:
    """Null or empty text where it stands for something: required, in a list, in a map."""
    if place.path and (place.owed or not place.declared):
        hope = Verdict.OPEN if place.declared and place.owed_by_some else Verdict.REFUSE
        instead = (Edit(place.path, "drop"),) if hope is Verdict.OPEN else None
        yield Mangle("null: that must stay", put(place, None), hope, instead=instead)
        yield Mangle("empty text: that must stay", put(place, ""), hope, instead=instead)


def folded(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")


def styles(name: str) -> set[str]:
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).replace("-", "_").split("_")
    lower = [word.lower() for word in words if word]
    camel = "".join([*lower[:1], *(word.title() for word in lower[1:])])
    spelled = {"_".join(lower), "-".join(lower), camel, camel[:1].upper() + camel[1:], name.upper(), name.lower()}
    return {one for one in spelled if one != name and folded(one) == folded(name)}


def key_style(scene: Scene, place: Place) -> Iterator[Mangle]:
    if not isinstance(place.value, dict) or not place.hosts:
        return
    host = place.hosts[0]
    names = [name for name in place.value if name in host.properties]
    if not names:
        return
    name = scene.rng.choice(names)
    free = sorted(one for one in styles(name) if one not in place.value and one not in host.properties)
    if not free:
        return
    key = scene.rng.choice(free)
    absent = [one for one in host.properties if one == name or one not in place.value]
    meant = [one for one in absent if folded(one) == folded(key)]
    asked_for = {one for other, names in host.dependent_required.items() if other in place.value for one in names}
    wanted = len(meant) == 1 and (host.closed or name in host.required | asked_for)
    hope = Verdict.RECOVER if wanted else Verdict.REFUSE
    hope = hope if place.plain else Verdict.OPEN
    yield Mangle("key: another style", (Edit((*place.path, name), "key", key),), hope)


def unknown_key(scene: Scene, place: Place) -> Iterator[Mangle]:
    # in a map of typed values no key is unknown, and its value is mended as any other
    if isinstance(place.value, dict) and not any(flat.keywords.get("additionalProperties") for flat in place.hosts):
        path = (*place.path, UNKNOWN_KEY)
        value: Any = scene.rng.choice((5.0, "5", None, "mark-7f3a", [1.0], {"item": "mark-7f3a"}))
        yield Mangle("key: unknown", (Edit(path, "put", value),), Verdict.REFUSE)


def misspelt_key(scene: Scene, place: Place) -> Iterator[Mangle]:
    if not isinstance(place.value, dict) or not place.hosts:
        return
    declared = {name for host in place.hosts for name in host.properties}
    names = [name for name in place.value if name in declared]
    if names:
        name = scene.rng.choice(names)
        key = scene.rng.choice((name + "x", name[:-1] or "x", "q" + name))
        if folded(key) not in {folded(one) for one in (*declared, *place.value)}:
            yield Mangle("key: misspelt", (Edit((*place.path, name), "key", key),), Verdict.REFUSE)


def missing_key(scene: Scene, place: Place) -> Iterator[Mangle]:
    if place.declared and place.owed:
        yield Mangle("key: missing", (Edit(place.path, "drop"),), Verdict.REFUSE)


def whole_as_text(scene: Scene, place: Place) -> Iterator[Mangle]:
    if place.path:
        return
    text = written(place.value)
    yield whole("arguments: as text", Quoted(place.value), Verdict.RECOVER)
    floats = [
        Edit(one.path, "put", Raw(f"{one.value}.0"))
        for one in scene.places
        if integer_in(one) and one.spelling == "integer" and abs(one.value) < 2**53
    ]
    if floats:
        yield whole("arguments: whole floats in their text", Quoted(edited(place.value, floats)), Verdict.RECOVER)
    spoiled = scene.rng.choice((text[:-1], f"[{text}]", f" {text}", text + "}", "none", "[]"))
    yield whole("arguments: text that is none", spoiled, Verdict.REFUSE)
    yield whole("arguments: no object", scene.rng.choice(([], [place.value], 5.0, True)), Verdict.REFUSE)


def whole(kind: str, sent: Any, hope: Verdict) -> Mangle:
    return Mangle(kind, (Edit((), "put", sent),), hope, if_valid=hope)


def none_sent(scene: Scene, place: Place) -> Iterator[Mangle]:
    if not place.path:
        hope = Verdict.RECOVER if scene.document.accepts({}) else Verdict.REFUSE
        nothing = (Edit((), "put", {}),)
        yield Mangle("arguments: empty text for none", (Edit((), "put", ""),), hope, if_valid=hope, before=nothing)


KEYS: tuple[Kind, ...] = (
    nothing_for_optional,
    nothing_for_something,
    key_style,
    unknown_key,
    misspelt_key,
    missing_key,
    whole_as_text,
    none_sent,
)
