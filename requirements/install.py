"""Bring a virtual environment to a pinned list.

    python3 requirements/install.py .venv requirements/dev.txt

Rules
- The stamp in the environment names all it was made from: this folder, the Python, the digest of each list
  and of pyproject.toml. It is taken away before anything changes and written when everything is done, so an
  environment that was left half made, was moved or lost its Python is made anew, never reused.
- A list the environment does not have yet is added to it: all lists agree on versions. A list that has
  changed means a new environment, so that nothing of the old one stays.
- Every package is checked against the hashes in the list; argfit itself is installed in place, without
  asking for anything more.
- This file must be readable to an older Python, if only to be told that it is too old.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - the older Python is who this line is for
    sys.exit(
        "argfit needs Python 3.11 or newer, and this is {}.{}. Next: make PYTHON=python3.11 ...".format(
            *sys.version_info[:2]
        )
    )

import fcntl
import hashlib
import importlib.util
import json
import os
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "pyproject.toml"


def main(folder: str, *lists: str) -> None:
    """Do nothing if all is as it should be; otherwise add what is missing or start anew."""
    environment = ROOT / folder
    wanted = {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in (*lists, PACKAGE)}
    wait_for_others()
    made = stamp(environment)
    missing = [name for name, digest in wanted.items() if made.get(name) != digest]
    if not missing:
        return
    (environment / "stamp.json").unlink(missing_ok=True)
    if not made or any(name in made for name in missing if name != PACKAGE):
        create(environment)
        made, missing = {}, list(wanted)
    for name in missing:
        install(environment, name)
    digests = made | wanted
    (environment / "stamp.json").write_text(json.dumps({"made for": identity(), "digests": digests}))


def wait_for_others() -> None:
    """Wait for another make that sets up here; the lock goes when this process ends."""
    fcntl.flock(os.open(Path(__file__).parent, os.O_RDONLY), fcntl.LOCK_EX)


def identity() -> list[str]:
    """Say what an environment depends on beside the lists."""
    return [str(ROOT), sys.version]


def stamp(environment: Path) -> dict[str, str]:
    """Read the digests the environment was made from; none unless it was finished, here, and still runs."""
    try:
        found: Any = json.loads((environment / "stamp.json").read_text())
        subprocess.run([environment / "bin" / "python", "-c", ""], check=True, capture_output=True)
        return dict(found["digests"]) if found["made for"] == identity() else {}
    except (OSError, ValueError, LookupError, TypeError, subprocess.CalledProcessError):
        return {}


def create(environment: Path) -> None:
    """Make an empty environment, in place of what is there."""
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        sys.exit(f"{sys.executable} cannot make virtual environments. Next: apt-get install python3-venv")
    print(f"Setting up {environment.name} with Python {sys.version.split()[0]} (once)", flush=True)
    step([sys.executable, "-m", "venv", "--clear", str(environment)], "no environment could be made")


def install(environment: Path, name: str) -> None:
    """Install one list, or the package in place."""
    print(f"  installing {'argfit' if name == PACKAGE else name} ...", flush=True)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-input"]
    pip += ["--disable-pip-version-check"]
    if name == PACKAGE:
        pip += ["--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
    else:
        pip += ["--require-hashes", "--requirement", str(ROOT / name)]
    step(pip, f"{name} could not be installed")


def step(command: list[str], failure: str) -> None:
    """Run one command of the set-up; if it fails, end with one line after its own."""
    if subprocess.run(command, check=False).returncode:
        sys.exit(f"Set-up stopped: {failure}; the lines above say why. Run the same command to try again.")


if __name__ == "__main__":
    main(*sys.argv[1:])
