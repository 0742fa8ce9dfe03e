"""What comes out of a fit, and how arguments as values are fitted.

Rules
- What is valid and already spelled right comes back as the same object.
- Arguments that nest too deep to be judged are not: they are named as a problem, never a crash.
"""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from argfit.core import problem as words
from argfit.core import text as json_text
from argfit.core.check import Walk
from argfit.core.judge import Judge, too_deep
from argfit.core.plan import Plan, compile_plan, declares, is_recursive
from argfit.core.problem import Problem, message
from argfit.core.schema import read
from argfit.core.spelling import DROPS, STRIP, Change, apply, changes
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
    """A compiled schema: the plan, its judge, its quick look, and the names an operator wants left out."""

    plan: Plan
    judge: Judge
    quiet: Callable[[Any], bool] | None
    recursive: bool
    strip: frozenset[str]

    def is_right(self, arguments: Any) -> bool:
        """Whether arguments are an object, valid, and certainly spelled as the schema wants them."""
        if type(arguments) is not dict or (self.recursive and too_deep(arguments)):
            return False
        if self.strip and not self.strip.isdisjoint(arguments):
            return False
        return (self.quiet is None or self.quiet(arguments)) and self.judge.accepts(arguments)


def compile_engine(schema: Any, strip: Iterable[str] = ()) -> Engine:
    """Compile a schema; SchemaError where it is neither an object nor a boolean.

    `strip` names arguments to leave out; those the schema declares stay.
    """
    plan, source = compile_plan(read(schema))
    names = frozenset(name for name in strip if not declares(plan, name))
    return Engine(plan, Judge(source), watch(plan), is_recursive(plan), names)


def fit_value(engine: Engine, arguments: Any) -> Fit:
    """Fit arguments given as values; None means none were sent, and gives `{}`."""
    if arguments is None:
        arguments = {}
    try:
        if engine.is_right(arguments):
            return Fit(True, arguments)
    except RecursionError:
        return _beyond_us(arguments)
    return _fit_closely(engine, arguments)


def fit_text(engine: Engine, text: bytes) -> Fit:
    """Fit arguments given as JSON text; what is not changed stays, byte for byte."""
    try:
        arguments = msgspec.json.decode(text)
        if engine.is_right(arguments):
            return Fit(True, arguments, json=text)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        pass  # the reader below takes more
    try:
        arguments = json_text.read(text)
    except json_text.DoubledKey:
        return Fit(True, json_text.settle(json_text.read_loosely(text)), json=text)
    except json_text.NotJson:
        return Fit(False, None, problems=(words.not_an_object(),), json=text)
    fit = _fit_closely(engine, {} if arguments is None else arguments)
    json = _spliced(text, fit.changes) if fit.changes else text
    return msgspec.structs.replace(fit, arguments=json_text.settle(fit.arguments), json=json)


def _spliced(text: bytes, changes: tuple[Change, ...]) -> bytes:
    written = {change.path: change.after for change in changes if change.rule not in DROPS}
    spans = json_text.locate(text, written)
    edits = [(spans[path].start, spans[path].end, json_text.encoded(after)) for path, after in written.items()]
    dropped = frozenset(str(change.path[-1]) for change in changes if change.rule in DROPS)
    return json_text.splice(text, edits + (json_text.without_members(text, 0, dropped) if dropped else []))


def _fit_closely(engine: Engine, arguments: Any) -> Fit:
    if not isinstance(arguments, dict):
        return Fit(False, arguments, problems=(words.not_an_object(),))
    if engine.recursive and too_deep(arguments):
        return _beyond_us(arguments)
    try:
        return _fitted(engine, arguments)
    except RecursionError:
        return _beyond_us(arguments)


def _fitted(engine: Engine, arguments: dict[str, Any]) -> Fit:
    made = [Change((name,), STRIP, value, None) for name, value in arguments.items() if name in engine.strip]
    made += changes(Walk(engine.plan, engine.judge), apply(arguments, made))
    fitted = apply(arguments, made)
    valid = engine.judge.accepts(fitted)
    if valid and not _holds_nan(fitted):
        return Fit(True, fitted, tuple(made))
    found = Walk(engine.plan, engine.judge).problems(("#",), fitted, ())
    if not found and not valid:
        found = (words.other(()),)
    shown = found[:PROBLEMS_HELD]
    return Fit(not found, fitted, tuple(made), shown, len(found) - len(shown))


def _beyond_us(arguments: Any) -> Fit:
    """Arguments that nest too deep to be judged."""
    return Fit(False, arguments, problems=(words.other(()),))


def _holds_nan(value: Any) -> bool:
    """Whether a NaN or an infinity is somewhere inside: the judge takes them for null."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            pending.extend(part.values())
        elif isinstance(part, list | tuple):
            pending.extend(part)
        elif isinstance(part, float) and part - part != 0.0:
            return True
    return False
