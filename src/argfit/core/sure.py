"""The shortest way: most schemas ask little more than types, and most calls are right.

Rules
- One closure per tool, made once from the plan. It says "certainly valid, and nothing to respell or to leave out"; what
  it is not sure of is looked at by the quick way and the judge. It never says more than they would.
- What it can be sure of: types, names, listed texts, whole numbers within bounds, `anyOf` and a reference by itself. A
  float is sure only where a number is asked for and nothing else: in a union another branch may want it respelled.
- Scalars of exact type are what JSON readers make.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from argfit.core.node import Node
from argfit.core.plan import Plan
from argfit.core.problem import Bounds
from argfit.core.values import EXACT

Sure = Callable[[Any], bool]

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "object": (dict,),
    "array": (list,),
}
_PLAIN = frozenset((str, int, float, bool, type(None)))
_SEEN = frozenset(
    ("at", "types", "members", "bounds", "format", "items", "properties", "additional", "required", "refs", "any_of")
)
_BESIDE = frozenset(("types", "members", "bounds", "properties", "required"))  # a union or a reference


class _NotSure(Exception):
    """A place of which nothing is sure."""


def sure(plan: Plan, *, plain: bool = False) -> Sure | None:
    """Compile the shortest way for arguments; None where it would never be sure. `plain`: `plain-number` is on."""
    try:
        look = _Maker(plan, plain=plain).of("#", in_union=False)
    except (_NotSure, RecursionError):
        return None
    root = plan.nodes["#"]
    return _of_kind(dict, look) if root.refs or root.any_of else look


def _never(value: Any) -> bool:
    return False


def _no_container(value: Any) -> bool:
    return type(value) in _PLAIN and (type(value) is not float or math.isfinite(value))


def _no_float(value: Any) -> bool:
    return type(value) in _PLAIN and type(value) is not float


class _Maker:
    def __init__(self, plan: Plan, *, plain: bool) -> None:
        self._plan = plan
        self._plain = plain
        self._making: set[str] = set()

    def of(self, at: str, *, in_union: bool) -> Sure:
        """The closure of one location; `_NotSure` where it could only ever say no."""
        if at in self._making:
            raise _NotSure
        self._making.add(at)
        try:
            return self._make(self._plan.nodes[at], in_union=in_union)
        finally:
            self._making.remove(at)

    def _or_never(self, at: str, *, in_union: bool) -> Sure:
        try:
            return self.of(at, in_union=in_union)
        except _NotSure:
            return _never

    def _make(self, node: Node, *, in_union: bool) -> Sure:
        said = node.said().keys()
        if not said <= _SEEN or (node.bounds and not _is_plain(node.bounds)):
            raise _NotSure
        if node.refs or node.any_of:
            if len(node.refs) + bool(node.any_of) > 1 or said & _BESIDE:
                raise _NotSure
            if node.refs:
                return self.of(node.refs[0], in_union=in_union)
            return _either([self.of(branch, in_union=True) for branch in node.any_of])
        kinds = {kind for name in node.types or _KINDS for kind in _KINDS[name]}
        if in_union or self._plain or node.bounds or not node.types or "integer" in node.types:
            kinds.discard(float)
        if node.at == "#":  # arguments are an object
            kinds &= {dict}
        looks: dict[type, Sure | None] = dict.fromkeys(kinds & _PLAIN)
        if node.members is not None:
            if not all(isinstance(one, str) for one in node.members):
                raise _NotSure
            looks = {str: frozenset(node.members).__contains__} if str in kinds else {}
        else:
            if int in looks and node.bounds:
                looks[int] = _within(node.bounds)
            if float in looks:
                looks[float] = math.isfinite
            if dict in kinds:
                looks[dict] = self._members(node, in_union=in_union)
            if list in kinds:
                anything = _no_float if in_union else _no_container
                looks[list] = _each(anything if node.items is None else self._or_never(node.items, in_union=in_union))
        if not looks:
            raise _NotSure
        if len(looks) > 1:
            return _of_kinds(looks)
        ((kind, look),) = looks.items()
        return look if look is not None and kind in (dict, list) else _of_kind(kind, look)

    def _members(self, node: Node, *, in_union: bool) -> Sure:
        named = {name: self._or_never(at, in_union=in_union) for name, at in node.properties.items()}
        rest: Sure = _no_float if in_union else _no_container
        if node.additional is not None:
            rest = self._or_never(node.additional, in_union=in_union)
        return _object(named, rest, node.required)


def _is_plain(bounds: Bounds) -> bool:
    """Whether bounds are ones that floats and whole numbers are compared with alike."""
    return all(limit is None or abs(limit) < EXACT for limit in (bounds.low, bounds.high))


def _within(bounds: Bounds) -> Sure:
    low, high, open_low, open_high = bounds.low, bounds.high, bounds.open_low, bounds.open_high

    def is_sure(value: Any) -> bool:
        above = low is None or value > low or (value == low and not open_low)
        return above and (high is None or value < high or (value == high and not open_high))

    return is_sure


def _either(branches: list[Sure]) -> Sure:
    def is_sure(value: Any) -> bool:
        for branch in branches:  # noqa: SIM110 - a plain loop is half the cost of any()
            if branch(value):
                return True
        return False

    return is_sure


def _of_kind(kind: type, look: Sure | None) -> Sure:
    if look is None:
        return lambda value: type(value) is kind
    return lambda value: type(value) is kind and look(value)


def _of_kinds(looks: Mapping[type, Sure | None]) -> Sure:
    def is_sure(value: Any) -> bool:
        look = looks.get(type(value), _never)
        return look is None or look(value)

    return is_sure


def _object(named: dict[str, Sure], rest: Sure, required: tuple[str, ...]) -> Sure:
    def is_sure(value: Any) -> bool:
        if type(value) is not dict:
            return False
        for name in required:
            if name not in value:
                return False
        for name, part in value.items():  # noqa: SIM110 - as above
            if not named.get(name, rest)(part):
                return False
        return True

    return is_sure


def _each(look: Sure) -> Sure:
    def is_sure(value: Any) -> bool:
        if type(value) is not list:
            return False
        for part in value:  # noqa: SIM110 - as above
            if not look(part):
                return False
        return True

    return is_sure
