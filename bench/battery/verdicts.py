"""What became of a call: right, refused, missed or wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from calls import Call
from kinds import KINDS
from parts import LEFT_OUT, Class, Part


class Outcome(StrEnum):
    RIGHT = "right"
    REFUSED = "refused rightly"
    MISSED = "missed"
    WRONG = "wrong"


class Refused(Exception):
    """A system's own refusal of a call."""


@dataclass(frozen=True)
class Crashed:
    """Anything else that a system raised; it counts as a refusal, and is told."""

    error: Exception


Result = Mapping[str, Any] | Refused | Crashed


@dataclass(frozen=True)
class Verdict:
    outcome: Outcome
    differing: tuple[str, ...] = ()  # what passed and should not have, by name
    harmed: bool = False  # a bystander is among it


def same(wanted: Any, got: Any, *, by_value: bool) -> bool:
    """Whether two JSON values are one: true is not 1, and where integers are wanted 5.0 is not spelled right."""
    if isinstance(wanted, bool) or isinstance(got, bool) or wanted is None or got is None:
        return wanted is got
    if isinstance(wanted, int | float) and isinstance(got, int | float):
        spelled = by_value or isinstance(wanted, float) or isinstance(got, int)
        return wanted == got and spelled
    if type(wanted) is not type(got):
        return False
    if isinstance(wanted, dict):
        return wanted.keys() == got.keys() and all(same(v, got[k], by_value=by_value) for k, v in wanted.items())
    if isinstance(wanted, list):
        return len(wanted) == len(got) and all(map(lambda w, g: same(w, g, by_value=by_value), wanted, got))
    return bool(wanted == got)


def accepted(name: str, part: Part, arguments: Mapping[str, Any]) -> bool:
    if part.outcome is LEFT_OUT or name not in arguments:
        return part.outcome is LEFT_OUT and name not in arguments
    by_value = KINDS[part.kind].by_value or part.class_ is Class.EITHER
    return same(part.outcome, arguments[name], by_value=by_value)


def as_it_came(name: str, part: Part, arguments: Mapping[str, Any]) -> bool:
    return part.form == "" and name in arguments and same(json.loads(part.sent), arguments[name], by_value=True)


def verdict(call: Call, result: Result) -> Verdict:
    must_refuse = Class.REFUSE in call.classes
    if isinstance(result, Refused | Crashed):
        may_refuse = must_refuse or Class.EITHER in call.classes
        return Verdict(Outcome.REFUSED if may_refuse else Outcome.MISSED)
    members = {name: part for name, part in call.members if name in call.fields}
    off = [name for name, part in members.items() if part.class_ is Class.REFUSE or not accepted(name, part, result)]
    off += [name for name in result if name not in members]
    harmed = any(name in members and members[name].class_ is Class.KEEP for name in off)
    if must_refuse:
        return Verdict(Outcome.WRONG, tuple(off), harmed)
    if not off:
        return Verdict(Outcome.RIGHT)
    if all(name in members and as_it_came(name, members[name], result) for name in off):
        return Verdict(Outcome.MISSED)  # 5.0 is still 5.0: nothing was lost, and nothing was recovered
    return Verdict(Outcome.WRONG, tuple(off), harmed)
