"""The exact rule: a number is spelled as the schema wants it, and stays the same JSON value.

Rules (contract, section 2)
- `whole-number`: where the schema wants an integer, a float with no fraction is written as one; a value that
  equals a listed member takes that member's spelling.
- Every node that looks at a value may *vote* for a spelling. Nodes that hold together (`allOf`, `$ref`, …)
  add their votes; where they differ the integer wins, since that is what a strict receiver refuses.
- In a union only the branches that take the value vote, and only what all of them vote for counts: a branch
  that takes the number as it is keeps it. Where none takes it, the one branch that could be meant votes.
- `plain-number`, where it was asked for: a whole float is written as an integer where the schema wants a number, too
  (behind a protobuf `Struct` every number has become a float). A listed member keeps its spelling.
- `if`, `not` and `contains` only judge: they never vote.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from argfit.core.check import Walk
from argfit.core.choices import PLAIN_NUMBER, WHOLE_NUMBER
from argfit.core.node import Node
from argfit.core.place import At, item_at, member_at
from argfit.core.problem import Path
from argfit.core.shape import Shape
from argfit.core.values import EXACT, INT64_HIGH, INT64_LOW, is_number, same, whole

Votes = dict[Path, "Vote"]

STRIP = "strip"
DROPS = frozenset({STRIP})  # rules whose change leaves the key out; `after` is None then


class Change(msgspec.Struct, frozen=True):
    """One value that was written differently: where, by which rule, from what, to what.

    `at_risk` says that the digits may have been lost before the value came here: it was a float above 2^53.
    """

    path: Path
    rule: str
    before: Any
    after: Any
    at_risk: bool = False


class Vote(msgspec.Struct, frozen=True):
    """A spelling that is wanted of a number, and the rule that wants it."""

    spelled: Any
    rule: str = WHOLE_NUMBER


def changes(walk: Walk, value: Any, at: At = ("#",), *, plain: bool = False) -> list[Change]:
    """The exact changes that make `value` spelled as the locations `at` want it, in the value's order.

    `plain` says that `plain-number` is on.
    """
    return [
        Change(path, vote.rule, before, vote.spelled, isinstance(before, float) and not -EXACT < before < EXACT)
        for path, vote in _Poll(walk, plain=plain).votes(at, value, ()).items()
        if type(vote.spelled) is not type(before := at_path(value, path))
    ]


def respelled(value: float, path: Path, out: list[Change], rule: str = WHOLE_NUMBER) -> float:
    """A float where an integer is wanted: the integer, if it spells one, with the change noted in `out`."""
    if not value.is_integer():  # nor is a NaN or an infinity
        return value
    after = int(value)
    at_risk = not -EXACT < after < EXACT
    if at_risk and not INT64_LOW <= after <= INT64_HIGH:
        return value
    out.append(Change(path, rule, value, after, at_risk))
    return after


def from_digits(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """The changes of a value that was read from text: no digit of it was lost before."""
    return tuple(msgspec.structs.replace(change, at_risk=False) if change.at_risk else change for change in changes)


def apply(value: Any, changes: list[Change]) -> Any:
    """The value with the changes made; what they do not touch is shared, the value itself is not altered."""
    copies: dict[Path, Any] = {}

    def copy_of(path: Path) -> Any:
        if path not in copies:
            original = at_path(value, path)
            copies[path] = copied = dict(original) if isinstance(original, dict) else list(original)
            if path:
                copy_of(path[:-1])[path[-1]] = copied
        return copies[path]

    for change in changes:
        container = copy_of(change.path[:-1])
        if change.rule in DROPS:
            del container[change.path[-1]]
        else:
            container[change.path[-1]] = change.after
    return copies.get((), value)


def at_path(value: Any, path: Path) -> Any:
    """The part of a value that a path names."""
    for step in path:
        value = value[step]
    return value


class _Poll:
    """The votes on one value, each place asked once."""

    def __init__(self, walk: Walk, *, plain: bool) -> None:
        self._walk = walk
        self._plain = plain
        self._known: dict[tuple[At, Path], Votes] = {}

    def votes(self, at: At, value: Any, path: Path) -> Votes:
        """The spellings that the locations `at` vote for, by path."""
        if (at, path) not in self._known:
            self._known[at, path] = self._ask(self._walk.shapes.of(at, value), value, path)
        return self._known[at, path]

    def _ask(self, shape: Shape, value: Any, path: Path) -> Votes:
        nodes = shape.nodes
        votes: Votes = {}
        if is_number(value):
            vote = _vote(nodes, value, plain=self._plain)
            if vote is not None:
                votes[path] = vote
        elif isinstance(value, dict | list):
            loose = self._walk.loose(shape, value, path)
            parts: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else enumerate(value)
            for step, part in parts:
                declared = member_at(nodes, step) if isinstance(value, dict) else item_at(nodes, step)
                below = declared + loose.get(step, ())
                if below:
                    _add(votes, self.votes(below, part, (*path, step)))
            for node in nodes:
                equal = (member for member in node.members or () if same(member, value))
                _add(votes, next((_as_member(member, value, path) for member in equal), {}))
        for node in nodes:
            for group in (node.any_of, node.one_of):
                if group:
                    _add(votes, self._union(group, value, path))
        return votes

    def _union(self, group: At, value: Any, path: Path) -> Votes:
        branches = self._walk.accepting(group, value, path)
        if not branches:
            near = self._walk.union(group, value).near(value)
            branches = near if len(near) == 1 else []
        if not branches:
            return {}
        first, *others = [self.votes((branch,), value, path) for branch in branches]
        return {
            where: vote
            for where, vote in first.items()
            if all(where in other and type(other[where].spelled) is type(vote.spelled) for other in others)
        }


def _vote(nodes: list[Node], value: Any, *, plain: bool) -> Vote | None:
    integer = value if isinstance(value, int) else whole(value)
    if integer is not None and any("integer" in node.types and "number" not in node.types for node in nodes):
        return Vote(integer)
    listed = [member for node in nodes for member in node.members or () if same(member, value)]
    if listed:
        return Vote(next((member for member in listed if type(member) is type(value)), listed[0]))
    if plain and integer is not None and any("number" in node.types for node in nodes):
        return Vote(integer, PLAIN_NUMBER)
    return None


def _as_member(member: Any, value: Any, path: Path) -> Votes:
    if is_number(member):
        return {path: Vote(member)}
    if isinstance(member, dict):
        parts = [(key, part) for key, part in member.items()]
    elif isinstance(member, list):
        parts = list(enumerate(member))
    else:
        return {}
    votes: Votes = {}
    for step, part in parts:
        votes.update(_as_member(part, value[step], (*path, step)))
    return votes


def _add(votes: Votes, more: Votes) -> None:
    for path, vote in more.items():
        if path not in votes or (isinstance(vote.spelled, int) and vote.rule == WHOLE_NUMBER):
            votes[path] = vote
