"""What the tests of guarded servers share."""

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _records_reach_the_root() -> Iterator[None]:
    """FastMCP keeps its records from the root, where they are looked for."""
    logger = logging.getLogger("fastmcp")
    handlers, propagate = logger.handlers[:], logger.propagate
    logger.handlers, logger.propagate = [], True
    yield
    logger.handlers, logger.propagate = handlers, propagate
