"""Naming what is wrong: one walk over a value under a plan.

Rules
- The judge says *whether* arguments are valid; this walk says *where* and *in which words*.
- All problems at once, in the schema's order: declared members as declared, then what is undeclared, as sent.
- A value of the wrong type has one problem: bounds, lengths and parts are named only to the right type.
- At one place so many are counted; a call of which more is wrong takes no longer.
- A walk remembers what it found of a value at (locations, path): shared branches are looked at once, so nested
  unions cost the number of places, not the number of ways to them.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from argfit.core import problem as words
from argfit.core.judge import meets
from argfit.core.node import Node
from argfit.core.place import At, Types, item_at, member_at
from argfit.core.problem import Path, Problem
from argfit.core.shape import UNBOUNDED, Shape, Shapes
from argfit.core.union import Tag, Union, explained, tag_of, tags_of
from argfit.core.values import is_number

Problems = tuple[Problem, ...]
COUNTED = 100_000  # some 0.3 seconds
SUGGESTIONS = 20  # places with a did-you-mean in one walk: more than a fit can show, fewer than a caller can ask


class Walk:
    """A look at values: the plan, the judge, and what was found so far, value by value."""

    def __init__(self, shapes: Shapes, types: Types, *, remembers: bool = False) -> None:
        self.shapes = shapes
        self._remembers = remembers or shapes.meets_again
        self.plan = shapes.plan
        self.judge = shapes.judge
        self.types = types
        self._found: dict[tuple[At, Path, bool, int], tuple[Any, Problems]] = {}
        self._suggested: set[Path] = set()
        self._tags: dict[tuple[At, At], tuple[Tag, ...]] = {}

    def nodes(self, at: At, value: Any) -> list[Node]:
        """The nodes that look at `value` at a place."""
        return self.shapes.of(at, value).nodes

    def problems(self, at: At, value: Any, path: Path, *, owed: bool = True) -> Problems:
        """What is wrong with `value` at a place; `owed` says that leaving it out is no way out."""
        if not self._remembers:
            return self._look(at, value, path, owed=owed)
        at = self.shapes.known_as(at)
        key = (at, path, owed, id(value))
        known = self._found.get(key)
        if known is None:
            # the value is kept, so that its id stays its own
            known = self._found[key] = (value, self._look(at, value, path, owed=owed))
        return known[1]

    def _look(self, at: At, value: Any, path: Path, *, owed: bool) -> Problems:
        shape = self.shapes.of(at, value)
        found = _problems(self, shape, value, path, owed=owed)
        return tuple(dict.fromkeys(found) if shape.repeats and len(found) > 1 else found)

    def accepting(self, group: At, value: Any, path: Path) -> list[str]:
        """The branches of a union that take `value`."""
        return [branch for branch in group if not self.problems((branch,), value, path)]

    def union(self, group: At, value: Any) -> Union:
        """What is known of a union that does not take `value`."""
        by_type = [branch for branch in group if self.types.takes(branch, value)]
        return Union(group, by_type, self._tag(tuple(by_type), value) if isinstance(value, dict) else None)

    def _tag(self, branches: At, value: dict[str, Any]) -> Tag | None:
        """The tag by which these branches are told apart, where they are objects of this value's kind."""
        shapes = {branch: self.nodes((branch,), value) for branch in branches}
        looking = tuple(node.at for nodes in shapes.values() for node in nodes)
        if (branches, looking) not in self._tags:
            self._tags[branches, looking] = tuple(tags_of(self.plan, shapes))
        return tag_of(self._tags[branches, looking], value)

    def may_suggest(self, path: Path) -> bool:
        """Whether a name is still looked for that was meant at a place: as long as something is to be gained by it."""
        if len(self._suggested) < SUGGESTIONS:
            self._suggested.add(path)
        return path in self._suggested

    def loose(self, shape: Shape, value: Any, path: Path) -> dict[Any, At]:
        """The members (or indexes) that `unevaluated…` keywords look at, and the locations that then do."""
        found: dict[Any, At] = {}
        of_members = isinstance(value, dict)
        everything: Iterable[Any] = value if of_members else range(len(value))
        for node in shape.loosening:
            at = node.unevaluated_members if of_members else node.unevaluated_items
            if at:
                seen = self._evaluated(node, value, path, own=False)
                found.update({part: (*found.get(part, ()), at) for part in everything if part not in seen})
        return found

    def _evaluated(self, node: Node, value: Any, path: Path, *, own: bool = True) -> set[Any]:
        """The parts of `value` that a node, or what holds in its place, looked at (2020-12 core, 11)."""
        if isinstance(value, dict):
            closing = bool(own and node.unevaluated_members)
            seen = {key for key in value if closing or member_at([node], key)}
        else:
            closing = bool(own and node.unevaluated_items)
            seen = {i for i in range(len(value)) if closing or item_at([node], i)}
            if node.contains and self.plan.dialect.uri.endswith("2020-12/schema"):
                seen |= {i for i, item in enumerate(value) if self.judge.accepts_at(node.contains, item)}
        holding = [*node.refs, *node.all_of, *self.accepting((*node.any_of, *node.one_of), value, path)]
        if node.if_:
            holds = self.judge.accepts_at(node.if_, value)
            holding += [there for there in ((node.if_, node.then) if holds else (node.else_,)) if there]
        if isinstance(value, dict):
            holding += [there for key, there in node.dependent_schemas.items() if key in value]
        for branch in holding:
            seen |= self._evaluated(self.plan.nodes[branch], value, path)
        return seen


def _problems(walk: Walk, shape: Shape, value: Any, path: Path, *, owed: bool) -> list[Problem]:
    if shape.never:
        return [words.forbidden(path)]
    for listing in shape.listing:
        if not listing.holds(value):
            members = listing.members
            suggests = isinstance(value, str) and walk.may_suggest(path)
            texts = [member for member in members if isinstance(member, str)] if suggests else []
            return [words.not_a_member(path, members, value, texts)]
    types = shape.types
    if types is not None and not walk.types.has(types, value):
        return [_wrong_type(walk, shape, value, path, owed=owed)]
    found: list[Problem] = []
    if isinstance(value, str):
        if shape.texts:
            found += _text(shape.texts, value, path)
    elif isinstance(value, dict):
        found += islice(_object(walk, shape, value, path), COUNTED)
    elif isinstance(value, list):
        found += islice(_list(walk, shape, value, path), COUNTED)
    elif is_number(value):
        found += _number(shape, value, path)
    for node in shape.branching:
        if node.not_ and walk.judge.accepts_at(node.not_, value):
            found.append(words.other(path))
        for group in (node.any_of, node.one_of):
            if group:
                found += _union(walk, group, value, path, only_one=group is node.one_of, owed=owed)
    return found


def _wrong_type(walk: Walk, shape: Shape, value: Any, path: Path, *, owed: bool) -> Problem:
    types = shape.types
    if not types:  # where the nodes contradict each other, the first that refuses the value speaks
        types = next(some for node in shape.nodes if (some := node.types) and not walk.types.has(some, value))
    elif "number" in types and is_number(value):  # NaN or an infinity: a number it is not told to be
        return words.other(path)
    format = None
    if "string" in types:
        format = next((node.format for node in shape.nodes if node.format), None)
    return words.wrong_type(path, types, format, null_counts=owed)


def _union(walk: Walk, group: At, value: Any, path: Path, *, only_one: bool, owed: bool) -> Iterable[Problem]:
    accepting = walk.accepting(group, value, path)
    if accepting:
        return [words.ambiguous(path)] if only_one and len(accepting) > 1 else []
    union = walk.union(group, value)
    if not union.by_type and is_number(value) and any("number" in (walk.types.at(at) or ()) for at in group):
        return [words.other(path)]
    said = explained(walk.plan, walk.types, union, value, path, null_counts=owed)
    if said is not None:
        return [said]
    found = [walk.problems((branch,), value, path, owed=owed) for branch in union.near(value)]
    if len(found) > 1 and all(_only_missing(problems, path) for problems in found):
        return [words.needs_one(path, [[str(problem.path[-1]) for problem in problems] for problems in found])]
    return min(found, key=len)


def _only_missing(problems: Problems, path: Path) -> bool:
    return all(problem.code == "required" and problem.path[:-1] == path for problem in problems)


# -- numbers and text ---------------------------------------------------------------------------------


def _number(shape: Shape, value: Any, path: Path) -> Iterator[Problem]:
    bounds = shape.bounds
    if bounds is not UNBOUNDED:
        types = shape.types or ()
        if bounds.low is not None and (value < bounds.low or (bounds.open_low and value == bounds.low)):
            yield words.out_of_bounds(path, types, bounds, too_low=True)
        elif bounds.high is not None and (value > bounds.high or (bounds.open_high and value == bounds.high)):
            yield words.out_of_bounds(path, types, bounds, too_low=False)
    for node in shape.nodes:
        if node.multiple_of is not None and not meets("multipleOf", node.multiple_of, value):
            yield words.not_multiple(path, node.multiple_of)


def _text(nodes: Iterable[Node], value: str, path: Path) -> Iterator[Problem]:
    for node in nodes:
        if node.length and not _within(node.length.least, node.length.most, len(value)):
            yield words.wrong_length(path, node.length.least, node.length.most, len(value))
        if node.pattern is not None and not meets("pattern", node.pattern, value):
            yield words.off_pattern(path, node.pattern)
        if node.format and node.format_counts and not meets("format", node.format, value):
            yield words.off_format(path, node.format)


def _within(least: int, most: int | None, count: int) -> bool:
    return least <= count and (most is None or count <= most)


# -- lists and objects --------------------------------------------------------------------------------


def _list(walk: Walk, shape: Shape, value: list[Any], path: Path) -> Iterator[Problem]:
    nodes = shape.nodes
    for node in nodes:
        if node.count and not _within(node.count.least, node.count.most, len(value)):
            yield words.wrong_count(path, node.count.least, node.count.most, len(value))
        if node.unique and not meets("uniqueItems", True, value):
            yield words.repeated(path)
    loose = walk.loose(shape, value, path) if shape.loosening else {}
    for index, item in enumerate(value):
        at = item_at(nodes, index) + loose.get(index, ())
        if at:
            yield from walk.problems(at, item, (*path, index))
    for node in nodes:
        if node.contains:
            matching = sum(walk.judge.accepts_at(node.contains, item) for item in value)
            if not _within(node.containing.least, node.containing.most, matching):
                yield words.other(path)


def _object(walk: Walk, shape: Shape, value: dict[str, Any], path: Path) -> Iterator[Problem]:
    loose = walk.loose(shape, value, path) if shape.loosening else {}
    for name, at in shape.members.items():
        if name not in value:
            if name in shape.required:
                yield words.missing((*path, name))
        elif name in shape.declared:
            looking = at + loose.get(name, ()) if loose else at
            yield from walk.problems(looking, value[name], (*path, name), owed=name in shape.required)
        else:
            yield from _undeclared(walk, shape, value, name, loose, path)
    for name in value:
        if name not in shape.members:
            yield from _undeclared(walk, shape, value, name, loose, path)
    for node in shape.nodes:
        if node.dependent_required or node.size or node.names:
            yield from _as_a_whole(walk, shape, node, value, path)


def _undeclared(
    walk: Walk, shape: Shape, value: dict[str, Any], name: str, loose: dict[Any, At], path: Path
) -> Iterable[Problem]:
    at = shape.member(name) + loose.get(name, ())
    if shape.closed or any(walk.plan.nodes[there].never for there in at):
        return [_unknown(walk, shape, value, (*path, name))]
    return walk.problems(at, value[name], (*path, name), owed=name in shape.required) if at else ()


def _unknown(walk: Walk, shape: Shape, value: dict[str, Any], path: Path) -> Problem:
    may_suggest = walk.may_suggest(path)
    absent = [name for name in shape.members if name in shape.declared and name not in value] if may_suggest else []
    return words.unknown(path, absent)


def _as_a_whole(walk: Walk, shape: Shape, node: Node, value: dict[str, Any], path: Path) -> Iterator[Problem]:
    for trigger, needed in node.dependent_required.items():
        for name in needed if trigger in value else ():
            if name not in value and name not in shape.required:
                yield words.missing((*path, name), trigger)
    if node.size and not _within(node.size.least, node.size.most, len(value)):
        yield words.wrong_count(path, node.size.least, node.size.most, len(value))
    for name in value if node.names else ():
        if not walk.judge.accepts_at(str(node.names), name):
            here = (*path, name)
            yield words.other(here) if name in shape.declared else _unknown(walk, shape, value, here)
