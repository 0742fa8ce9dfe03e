"""The plan: what a schema asks at every place, as frozen data that prints and compares.

Rules
- One `Node` per schema location; nodes name each other by location, so recursion is data, not objects.
- A reference that loops in place (a value would be judged by itself forever) is left out and reported.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from argfit.core.dialect import Dialect
from argfit.core.judge import meets
from argfit.core.node import Node, read_node
from argfit.core.problem import Path
from argfit.core.prune import without_loop
from argfit.core.source import REFERENCES, Source, judged, nothing_usable, step_of, unescaped


class Plan(msgspec.Struct, frozen=True):
    """A tool's compiled schema: its nodes by location, and the keywords that were left out: location -> reason."""

    nodes: dict[str, Node]
    unusable: dict[str, str]
    dialect: Dialect

    def __repr__(self) -> str:
        return "\n".join(
            [repr(node) for node in self.nodes.values()]
            + [f"unusable: {at} ({reason})" for at, reason in self.unusable.items()]
        )


def compile_plan(source: Source) -> tuple[Plan, Source]:
    """Compile a source; returns the source too, less the references that had to be left out."""
    nodes = _nodes(source)
    looping = False
    while loop := _loop(nodes):
        looping = True
        source = without_loop(source, _looping_keyword(source, nodes, loop))
        nodes = _nodes(source)
    if looping:
        source = judged(source) or nothing_usable(source.dialect)
        nodes = _nodes(source)
    return Plan(nodes, source.unusable, source.dialect), source


def _nodes(source: Source) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    parts = {"#": source.document}
    pending = ["#"]
    while pending:
        at = pending.pop()
        if at not in nodes:
            nodes[at] = node = read_node(source, _part(parts, at), at)
            ahead = node.in_place() + node.inside() + ((node.names,) if node.names else ())
            pending.extend(reversed(ahead))
    return nodes


def _part(parts: dict[str, Any], at: str) -> Any:
    """The part of a document at a location that it has; `parts` are those found so far."""
    found = parts.get(at, _part)
    if found is _part:
        home, _, last = at.rpartition("/")
        inside = _part(parts, home)
        found = parts[at] = inside[int(last)] if isinstance(inside, list) else inside[unescaped(last)]
    return found


def _loop(nodes: dict[str, Node], *, inside: bool = False) -> list[str] | None:
    """The locations of a circle, in order: in place, or also by going `inside` values."""
    if not any(node.refs for node in nodes.values()):  # a schema cannot hold itself
        return None

    def ahead_of(at: str) -> list[str]:
        return [*nodes[at].in_place(), *(nodes[at].inside() if inside else ())]

    done: set[str] = set()
    for start in nodes:
        trail = [(start, ahead_of(start))] if start not in done else []
        on_trail = {start}
        while trail:
            at, ahead = trail[-1]
            if not ahead:
                done.add(at)
                on_trail.discard(at)
                trail.pop()
                continue
            following = ahead.pop()
            if following in on_trail:
                circle = [location for location, _ in trail]
                return circle[circle.index(following) :]
            if following not in done:
                on_trail.add(following)
                trail.append((following, ahead_of(following)))
    return None


def is_recursive(plan: Plan) -> bool:
    """Whether values of any depth can be described, so that depth is the caller's choice."""
    return _loop(plan.nodes, inside=True) is not None


def together(plan: Plan, at: Iterable[str]) -> list[Node]:
    """Every node that may look at a value when the locations `at` do, whatever the value is."""
    found: dict[str, Node] = {}
    pending = sorted(at, reverse=True)
    while pending:
        location = pending.pop()
        if location not in found:
            found[location] = plan.nodes[location]
            pending.extend(plan.nodes[location].in_place())
    return list(found.values())


def declares(plan: Plan, name: str) -> bool:
    """Whether the schema of the arguments as a whole declares this name."""
    nodes = together(plan, ["#"])
    return any(name in node.properties or _matches(node, name) for node in nodes)


def declared_part(plan: Plan, path: Path) -> Path:
    """The path as far as the schema names it: what follows a key that the caller chose is left out."""
    nodes = together(plan, ["#"])
    for depth, step in enumerate(path):
        if isinstance(step, str):
            ahead = [node.properties[step] for node in nodes if step in node.properties]
            if not ahead:
                return path[:depth]
        else:
            ahead = [there for node in nodes for there in (*node.prefix, node.items, node.unevaluated_items) if there]
        nodes = together(plan, ahead)
    return path


def _matches(node: Node, name: str) -> bool:
    return any(meets("pattern", pattern, name) for pattern in node.patterns)


def _looping_keyword(source: Source, nodes: dict[str, Node], circle: list[str]) -> str:
    """The reference by which a circle closes: a schema cannot hold itself, so there is one."""
    steps = zip(circle, [*circle[1:], circle[0]], strict=True)
    at, target = [(here, there) for here, there in steps if there in nodes[here].refs][-1]
    schema = source.at(at)
    keywords = (keyword for keyword in REFERENCES if keyword in schema)
    return at + step_of(next(key for key in keywords if source.resolve(schema[key], at) == target))
