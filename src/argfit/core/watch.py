"""The quick way: most calls are right, and most that are not want a few whole floats written as integers.

Rules
- Two closures per tool, made once from the plan (`quick`). They do what `spelling.changes` would do, or ask for
  a close look; nothing is decided here that depends on what a value means.
- A union is seen through where one branch only can take a value of that JSON type; where more can, or a
  condition, a pattern or a listed number matters, look closer.
- A *spot* is a set of locations that look at the same value whatever it is.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from argfit.core.node import Node
from argfit.core.place import Types, item_at, member_at
from argfit.core.plan import Plan
from argfit.core.quick import (
    ALWAYS_CLOSER,
    CLOSER,
    INTEGER,
    NO_FLOAT,
    NOTHING,
    PLAIN,
    Watch,
    any_member,
    by_kind,
    each_item,
    every_item,
    some_members,
)

Spot = frozenset[str]

SPOTS_PER_NODE = 4  # real schemas have one spot per node; overlapping recursion can have 2 to the power of nodes


class TooManySpots(Exception):
    """The sets of locations that may look at one value are too many to be worked out beforehand."""


class _Inside(msgspec.Struct, frozen=True):
    """What is watched inside an object or a list: by name or position, and in all other parts."""

    parts: dict[str | int, Spot]
    rest: Spot


def watch(plan: Plan, types: Types, *, plain: bool = False) -> Watch | None:
    """Compile the quick way; None where the plan asks for no spelling anywhere. `plain`: `plain-number` is on."""
    interesting = _interesting(plan, plain=plain)
    try:
        made = _Maker(plan, types, interesting, plain=plain).of(frozenset({"#"}))
    except (RecursionError, TooManySpots):
        return CLOSER
    return None if made is None or made.leaf else made  # arguments are an object: there is no number to look at


def _interesting(plan: Plan, *, plain: bool) -> set[str]:
    """The locations from which a wish for a spelling can be reached."""
    found = {at for at, node in plan.nodes.items() if _wishes(node) or (plain and "number" in node.types)}
    if not found:
        return found
    into: dict[str, list[str]] = {}
    for at, node in plan.nodes.items():
        for there in (*node.in_place(), *node.inside()):
            into.setdefault(there, []).append(at)
    pending = list(found)
    while pending:
        for at in into.get(pending.pop(), ()):
            if at not in found:
                found.add(at)
                pending.append(at)
    return found


def _wishes(node: Node) -> bool:
    return _wants_integer(node) or any(_numbers_in(member) for member in node.members or ())


def _wants_integer(node: Node) -> bool:
    return "integer" in node.types and "number" not in node.types


def _numbers_in(member: Any) -> list[Any]:
    if isinstance(member, dict | list):
        parts = member.values() if isinstance(member, dict) else member
        return [number for part in parts for number in _numbers_in(part)]
    return [member] if isinstance(member, int | float) and not isinstance(member, bool) else []


class _Maker:
    def __init__(self, plan: Plan, types: Types, interesting: set[str], *, plain: bool) -> None:
        self._plan = plan
        self._types = types
        self._interesting = interesting
        self._plain = plain
        self._made: dict[Spot, Watch] = {}
        self._making: set[Spot] = set()

    def of(self, spot: Spot) -> Watch | None:
        """The watch of a spot; None where there is nothing to see."""
        spot &= self._interesting
        if not spot:
            return None
        if len(self._made) > SPOTS_PER_NODE * len(self._plan.nodes):
            raise TooManySpots
        if spot in self._making:
            return self._later(spot)
        if spot not in self._made:
            self._making.add(spot)
            self._made[spot] = self._make(spot)
            self._making.remove(spot)
        return self._made[spot]

    def _later(self, spot: Spot) -> Watch:
        """The watch of a spot that holds itself, and is still being made."""
        made = self._made
        return Watch(
            lambda value: made[spot].quiet(value),  # noqa: PLW0108 - it is not there yet
            lambda value, path, out: made[spot].respell(value, path, out),  # noqa: PLW0108 - likewise
        )

    def _make(self, spot: Spot) -> Watch:
        (first, *others) = (self._plan.nodes[at] for at in spot)
        alone = not others and first.members is None and not first.in_place()
        if alone and not first.inside():
            return self._scalar([first])
        numeric, objects, lists = (
            [first] if alone else self._seen_by(spot, kind) for kind in ("number", "object", "array")
        )
        scalar, in_object, in_list = self._scalar(numeric), self._object(objects), self._list(lists)
        close = numeric is None or scalar is NO_FLOAT or in_object is CLOSER or in_list is CLOSER
        if close and self._has_listed_float(spot):  # then an integer may want another spelling, too
            return ALWAYS_CLOSER
        return by_kind(scalar, in_object, in_list)

    def _scalar(self, nodes: list[Node] | None) -> Watch:
        if nodes is None or any(_numbers_in(member) for node in nodes for member in node.members or ()):
            return NO_FLOAT
        if any(map(_wants_integer, nodes)):
            return INTEGER
        return PLAIN if self._plain and any("number" in node.types for node in nodes) else NOTHING

    def _object(self, nodes: list[Node] | None) -> Watch | None:
        if nodes is not None and not any(_holds_members(node) for node in nodes):
            return None
        inside = None if nodes is None else self._members(nodes)
        if inside is None:
            return CLOSER
        named = {str(name): made for name, part in inside.parts.items() if (made := self.of(part))}
        rest = self.of(inside.rest)
        if rest is not None:
            return any_member(named, {str(name) for name in inside.parts} - named.keys(), rest)
        return some_members(list(named.items())) if named else None

    def _list(self, nodes: list[Node] | None) -> Watch | None:
        if nodes is None or any(node.unevaluated_items in self._interesting for node in nodes):
            return CLOSER
        if not any(node.items or node.prefix for node in nodes):
            return None
        longest = max((len(node.prefix) for node in nodes), default=0)
        prefix = [self.of(frozenset(item_at(nodes, i))) for i in range(longest)]
        items = self.of(frozenset(node.items for node in nodes if node.items))
        if not any(prefix):
            return items and every_item(items, longest)
        return each_item([made or NOTHING for made in prefix], items or NOTHING)

    def _members(self, nodes: list[Node]) -> _Inside | None:
        """What is watched inside an object; None where which pattern a key meets must be judged first."""
        if any(node.unevaluated_members in self._interesting for node in nodes):
            return None
        rest = frozenset(node.additional for node in nodes if node.additional) & self._interesting
        patterns = {there for node in nodes for there in node.patterns.values()}
        if not self._interesting.isdisjoint(patterns) or (rest and patterns):
            return None
        declared = dict.fromkeys(name for node in nodes for name in node.properties)
        if not rest:  # then only what leads to a wish needs a look
            seen = {name for node in nodes for name, there in node.properties.items() if there in self._interesting}
            declared = {name: None for name in declared if name in seen}
        return _Inside({name: frozenset(member_at(nodes, name)) for name in declared}, rest)

    def _seen_by(self, spot: Spot, kind: str) -> list[Node] | None:
        """The nodes that look at a value of this kind, whatever the value; None where that depends on it."""
        found: dict[str, Node] = {}
        pending = sorted(spot, reverse=True)
        while pending:
            at = pending.pop()
            if at in found or at not in self._interesting:
                continue
            node = found[at] = self._plan.nodes[at]
            if node.members is None and not node.in_place():
                continue
            if kind != "number" and any(isinstance(member, dict | list) for member in node.members or ()):
                return None
            maybe = [node.then, node.else_] if node.if_ else []
            maybe += node.dependent_schemas.values() if kind == "object" else ()
            if any(there in self._interesting for there in maybe):
                return None
            pending += [*node.refs, *node.all_of]
            for group in (node.any_of, node.one_of):
                able = [branch for branch in group if _may_be(self._types.at(branch), kind)]
                if able[1:] and not self._interesting.isdisjoint(able):
                    return None
                pending += able
        return list(found.values())

    def _has_listed_float(self, spot: Spot) -> bool:
        listed = (member for node in self._reachable(spot) for member in node.members or ())
        return any(isinstance(number, float) for member in listed for number in _numbers_in(member))

    def _reachable(self, spot: Spot) -> Iterable[Node]:
        seen: dict[str, Node] = {}
        pending = list(spot)
        while pending:
            at = pending.pop()
            if at not in seen:
                node = seen[at] = self._plan.nodes[at]
                pending += [*node.in_place(), *node.inside()]
        return seen.values()


def _holds_members(node: Node) -> bool:
    return bool(node.properties or node.additional or node.patterns or node.unevaluated_members)


def _may_be(types: tuple[str, ...] | None, kind: str) -> bool:
    return types is None or kind in types or (kind == "number" and "integer" in types)
