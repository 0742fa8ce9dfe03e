"""The closures of the quick way, one kind of place each.

Rules
- `quiet` says "certainly nothing to respell here"; `respell` returns the value as it is to be spelled (the same
  object where nothing changes) and notes its changes, or raises `LookCloser` where that must be judged first.
- A `leaf` looks at a number alone, and its `respell` is for what is not quiet. The others are not asked twice: to ask
  an object for quiet before its parts are asked would cost the square of its depth.
- A value is never altered: what changes is a copy, made at the first change.
- Scalars of exact type are what JSON readers make; anything else is looked at closely.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from argfit.core.choices import PLAIN_NUMBER
from argfit.core.problem import Path
from argfit.core.spelling import Change, respelled

Quiet = Callable[[Any], bool]
Respell = Callable[[Any, Path, list[Change]], Any]

_ABSENT = object()
_PLAIN = frozenset((str, int, float, bool, type(None)))


class LookCloser(Exception):
    """What a value here wants cannot be told without judging it."""


class Watch(msgspec.Struct, frozen=True):
    """The two closures of a place."""

    quiet: Quiet
    respell: Respell
    leaf: bool = False


def _look_closer(value: Any, path: Path, out: list[Change]) -> Any:
    raise LookCloser


def _or_closer(quiet: Quiet) -> Watch:
    """A place where what is not quiet must be looked at closely."""

    def respell(value: Any, path: Path, out: list[Change]) -> Any:
        if quiet(value):
            return value
        raise LookCloser

    return Watch(quiet, respell)


def _is_no_float(value: Any) -> bool:
    kind = type(value)
    return kind is int or (kind is not float and not isinstance(value, float))


def _holds_no_float(value: Any) -> bool:
    pending = [value]
    while pending:
        part = pending.pop()
        kind = type(part)
        if kind is dict:
            pending.extend(part.values())
        elif kind is list:
            pending.extend(part)
        elif kind not in _PLAIN or kind is float:
            return False
    return True


def _as_plain(value: Any, path: Path, out: list[Change]) -> Any:
    return respelled(value, path, out, PLAIN_NUMBER)


NOTHING = Watch(lambda value: True, lambda value, path, out: value, leaf=True)
INTEGER = Watch(_is_no_float, respelled, leaf=True)
PLAIN = Watch(_is_no_float, _as_plain, leaf=True)
NO_FLOAT = _or_closer(_is_no_float)
CLOSER = _or_closer(_holds_no_float)
ALWAYS_CLOSER = Watch(lambda value: False, _look_closer)


def _respelled(made: Watch, value: Any, path: Path, out: list[Change]) -> Any:
    return value if made.leaf and made.quiet(value) else made.respell(value, path, out)


def by_kind(scalar: Watch, in_object: Watch | None, in_list: Watch | None) -> Watch:
    """A place that takes scalars, objects and lists; None for a kind in which there is nothing to see."""
    if in_object is None and in_list is None:
        return scalar

    def quiet(value: Any) -> bool:
        kind = type(value)
        if kind is dict:
            return in_object is None or in_object.quiet(value)
        if kind is list:
            return in_list is None or in_list.quiet(value)
        return kind in _PLAIN and scalar.quiet(value)

    def respell(value: Any, path: Path, out: list[Change]) -> Any:
        kind = type(value)
        if kind is dict:
            return value if in_object is None else in_object.respell(value, path, out)
        if kind is list:
            return value if in_list is None else in_list.respell(value, path, out)
        if kind in _PLAIN:
            return value if scalar.quiet(value) else scalar.respell(value, path, out)
        raise LookCloser

    return Watch(quiet, respell)


def some_members(named: list[tuple[str, Watch]]) -> Watch:
    """An object of which only the named members are looked at."""
    looks = [(name, made.quiet) for name, made in named]
    spells = [(name, made.quiet if made.leaf else None, made.respell) for name, made in named]

    def quiet(value: Any) -> bool:
        for name, look in looks:
            part = value.get(name, _ABSENT)
            if part is not _ABSENT and not look(part):
                return False
        return True

    def respell(value: Any, path: Path, out: list[Change]) -> Any:
        copied = None
        for name, look, spell in spells:
            part = value.get(name, _ABSENT)
            if part is _ABSENT or (look is not None and look(part)):
                continue
            after = spell(part, path + (name,), out)  # noqa: RUF005 - half the cost of unpacking
            if after is not part:
                copied = copied or dict(value)
                copied[name] = after
        return copied or value

    return Watch(quiet, respell)


def any_member(named: dict[str, Watch], plain: set[str], rest: Watch) -> Watch:
    """An object each member of which is looked at, but for the `plain` ones."""

    def quiet(value: Any) -> bool:
        return all(named.get(key, rest).quiet(part) for key, part in value.items() if key not in plain)

    def respell(value: Any, path: Path, out: list[Change]) -> Any:
        copied = None
        for key, part in value.items():
            if key not in plain:
                after = _respelled(named.get(key, rest), part, (*path, key), out)
                if after is not part:
                    copied = copied or dict(value)
                    copied[key] = after
        return copied or value

    return Watch(quiet, respell)


def every_item(made: Watch, start: int) -> Watch:
    """A list each item of which, from `start` on, is looked at alike."""
    look, spell, leaf = made.quiet, made.respell, made.leaf

    def quiet(value: Any) -> bool:
        for part in value[start:] if start else value:  # noqa: SIM110 - a plain loop is half the cost of all()
            if not look(part):
                return False
        return True

    def respell(value: Any, path: Path, out: list[Change]) -> Any:
        copied = None
        for index in range(start, len(value)):
            part = value[index]
            if leaf and look(part):
                continue
            after = spell(part, (*path, index), out)
            if after is not part:
                copied = copied or list(value)
                copied[index] = after
        return copied or value

    return Watch(quiet, respell)


def each_item(prefix: list[Watch], items: Watch) -> Watch:
    """A list whose first items have a watch of their own each."""
    then = every_item(items, len(prefix))

    def quiet(value: Any) -> bool:
        return all(made.quiet(part) for made, part in zip(prefix, value, strict=False)) and then.quiet(value)

    def respell(value: Any, path: Path, out: list[Change]) -> Any:
        head = [
            _respelled(made, part, (*path, i), out) for i, (made, part) in enumerate(zip(prefix, value, strict=False))
        ]
        tail = then.respell(value, path, out)
        if tail is value and all(new is old for new, old in zip(head, value, strict=False)):
            return value
        return [*head, *tail[len(head) :]]

    return Watch(quiet, respell)
