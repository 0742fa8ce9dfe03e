"""What is written to the log `argfit` of calls."""

import logging
from collections.abc import Hashable
from itertools import islice

from argfit.core import record
from argfit.core.fit import Fit
from argfit.core.plan import Plan, declared_part
from argfit.core.record import Log

LOGGER = logging.getLogger("argfit")

_KEPT = 10_000  # lines that are written once; then they may be written again
_PLACES = 10  # of one schema that are told, as many as a refusal names problems; `argfit lint` has all


def write(line: Log) -> None:
    """Write one line."""
    LOGGER.log(logging.getLevelNamesMapping()[line.level], line.text, *line.args, extra=line.extra)


class Notes:
    """What was changed in calls, each time; and what may be wrong with a tool or an argument, once."""

    def __init__(self) -> None:
        self._told: set[tuple[Hashable, ...]] = set()

    def take(self, tool: str, plan: Plan, fit: Fit, server: Hashable = None) -> None:
        """Write what is to be told of one fit; tools of two servers are two."""
        for at in islice(plan.unusable, _PLACES):
            self._once(record.unusable(tool, at), (server, tool, at))
        for change in fit.changes:
            if LOGGER.isEnabledFor(logging.DEBUG):
                write(record.fitted(tool, plan, change))
            if change.at_risk:
                # all elements of a list are one argument
                names = tuple(step for step in declared_part(plan, change.path) if isinstance(step, str))
                self._once(record.at_risk(tool, plan, change), (server, tool, names))

    def _once(self, line: Log, about: tuple[Hashable, ...]) -> None:
        if about not in self._told:
            if len(self._told) >= _KEPT:
                self._told.clear()
            self._told.add(about)
            write(line)
