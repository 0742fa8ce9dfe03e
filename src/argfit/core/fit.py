"""What comes out of a fit, and how arguments as values are fitted.

Rules
- What is valid and already spelled right comes back as the same object.
- Arguments that nest too deep to be judged are not: they are named as a problem, never a crash.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec

from argfit.core import problem as words
from argfit.core import text as json_text
from argfit.core.check import Walk
from argfit.core.judge import Judge, too_deep
from argfit.core.place import Types
from argfit.core.plan import Plan, compile_plan, declares, is_recursive
from argfit.core.problem import Problem, message
from argfit.core.quick import LookCloser, Watch
from argfit.core.schema import read
from argfit.core.spelling import DROPS, STRIP, Change, apply, changes
from argfit.core.values import EXACT
from argfit.core.watch import watch

PROBLEMS_HELD = 10


class Fit(msgspec.Struct, frozen=True):
    """What a fit found: `ok`, the `arguments` as fitted, the `changes` made, the `problems` left.

    `problems` come in schema order, 10 at most, and `more` counts the rest. From JSON text `json` is the
    fitted text, every byte that was not changed as it came; it is None when values were fitted.
    """

    ok: bool
    arguments: Any
    changes: tuple[Change, ...] = ()
    problems: tuple[Problem, ...] = ()
    more: int = 0
    json: bytes | None = None

    @property
    def message(self) -> str:
        """All problems in one sentence for the caller; empty when the arguments fit."""
        return message(self.problems, self.more)


class Engine(msgspec.Struct, frozen=True):
    """A compiled schema: the plan, its judge, its quick way, and the names an operator wants left out."""

    plan: Plan
    judge: Judge
    types: Types
    types_for_spelling: Types  # a float that is about to be written as an integer counts as one in draft 4 too
    watch: Watch | None
    recursive: bool
    strip: frozenset[str]

    def is_right(self, arguments: Any) -> bool:
        """Whether arguments are an object, valid, and certainly spelled as the schema wants them."""
        if type(arguments) is not dict or (self.recursive and too_deep(arguments)):
            return False
        if self.strip and not self.strip.isdisjoint(arguments):
            return False
        return (self.watch is None or self.watch.quiet(arguments)) and self.judge.accepts(arguments)


def compile_engine(schema: Any, strip: Iterable[str] = ()) -> Engine:
    """Compile a schema; SchemaError where it is neither an object nor a boolean.

    `strip` names arguments to leave out; those the schema declares stay.
    """
    plan, source = compile_plan(read(schema))
    judge = Judge(source)
    types = Types(plan, whole_floats=plan.dialect.whole_float_is_integer)
    for_spelling = types if plan.dialect.whole_float_is_integer else Types(plan, whole_floats=True)
    names = frozenset(name for name in strip if not declares(plan, name))
    return Engine(plan, judge, types, for_spelling, watch(plan, for_spelling), is_recursive(plan), names)


def fit_value(engine: Engine, arguments: Any) -> Fit:
    """Fit arguments given as values; None means none were sent, and gives `{}`."""
    if arguments is None:
        arguments = {}
    try:
        if engine.is_right(arguments):
            return Fit(True, arguments)
        fit = _fit_closely(engine, arguments, quick=True)
    except RecursionError:
        return _beyond_us(engine, arguments)
    if any(map(_at_risk, fit.changes)):
        marked = (msgspec.structs.replace(change, at_risk=_at_risk(change)) for change in fit.changes)
        fit = msgspec.structs.replace(fit, changes=tuple(marked))
    return fit


def fit_text(engine: Engine, text: bytes) -> Fit:
    """Fit arguments given as JSON text; what is not changed stays, byte for byte."""
    try:
        arguments = msgspec.json.decode(text)
        if engine.is_right(arguments):
            return Fit(True, arguments, json=text)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        pass  # the reader below takes more
    try:
        reading = json_text.read(text)
    except json_text.DoubledKey:
        return _unjudged(text)
    except json_text.NotJson:
        return Fit(False, None, problems=(words.not_an_object(),), json=text)
    arguments = {} if reading.value is None else reading.value
    exact = reading.exact
    try:
        fit = _fit_closely(engine, arguments, quick=exact)
    except RecursionError:
        fit = _beyond_us(engine, arguments)
    fitted = fit.arguments if exact else json_text.settle(fit.arguments)
    json = _spliced(text, fit.changes, reading) if fit.changes else text
    return Fit(fit.ok, fitted, fit.changes, fit.problems, fit.more, json)


def _unjudged(text: bytes) -> Fit:
    """Text with doubled keys: which of two values counts is the server's to say."""
    try:
        return Fit(True, json_text.loads(text), json=text)
    except json_text.NotJson:
        return Fit(False, None, problems=(words.not_an_object(),), json=text)


def _at_risk(change: Change) -> bool:
    """Whether a change is of a float whose digits may have been lost before it became one."""
    return isinstance(change.before, float) and not -EXACT <= change.before <= EXACT


def _spliced(text: bytes, changes: tuple[Change, ...], reading: json_text.Reading) -> bytes:
    """The text with the changes made: floats are found by their order, anything else by its path."""
    order = {id(value): index for index, value in enumerate(reading.floats)}
    by_order, by_path, dropped = {}, {}, set()
    for change in changes:
        if change.rule in DROPS:
            dropped.add(str(change.path[-1]))
        elif id(change.before) in order:
            by_order[order[id(change.before)]] = json_text.encoded(change.after)
        else:
            by_path[change.path] = json_text.encoded(change.after)
    edits = list(json_text.float_edits(text, reading, by_order))
    if by_path:
        spans = json_text.locate(text, by_path)
        edits += [(spans[path].start, spans[path].end, after) for path, after in by_path.items()]
    if dropped:
        edits += json_text.without_members(text, frozenset(dropped))
    return json_text.splice(text, edits)


def _fit_closely(engine: Engine, arguments: Any, *, quick: bool) -> Fit:
    """Fit arguments that are not right as they came; RecursionError where they nest too deep to be judged."""
    if not isinstance(arguments, dict):
        return Fit(False, arguments, problems=(words.not_an_object(),))
    if engine.recursive and too_deep(arguments):
        return _beyond_us(engine, arguments)
    made = [Change((name,), STRIP, value, None) for name, value in arguments.items() if name in engine.strip]
    fitted = apply(arguments, made) if made else arguments
    fitted = _respelled(engine, fitted, made, quick=quick)
    if not quick:  # digits say what is whole; bounds and members are judged as any reader has them
        fitted = json_text.settle(fitted, whole_only=True)
    if engine.judge.accepts(fitted):
        return Fit(True, fitted, tuple(made))
    if made and engine.judge.accepts(arguments):
        # draft 4 tells 5.0 from 5: what was valid as it came is not to be broken
        return Fit(True, arguments)
    found = Walk(engine.plan, engine.judge, engine.types).problems(("#",), fitted, ()) or (words.other(()),)
    shown = found[:PROBLEMS_HELD]
    return Fit(False, fitted, tuple(made), shown, len(found) - len(shown))


def _respelled(engine: Engine, arguments: Any, made: list[Change], *, quick: bool) -> Any:
    """The arguments as the schema wants them spelled, the changes noted in `made`."""
    if quick:
        if engine.watch is None:
            return arguments
        ours: list[Change] = []
        try:
            fitted = engine.watch.respell(arguments, (), ours)
        except LookCloser:
            pass
        else:
            made += ours
            return fitted
    respellings = changes(Walk(engine.plan, engine.judge, engine.types_for_spelling), arguments)
    made += respellings
    return apply(arguments, respellings)


def _beyond_us(engine: Engine, arguments: Any) -> Fit:
    """Arguments that nest too deep for a close look: right if the judge says so, which looks deeper."""
    with suppress(RecursionError):
        if isinstance(arguments, dict) and not too_deep(arguments) and engine.judge.accepts(arguments):
            return Fit(True, arguments)
    return Fit(False, arguments, problems=(words.other(()),))
