"""The quick look: whether any number in these arguments might want another spelling.

Rules
- It only ever says "certainly nothing to do here" (True) or "look closely" (False); nothing is decided here.
- So it judges nothing: all branches of unions, conditions and dependencies are watched at once.
- Closures over the plan, made once per tool: a right call is the common case and must cost next to nothing.
- A place of the plan is a *set* of locations that may look at the same value.
"""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from argfit.core.judge import meets
from argfit.core.plan import Node, Plan, together

Check = Callable[[Any], bool]
Spot = frozenset[str]

_ABSENT = object()


class _Sight(msgspec.Struct):
    """What is watched at one spot, and the spots of the value's parts."""

    floats: bool  # a float here may want to be an integer
    finite: bool  # null is allowed here, and the judge takes NaN for null
    numbers: bool  # members with numbers in them: any number or container here may want a member's spelling
    members: dict[str, Spot]
    rest: Spot
    prefix: tuple[Spot, ...]
    items: Spot


def watch(plan: Plan) -> Check | None:
    """Compile the quick look; None where the plan asks for no spelling anywhere."""
    start = frozenset({"#"})
    sights = _sights(plan, start)
    watched = _watched(sights)
    if start not in watched:
        return None
    return _Closures(sights, watched).of(start)


def _sights(plan: Plan, start: Spot) -> dict[Spot, _Sight]:
    sights: dict[Spot, _Sight] = {}
    pending = [start]
    while pending:
        spot = pending.pop()
        if spot not in sights:
            sights[spot] = sight = _sight(together(plan, spot))
            pending.extend(part for part in _parts(sight) if part)
    return sights


def _sight(nodes: list[Node]) -> _Sight:
    declared = dict.fromkeys(name for node in nodes for name in node.properties)
    patterns = {there for node in nodes for there in node.patterns.values()}
    closings = [there for node in nodes for there in (node.additional, node.unevaluated_members) if there]
    longest = max((len(node.prefix) for node in nodes), default=0)
    loose_items = {there for node in nodes for there in (node.items, node.unevaluated_items) if there}
    members = [member for node in nodes for member in node.members or ()]
    types = {name for node in nodes for name in node.types}
    return _Sight(
        floats=any("integer" in node.types and "number" not in node.types for node in nodes),
        finite="null" in types or None in members,
        numbers=any(_has_number(member) for member in members),
        members={name: _member_spot(nodes, name) for name in declared},
        rest=frozenset([*patterns, *closings]),
        prefix=tuple(
            frozenset([*(node.prefix[i] for node in nodes if i < len(node.prefix)), *loose_items])
            for i in range(longest)
        ),
        items=frozenset(loose_items),
    )


def _member_spot(nodes: Iterable[Node], name: str) -> Spot:
    found: set[str] = set()
    for node in nodes:
        mine = {node.properties[name]} if name in node.properties else set[str]()
        mine |= {there for pattern, there in node.patterns.items() if meets("pattern", pattern, name)}
        if not mine and node.additional:
            mine = {node.additional}
        found |= mine | ({node.unevaluated_members} if node.unevaluated_members else set())
    return frozenset(found)


def _has_number(member: Any) -> bool:
    if isinstance(member, dict | list):
        return any(_has_number(part) for part in (member.values() if isinstance(member, dict) else member))
    return isinstance(member, int | float) and not isinstance(member, bool)


def _parts(sight: _Sight) -> tuple[Spot, ...]:
    return (*sight.members.values(), sight.rest, *sight.prefix, sight.items)


def _watched(sights: dict[Spot, _Sight]) -> set[Spot]:
    """The spots from which something watched can be reached."""
    into: dict[Spot, list[Spot]] = {}
    for spot, sight in sights.items():
        for part in _parts(sight):
            into.setdefault(part, []).append(spot)
    found = {spot for spot, sight in sights.items() if sight.floats or sight.finite or sight.numbers}
    pending = list(found)
    while pending:
        for spot in into.get(pending.pop(), ()):
            if spot not in found:
                found.add(spot)
                pending.append(spot)
    return found


class _Closures:
    def __init__(self, sights: dict[Spot, _Sight], watched: set[Spot]) -> None:
        self._sights = sights
        self._watched = watched
        self._made: dict[Spot, Check] = {}

    def of(self, spot: Spot) -> Check | None:
        if spot not in self._watched:
            return None
        if spot not in self._made:
            later: list[Check] = []
            self._made[spot] = lambda value: later[0](value)  # noqa: PLW0108 - recursion: not there yet
            later.append(self._make(self._sights[spot]))
            self._made[spot] = later[0]
        return self._made[spot]

    def _make(self, sight: _Sight) -> Check:
        scalar = _scalar(sight)
        in_object = self._object(sight)
        in_list = self._list(sight)
        if in_object is None and in_list is None:
            return scalar

        def look(value: Any) -> bool:
            kind = type(value)
            if kind is dict:
                return in_object is None or (not sight.numbers and in_object(value))
            if kind is list:
                return in_list is None or (not sight.numbers and in_list(value))
            return scalar(value)

        return look

    def _object(self, sight: _Sight) -> Check | None:
        named = [(name, check) for name, spot in sight.members.items() if (check := self.of(spot))]
        rest = self.of(sight.rest)
        if rest is not None:
            declared = dict(named)
            quiet = sight.members.keys() - declared.keys()

            def look_at_all(value: Any) -> bool:
                return all(declared.get(key, rest)(part) for key, part in value.items() if key not in quiet)

            return look_at_all
        if not named:
            return None

        def look(value: Any) -> bool:
            for name, check in named:
                part = value.get(name, _ABSENT)
                if part is not _ABSENT and not check(part):
                    return False
            return True

        return look

    def _list(self, sight: _Sight) -> Check | None:
        items = self.of(sight.items)
        prefix = [self.of(spot) for spot in sight.prefix]
        if not any(prefix):
            return items and _every(items)
        quiet: Check = lambda value: True  # noqa: E731 - a name for "nothing to see"
        first = [check or quiet for check in prefix]
        then = items or quiet

        def look(value: Any) -> bool:
            head = all(check(part) for check, part in zip(first, value, strict=False))
            return head and all(then(part) for part in value[len(first) :])

        return look


def _every(check: Check) -> Check:
    def look(value: Any) -> bool:
        for part in value:  # noqa: SIM110 - a plain loop is half the cost of all() here
            if not check(part):
                return False
        return True

    return look


def _scalar(sight: _Sight) -> Check:
    if sight.numbers:
        return lambda value: not isinstance(value, int | float | dict | list) or isinstance(value, bool)
    if sight.floats:
        return lambda value: type(value) is not float
    if sight.finite:
        return lambda value: type(value) is not float or value - value == 0.0
    return lambda value: True
