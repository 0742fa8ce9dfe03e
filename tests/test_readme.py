"""What the README shows, runs."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("shown", _blocks("python"), ids=["fitter", "guard", "client"])
def test_the_python_in_the_readme_runs(shown: str) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", shown], check=True, timeout=60)


def test_the_config_in_the_readme_is_the_servers_own_command_behind_argfit_proxy() -> None:
    (shown,) = _blocks("json")
    server = json.loads(shown)["mcpServers"]["fetch"]
    assert [server["command"], *server["args"]][:3] == ["argfit", "proxy", "--"]


def test_the_console_session_in_the_readme_prints_what_it_shows(tmp_path: Path) -> None:
    (shown,) = _blocks("console")
    command, output = shown.removeprefix("$ argfit ").split("\n", 1)
    (tmp_path / "tool.json").write_text('{"properties": {"line": {"type": "integer"}}}')
    words = re.findall(r"'([^']*)'|(\S+)", command)
    ran = subprocess.run(
        [sys.executable, "-m", "argfit", *(quoted or bare for quoted, bare in words)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stdout == output


def test_every_make_target_the_readme_names_exists() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z][\w-]*)", README)) - {"each"} <= targets
