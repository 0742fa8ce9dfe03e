"""A real client and a server in one process, and every record that is logged while they speak."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from mcp import Client
from mcp.shared.exceptions import MCPError

ERAS = ("legacy", "auto")  # up to 2025-11-25, and 2026-07-28


class Said(NamedTuple):
    """What came of a call: its text and whether it is an error, or the protocol error; and what was logged."""

    is_error: bool
    text: str
    records: list[logging.LogRecord]
    meta: dict[str, Any]

    @property
    def logged(self) -> str:
        """All that the records from INFO on hold."""
        return "\n".join(repr(vars(one)) for one in self.records if one.levelno >= logging.INFO)

    @property
    def lines(self) -> list[str]:
        """The records from INFO on, as they read."""
        return [f"{one.levelname} {one.getMessage()}" for one in self.records if one.levelno >= logging.INFO]


@contextmanager
def recorded() -> Iterator[list[logging.LogRecord]]:
    """All records of all loggers, at every level."""
    records: list[logging.LogRecord] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)

    root = logging.getLogger()
    handler, level = Keeping(), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield records
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def call(server: Any, era: str, name: str, arguments: Any) -> Said:
    """One call by a real client; the log is that of the call alone."""

    async def speak() -> Said:
        async with Client(server, mode=era) as client:
            await client.list_tools()
            with recorded() as records:
                try:
                    result = await client.call_tool(name, arguments)
                except MCPError as error:
                    return Said(True, f"{error.code}: {error.message}", records, {})
            text = "".join(getattr(part, "text", "") for part in result.content)
            return Said(bool(result.is_error), text, records, dict(result.meta or {}))

    return asyncio.run(speak())
