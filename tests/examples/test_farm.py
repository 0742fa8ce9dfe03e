"""The example runs, and every row of its live check holds."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FARM = Path(__file__).parents[2] / "examples" / "farm"


NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/bin")


def checked(*words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "farm.check", *words]
    return subprocess.run(command, cwd=FARM, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("words", [(), ("--behind-argfit",)], ids=["straight", "behind argfit serve"])
def test_every_reply_and_the_log_of_the_farm_are_as_they_should_be(words: tuple[str, ...]) -> None:
    run = checked(*words)
    assert (run.returncode, run.stderr) == (0, "")
    assert "0 at WARNING or above, 0 with an exception, 0 values that were sent.\nAll as it should be.\n" in run.stdout


@pytest.mark.skipif(
    "FARM_DATABASE" not in os.environ, reason="FARM_DATABASE is not set to the URL of an empty database"
)
def test_the_farm_keeps_its_records_in_another_database() -> None:
    run = checked(os.environ["FARM_DATABASE"])
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed (apt install nginx-light)")
def test_replicas_of_argfit_die_and_come_back_and_no_call_is_made_twice() -> None:
    command = [sys.executable, "-m", "farm.replicas"]
    run = subprocess.run(command, cwd=FARM, capture_output=True, text=True, timeout=300, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.endswith("All as it should be.\n")
    assert run.stdout.count("0 after it") == 8
