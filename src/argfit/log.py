"""What is written to the log `argfit` of calls."""

import logging

from argfit.core import record
from argfit.core.fit import Fit
from argfit.core.plan import Plan
from argfit.core.record import Log

LOGGER = logging.getLogger("argfit")


def write(line: Log) -> None:
    """Write one line."""
    LOGGER.log(logging.getLevelNamesMapping()[line.level], line.text, *line.args, extra=line.extra)


class Notes:
    """What was changed in calls, each time; and what may be wrong with a tool or an argument, once."""

    def __init__(self) -> None:
        self._told: set[tuple[str, tuple[str, ...]]] = set()

    def take(self, tool: str, plan: Plan, fit: Fit) -> None:
        """Write what is to be told of one fit."""
        for at in plan.unusable:
            self._once(record.unusable(tool, at))
        for change in fit.changes:
            if LOGGER.isEnabledFor(logging.DEBUG):
                write(record.fitted(tool, plan, change))
            if change.at_risk:
                self._once(record.at_risk(tool, plan, change))

    def _once(self, line: Log) -> None:
        if (line.text, line.args) not in self._told:
            self._told.add((line.text, line.args))
            write(line)
