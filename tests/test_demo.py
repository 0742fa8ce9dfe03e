"""The demo is the first thing a newcomer runs, so it has to work wherever the tests do."""

import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[1] / "demo"
SCRIPTS = [Path(sys.executable).with_name(name) for name in ("mcp-server-fetch", "mcp-server-fetch.exe")]


@pytest.mark.skipif(
    not any(script.is_file() for script in SCRIPTS),
    reason="mcp-server-fetch is not installed in this environment",
)
@pytest.mark.parametrize("program", ["first_light.py", "over_struct.py"])
def test_a_demos_calls_go_as_stated(program: str) -> None:
    run = subprocess.run([sys.executable, DEMO / program], capture_output=True, text=True, timeout=90, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == ""
