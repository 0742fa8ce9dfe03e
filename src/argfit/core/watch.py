"""The quick way: most calls are right, and most that are not want a few whole floats written as integers.

Rules
- Two closures per tool, made once from the plan. `quiet` says "certainly nothing to respell here"; `respell`
  does what `spelling.changes` would do, or raises `LookCloser` where only a close look can decide.
- So nothing is decided here that depends on what a value means: a union is seen through where one branch only
  can take a value of that JSON type; where more can, or a condition or a listed member matters, look closer.
- A *spot* is a set of locations that look at the same value whatever it is.
"""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from argfit.core.judge import meets
from argfit.core.place import types_at
from argfit.core.plan import Node, Plan
from argfit.core.problem import Path
from argfit.core.spelling import Change, respelled

Quiet = Callable[[Any], bool]
Respell = Callable[[Any, Path, list[Change]], Any]
Spot = frozenset[str]

_ABSENT = object()
_NOWHERE: Spot = frozenset()


class LookCloser(Exception):
    """What a value here wants cannot be told without judging it."""


class Watch(msgspec.Struct, frozen=True):
    """The two closures of a tool."""

    quiet: Quiet
    respell: Respell


class _Sight(msgspec.Struct):
    """What is watched at one spot. `None` for a kind of value: look closer."""

    number: str = "leave"  # or "integer", or "closer"
    finite: bool = False  # null is taken here, and the judge takes NaN for null
    members: dict[str, Spot] | None = msgspec.field(default_factory=dict)
    rest: Spot = _NOWHERE
    prefix: list[Spot] | None = msgspec.field(default_factory=list)
    items: Spot = _NOWHERE
    loud: bool = False  # a listed member below is a float: integers may want another spelling too


def watch(plan: Plan) -> Watch | None:
    """Compile the quick way; None where the plan asks for no spelling anywhere."""
    interesting = _interesting(plan)
    if "#" not in interesting:
        return None
    return _Maker(plan, interesting).of(frozenset({"#"}))


def _interesting(plan: Plan) -> set[str]:
    """The locations from which a wish for a spelling (or a place where NaN passes) can be reached."""
    into: dict[str, list[str]] = {}
    for at, node in plan.nodes.items():
        for there in (*node.in_place(), *node.inside()):
            into.setdefault(there, []).append(at)
    found = {at for at, node in plan.nodes.items() if _wishes(node)}
    pending = list(found)
    while pending:
        for at in into.get(pending.pop(), ()):
            if at not in found:
                found.add(at)
                pending.append(at)
    return found


def _wishes(node: Node) -> bool:
    return (
        wants_integer(node)
        or "null" in node.types
        or any(member is None or numbers_in(member) for member in node.members or ())
    )


def wants_integer(node: Node) -> bool:
    """Whether a node takes integers and no other numbers."""
    return "integer" in node.types and "number" not in node.types


def numbers_in(member: Any) -> list[Any]:
    """The numbers in a listed member."""
    if isinstance(member, dict | list):
        parts = member.values() if isinstance(member, dict) else member
        return [number for part in parts for number in numbers_in(part)]
    return [member] if isinstance(member, int | float) and not isinstance(member, bool) else []


class _Maker:
    def __init__(self, plan: Plan, interesting: set[str]) -> None:
        self._plan = plan
        self._interesting = interesting
        self._made: dict[Spot, Watch | None] = {}

    def of(self, spot: Spot) -> Watch | None:
        spot &= self._interesting
        if not spot:
            return None
        if spot not in self._made:
            # for recursion, until the real ones are there
            later: list[Watch] = []
            self._made[spot] = Watch(
                lambda value: later[0].quiet(value),  # noqa: PLW0108 - it is not there yet
                lambda value, path, out: later[0].respell(value, path, out),  # noqa: PLW0108 - likewise
            )
            later.append(self._make(self._sight(spot)))
            self._made[spot] = later[0]
        return self._made[spot]

    # -- what is watched ------------------------------------------------------------------------------

    def _sight(self, spot: Spot) -> _Sight:
        sight = _Sight()
        numeric = self._seen_by(spot, "number")
        members = [member for node in numeric or () for member in node.members or ()]
        if numeric is None or any(numbers_in(member) for member in members):
            sight.number = "closer"
        elif any(wants_integer(node) for node in numeric):
            sight.number = "integer"
        sight.finite = sight.number == "leave" and self._takes_null(spot)
        self._look_into_objects(sight, self._seen_by(spot, "object"))
        self._look_into_lists(sight, self._seen_by(spot, "array"))
        if "closer" in (sight.number, sight.members, sight.prefix) or None in (sight.members, sight.prefix):
            sight.loud = self._has_listed_float(spot)
        return sight

    def _look_into_objects(self, sight: _Sight, nodes: list[Node] | None) -> None:
        if nodes is None or any(node.unevaluated_members in self._interesting for node in nodes):
            sight.members = None
            return
        declared = dict.fromkeys(name for node in nodes for name in node.properties)
        sight.members = {name: frozenset(_member_at(nodes, name)) & self._interesting for name in declared}
        if any(node.patterns and not self._interesting.isdisjoint(node.patterns.values()) for node in nodes):
            sight.members = None  # which pattern a key meets is the judge's to say
            return
        sight.rest = frozenset(node.additional for node in nodes if node.additional) & self._interesting
        if sight.rest and any(node.patterns for node in nodes):
            sight.members = None

    def _look_into_lists(self, sight: _Sight, nodes: list[Node] | None) -> None:
        if nodes is None or any(node.unevaluated_items in self._interesting for node in nodes):
            sight.prefix = None
            return
        longest = max((len(node.prefix) for node in nodes), default=0)
        sight.prefix = [frozenset(_item_at(nodes, i)) & self._interesting for i in range(longest)]
        sight.items = frozenset(node.items for node in nodes if node.items) & self._interesting

    def _seen_by(self, spot: Spot, kind: str) -> list[Node] | None:
        """The nodes that look at a value of this kind, whatever the value; None where that depends on it."""
        found: dict[str, Node] = {}
        pending = sorted(spot, reverse=True)
        while pending:
            at = pending.pop()
            if at in found or at not in self._interesting:
                continue
            node = found[at] = self._plan.nodes[at]
            if kind != "number" and any(isinstance(member, dict | list) for member in node.members or ()):
                return None
            maybe = [node.then, node.else_] if node.if_ else []
            maybe += node.dependent_schemas.values() if kind == "object" else ()
            if any(there in self._interesting for there in maybe):
                return None
            pending += [*node.refs, *node.all_of]
            for group in (node.any_of, node.one_of):
                able = [branch for branch in group if _may_be(types_at(self._plan, branch), kind)]
                if able[1:] and not self._interesting.isdisjoint(able):
                    return None
                pending += able
        return list(found.values())

    def _takes_null(self, spot: Spot) -> bool:
        return any("null" in node.types or None in (node.members or ()) for node in self._reachable(spot, inside=False))

    def _has_listed_float(self, spot: Spot) -> bool:
        listed = (member for node in self._reachable(spot, inside=True) for member in node.members or ())
        return any(isinstance(number, float) for member in listed for number in numbers_in(member))

    def _reachable(self, spot: Spot, *, inside: bool) -> Iterable[Node]:
        seen: dict[str, Node] = {}
        pending = list(spot)
        while pending:
            at = pending.pop()
            if at not in seen:
                node = seen[at] = self._plan.nodes[at]
                pending += [*node.in_place(), *(node.inside() if inside else ())]
        return seen.values()

    # -- closures -------------------------------------------------------------------------------------

    def _make(self, sight: _Sight) -> Watch:
        scalar = _scalar(sight)
        in_object = _CLOSER if sight.members is None else self._object(sight)
        in_list = _CLOSER if sight.prefix is None else self._list(sight)
        if sight.loud:
            return Watch(lambda value: False, _look_closer)
        if in_object is None and in_list is None:
            return scalar

        def quiet(value: Any) -> bool:
            kind = type(value)
            if kind is dict:
                return in_object is None or in_object.quiet(value)
            if kind is list:
                return in_list is None or in_list.quiet(value)
            return scalar.quiet(value)

        def respell(value: Any, path: Path, out: list[Change]) -> Any:
            kind = type(value)
            if kind is dict:
                return value if in_object is None else in_object.respell(value, path, out)
            if kind is list:
                return value if in_list is None else in_list.respell(value, path, out)
            return scalar.respell(value, path, out)

        return Watch(quiet, respell)

    def _object(self, sight: _Sight) -> Watch | None:
        named = [(name, made) for name, spot in (sight.members or {}).items() if (made := self.of(spot))]
        rest = self.of(sight.rest)
        if rest is not None:
            return _free_object(dict(named), (sight.members or {}).keys() - dict(named).keys(), rest)
        return _closed_object(named) if named else None

    def _list(self, sight: _Sight) -> Watch | None:
        items = self.of(sight.items)
        prefix = [self.of(spot) for spot in sight.prefix or ()]
        if not any(prefix):
            return items and _every(items, 0)
        return _tuple([made or _NOTHING for made in prefix], items or _NOTHING)


def _may_be(types: tuple[str, ...] | None, kind: str) -> bool:
    return types is None or kind in types or (kind == "number" and "integer" in types)


def _member_at(nodes: list[Node], name: str) -> Iterable[str]:
    for node in nodes:
        mine = [node.properties[name]] if name in node.properties else []
        mine += [there for pattern, there in node.patterns.items() if meets("pattern", pattern, name)]
        yield from mine or ([node.additional] if node.additional else [])


def _item_at(nodes: list[Node], index: int) -> Iterable[str]:
    for node in nodes:
        if index < len(node.prefix):
            yield node.prefix[index]
        elif node.items:
            yield node.items


def _scalar(sight: _Sight) -> Watch:
    if sight.number == "integer":
        return _INTEGER
    if sight.number == "closer":
        return Watch(lambda value: type(value) is not float, _closer_if_float)
    if sight.finite:
        return Watch(
            _is_finite, lambda value, path, out: value if _is_finite(value) else _look_closer(value, path, out)
        )
    return _NOTHING


def _is_finite(value: Any) -> bool:
    return type(value) is not float or value - value == 0.0


def _look_closer(value: Any, path: Path, out: list[Change]) -> Any:
    raise LookCloser


def _closer_if_float(value: Any, path: Path, out: list[Change]) -> Any:
    if type(value) is float:
        raise LookCloser
    return value


def _as_integer(value: Any, path: Path, out: list[Change]) -> Any:
    return respelled(value, path, out) if type(value) is float else value


def _no_floats(value: Any) -> bool:
    pending = [value]
    while pending:
        part = pending.pop()
        kind = type(part)
        if kind is dict:
            pending.extend(part.values())
        elif kind is list:
            pending.extend(part)
        elif kind is float:
            return False
    return True


def _closer_if_any_float(value: Any, path: Path, out: list[Change]) -> Any:
    if _no_floats(value):
        return value
    raise LookCloser


_NOTHING = Watch(lambda value: True, lambda value, path, out: value)
_INTEGER = Watch(lambda value: type(value) is not float, _as_integer)
_CLOSER = Watch(_no_floats, _closer_if_any_float)


def _closed_object(named: list[tuple[str, Watch]]) -> Watch:
    looks = [(name, made.quiet) for name, made in named]
    spells = [(name, made.respell) for name, made in named]

    def quiet(value: Any) -> bool:
        for name, look in looks:
            part = value.get(name, _ABSENT)
            if part is not _ABSENT and not look(part):
                return False
        return True

    def respell(value: Any, path: Path, out: list[Change]) -> Any:
        copied = None
        for name, spell in spells:
            part = value.get(name, _ABSENT)
            if part is _ABSENT:
                continue
            after = spell(part, (*path, name), out)
            if after is not part:
                copied = copied or dict(value)
                copied[name] = after
        return copied or value

    return Watch(quiet, respell)


def _free_object(named: dict[str, Watch], plain: set[str], rest: Watch) -> Watch:
    """An object any key of which is looked at, but for the `plain` ones."""

    def quiet(value: Any) -> bool:
        return all(named.get(key, rest).quiet(part) for key, part in value.items() if key not in plain)

    def respell(value: Any, path: Path, out: list[Change]) -> Any:
        copied = None
        for key, part in value.items():
            if key not in plain:
                after = named.get(key, rest).respell(part, (*path, key), out)
                if after is not part:
                    copied = copied or dict(value)
                    copied[key] = after
        return copied or value

    return Watch(quiet, respell)


def _every(made: Watch, start: int) -> Watch:
    """A list each item of which, from `start` on, is looked at alike."""
    look, spell = made.quiet, made.respell

    def quiet(value: Any) -> bool:
        for part in value[start:] if start else value:  # noqa: SIM110 - a plain loop is half the cost of all()
            if not look(part):
                return False
        return True

    def respell(value: Any, path: Path, out: list[Change]) -> Any:
        copied = None
        for index in range(start, len(value)):
            part = value[index]
            after = spell(part, (*path, index), out)
            if after is not part:
                copied = copied or list(value)
                copied[index] = after
        return copied or value

    return Watch(quiet, respell)


def _tuple(prefix: list[Watch], items: Watch) -> Watch:
    then = _every(items, len(prefix))

    def quiet(value: Any) -> bool:
        return all(made.quiet(part) for made, part in zip(prefix, value, strict=False)) and then.quiet(value)

    def respell(value: Any, path: Path, out: list[Change]) -> Any:
        head = [made.respell(part, (*path, i), out) for i, (made, part) in enumerate(zip(prefix, value, strict=False))]
        tail = then.respell(value, path, out)
        if tail is value and all(new is old for new, old in zip(head, value, strict=False)):
            return value
        return [*head, *tail[len(head) :]]

    return Watch(quiet, respell)
