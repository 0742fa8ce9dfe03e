"""Keys that no schema declares, and the declared names that can be meant by them.

Rules (contract, section 3)
- A key is renamed where it is not taken as it is, or where the name it is meant for is required.
- One key for one name: where two keys can be meant for a name, or two names by a key, none is renamed.
"""

from collections import Counter
from collections.abc import Collection
from typing import Any

from argfit.core.check import Walk
from argfit.core.place import At
from argfit.core.problem import Path, fold
from argfit.core.shape import Shape

RENAME, RENAME_CASE = "rename", "rename-case"


def renames_in(walk: Walk, on: Collection[str], at: At, value: dict[str, Any], path: Path) -> dict[str, str]:
    """The undeclared keys of an object that can be meant for one declared name each, by that name."""
    if RENAME not in on and RENAME_CASE not in on:
        return {}
    shape = walk.shapes.of(at, value)
    loose = walk.loose(shape, value, path)
    needed = {
        name for node in shape.nodes for key, names in node.dependent_required.items() if key in value for name in names
    }
    like = fold if RENAME in on else str.casefold
    absent: dict[str, list[str]] = {}
    for name in shape.declared:
        if name not in value:
            absent.setdefault(like(name), []).append(name)
    found: dict[str, str] = {}
    for key in value:
        if key in shape.declared or not isinstance(key, str):  # which is no JSON, and means no name
            continue
        names = absent.get(like(key), [])
        if len(names) == 1 and (
            names[0] in shape.required or names[0] in needed or _refused(walk, shape, key, loose.get(key, ()))
        ):
            found[key] = names[0]
    meant = Counter(found.values())
    return {key: name for key, name in found.items() if meant[name] == 1}


def may_rename(walk: Walk, at: At) -> bool:
    """Whether a place has names that an undeclared key can be meant for: required ones, or any where it is closed."""
    stray = ""
    shape = walk.shapes.of(at, {})
    needed = {name for node in shape.nodes for names in node.dependent_required.values() for name in names}
    closed = refuses(walk, shape, {stray: None}, stray)
    return bool(shape.declared if closed else shape.declared & (shape.required | needed))


def rename_rule(on: Collection[str]) -> str:
    """The rule by which a key is renamed: the wider one where both are on."""
    return RENAME if RENAME in on else RENAME_CASE


def refuses(walk: Walk, shape: Shape, value: dict[str, Any], key: str) -> bool:
    """Whether an object is not to have a key that it has, whatever its value."""
    return _refused(walk, shape, key, walk.loose(shape, value, ()).get(key, ()))


def _refused(walk: Walk, shape: Shape, key: str, loose: At) -> bool:
    looking = shape.member(key) + loose
    return any(walk.plan.nodes[there].never for there in looking) or any(
        node.names and not walk.judge.accepts_at(node.names, key) for node in shape.nodes
    )
