"""The demo is the first thing a newcomer runs, so it has to work wherever the tests do."""

import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[1] / "demo" / "first_light.py"
SCRIPTS = [Path(sys.executable).with_name(name) for name in ("mcp-server-fetch", "mcp-server-fetch.exe")]


@pytest.mark.skipif(
    not any(script.is_file() for script in SCRIPTS),
    reason="mcp-server-fetch is not installed in this environment",
)
def test_the_demos_three_calls_go_as_stated() -> None:
    run = subprocess.run([sys.executable, DEMO], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == ""
