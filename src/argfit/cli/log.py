"""Log lines on stderr, where a command is told to be verbose."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

from argfit.core.record import Log


def to_stderr() -> Callable[[Log], None]:
    """What writes them."""
    logging.basicConfig(stream=sys.stderr, level=logging.DEBUG, format="%(levelname)s %(name)s: %(message)s")
    logger = logging.getLogger("argfit")

    def write(line: Log) -> None:
        logger.log(logging.getLevelNamesMapping()[line.level], line.text, *line.args, extra=line.extra)

    return write
