"""What a refusal says to the caller: the text a model reads, and the problems as data (contract, section 7)."""

from typing import Any

from argfit.core.fit import Fit
from argfit.core.problem import NAME_SHOWN

PROBLEMS = "io.github.argfit/problems"


def text_of(tool: str, fit: Fit) -> str:
    """The text of a refusal."""
    return f"An error occurred invoking '{tool}': {fit.message}"


def fault_of(tool: str) -> str:
    """The text of a fault, which tells nothing of what went wrong inside."""
    return f"An error occurred invoking '{tool}'."


def meta_of(fit: Fit) -> dict[str, Any]:
    """The `_meta` of a refusal."""
    return {
        PROBLEMS: [
            {"path": list(map(_step, problem.path)), "code": problem.code, "words": problem.words}
            for problem in fit.problems
        ]
    }


def _step(step: str | int) -> str | int:
    """A step of a path as data: cut where it is long, as in the words, and text for every reader of JSON."""
    if isinstance(step, int):
        return step
    return step[:NAME_SHOWN].encode("utf-8", "backslashreplace").decode()
