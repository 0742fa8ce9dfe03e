"""What the nodes that look at one value ask of it together, merged once and kept.

Rules
- What depends on the value (`if`, `dependentSchemas`) makes shapes of its own; what does not is found by its
  locations alone.
- A caller chooses the values, and with them which conditions hold: shapes beyond a bound are made anew each time.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from argfit.core.judge import Judge
from argfit.core.node import Node
from argfit.core.place import At, active, common_types, member_at, members_at
from argfit.core.plan import Plan
from argfit.core.problem import Bounds
from argfit.core.values import key_of, same

SHAPES_PER_NODE = 4

UNBOUNDED = Bounds()


class Listing(msgspec.Struct, frozen=True):
    """Values that are listed: as the schema has them, and the scalars among them by their keys."""

    members: tuple[Any, ...]
    keys: frozenset[tuple[str, Any] | None]

    def holds(self, value: Any) -> bool:
        """Whether a value equals one that is listed."""
        key = key_of(value)
        if key is None:
            return any(same(member, value) for member in self.members)
        return key in self.keys


class Shape(msgspec.Struct, frozen=True):
    """All that is asked of one value, but for what unions and conditions ask."""

    nodes: list[Node]
    never: bool
    types: tuple[str, ...] | None
    listing: tuple[Listing, ...]
    bounds: Bounds
    texts: tuple[Node, ...]  # that ask something of text
    members: dict[str, At]  # the names declared, then those only required, each with what looks at it
    declared: frozenset[str]
    rest: At | None  # what looks at any other name; None where that depends on the name
    closed: bool  # no other name is taken
    required: frozenset[str]
    branching: tuple[Node, ...]  # that hold a union or a `not`
    loosening: tuple[Node, ...]  # that look at what no other looked at
    repeats: bool  # it may find one problem twice

    def member(self, name: str) -> At:
        """The locations that look at a member, less `unevaluatedProperties`."""
        known = self.members.get(name, self.rest)
        return member_at(self.nodes, name) if known is None else known


class Shapes:
    """The shapes of one plan."""

    def __init__(self, plan: Plan, judge: Judge) -> None:
        self.plan = plan
        self.judge = judge
        self._settled: dict[At, Shape] = {}
        self._merged: dict[At, Shape] = {}
        self._most = SHAPES_PER_NODE * len(plan.nodes)
        # locations that say no more than which other one holds: known by that one, a place is looked at once
        self._stands_for = {
            at: node.refs[0] for at, node in plan.nodes.items() if node.refs and node == Node(at=at, refs=node.refs[:1])
        }
        # only unions, and what looks at the rest, lead to a place more than once
        self.meets_again = any(
            node.any_of or node.one_of or node.unevaluated_items or node.unevaluated_members
            for node in plan.nodes.values()
        )

    def known_as(self, at: At) -> At:
        """A place by the locations that say something."""
        if self._stands_for.keys().isdisjoint(at):
            return at
        found: dict[str, None] = {}
        for location in at:
            while location in self._stands_for:
                location = self._stands_for[location]  # noqa: PLW2901 - followed to its end; loops have been left out
            found[location] = None
        return tuple(found)

    def of(self, at: At, value: object) -> Shape:
        """The shape of a value at a place."""
        if at in self._settled:
            return self._settled[at]
        nodes = active(self.plan, self.judge, at, value)
        key = tuple(node.at for node in nodes)
        shape = self._merged.get(key) or merged(self.plan, nodes)
        if len(self._merged) < self._most:
            self._merged[key] = shape
            if not any(node.if_ or node.dependent_schemas for node in nodes):
                self._settled[at] = shape
        return shape


def merged(plan: Plan, nodes: list[Node]) -> Shape:
    """The shape of nodes that look at one value."""
    declared = dict.fromkeys(name for node in nodes for name in node.properties)
    required = dict.fromkeys(name for node in nodes for name in node.required)
    rest = None if any(node.patterns for node in nodes) else tuple(node.additional for node in nodes if node.additional)
    return Shape(
        nodes=nodes,
        never=any(node.never for node in nodes),
        types=common_types(nodes),
        listing=tuple(
            Listing(node.members, frozenset(map(key_of, node.members))) for node in nodes if node.members is not None
        ),
        bounds=merged_bounds(nodes),
        texts=tuple(node for node in nodes if node.length or node.pattern is not None or node.format_counts),
        members=members_at(nodes, {**declared, **required}),
        declared=frozenset(declared),
        rest=rest,
        closed=any(plan.nodes[at].never for at in rest or ()),
        required=frozenset(required),
        branching=tuple(node for node in nodes if node.any_of or node.one_of or node.not_),
        loosening=tuple(node for node in nodes if node.unevaluated_items or node.unevaluated_members),
        repeats=len(nodes) > 1 or bool(nodes[0].in_place() or nodes[0].dependent_required),
    )


def merged_bounds(nodes: Iterable[Node]) -> Bounds:
    """The tightest bounds of nodes that look at one value."""
    bounds = UNBOUNDED
    for node in nodes:
        if node.bounds:
            bounds = _tightest(bounds, node.bounds)
    return bounds


def _tightest(one: Bounds, other: Bounds) -> Bounds:
    low, open_low = one.low, one.open_low
    if other.low is not None and (low is None or (other.low, other.open_low) > (low, open_low)):
        low, open_low = other.low, other.open_low
    high, open_high = one.high, one.open_high
    if other.high is not None and (high is None or (other.high, not other.open_high) < (high, not open_high)):
        high, open_high = other.high, other.open_high
    return Bounds(low, high, open_low, open_high)
