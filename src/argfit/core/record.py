"""Log lines as values: the contract's texts, their arguments, and the fields that go beside them (section 6).

Rules
- No line holds a value, or a key that the caller chose: the nearest declared path stands in, the root is `arguments`.
- Who has a logger writes them; nothing here does.
"""

from collections.abc import Iterable

import msgspec

from argfit.core.plan import Plan, declared_part
from argfit.core.problem import Path, Problem, show_path
from argfit.core.spelling import Change

NO_TOOL = "(none of its tools)"  # for a name that a caller made up


class Log(msgspec.Struct, frozen=True):
    """A log line to be written: its level, the contract's text and arguments, the fields that go beside it."""

    level: str
    text: str
    args: tuple[str, ...]
    extra: dict[str, str]


def fitted(tool: str, plan: Plan, change: Change) -> Log:
    """An exact change or a repair was made."""
    argument = _named(plan, change.path)
    extra = {"tool": tool, "argument": argument, "rule": change.rule}
    return Log("DEBUG", "MCP tool %s: argument %s fitted (%s).", (tool, argument, change.rule), extra)


def misfit(tool: str, plan: Plan, problems: Iterable[Problem]) -> Log:
    """A call was refused for its arguments."""
    named = ", ".join(dict.fromkeys(_named(plan, problem.path) for problem in problems))
    text = "MCP tool %s refused the call: argument %s is invalid."
    return Log("INFO", text, (tool, named), {"tool": tool, "argument": named})


def refused(tool: str) -> Log:
    """The tool refused the call itself, or the caller may not make it."""
    return Log("INFO", "MCP tool %s refused the call.", (tool,), {"tool": tool})


def at_risk(tool: str, plan: Plan, change: Change) -> Log:
    """A number may have lost digits before it came; once per tool and argument."""
    argument = _named(plan, change.path)
    text = "MCP tool %s: argument %s may have lost digits before it came here."
    return Log("WARNING", text, (tool, argument), {"tool": tool, "argument": argument, "rule": change.rule})


def unusable(tool: str, at: str) -> Log:
    """A part of the tool's schema is left out; once per tool."""
    return Log("WARNING", "MCP tool %s: schema at %s is not usable.", (tool, at), {"tool": tool})


def _named(plan: Plan, path: Path) -> str:
    return show_path(declared_part(plan, path))
