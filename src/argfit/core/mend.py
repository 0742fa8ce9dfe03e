"""Mending: the places of a value that do not fit are looked for, and repaired one by one.

Rules (contract, section 3)
- A repair is tried only where a value fails its own schema, and made only if the place then fits. Siblings that
  fit are never looked at again.
- Where decoding or renaming gives the right container or key but something inside is wrong, the value stays as
  it came, and what is named is what was found inside.
- Where a union, or a condition, refuses in the end what its own schema takes, the value stays as it came.
- A drop may not break what holds the argument: where one of two is required, neither is optional.
- Every edit names the place it had when the arguments came, so that it can be spliced into their text.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec

from argfit.core import text as json_text
from argfit.core.check import Problems, Walk
from argfit.core.choices import WHOLE_NUMBER
from argfit.core.edit import Edit
from argfit.core.engine import Engine
from argfit.core.place import At, item_at
from argfit.core.plan import together
from argfit.core.problem import Path, Problem
from argfit.core.rename import refuses, rename_rule, renames_in
from argfit.core.shape import Shape
from argfit.core.spelling import Change, apply
from argfit.core.values import same

DROP_NULL, DROP_EMPTY = "drop-null", "drop-empty"

KEEP, LEAVE = "keep", "leave"  # a member that is not left out, and one that stays as it came
MOST_TRIED = 128  # branches at one place: unions that hold unions have powers of them
FEW = 20  # members that are left out of one object, tried one by one


class Mended(msgspec.Struct, frozen=True):
    """What came of a place: its value, how it was changed, and what is still wrong with it."""

    value: Any
    changes: tuple[Change, ...] = ()
    edits: tuple[Edit, ...] = ()
    problems: Problems = ()


class Mender:
    """Mends one value under one schema; `repairs` are those of a value as a whole, in their order."""

    def __init__(self, engine: Engine, repairs: Mapping[str, "Repair"]) -> None:
        self.engine = engine
        self.on = engine.repairs
        self._repairs = {name: repair for name, repair in repairs.items() if name in self.on}
        self.walk = Walk(engine.shapes, engine.types, remembers=True)
        self._tried: dict[Path, int] = {}
        self._mended: dict[tuple[At, Path, Path, bool, bool, int], tuple[Any, Mended]] = {}

    def mend(self, at: At, value: Any, path: Path, origin: Path, *, owed: bool = True, whole: bool = True) -> Mended:
        """Mend a value at a place; `origin` is where it stood when it came. Without `whole`, only what is inside.

        What came of a place is remembered: the branches of nested unions lead to the same places many times over.
        """
        at = self.walk.shapes.known_as(at)
        key = (at, path, origin, owed, whole, id(value))
        if key not in self._mended:
            # the value is kept, so that its id stays its own
            self._mended[key] = (value, self._mend(at, value, path, origin, owed=owed, whole=whole))
        return self._mended[key][1]

    def _mend(self, at: At, value: Any, path: Path, origin: Path, *, owed: bool, whole: bool) -> Mended:
        problems = self.walk.problems(at, value, path, owed=owed)
        if not problems:
            return Mended(value)
        inside = self._inside(at, value, path, origin, owed=owed) if isinstance(value, dict | list) else None
        if inside is not None and not inside.problems:
            return inside
        # the arguments as a whole are an object, and stay one
        for repair in self._repairs.values() if path and whole else ():
            tried = repair(self, at, value, path, origin)
            if tried is not None:
                return tried
        return inside or Mended(value, problems=problems)

    def respell_and_mend(
        self, at: At, value: Any, path: Path, origin: Path, *, owed: bool = True, whole: bool = True
    ) -> Mended:
        """Mend a value that comes to a place it did not stand at: its numbers are yet to be spelled as wanted there."""
        spelled = self.engine.respellings(value, at)
        respelled = apply([value], [under(0, change) for change in spelled])[0]
        mended = self.mend(at, respelled, path, origin, owed=owed, whole=whole)
        if mended.problems:
            return mended
        told = tuple(msgspec.structs.replace(change, path=(*path, *change.path)) for change in spelled)
        edits = [Edit((*origin, *change.path), "write", json_text.encoded(change.after)) for change in spelled]
        return Mended(mended.value, (*told, *mended.changes), (*edits, *mended.edits))

    def wants_integer(self, at: At, number: Any) -> bool:
        """Whether a place takes a number as an integer, or as a listed one."""
        return any(change.rule == WHOLE_NUMBER for change in self.engine.respellings(number, at))

    def fits(self, at: At, value: Any) -> bool:
        """Whether a value fits a place."""
        return not self.walk.problems(at, value, ())

    def takes(self, at: At, kind: Any) -> bool:
        """Whether every location of a place can take values of this one's type."""
        return all(self.engine.types.takes(location, kind) for location in at)

    def takes_free_text(self, at: At) -> bool:
        """Whether a place takes text other than what is listed."""
        return self._takes(at, "", lambda shape, _: not shape.listing)

    def takes_item(self, at: At) -> bool:
        """Whether a place takes objects with a member `item`."""
        return self._takes(at, {"item": None}, lambda shape, value: not refuses(self.walk, shape, value, "item"))

    def _takes(self, at: At, value: Any, said: Callable[[Shape, Any], bool]) -> bool:
        """Whether what looks at a place takes a value of this kind, in one branch of each union at least."""
        if not self.takes(at, value):
            return False
        shape = self.walk.shapes.of(at, value)
        groups = [group for node in shape.nodes for group in (node.any_of, node.one_of) if group]
        return said(shape, value) and all(any(self._takes((one,), value, said) for one in group) for group in groups)

    def listed_texts(self, at: At) -> list[str]:
        """The texts that a place lists, or a branch of it."""
        listed = (member for node in together(self.engine.plan, at) for member in node.members or ())
        return [member for member in listed if isinstance(member, str)]

    # -- inside objects and lists ---------------------------------------------------------------------

    def _inside(self, at: At, value: Any, path: Path, origin: Path, *, owed: bool) -> Mended | None:
        union = self._by_branch(at, value, path, origin, owed=owed)
        if union is not None:
            return union
        if isinstance(value, dict):
            return self._object(at, value, path, origin, owed=owed)
        shape = self.walk.shapes.of(at, value)
        loose = self.walk.loose(shape, value, path)
        parts: dict[Any, Mended] = {}
        for index, item in enumerate(value):
            below = item_at(shape.nodes, index) + loose.get(index, ())
            parts[index] = self.mend(below, item, (*path, index), (*origin, index)) if below else Mended(item)
        made = [part.value for part in parts.values()]
        return self._together(at, value, made, parts, path, owed=owed)

    def _by_branch(self, at: At, value: Any, path: Path, origin: Path, *, owed: bool) -> Mended | None:
        """Mend under the branches of a union that could be meant; None where there is no union to look into."""
        for node in self.walk.nodes(at, value):
            for group in (node.any_of, node.one_of):
                known = self.walk.shapes.known_as(group)  # as a place is known that was led here by a branch
                if group and set(known).isdisjoint(at) and not self.walk.accepting(group, value, path):
                    union = self.walk.union(group, value)
                    meant = union.near(value)
                    if len(meant) == 1:
                        one = self.mend((*at, meant[0]), value, path, origin, owed=owed)
                        return msgspec.structs.replace(one, problems=()) if self.fits(at, one.value) else one
                    # where no branch has the tag that was sent, it may be one that is mended
                    could_be = [b for b in meant or union.by_type if not self._beyond(at, b, value, path)]
                    self._tried[path] = self._tried.get(path, 0) + len(could_be)
                    if self._tried[path] > MOST_TRIED:
                        return None
                    mended = [self.mend((*at, branch), value, path, origin, owed=owed) for branch in could_be]
                    fitting = [one for one in mended if self.fits(at, one.value)]
                    if fitting and all(same(one.value, fitting[0].value) for one in fitting):
                        return msgspec.structs.replace(fitting[0], problems=())
                    return None
        return None

    def _beyond(self, at: At, branch: str, value: Any, path: Path) -> bool:
        """Whether an object has a name too many or too few for a branch, and no rename makes up for it."""
        if not isinstance(value, dict):
            return False
        names: dict[str, set[Any]] = {"unknown": set(), "required": set()}
        for problem in self.walk.problems((branch,), value, path):
            if problem.code in names and problem.path[:-1] == path:
                names[problem.code].add(problem.path[-1])
        if not any(names.values()) or self._holds_union(branch, value):
            return False
        renames = renames_in(self.walk, self.on, (*at, branch), value, path)
        return not (names["unknown"] <= renames.keys() and names["required"] <= set(renames.values()))

    def _holds_union(self, branch: str, value: dict[str, Any]) -> bool:
        """Whether a branch is told apart further, by a union of its own."""
        return any(node.any_of or node.one_of for node in self.walk.nodes((branch,), value))

    def _object(self, at: At, value: dict[str, Any], path: Path, origin: Path, *, owed: bool) -> Mended:
        """Mend the members of an object that are wrong, leaving out only what the object can do without."""
        outcome = self._members(at, value, path, origin, owed=owed)
        dropped = [edit.path[-1] for edit in outcome.edits if edit.kind == "drop" and edit.path[:-1] == origin]

        def breaks(without: Collection[Any]) -> bool:
            return self._breaks(at, value, without, path, owed=owed)

        limits: dict[Any, str] = {}
        if breaks(dropped):
            limits = {key: KEEP for key in dropped if len(dropped) > FEW or breaks([key])}
            if breaks([key for key in dropped if key not in limits]):
                limits = dict.fromkeys(dropped, KEEP)
            outcome = self._members(at, value, path, origin, owed=owed, limits=limits)
        needless = self._needless(at, value, outcome, path, origin)
        if needless:
            limits |= dict.fromkeys(needless, LEAVE)
            outcome = self._members(at, value, path, origin, owed=owed, limits=limits)
        return outcome

    def _breaks(self, at: At, value: dict[str, Any], dropped: Collection[Any], path: Path, *, owed: bool) -> bool:
        """Whether an object has a problem without these members that it does not have with them."""
        if not dropped:
            return False
        known = self.walk.problems(at, value, path, owed=owed)
        rest = {key: part for key, part in value.items() if key not in dropped}
        return not set(known).issuperset(self.walk.problems(at, rest, path, owed=owed))

    def _needless(self, at: At, value: dict[str, Any], outcome: Mended, path: Path, origin: Path) -> list[str]:
        """The members that fit as they came, now that another one is mended by which a condition holds or does not."""
        if not outcome.changes or self.walk.nodes(at, value) == self.walk.nodes(at, outcome.value):
            return []
        renamed = {edit.path[-1] for edit in outcome.edits if edit.kind == "key" and edit.path[:-1] == origin}
        made = outcome.value
        changed = [key for key in value if key not in renamed and (key not in made or made[key] is not value[key])]
        shape = self.walk.shapes.of(at, made)
        fitting = [key for key in changed if not (at_key := shape.member(key)) or self.fits(at_key, value[key])]
        known = set(outcome.problems).union(self.walk.problems(at, made, path))

        def needless(keys: list[str]) -> bool:
            as_came = {**made, **{key: value[key] for key in keys}}
            return known.issuperset(self.walk.problems(at, as_came, path))

        if len(fitting) > FEW:
            return fitting if needless(fitting) else []
        return [key for key in fitting if needless([key])]

    def _members(
        self,
        at: At,
        value: dict[str, Any],
        path: Path,
        origin: Path,
        *,
        owed: bool,
        limits: Mapping[Any, str] = {},
    ) -> Mended:
        """Mend the members that are wrong, within limits: some are not left out, some stay as they came."""
        problems = self.walk.problems(at, value, path, owed=owed)
        wrong = {problem.path[: len(path) + 1] for problem in problems}
        shape = self.walk.shapes.of(at, value)
        declared, required = shape.declared, shape.required
        renames = renames_in(self.walk, self.on, at, value, path)
        loose = self.walk.loose(shape, value, path)
        made: dict[str, Any] = {}
        parts: dict[Any, Mended] = {}
        for key, part in value.items():
            name = renames.get(key, key)
            here, there = (*path, name), (*origin, key)
            below = shape.member(name) + (loose.get(key, ()) if name == key else ())
            refused = name not in declared and any(self.walk.plan.nodes[location].never for location in below)
            if not below or refused or (here not in wrong and name == key) or limits.get(key) == LEAVE:
                made[key] = part
                continue
            mend = self.mend if name == key else self.respell_and_mend
            mended = mend(below, part, here, there, owed=name in required)
            rule = _drop_rule(part)
            if mended.problems and rule in self.on and name in declared - required and key not in limits:
                parts[key] = Mended(None, (Change(here, rule, part, None),), (Edit(there, "drop"),))
            elif name != key and mended.problems:
                made[key] = part
                parts[key] = Mended(part, problems=mended.problems)
            elif name != key:
                made[name] = mended.value
                renamed = Change(here, rename_rule(self.on), key, name)
                parts[key] = Mended(None, (renamed, *mended.changes), (Edit(there, "key", name), *mended.edits))
            else:
                made[key] = mended.value
                parts[key] = mended
        return self._together(at, value, made, parts, path, owed=owed)

    def _together(self, at: At, came: Any, made: Any, parts: dict[Any, Mended], path: Path, *, owed: bool) -> Mended:
        """One outcome of those of its parts; what was found inside a part stands for what is seen of it outside."""
        problems = self.walk.problems(at, made, path, owed=owed)
        there = made if isinstance(made, dict) else parts
        in_vain = [key for key in _in_vain(problems, parts, path) if key in there]  # neither renamed nor dropped
        if in_vain:
            parts = {key: part for key, part in parts.items() if key not in in_vain}
            made = made.copy()
            for key in in_vain:
                made[key] = came[key]
            problems = self.walk.problems(at, made, path, owed=owed)
        told: dict[Path, Problems] = {}
        for key, part in parts.items():
            if part.problems:
                told[*path, key] = told[part.problems[0].path[: len(path) + 1]] = part.problems
        found: dict[Problem, None] = {}
        spoken: set[Path] = set()
        for problem in problems:
            place = problem.path[: len(path) + 1]
            if place not in told:
                found[problem] = None
            elif place not in spoken:
                spoken.add(place)
                found.update(dict.fromkeys(told[place]))
        return Mended(
            made,
            tuple(change for part in parts.values() for change in part.changes),
            tuple(edit for part in parts.values() for edit in part.edits),
            tuple(found),
        )


def _in_vain(problems: Problems, parts: Mapping[Any, Mended], path: Path) -> set[Any]:
    """The parts in which a place was mended that does not fit all the same."""
    changed = {change.path: key for key, part in parts.items() for change in part.changes}
    if not changed:
        return set()
    known = {problem for part in parts.values() for problem in part.problems}
    ways = [problem.path for problem in problems if problem not in known]
    places = (way[:end] for way in ways for end in range(len(path) + 1, len(way) + 1))
    return {changed[place] for place in places if place in changed}


def _drop_rule(part: Any) -> str:
    return DROP_NULL if part is None else DROP_EMPTY if part == "" else ""


def under(step: int, change: Change) -> Change:
    """A change as it is seen from a container, at a step inside of it."""
    return msgspec.structs.replace(change, path=(step, *change.path))


Repair = Callable[[Mender, At, Any, Path, Path], Mended | None]
