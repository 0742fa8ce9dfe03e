"""Deciding on a call inside a server: fitted as its tool publishes it, and bound as its framework binds it.

Rules (contract, sections 3 and 4)
- Arguments are fitted first, so that what the tool is given is what was judged.
- An argument with a validator of its author's own is the binder's alone: it takes shapes that the schema does not
  show. It is neither fitted nor judged here.
- Where the framework drops undeclared names in silence, a name is renamed as if the schema were closed; whether the
  rest is refused is the author's choice.
- A value that is no JSON came from no caller: the server's author put it in on the way, and it is the binder's alone.
- What only the binder refuses is said in the words of the argument's declared type.
"""

from collections.abc import Collection, Iterable
from typing import Any

import msgspec

from argfit.core import problem as words
from argfit.core import text as json_text
from argfit.core.choices import WIDENING
from argfit.core.engine import Engine, compile_engine
from argfit.core.fit import PROBLEMS_HELD, Fit, fit_value, spelled_object
from argfit.core.node import Node
from argfit.core.place import item_at, member_at
from argfit.core.plan import together
from argfit.core.problem import Path, Problem
from argfit.core.repair import UNQUOTE
from argfit.core.spelling import Change
from argfit.core.values import is_json

REPAIRS = ("unquote", "rename-case")  # on a server, where nothing else is named
CONTRACTS = ("schema", "binder")
UNKNOWN = ("published", "refuse")

_VARIANTS = 8  # of one tool, by the names that its author fills in, that are kept compiled


class Rules(msgspec.Struct, frozen=True):
    """What a server's author chose: the repairs, what decides (schema or binder), what becomes of unknown names."""

    repairs: frozenset[str]
    contract: str = "schema"
    unknown: str = "published"
    formats: frozenset[str] = frozenset({"date"})  # a lax binder takes numbers and datetimes for a date

    def for_destroying(self) -> "Rules":
        """The same rules for a tool that destroys: less the repairs that may widen its call."""
        return msgspec.structs.replace(self, repairs=self.repairs - WIDENING)

    def with_formats(self, formats: frozenset[str]) -> "Rules":
        """The same rules with other formats that count."""
        return msgspec.structs.replace(self, formats=formats)


class BindFault(msgspec.Struct, frozen=True):
    """One place that a binder refused: its path as the binder tells it, and whether it is absent or unknown there."""

    path: tuple[str | int, ...]
    kind: str = "type"  # or "required", "unknown", "other"


class Guarded:
    """One tool as its guard sees it."""

    def __init__(
        self, schema: Any, rules: Rules, *, drops_undeclared: bool = False, binders_own: Collection[str] = ()
    ) -> None:
        self._rules = rules
        self._schema = schema
        self._drops_undeclared = drops_undeclared
        self._beside: dict[frozenset[str], Guarded] = {}  # by the names that an author fills in
        self.binders_own = frozenset(binders_own)
        published = _left_to_the_binder(schema, binders_own)
        closed = _closed(published) if drops_undeclared else published
        judged = closed if rules.unknown == "refuse" else published
        self.engine = compile_engine(judged, (), rules.repairs, rules.formats)
        self._told = compile_engine(schema) if binders_own else self.engine
        self._renaming = compile_engine(closed, (), rules.repairs, rules.formats) if closed is not published else None
        self._judging = self._renaming or self.engine
        self._sure = self._judging.sure

    def fit(self, sent: Any) -> Fit:
        """Fit what was sent; with the contract `binder` a misfit is not the last word."""
        if self._renaming is None or self._rules.unknown == "refuse":
            return fit_value(self.engine, sent)
        first = fit_value(self._renaming, sent)
        if first.ok:
            return first
        refused = tuple(one for one in first.problems if one.code != "unknown" or len(one.path) > 1)
        if refused:
            return msgspec.structs.replace(first, problems=refused)
        fit = fit_value(self.engine, first.arguments)
        return msgspec.structs.replace(fit, changes=(*first.changes, *fit.changes))

    def fit_beside(self, fit: Fit, arrived: dict[str, Any]) -> Fit:
        """The fit of arguments that hold what is no JSON: of all the rest."""
        try:
            added = {name: value for name, value in arrived.items() if not is_json(value)}
        except RecursionError:
            return fit
        if not added:
            return fit
        names = self.binders_own.union(added)
        beside = self._beside.get(names)
        if beside is None:
            dropping = self._drops_undeclared
            beside = Guarded(self._schema, self._rules, drops_undeclared=dropping, binders_own=names)
            keep(self._beside, names, beside, _VARIANTS)  # the names may be the caller's choice
        fit = beside.fit({**arrived, **dict.fromkeys(added)})
        return msgspec.structs.replace(fit, arguments={**fit.arguments, **added})

    def is_right(self, arguments: Any) -> bool:
        """Whether arguments certainly need no change, and are valid: what most calls are, and the shortest way."""
        if self._sure is not None and self._sure(arguments):
            return True
        try:
            return self._judging.is_right(arguments)
        except RecursionError:  # too deep for the judge, or a value that is no JSON
            return False

    def decides(self, fit: Fit) -> bool:
        """Whether a fit that is not ok refuses the call by itself."""
        if fit.ok or self._rules.contract == "schema" or not isinstance(fit.arguments, dict):
            return not fit.ok
        stray = any(one.code == "unknown" and len(one.path) == 1 for one in fit.problems)
        return stray and self._rules.unknown == "refuse"  # the binder would drop it in silence

    def refused_by_binder(self, fit: Fit, faults: Iterable[BindFault]) -> Fit:
        """The fit with what the binder refused; what the schema says of the same places is said in its words."""
        found: dict[Problem, None] = {}
        for fault in faults:
            path = _as_sent(fit.arguments, fault)
            said = [one for one in fit.problems if one.path[: len(path)] == path or path[: len(one.path)] == one.path]
            found.update(dict.fromkeys(said or [_worded(self._told, fit.arguments, path, fault.kind)]))
        problems = tuple(found)
        return msgspec.structs.replace(
            fit, ok=False, problems=problems[:PROBLEMS_HELD], more=max(0, len(problems) - PROBLEMS_HELD)
        )


def keep(known: dict[Any, Any], key: Any, made: Any, most: int) -> None:
    """Keep what was made as the newest, and let the oldest go where there are more than so many."""
    known.pop(key, None)
    known[key] = made
    while len(known) > most:
        del known[next(iter(known))]


def _left_to_the_binder(schema: Any, names: Collection[str]) -> Any:
    declared = schema.get("properties") if isinstance(schema, dict) else None
    if not names or not isinstance(declared, dict):
        return schema
    return {**schema, "properties": {**declared, **{name: {} for name in names}}}


def _closed(schema: Any) -> Any:
    is_open = isinstance(schema, dict) and schema.get("additionalProperties", True) is True
    return {**schema, "additionalProperties": False} if is_open else schema


class Sent:
    """The arguments of one call as they were sent: an object, or what spells one, or what is none."""

    odd = False  # they are no object
    spelled_out: dict[str, Any] | None = None  # the object that a text spells

    def __init__(self, sent: Any, rules: Rules) -> None:
        self._sent = sent
        if sent is not None and not isinstance(sent, dict):
            self.odd = True
            text = spelled_object(sent, rules.repairs) if isinstance(sent, str) else None
            self.spelled_out = None if text is None else json_text.loads(text)

    def spells_none(self, name: Any) -> bool:
        """Whether these are the arguments of a call by that name, and nobody can read them."""
        return self.odd and self.spelled_out is None and isinstance(name, str)

    def fitted(self, guarded: Guarded, arrived: dict[str, Any] | None) -> Fit:
        """Fit the arguments as they arrived behind all that stands in between, or what spells none."""
        if self.odd and arrived is None:
            return guarded.fit(self._sent)
        fit = guarded.fit(arrived)
        if not fit.ok and isinstance(arrived, dict):
            fit = guarded.fit_beside(fit, arrived)
        if self.spelled_out is None:
            return fit
        return msgspec.structs.replace(fit, changes=(Change((), UNQUOTE, self._sent, None), *fit.changes))


# -- what a binder refused, in our words --------------------------------------------------------------------


def _as_sent(arguments: Any, fault: BindFault) -> Path:
    """The path of a fault as the caller knows it: what a binder adds to tell branches apart is left out."""
    path: list[str | int] = []
    value = arguments
    for index, step in enumerate(fault.path):
        last = index == len(fault.path) - 1
        inside = isinstance(value, dict) and step in value
        if inside or (isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value)):
            value = value[step]
            path.append(step)
        elif last and fault.kind in ("required", "unknown"):
            path.append(step)
    return tuple(path)


def _worded(engine: Engine, arguments: Any, path: Path, kind: str) -> Problem:
    if kind == "required":
        return words.missing(path)
    if kind == "unknown":
        nodes = _nodes_at(engine, path[:-1])
        sent = arguments if isinstance(arguments, dict) else {}
        return words.unknown(path, [name for node in nodes for name in node.properties if name not in sent])
    if kind == "other":
        return Problem(path, "binder", words.OTHER_WORDS)
    nodes = _nodes_at(engine, path)
    format = next((node.format for node in nodes if node.format in words.FORMATS), None)
    types = dict.fromkeys(name for node in nodes for name in node.types)
    if format is not None:
        said = words.off_format(path, format).words
    else:
        said = words.wrong_type(path, types, None, null_counts=False).words if types else words.OTHER_WORDS
    return Problem(path, "binder", said)


def _nodes_at(engine: Engine, path: Path) -> list[Node]:
    """All nodes that may look at a place, whatever the values on the way to it."""
    nodes = together(engine.plan, ["#"])
    for step in path:
        ahead = member_at(nodes, step) if isinstance(step, str) else item_at(nodes, step)
        nodes = together(engine.plan, ahead)
    return nodes
