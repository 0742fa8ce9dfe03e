"""Unions that take a value by none of their branches: which branch was meant, and what to say of it.

Rules (contract, section 4)
- One branch speaks, so that a model is told one shape and not all of them: the branch whose tag matches, else
  the only one of the same container, else the one with the fewest problems.
- A tag is a member whose listed values tell the branches apart. Where it is missing, that alone is said; where
  it is none of the branches', all of their tags are.
- Branches of listed values only are one list; branches of other types only are one list of types.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from argfit.core import problem as words
from argfit.core.node import Node
from argfit.core.place import At, Types
from argfit.core.plan import Plan
from argfit.core.problem import Path, Problem
from argfit.core.values import key_of, same


class Tag(msgspec.Struct, frozen=True):
    """The member that tells a union's branches apart, and its listed values in each of them."""

    name: str
    values: dict[str, tuple[Any, ...]]
    owed: bool  # every branch requires it

    def branches_of(self, value: dict[str, Any]) -> list[str]:
        """The branches whose tag a value carries: one, or none."""
        if self.name not in value:
            return []
        sent = value[self.name]
        return [branch for branch, listed in self.values.items() if any(same(tag, sent) for tag in listed)]


class Union(msgspec.Struct, frozen=True):
    """What is known of a union that does not take a value: its branches, those of the value's type, their tag."""

    group: At
    by_type: list[str]
    tag: Tag | None

    def near(self, value: Any) -> list[str]:
        """The branches that could be meant."""
        return self.by_type if self.tag is None else self.tag.branches_of(value)


def explained(plan: Plan, types: Types, union: Union, value: Any, path: Path, *, null_counts: bool) -> Problem | None:
    """What is to be said of the union as a whole; None where its nearest branches are to speak."""
    members = [members_at(plan, branch) for branch in union.by_type or union.group]
    if all(members):
        listed = [member for some in members for member in some]
        return words.not_a_member(path, listed, value, _texts(listed))
    if not union.by_type:
        names = [name for branch in union.group for name in types.at(branch) or ()]
        return words.wrong_type(path, names, _format_of(plan, union.group), null_counts=null_counts)
    if union.tag is None or union.near(value):
        return None
    if union.tag.name not in value:
        return words.missing((*path, union.tag.name))
    tags = [member for some in union.tag.values.values() for member in some]
    return words.not_a_member((*path, union.tag.name), tags, value[union.tag.name], _texts(tags))


def tag_of(tags: Iterable[Tag], value: dict[str, Any]) -> Tag | None:
    """The tag by which a value is told; where the value lacks it, it counts only if every branch requires it."""
    return next((tag for tag in tags if tag.owed or tag.name in value), None)


def tags_of(plan: Plan, shapes: dict[str, list[Node]]) -> Iterator[Tag]:
    """The members that can tell a union's branches apart, given the nodes of each."""
    if len(shapes) <= 1:
        return
    first = next(iter(shapes.values()))
    for name in dict.fromkeys(name for node in first for name in node.properties):
        values = {branch: _members_of(plan, nodes, name) for branch, nodes in shapes.items()}
        if all(values.values()) and _apart(values.values()):
            yield Tag(name, values, all(any(name in node.required for node in nodes) for nodes in shapes.values()))


def _apart(groups: Iterable[tuple[Any, ...]]) -> bool:
    seen: set[tuple[str, Any]] = set()
    for members in groups:
        keys = {key for member in members if (key := key_of(member))}
        if len(keys) < len(members) or not seen.isdisjoint(keys):
            return False
        seen |= keys
    return True


def members_at(plan: Plan, at: str) -> tuple[Any, ...]:
    """The listed values of a location, its own or those it refers to; empty where it lists none."""
    node = plan.nodes[at]
    return next((some.members for some in (node, *(plan.nodes[ref] for ref in node.refs)) if some.members), ())


def _members_of(plan: Plan, nodes: list[Node], name: str) -> tuple[Any, ...]:
    return next((members_at(plan, node.properties[name]) for node in nodes if name in node.properties), ())


def _texts(members: list[Any]) -> list[str]:
    return [member for member in members if isinstance(member, str)]


def _format_of(plan: Plan, group: At) -> str | None:
    nodes = [plan.nodes[branch] for branch in group]
    formats = {node.format for node in nodes if "string" in node.types}
    return formats.pop() if len(formats) == 1 else None
