"""The plan as a tree that a person reads: place by place what must hold, and which rules may change what is sent.

Rules
- The words are those of the problems, so that what is read here is what a refusal says.
- What `$ref` and `allOf` add to a place is one with it; a union with null is its other branch, or null.
- Each part is shown once: where a schema refers to itself, or twice to the same shape, the second place points
  at the first. Parts that overlap make shapes without end all the same: the tree has a bound.
- Where a schema only judges (`if`, `not`, `contains`, names), no rule changes what is sent.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from argfit.core import problem
from argfit.core.choices import INTEGER_FORMATS, PLAIN_NUMBER, WHOLE_NUMBER
from argfit.core.engine import Engine
from argfit.core.node import Node, Range
from argfit.core.place import At, common_types, item_at, members_at
from argfit.core.problem import Bounds, show_path
from argfit.core.rename import may_rename
from argfit.core.repair import mender
from argfit.core.shape import merged_bounds
from argfit.core.union import tag_of, tags_of
from argfit.core.values import is_number

MOST_PLACES, DEEPEST = 5_000, 60  # shown with their parts
WHOLE, DECLARED, PART, BRANCH = "the arguments", "a declared name", "any other part", "a branch of the place"
OF_KEYS = ("rename", "rename-case")
_DIGITS = re.compile("-?[0-9]+")
_NOT_TEXT: tuple[Any, ...] = (5, 0.5, True, None, [], {})


class Line(msgspec.Struct, frozen=True):
    """One place: what it is called, whether it must be there, what must hold, which rules apply, what is inside."""

    label: str
    words: str
    required: bool = False
    rules: tuple[str, ...] = ()
    inside: tuple["Line", ...] = ()


class _Place(msgspec.Struct, frozen=True):
    """A place as it is shown: the locations that look at it, all nodes that do, whether null will do."""

    at: At
    nodes: list[Node]
    or_null: bool
    either: tuple[str, ...]  # the types among which unions of nothing but types choose
    groups: list[tuple[str, At]]  # the other unions, each under a heading


def outline(engine: Engine) -> Line:
    """The tree of one tool's arguments."""
    return _Outline(engine).line("arguments", ("#",), (), required=True, role=WHOLE)


class _Outline:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._plan = engine.plan
        self._mender = mender(engine)
        self._shown: dict[tuple[At, bool], str] = {}
        self._judging = 0

    def line(self, label: str, at: At, path: tuple[str, ...], *, required: bool, role: str) -> Line:
        """The line of a place, with those of its parts."""
        place = self._place(at)
        words = _said(place)
        rules = () if self._judging else tuple(self._rules(place, role, required=required))
        shape = tuple(node.at for node in place.nodes if node.inside() or _branching(node)), bool(self._judging)
        if shape[0] and shape in self._shown:
            return Line(label, f"{words} (its parts as under {self._shown[shape]})", required, rules)
        if len(self._shown) >= MOST_PLACES or len(path) >= DEEPEST:
            return Line(label, f"{words} (its parts are not shown: there are too many)", required, rules)
        self._shown[shape] = ".".join(path) or "arguments"
        inside = tuple(self._parts(place, path))
        return Line(label, words, required, rules, inside)

    def _place(self, at: At) -> _Place:
        """What looks at a place whatever the value, seen through unions with null."""
        found: dict[str, Node] = {}
        pending = list(reversed(at))
        or_null = False
        either: list[str] = []
        groups: list[tuple[str, At]] = []
        while pending:
            location = pending.pop()
            if location in found:
                continue
            node = found[location] = self._plan.nodes[location]
            pending += [*reversed(node.all_of), *reversed(node.refs)]
            for heading, group in (("one of these", node.any_of), ("exactly one of these", node.one_of)):
                branches = [self._plan.nodes[branch] for branch in group]
                others = [branch for branch in branches if branch != _of_type(branch, "null")]
                if len(others) == 1:
                    or_null = or_null or len(group) > 1
                    pending.append(others[0].at)
                elif branches and all(branch == _of_type(branch, *branch.types) for branch in branches):
                    either += [name for branch in branches for name in branch.types]
                elif branches:
                    groups.append((heading, group))
        return _Place(at, list(found.values()), or_null, tuple(either), groups)

    # -- what is inside -------------------------------------------------------------------------------

    def _parts(self, place: _Place, path: tuple[str, ...]) -> Iterator[Line]:
        yield from self._members(place, path)
        yield from self._items(place.nodes, path)
        for heading, group in place.groups:
            yield self._union(heading, group, path)
        for node in place.nodes:
            for key, there in node.dependent_schemas.items():
                yield self._part(f"with {key}", (there,), path, role=BRANCH)
            beside = {"if": node.if_, "then": node.then, "else": node.else_, "must not fit": node.not_}
            for label, location in beside.items():
                if location:
                    judges = label in ("if", "must not fit")
                    yield self._part(label, (location,), path, role=BRANCH, judges=judges)

    def _part(self, label: str, at: At, path: tuple[str, ...], *, role: str = PART, judges: bool = False) -> Line:
        self._judging += judges
        line = self.line(label, at, (*path, label), required=False, role=role)
        self._judging -= judges
        return line

    def _members(self, place: _Place, path: tuple[str, ...]) -> Iterator[Line]:
        nodes = place.nodes
        declared = dict.fromkeys(name for node in nodes for name in node.properties)
        required = {name for node in nodes for name in node.required}
        for name, at in members_at(nodes, declared).items():
            yield self.line(show_path((name,)), at, (*path, name), required=name in required, role=DECLARED)
        for name in sorted(required - declared.keys()):
            yield Line(show_path((name,)), "any value", required=True)
        if any(node.never for node in nodes):
            return
        for node in nodes:
            for pattern, there in node.patterns.items():
                yield self._part(f"names that match {pattern}", (there,), path)
            for rest in (node.additional, node.unevaluated_members):
                if rest and self._plan.nodes[rest].never:
                    words = problem.unknown((*path, ""), ()).words
                    yield Line("any other name", words)
                elif rest:
                    yield self._part("any other name", (rest,), path)
            if node.names:
                yield self._part("each name", (node.names,), path, judges=True)
        is_open = not any(node.additional or node.unevaluated_members for node in nodes)
        if is_open and (not path or declared):
            yield Line("any other name", "any value")

    def _items(self, nodes: list[Node], path: tuple[str, ...]) -> Iterator[Line]:
        longest = max((len(node.prefix) for node in nodes), default=0)
        for index in range(longest):
            yield self._part(f"item {index}", item_at(nodes, index), path)
        rest = item_at(nodes, longest)
        if rest:
            yield self._part("each further item" if longest else "each item", rest, path)
        for node in nodes:
            if node.unevaluated_items:
                yield self._part("each other item", (node.unevaluated_items,), path)
            if node.contains:
                yield self._part(f"{_how_many(node.containing)} of the items", (node.contains,), path, judges=True)

    def _union(self, heading: str, group: At, path: tuple[str, ...]) -> Line:
        shapes = {branch: self._place((branch,)).nodes for branch in group}
        tag = tag_of(tags_of(self._plan, shapes), {})
        inside = []
        for count, branch in enumerate(group, 1):
            label = " or ".join(map(str, tag.values[branch])) if tag else f"shape {count}"
            inside.append(self._part(label, (branch,), path, role=BRANCH))
        return Line(heading, f"told apart by {tag.name}" if tag else "", inside=tuple(inside))

    # -- which rules apply ----------------------------------------------------------------------------

    def _rules(self, place: _Place, role: str, *, required: bool) -> Iterator[str]:
        nodes, at, on, mends = place.nodes, place.at, self._engine.repairs, self._mender
        listed = [member for node in nodes for member in node.members or ()]
        named = [place.either, *(node.types for node in nodes)]
        if any("integer" in types and "number" not in types for types in named) or any(map(_holds_number, listed)):
            yield WHOLE_NUMBER
        elif self._engine.plain and any("number" in types for types in named):
            yield PLAIN_NUMBER
        whole, branch = role == WHOLE, role == BRANCH  # what a branch takes is repaired where the union stands
        droppable = role == DECLARED and not required
        renames = may_rename(mends.walk, at) if mends.takes(at, {}) else False
        applying = {
            "rename": renames,
            "rename-case": "rename" not in on and renames,
            "unquote": whole or (any(mends.takes(at, one) for one in _NOT_TEXT) and not mends.takes_free_text(at)),
            "unwrap-item": not whole and not mends.takes_item(at),
            "drop-null": droppable and not mends.fits(at, None),
            "drop-empty": whole or (droppable and not mends.fits(at, "")),
            "member-case": bool(mends.listed_texts(at)),
            "wrap": self._engine.types.only(at, "array"),
            "quote": self._engine.types.only(at, "string")
            and (not listed or any(isinstance(member, str) and _DIGITS.fullmatch(member) for member in listed)),
        }
        applying = {name: applies for name, applies in applying.items() if not branch or name in OF_KEYS}
        yield from (name for name, applies in applying.items() if applies and name in on)


def _holds_number(value: Any) -> bool:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return is_number(value) or any(map(_holds_number, parts))


def _of_type(node: Node, *types: str) -> Node:
    """What a node would be that says these types and no more."""
    return Node(at=node.at, types=types)


def _branching(node: Node) -> bool:
    return bool(node.any_of or node.one_of or node.dependent_schemas or node.if_ or node.not_)


# -- what must hold, in the words of the problems ---------------------------------------------------------


def _said(place: _Place) -> str:
    """What a place asks of a value itself."""
    if any(node.never for node in place.nodes):
        return problem.forbidden(()).words
    types = common_types(place.nodes) or place.either
    listed = any(node.members for node in place.nodes)
    or_null = place.or_null or (not listed and "null" in types and len(types) > 1)
    words = list(dict.fromkeys(_wanted(place.nodes, types)))
    if not words:
        return "" if place.groups else "any value"
    return "; ".join([words[0] + (", or null" if or_null else ""), *words[1:]])


def _wanted(nodes: list[Node], types: tuple[str, ...]) -> Iterator[str]:
    named = [name for name in types if name != "null"] or list(types)
    numeric = bool(named) and set(named) <= {"integer", "number"}
    bounds = merged_bounds(nodes)
    listed = [node.members for node in nodes if node.members is not None]
    for members in listed:
        yield problem.not_a_member((), members, None).words
    if numeric and bounds != Bounds():
        yield problem.out_of_bounds((), named, bounds, too_low=True).words
    elif named and not listed:
        format = next((node.format for node in nodes if node.format and node.format_counts), None)
        yield problem.wrong_type((), named, format, null_counts=True).words
    if not numeric and bounds != Bounds():
        yield f"if a number, {problem.out_of_bounds((), ('number',), bounds, too_low=True).words}"
    for node in nodes:
        yield from _wanted_by(node)


def _wanted_by(node: Node) -> Iterator[str]:
    if node.multiple_of is not None:
        yield problem.not_multiple((), node.multiple_of).words
    yield from (problem.wrong_length((), *sides).words for sides in _sides(node.length))
    if node.pattern is not None:
        yield problem.off_pattern((), node.pattern).words
    if node.format and not node.format_counts:
        yield f"the format {node.format} is not checked"
    elif node.format in problem.FORMATS:
        yield problem.off_format((), node.format).words
    elif node.format and node.format not in INTEGER_FORMATS:  # whose bounds have been said
        yield f"must be of the format {node.format}"
    for range_ in (node.count, node.size):
        yield from (problem.wrong_count((), *sides).words for sides in [*_sides(range_)][-1:])  # it says both
    if node.unique:
        yield problem.repeated(()).words
    for trigger, names in node.dependent_required.items():
        yield from (str(problem.missing((name,), trigger)) for name in names)


def _how_many(range_: Range) -> str:
    if range_.most is None:
        return f"at least {range_.least}"
    return f"from {range_.least} to {range_.most}"


def _sides(range_: Range | None) -> Iterable[tuple[int, int | None, int]]:
    """The arguments with which the problems of a range say its sides."""
    if range_ is None:
        return
    if range_.least:
        yield range_.least, range_.most, range_.least - 1
    if range_.most is not None:
        yield range_.least, range_.most, range_.most + 1
