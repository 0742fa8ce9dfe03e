"""Mangled shapes: containers as text, lists that lost or gained a wrapper, members and text of another kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from edits import Edit, Path, Quoted, Raw, edited, value_of
from mangle import Kind, Mangle, Scene, Verdict, integer_in, put, sure, unquoted
from places import Place

MOST_QUOTED = 2**53 - 1
UNKNOWN_MEMBER = "mark-unknown-7f3a"
_PAIRS = ("[]", "{}", "()", "<>", '""')


def below(scene: Scene, place: Place) -> list[tuple[Place, Path]]:
    """The places inside a container, and their paths from it."""
    depth = len(place.path)
    inside = [one for one in scene.places if len(one.path) > depth and one.path[:depth] == place.path]
    return [(one, one.path[depth:]) for one in inside]


def container_as_text(scene: Scene, place: Place) -> Iterator[Mangle]:
    if not isinstance(place.value, dict | list) or not place.path:
        return
    yield Mangle("container: as text", put(place, Quoted(place.value)), unquoted(place))
    floats, texts = [], []
    for one, path in below(scene, place):
        if integer_in(one) and one.spelling == "integer" and abs(one.value) < 2**53:
            floats.append(Edit(path, "put", Raw(f"{one.value}.0")))
            texts += [Edit(path, "put", str(one.value))] if not one.takes_text else []
    if floats:
        yield Mangle(
            "container: whole floats in its text", put(place, Quoted(edited(place.value, floats))), unquoted(place)
        )
    if texts:
        yield Mangle("container: text in its text", put(place, Quoted(edited(place.value, texts))), unquoted(place))


def container_as_no_text(scene: Scene, place: Place) -> Iterator[Mangle]:
    if not isinstance(place.value, dict | list) or not place.path:
        return
    text = json.dumps(place.value)
    spoiled = [text[:-1], text + text[-1], f" {text[:-1]}", f" {text}"]
    if "'" in repr(place.value):
        spoiled.append(repr(place.value))
    if isinstance(place.value, dict) and place.value:
        first = next(iter(place.value))
        spoiled.append(f"{text[:-1]}, {json.dumps(first)}: {json.dumps(place.value[first])}}}")
    sent = scene.rng.choice(spoiled)
    may_be_wrapped = stands_alone(sent) and (only_lists(place) or not place.sure)
    wrapped = put(place, [sent]) if may_be_wrapped else None
    hope = Verdict.OPEN if wrapped else Verdict.REFUSE
    yield Mangle("container: text that is none", put(place, sent), hope, instead=wrapped)


def left_out(place: Place) -> tuple[Edit, ...] | None:
    """What a drop makes of a place, where one is allowed."""
    return (Edit(place.path, "drop"),) if place.declared and not place.owed else None


def only_lists(place: Place) -> bool:
    return place.types <= {"array", "null"}


def stands_alone(text: str) -> bool:
    """Whether text may be wrapped into a list."""
    if any(mark in text for mark in ",;\n\r") or text[:1] + text[-1:] in _PAIRS:
        return False
    return not isinstance(decoded(text), dict | list | str)


def decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return ...


def holds_integer(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(holds_integer, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int)


def single_for_list(scene: Scene, place: Place) -> Iterator[Mangle]:
    if not isinstance(place.value, list) or not place.value:
        return
    one = place.value[0]
    if isinstance(one, list) or (isinstance(one, dict) and list(one) == ["item"]):
        return  # a list that lost one of two levels reads in more than one way
    hope, instead = Verdict.RECOVER, None
    if one is None or one == "":
        instead = left_out(place)
        hope = Verdict.RECOVER if instead else Verdict.REFUSE
    elif isinstance(one, str) and one == "null" and "null" in place.types:
        instead = put(place, None)
    elif isinstance(one, str) and not stands_alone(one):
        found = decoded(one)
        spliced = put(place, Raw(one))
        if isinstance(found, list) and scene.document.accepts(value_of(edited(scene.call, spliced))):
            instead = spliced
        elif holds_integer(found):
            return  # what it spells may be mended inside
        else:
            hope = Verdict.REFUSE
    hope = sure(place, hope) if only_lists(place) else Verdict.OPEN
    yield Mangle("list: single value", put(place, one), hope, before=put(place, [one]), instead=instead)


def texts_for_list(scene: Scene, place: Place) -> Iterator[Mangle]:
    if isinstance(place.value, list) and place.value and isinstance(place.value[0], str):
        mark = scene.rng.choice((",", ", ", ";", "\n"))
        sent = mark.join(["alpha-7f3a", "beta-7f3a"])
        yield Mangle("list: text of several", put(place, sent), Verdict.REFUSE)


def in_item(scene: Scene, place: Place) -> Iterator[Mangle]:
    if not place.path or place.value is None:
        return
    hope = Verdict.OPEN if "object" in place.types else sure(place, Verdict.RECOVER)
    yield Mangle("item: around it", put(place, {"item": place.value}), hope)
    if isinstance(place.value, list) and place.value and only_lists(place):
        one = place.value[0]
        if not isinstance(one, dict | list | str) or (isinstance(one, str) and one and stands_alone(one)):
            right = put(place, [one])
            if one != "null" and one is not None:
                yield Mangle("item: around the one of a list", put(place, {"item": one}), hope, before=right)


def container_for_single(scene: Scene, place: Place) -> Iterator[Mangle]:
    # under a choice of branches it may be what another branch wants, and the places beside it what does not fit
    if place.path and place.sure and not isinstance(place.value, dict | list):
        yield Mangle("single value: list", put(place, [place.value]), Verdict.REFUSE)
        if "array" not in place.types:  # as the one value of a list it may be right
            yield Mangle("single value: object", put(place, {"mark": "mark-7f3a"}), Verdict.REFUSE)


def member_case(scene: Scene, place: Place) -> Iterator[Mangle]:
    if not isinstance(place.value, str) or place.value not in place.members:
        return
    text = place.value
    spellings = {text.upper(), text.lower(), text.title(), text.swapcase(), text.capitalize()} - {text}
    alike = {member for member in place.members if isinstance(member, str) and member.casefold() == text.casefold()}
    same = sorted(spelled for spelled in spellings if spelled.casefold() == text.casefold())
    if same:
        hope = sure(place, Verdict.RECOVER) if len(alike) == 1 else Verdict.REFUSE
        hope = Verdict.OPEN if place.takes_text else hope
        yield Mangle("member: another case", put(place, scene.rng.choice(same)), hope)
    yield Mangle("member: unknown", put(place, UNKNOWN_MEMBER), Verdict.REFUSE)


def number_for_text(scene: Scene, place: Place) -> Iterator[Mangle]:
    if not isinstance(place.value, str) or not place.path:
        return
    number = scene.rng.choice((0, 7, -3, 12, 2003886907, MOST_QUOTED))
    hope = sure(place, Verdict.RECOVER) if place.types <= {"string", "null"} else Verdict.OPEN
    hope = Verdict.REFUSE if "boolean" in place.types else hope
    yield Mangle("text: integer", put(place, number), hope, before=put(place, str(number)))
    whole = () if "integer" in place.types else (2.0,)
    other = scene.rng.choice((1.5, *whole, True, False, MOST_QUOTED + 1, -(2**60)))
    yield Mangle("text: float or boolean", put(place, other), Verdict.REFUSE)


SHAPES: tuple[Kind, ...] = (
    container_as_text,
    container_as_no_text,
    single_for_list,
    texts_for_list,
    in_item,
    container_for_single,
    member_case,
    number_for_text,
)
