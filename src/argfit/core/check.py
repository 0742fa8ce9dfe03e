"""Naming what is wrong: one walk over a value under a plan.

Rules
- The judge says *whether* arguments are valid; this walk says *where* and *in which words*.
- All problems at once, in the schema's order: declared members as declared, then what is undeclared, as sent.
- A value of the wrong type has one problem: bounds, lengths and parts are named only to the right type.
- A union is explained by one branch, so that a model is told one shape and not all of them: the branch whose
  tag matches, else the only one of the same container, else the one with the fewest problems.
- A walk remembers what it found at (locations, path): shared branches are looked at once, so nested unions
  cost the number of places, not the number of ways to them.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from argfit.core import problem as words
from argfit.core.judge import Judge, meets
from argfit.core.place import (
    At,
    active,
    common_types,
    has_type,
    is_member,
    item_at,
    member_at,
    takes_type,
    types_at,
)
from argfit.core.plan import Node, Plan
from argfit.core.problem import Bounds, Path, Problem
from argfit.core.values import is_number, same

Problems = tuple[Problem, ...]


class Walk:
    """One look at one value: the plan, the judge, and what was found so far."""

    def __init__(self, plan: Plan, judge: Judge) -> None:
        self.plan = plan
        self.judge = judge
        self._found: dict[tuple[At, Path], Problems] = {}

    def nodes(self, at: At, value: Any) -> list[Node]:
        """The nodes that look at `value` at a place."""
        return active(self.plan, self.judge, at, value)

    def problems(self, at: At, value: Any, path: Path, *, owed: bool = True) -> Problems:
        """What is wrong with `value` at a place; `owed` says that leaving it out is no way out."""
        known = self._found.get((at, path))
        if known is None:
            known = tuple(dict.fromkeys(_problems(self, self.nodes(at, value), value, path, owed=owed)))
            self._found[at, path] = known
        return known

    def accepting(self, group: At, value: Any, path: Path) -> list[str]:
        """The branches of a union that take `value`."""
        return [branch for branch in group if not self.problems((branch,), value, path)]

    def nearest(self, group: At, value: Any, path: Path) -> list[str]:
        """The branches that could be meant by a value none of them takes: by type, then by tag."""
        near = [branch for branch in group if takes_type(self.plan, branch, value)]
        tagged = _tag(self, near, value) if isinstance(value, dict) else None
        if tagged is not None:
            name, branches = tagged
            return [branch for branch, members in branches.items() if any(same(m, value.get(name)) for m in members)]
        return near

    def loose(self, nodes: list[Node], value: Any, path: Path) -> tuple[set[Any], At]:
        """The members (or indexes) no keyword has looked at, and the `unevaluated…` locations that then do."""
        of_members = isinstance(value, dict)
        said = (node.unevaluated_members if of_members else node.unevaluated_items for node in nodes)
        at = tuple(there for there in said if there)
        if not at:
            return set(), ()
        everything: Iterable[Any] = value if of_members else range(len(value))
        return set(everything) - _evaluated(self, nodes, value, path, own=False), at


def _problems(walk: Walk, nodes: list[Node], value: Any, path: Path, *, owed: bool) -> Iterator[Problem]:
    if any(node.never for node in nodes):
        yield words.forbidden(path)
        return
    types = common_types(nodes)
    members = next((node.members for node in nodes if not is_member(node, value)), None)
    if members is not None:
        yield words.not_a_member(path, members, value)
        return
    if types is not None and not has_type(walk.plan, types, value):
        # where the nodes contradict each other, the first that refuses the value speaks
        refused = types or next(some for node in nodes if (some := node.types) and not has_type(walk.plan, some, value))
        format = next((node.format for node in nodes if node.format), None)
        yield words.wrong_type(path, refused, format, null_counts=owed)
        return
    if is_number(value):
        yield from _number(nodes, value, path, types or ())
    elif isinstance(value, str):
        yield from _text(nodes, value, path)
    elif isinstance(value, list):
        yield from _list(walk, nodes, value, path)
    elif isinstance(value, dict):
        yield from _object(walk, nodes, value, path)
    for node in nodes:
        if node.not_ and walk.judge.accepts_at(node.not_, value):
            yield words.other(path)
        for group in (node.any_of, node.one_of):
            if group:
                yield from _union(walk, group, value, path, only_one=group is node.one_of, owed=owed)


# -- numbers and text ---------------------------------------------------------------------------------


def _number(nodes: list[Node], value: Any, path: Path, types: tuple[str, ...]) -> Iterator[Problem]:
    bounds = Bounds()
    for node in nodes:
        if node.bounds:
            bounds = _tightest(bounds, node.bounds)
    if bounds.low is not None and (value < bounds.low or (bounds.open_low and value == bounds.low)):
        yield words.out_of_bounds(path, types, bounds, too_low=True)
    elif bounds.high is not None and (value > bounds.high or (bounds.open_high and value == bounds.high)):
        yield words.out_of_bounds(path, types, bounds, too_low=False)
    for node in nodes:
        if node.multiple_of is not None and not meets("multipleOf", node.multiple_of, value):
            yield words.not_multiple(path, node.multiple_of)


def _tightest(one: Bounds, other: Bounds) -> Bounds:
    low, open_low = one.low, one.open_low
    if other.low is not None and (low is None or (other.low, other.open_low) > (low, open_low)):
        low, open_low = other.low, other.open_low
    high, open_high = one.high, one.open_high
    if other.high is not None and (high is None or (other.high, not other.open_high) < (high, not open_high)):
        high, open_high = other.high, other.open_high
    return Bounds(low, high, open_low, open_high)


def _text(nodes: list[Node], value: str, path: Path) -> Iterator[Problem]:
    for node in nodes:
        if node.length and not _within(node.length.least, node.length.most, len(value)):
            yield words.wrong_length(path, node.length.least, node.length.most, len(value))
        if node.pattern is not None and not meets("pattern", node.pattern, value):
            yield words.off_pattern(path, node.pattern)


def _within(least: int, most: int | None, count: int) -> bool:
    return least <= count and (most is None or count <= most)


# -- lists --------------------------------------------------------------------------------------------


def _list(walk: Walk, nodes: list[Node], value: list[Any], path: Path) -> Iterator[Problem]:
    for node in nodes:
        if node.count and not _within(node.count.least, node.count.most, len(value)):
            yield words.wrong_count(path, node.count.least, node.count.most, len(value))
        if node.unique and not meets("uniqueItems", True, value):
            yield words.repeated(path)
    loose, rest = walk.loose(nodes, value, path)
    for index, item in enumerate(value):
        at = item_at(nodes, index) + (rest if index in loose else ())
        if at:
            yield from walk.problems(at, item, (*path, index))
    for node in nodes:
        if node.contains:
            matching = sum(walk.judge.accepts_at(node.contains, item) for item in value)
            if not _within(node.containing.least, node.containing.most, matching):
                yield words.other(path)


# -- objects ------------------------------------------------------------------------------------------


def _object(walk: Walk, nodes: list[Node], value: dict[str, Any], path: Path) -> Iterator[Problem]:
    required = dict.fromkeys(name for node in nodes for name in node.required)
    declared = dict.fromkeys(name for node in nodes for name in node.properties)
    for name in {**declared, **required}:
        if name in value:
            at = member_at(nodes, name)
            yield from walk.problems(at, value[name], (*path, name), owed=name in required) if at else ()
        elif name in required:
            yield words.missing((*path, name))
    for node in nodes:
        for trigger, needed in node.dependent_required.items():
            if trigger in value:
                yield from (
                    words.missing((*path, name), trigger) for name in needed if name not in {**value, **required}
                )
    absent = [name for name in declared if name not in value]
    loose, rest = walk.loose(nodes, value, path)
    for key, part in value.items():
        if key in declared or key in required:
            continue
        at = member_at(nodes, key) + (rest if key in loose else ())
        if any(walk.plan.nodes[there].never for there in at):
            yield words.unknown((*path, key), absent)
        elif at:
            yield from walk.problems(at, part, (*path, key))
    for node in nodes:
        if node.size and not _within(node.size.least, node.size.most, len(value)):
            yield words.wrong_count(path, node.size.least, node.size.most, len(value))
        if node.names:
            bad = [key for key in value if not walk.judge.accepts_at(node.names, key)]
            yield from (words.unknown((*path, key), absent) for key in bad)


def _evaluated(walk: Walk, nodes: list[Node], value: Any, path: Path, *, own: bool = True) -> set[Any]:
    """The parts of `value` that some keyword of these nodes, or of the branches that take it, looked at."""
    seen: set[Any] = set()
    for node in nodes:
        if isinstance(value, dict):
            closing = bool(node.unevaluated_members and own)
            seen.update(key for key in value if closing or member_at([node], key))
        else:
            closing = bool(node.unevaluated_items and own)
            seen.update(i for i in range(len(value)) if closing or item_at([node], i))
            if node.contains and walk.plan.dialect.uri.endswith("2020-12/schema"):
                seen.update(i for i, item in enumerate(value) if walk.judge.accepts_at(node.contains, item))
        holding = [*walk.accepting((*node.any_of, *node.one_of), value, path)]
        if node.if_ and walk.judge.accepts_at(node.if_, value):
            holding.append(node.if_)
        for branch in holding:
            seen |= _evaluated(walk, walk.nodes((branch,), value), value, path)
    return seen


# -- unions -------------------------------------------------------------------------------------------


def _union(walk: Walk, group: At, value: Any, path: Path, *, only_one: bool, owed: bool) -> Iterable[Problem]:
    accepting = walk.accepting(group, value, path)
    if accepting:
        return [words.ambiguous(path)] if only_one and len(accepting) > 1 else []
    by_type = [branch for branch in group if takes_type(walk.plan, branch, value)]
    members = [_members_at(walk, branch) for branch in by_type or group]
    if all(members):
        return [words.not_a_member(path, [member for some in members for member in some], value)]
    if not by_type:
        types = [name for branch in group for name in types_at(walk.plan, branch) or ()]
        return [words.wrong_type(path, types, _format_of(walk, group), null_counts=owed)]
    tagged = _tag(walk, by_type, value) if isinstance(value, dict) else None
    near = walk.nearest(group, value, path)
    if tagged is not None and not near:
        name, branches = tagged
        if name not in value:
            return [words.missing((*path, name))]
        tags = [member for some in branches.values() for member in some]
        return [words.not_a_member((*path, name), tags, value[name])]
    found = [walk.problems((branch,), value, path, owed=owed) for branch in near]
    if len(found) > 1 and all(_only_missing(problems, path) for problems in found):
        return [words.needs_one(path, [str(problem.path[-1]) for problems in found for problem in problems])]
    return min(found, key=len)


def _only_missing(problems: Problems, path: Path) -> bool:
    return all(problem.code == "required" and problem.path[:-1] == path for problem in problems)


def _members_at(walk: Walk, at: str) -> tuple[Any, ...]:
    nodes = [walk.plan.nodes[at], *(walk.plan.nodes[ref] for ref in walk.plan.nodes[at].refs)]
    return next((node.members for node in nodes if node.members is not None), ())


def _format_of(walk: Walk, group: At) -> str | None:
    nodes = [walk.plan.nodes[branch] for branch in group]
    return next((node.format for node in nodes if node.format and "string" in node.types), None)


def _tag(walk: Walk, branches: list[str], value: dict[str, Any]) -> tuple[str, dict[str, tuple[Any, ...]]] | None:
    """The member whose listed values tell the branches apart, with the values of each branch.

    Where the value lacks the tag, it counts only if every branch requires it.
    """
    if not branches[1:]:
        return None
    shapes = {branch: walk.nodes((branch,), value) for branch in branches}
    first = next(iter(shapes.values()))
    for name in dict.fromkeys(name for node in first for name in node.properties):
        tags = {branch: _members_of(walk, nodes, name) for branch, nodes in shapes.items()}
        listed = [member for some in tags.values() for member in some]
        apart = all(not same(one, other) for i, one in enumerate(listed) for other in listed[i + 1 :])
        owed = all(any(name in node.required for node in nodes) for nodes in shapes.values())
        if all(tags.values()) and apart and (name in value or owed):
            return name, tags
    return None


def _members_of(walk: Walk, nodes: list[Node], name: str) -> tuple[Any, ...]:
    return next(
        (some for node in nodes if name in node.properties for some in [_members_at(walk, node.properties[name])]),
        (),
    )
