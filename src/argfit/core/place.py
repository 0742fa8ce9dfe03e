"""What applies to a value: the nodes that look at it, and the locations that look at its parts.

Rules
- `$ref`, `allOf`, the branch of `if` that holds, and the `dependentSchemas` of keys that are there all
  look at the value itself; together with a node they are one place. Unions are not part of it: which of
  their branches count is decided where the place is checked or spelled.
- Siblings decide `additionalProperties` and `items` (draft 2020-12 core, 10.3): each node for itself.
- `if`, `not`, `contains` only judge.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from argfit.core.judge import Judge, meets
from argfit.core.node import Node
from argfit.core.plan import Plan
from argfit.core.values import is_of_type, type_of

At = tuple[str, ...]

_ONE_OF_EACH: dict[str, Any] = {"number": 0.5, "integer": 5, "string": "", "boolean": True, "object": {}, "array": []}


def active(plan: Plan, judge: Judge, at: At, value: Any) -> list[Node]:
    """The nodes that look at `value` when the locations `at` do, each once, in the schema's order."""
    if len(at) == 1:
        node = plan.nodes[at[0]]
        if not (node.refs or node.all_of or node.if_ or node.dependent_schemas):
            return [node]
    found: dict[str, Node] = {}
    pending = list(reversed(at))
    while pending:
        location = pending.pop()
        if location in found:
            continue
        node = found[location] = plan.nodes[location]
        also = [*node.refs, *node.all_of]
        if node.if_ and (node.then or node.else_):
            branch = node.then if judge.accepts_at(node.if_, value) else node.else_
            also += [branch] if branch else []
        if node.dependent_schemas and isinstance(value, dict):
            also += [there for key, there in node.dependent_schemas.items() if key in value]
        pending.extend(reversed(also))
    return list(found.values())


def member_at(nodes: Iterable[Node], key: str) -> At:
    """The locations that look at an object's member, less `unevaluatedProperties`."""
    found: list[str] = []
    for node in nodes:
        mine = [node.properties[key]] if key in node.properties else []
        mine += [there for pattern, there in node.patterns.items() if meets("pattern", pattern, key)]
        if not mine and node.additional:
            mine = [node.additional]
        found += mine
    return tuple(dict.fromkeys(found))


def members_at(nodes: Sequence[Node], names: Iterable[str]) -> dict[str, At]:
    """The locations that look at each of some members."""
    if any(node.patterns or node.additional for node in nodes):
        return {name: member_at(nodes, name) for name in names}
    found: dict[str, dict[str, None]] = {name: {} for name in names}
    for node in nodes:
        for name, there in node.properties.items():
            found[name][there] = None
    return {name: tuple(there) for name, there in found.items()}


def item_at(nodes: Iterable[Node], index: int) -> At:
    """The locations that look at a list's item, less `unevaluatedItems`."""
    found: list[str] = []
    for node in nodes:
        if index < len(node.prefix):
            found.append(node.prefix[index])
        elif node.items:
            found.append(node.items)
    return tuple(dict.fromkeys(found))


def common_types(nodes: Iterable[Node]) -> tuple[str, ...] | None:
    """The types that every node takes; None where no node names one."""
    common: list[str] | None = None
    for node in nodes:
        if node.types:
            common = list(node.types) if common is None else _meet(common, node.types)
    return None if common is None else tuple(common)


def _meet(types: list[str], others: tuple[str, ...]) -> list[str]:
    kept = []
    for name in types:
        if name in others or (name == "integer" and "number" in others):
            kept.append(name)
        elif name == "number" and "integer" in others:
            kept.append("integer")
    return kept


class Types:
    """The types that locations of a plan can take, each worked out once.

    `whole_floats` says that a float without a fraction counts as an integer.
    """

    def __init__(self, plan: Plan, *, whole_floats: bool) -> None:
        self._plan = plan
        self._whole_floats = whole_floats
        self._known: dict[str, tuple[str, ...] | None] = {}

    def at(self, location: str) -> tuple[str, ...] | None:
        """The types a location can take, as far as `type`, members and unions say; None where they do not."""
        pending = [location] if location not in self._known else []
        while pending:  # what a location takes hangs on what those take that it leads to, however long the way
            here = pending[-1]
            node = self._plan.nodes[here]
            ahead = [there for there in self._leading(node) if there not in self._known]
            if ahead:
                pending += ahead
            else:
                self._known[here] = self._work_out(node)
                pending.pop()
        return self._known[location]

    @staticmethod
    def _leading(node: Node) -> tuple[str, ...]:
        return node.refs + node.all_of + node.any_of + node.one_of

    def takes(self, location: str, value: Any) -> bool:
        """Whether a location can take a value of this type at all."""
        types = self.at(location)
        return types is None or self.has(types, value)

    def only(self, at: At, name: str) -> bool:
        """Whether a place takes values of one type only, null aside."""
        taken = {kind for kind, one in _ONE_OF_EACH.items() if all(self.takes(location, one) for location in at)}
        return taken == {name}

    def has(self, types: Collection[str], value: Any) -> bool:
        """Whether a value is of one of these types."""
        found = type_of(value)
        if found != "number":
            return found in types or (found == "integer" and "number" in types)
        return any(is_of_type(value, name, whole_float_is_integer=self._whole_floats) for name in types)

    def _work_out(self, node: Node) -> tuple[str, ...] | None:
        said: list[tuple[str, ...]] = [node.types] if node.types else []
        if node.members is not None and not node.types:
            said.append(tuple(dict.fromkeys(type_of(member) for member in node.members)))
        said += [types for there in (*node.refs, *node.all_of) if (types := self.at(there)) is not None]
        for group in (node.any_of, node.one_of):
            branches = [self.at(branch) for branch in group]
            if branches and None not in branches:
                said.append(tuple(dict.fromkeys(name for types in branches for name in types or ())))
        if not said:
            return None
        common = list(said[0])
        for types in said[1:]:
            common = _meet(common, types)
        return tuple(common)
