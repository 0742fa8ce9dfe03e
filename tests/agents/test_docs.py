"""What docs/clients.md shows, runs where its library is installed."""

import importlib.util
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHOWN = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "clients.md").read_text(), re.DOTALL | re.MULTILINE)


def names_of(shown: str) -> list[str]:
    return re.findall(r"^(?:from|import) ([\w.]+)", shown, re.MULTILINE)


@pytest.mark.parametrize("shown", SHOWN, ids=[names_of(one)[0] for one in SHOWN])
def test_a_snippet_works_when_pasted(shown: str) -> None:
    needed = names_of(shown)[0].partition(".")[0]
    needed = "google.protobuf" if "argfit.struct" in shown else names_of(shown)[0] if needed == "google" else needed
    try:
        found = importlib.util.find_spec(needed)
    except ModuleNotFoundError:
        found = None
    if found is None:
        pytest.skip(f"{needed} is not installed here")
    if needed == "mcp" and version("mcp").startswith("1."):
        pytest.skip("the adapter is for mcp 2, and LangChain's goes with mcp 1")
    subprocess.run([sys.executable, "-c", shown], check=True, timeout=120, cwd=ROOT)
