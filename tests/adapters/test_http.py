"""Guarded servers over streamable HTTP, each in a process of its own, with a real client in both eras."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from tests.adapters.rows import SAYS
from tests.adapters.speaking import ERAS
from tests.proxy.running import PATIENCE

ROOT = Path(__file__).parents[2]
RIGHT: list[tuple[str, Any, bool, str]] = [("evens", {"n": 4}, False, "4"), ("evens", {"n": 4.0}, False, "4")]
WRONG: list[tuple[str, Any, bool, str]] = [
    ("evens", {"n": "s3cret"}, True, SAYS.format("evens", "n must be a whole number.")),
    ("evens", {}, True, SAYS.format("evens", "n is required.")),
    ("value_error", {"n": "s3cret"}, True, SAYS.format("value_error", "n must be a whole number.")),
]
FAULT: tuple[str, Any, bool, str] = ("value_error", {"n": 1}, True, "An error occurred invoking 'value_error'.")


@contextmanager
def served(kind: str, log: Path) -> Iterator[str]:
    """The URL of a guarded server, which is ended afterwards; its log goes to a file."""
    command = [sys.executable, str(Path(__file__).with_name("http_server.py")), kind]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    with (
        log.open("w") as stderr,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment) as process,
    ):
        try:
            assert process.stdout
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
            process.terminate()
            process.wait(timeout=PATIENCE)
        finally:
            process.kill()


async def said(url: str, era: str, rows: list[tuple[str, Any, bool, str]]) -> list[tuple[str, Any, bool, str]]:
    """The rows as a server answers them, all asked at once."""
    async with Client(url, mode=era) as client:
        await client.list_tools()
        results = await asyncio.gather(*(client.call_tool(name, sent) for name, sent, _, _ in rows))
    texts = ["".join(getattr(part, "text", "") for part in result.content) for result in results]
    return [
        (name, sent, bool(result.is_error), text)
        for (name, sent, _, _), result, text in zip(rows, results, texts, strict=True)
    ]


@pytest.mark.parametrize("kind", ["mcpserver", "lowlevel", "fastmcp"])
def test_over_http_every_call_gets_its_own_answer_in_both_eras_and_the_log_is_quiet(kind: str, tmp_path: Path) -> None:
    rows = [*RIGHT, *WRONG, FAULT] * 3
    with served(kind, tmp_path / "log") as url:
        for era in ERAS:
            assert asyncio.run(said(url, era, rows)) == rows
    log = (tmp_path / "log").read_text()
    refusals = re.findall(r"^INFO argfit: MCP tool \w+ refused the call: argument n is invalid\.$", log, re.MULTILINE)
    assert len(refusals) == len(WRONG) * 3 * len(ERAS)
    loud = [line for line in log.splitlines() if line.startswith(("WARNING", "ERROR", "CRITICAL"))]
    assert len(loud) == 3 * len(ERAS)  # the faults
    assert log.count("Traceback (most recent call last)") >= len(loud)
    ours = [line for line in log.splitlines() if " argfit: " in line or line.startswith(("INFO", "WARNING", "ERROR"))]
    assert not [line for line in ours if "s3cret" in line]
