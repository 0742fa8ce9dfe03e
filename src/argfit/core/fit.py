"""What comes out of a fit, and how arguments as values are fitted.

Rules
- What is valid and already spelled right comes back as the same object.
- Arguments that nest too deep to be judged are not: they are named as a problem, never a crash.
"""

from collections.abc import Collection
from contextlib import suppress
from typing import Any

import msgspec

from argfit.core import problem as words
from argfit.core import spans as json_spans
from argfit.core import text as json_text
from argfit.core.edit import Edit, spliced
from argfit.core.engine import Engine
from argfit.core.judge import too_deep
from argfit.core.mend import DROP_EMPTY
from argfit.core.problem import Problem, message
from argfit.core.quick import LookCloser
from argfit.core.repair import UNQUOTE, mender
from argfit.core.spelling import DROPS, STRIP, Change, apply, at_path, from_digits

PROBLEMS_HELD = 10

_Rounds = tuple[tuple[Edit, ...], ...]  # edits of a text, and of what comes of it


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


def fit_value(engine: Engine, arguments: Any) -> Fit:
    """Fit arguments given as values; None means none were sent, and gives `{}`."""
    if arguments is None:
        arguments = {}
    if engine.is_sure(arguments):
        return Fit(True, arguments)
    try:
        quiet = engine.is_quiet(arguments)
        if quiet and engine.judge.accepts(arguments):
            return Fit(True, arguments)
        fit, rounds = _fit_closely(engine, arguments, quick=True, quiet=quiet)
        return _with_floats(fit) if rounds else fit
    except RecursionError:
        return _beyond_us(engine, arguments)


def fit_text(engine: Engine, text: bytes) -> Fit:
    """Fit arguments given as JSON text; what is not changed stays, byte for byte."""
    quiet = False
    try:
        arguments = msgspec.json.decode(text)
        if engine.is_sure(arguments):
            return Fit(True, arguments, json=text)
        quiet = engine.is_quiet(arguments)
        if quiet and engine.judge.accepts(arguments):
            return Fit(True, arguments, json=text)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        pass  # the reader below takes more
    try:
        reading = json_text.read(text)
    except json_text.DoubledKey:
        return unjudged(text)
    except json_text.NotJson:
        return Fit(False, None, problems=(words.not_an_object(),), json=text)
    arguments = {} if reading.value is None else reading.value
    exact = reading.exact
    rounds: _Rounds = ()
    try:
        fit, rounds = _fit_closely(engine, arguments, quick=exact, quiet=quiet and exact)
    except RecursionError:
        fit = _beyond_us(engine, arguments)
    fit = _with_floats(fit) if rounds else fit
    fitted = fit.arguments if exact else json_text.settle(fit.arguments)
    json = text
    if rounds:
        for edits in rounds:
            json = spliced(json, edits)
    elif fit.changes:
        json = _respelled_text(text, fit.changes, reading)
    return Fit(fit.ok, fitted, from_digits(fit.changes), fit.problems, fit.more, json)


def unjudged(text: bytes) -> Fit:
    """Text that is not judged: there is no schema, or it has doubled keys, and the server says which value counts."""
    try:
        return Fit(True, json_text.loads(text), json=text)
    except json_text.NotJson:
        return Fit(False, None, problems=(words.not_an_object(),), json=text)


def _respelled_text(text: bytes, changes: tuple[Change, ...], reading: json_text.Reading) -> bytes:
    """The text with the changes made: floats alone are found by their order, anything else by its path."""
    written = {id(change.before): change for change in changes}
    wanted = {
        index: json_text.encoded(written[id(value)].after)
        for index, value in enumerate(reading.floats)
        if id(value) in written
    }
    if len(wanted) < len(changes) or any(change.rule in DROPS for change in changes):
        return spliced(text, [_as_edit(change) for change in changes])
    return json_spans.with_floats(text, reading, wanted)


def _fit_closely(engine: Engine, arguments: Any, *, quick: bool, quiet: bool) -> tuple[Fit, _Rounds]:
    """Fit arguments that are not right as they came; RecursionError where they nest too deep to be judged.

    `quick` says that plain floats stand for all numbers, `quiet` that nothing is to be spelled otherwise and
    the judge has refused them.
    The edits are those of a repaired text, round by round; there are none where numbers were respelled only.
    """
    if isinstance(arguments, str) and engine.repairs:
        return _fit_quoted(engine, arguments)
    if not isinstance(arguments, dict):
        return Fit(False, arguments, problems=(words.not_an_object(),)), ()
    if engine.recursive and too_deep(arguments):
        return _beyond_us(engine, arguments), ()
    made: list[Change] = []
    fitted = arguments
    if not quiet:
        fitted = _spelled(engine, arguments, made, quick=quick)
        if engine.judge.accepts(fitted):
            return Fit(True, fitted, tuple(made)), ()
        if made and engine.judge.accepts(arguments):
            # draft 4 tells 5.0 from 5: what was valid as it came is not to be broken
            return Fit(True, arguments), ()
    found = engine.walk().problems(("#",), fitted, ())
    if engine.repairs:
        mended = mender(engine).mend(("#",), fitted, (), ())
        found = mended.problems
        if mended.changes:
            rounds: _Rounds = ((*map(_as_edit, made), *mended.edits),)
            made += mended.changes
            # what takes the value now may want its numbers otherwise: a branch that refused it had no say
            anew: list[Change] = []
            respelled = _respelled(engine, mended.value, anew, quick=quick)
            if anew and (found or engine.judge.accepts(respelled)):
                return _told(engine, respelled, (*made, *anew), found), (*rounds, tuple(map(_as_edit, anew)))
            return _told(engine, mended.value, tuple(made), found), rounds
    return _told(engine, fitted, tuple(made), found), ()


def _told(engine: Engine, fitted: Any, made: tuple[Change, ...], found: tuple[Problem, ...]) -> Fit:
    """What is to be said of fitted arguments in which so much was found wrong."""
    if not found and engine.judge.accepts(fitted):
        return Fit(True, fitted, made)
    found = found or (words.other(()),)
    shown = found[:PROBLEMS_HELD]
    return Fit(False, fitted, made, shown, len(found) - len(shown))


def _fit_quoted(engine: Engine, text: str) -> tuple[Fit, _Rounds]:
    """Fit the whole arguments sent as text: as the object they spell, or as none where they are empty."""
    inner = spelled_object(text, engine.repairs)
    if inner is None:
        return Fit(False, text, problems=(words.not_an_object(),)), ()
    fit = fit_text(engine, inner)
    if not fit.ok:
        return Fit(False, text, problems=fit.problems, more=fit.more), ()
    change = Change((), UNQUOTE if text else DROP_EMPTY, text, fit.arguments if text else None)
    edit = Edit((), "write", json_text.as_utf8(fit.json or b""))
    return Fit(True, fit.arguments, (change, *fit.changes)), ((edit,),)


def spelled_object(text: str, repairs: Collection[str]) -> bytes | None:
    """The text of the object that whole arguments sent as text stand for, where a repair makes one of it.

    Only an object's text is one: "null" is not told from nothing, nor is text decoded twice. And everyone must read it
    alike: no name stands twice, and no NaN is in it.
    """
    if text == "" and DROP_EMPTY in repairs:
        return b"{}"
    if UNQUOTE not in repairs or not text.startswith("{") or text != text.strip():
        return None
    inner = text.encode("utf-8", "surrogatepass")
    try:
        json_text.read(inner)
    except (json_text.NotJson, json_text.DoubledKey):
        return None
    return inner if json_text.is_strict(inner) else None


def _with_floats(fit: Fit) -> Fit:
    """The fit with the floats that any reader gives, where unquoting brought digits that say more."""
    if not any(change.rule == UNQUOTE for change in fit.changes):
        return fit
    for change in fit.changes:
        if change.rule == UNQUOTE and change.path:
            container = at_path(fit.arguments, change.path[:-1])
            container[change.path[-1]] = json_text.settle(container[change.path[-1]])
    changes = [msgspec.structs.replace(change, after=json_text.settle(change.after)) for change in fit.changes]
    return msgspec.structs.replace(fit, changes=tuple(changes))


def _as_edit(change: Change) -> Edit:
    if change.rule in DROPS:
        return Edit(change.path, "drop")
    return Edit(change.path, "write", json_text.encoded(change.after))


def _spelled(engine: Engine, arguments: Any, made: list[Change], *, quick: bool) -> Any:
    """The arguments less what is to be left out, spelled as the schema wants them, the changes noted in `made`."""
    fitted = arguments
    if engine.strip:
        made += [Change((name,), STRIP, value, None) for name, value in arguments.items() if name in engine.strip]
        fitted = apply(arguments, made)
    fitted = _respelled(engine, fitted, made, quick=quick)
    # digits say what is whole; bounds and members are judged as any reader has them
    return fitted if quick else json_text.settle(fitted, whole_only=True)


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
    respellings = engine.respellings(arguments)
    made += respellings
    return apply(arguments, respellings)


def _beyond_us(engine: Engine, arguments: Any) -> Fit:
    """Arguments that nest too deep for a close look: right if the judge says so, which looks deeper."""
    with suppress(RecursionError):
        if isinstance(arguments, dict) and not too_deep(arguments) and engine.judge.accepts(arguments):
            return Fit(True, arguments)
    return Fit(False, arguments, problems=(words.other(()),))
