"""What a refusal says to the caller: the text a model reads, and the problems as data (contract, section 7)."""

from typing import Any

from argfit.core.fit import Fit

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
            {"path": list(problem.path), "code": problem.code, "words": problem.words} for problem in fit.problems
        ]
    }
