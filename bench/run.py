"""All figures the documentation quotes, from one run.

    python bench/run.py [--quick] [--only fit|engine|guard|stdio|start|http|stack] [--out FILE]

Trust the ratios: absolute times move by a third from run to run. A missed aim is printed and
is no failure; a part that could not be measured is one, and the exit code is then 1.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FrameType

import engine
import fit
import guard
import http_relay
import http_stack
import start
import stdio
from client import PeerError
from targets import ARGFIT

PARTS = {"fit": fit.run, "engine": engine.run, "guard": guard.run, "stdio": stdio.run, "start": start.run}
ON_REQUEST = {"http": http_relay.run, "stack": http_stack.run}  # `make bench-http`: its peers take minutes
NOT_MEASURED = "not measured: "
PACKAGES = ("argfit", "msgspec", "orjson", "jsonschema-rs", "mcp", "fastmcp", "mcp-server-fetch")


def version_of(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} (not installed)"


def heading(*, quick: bool) -> str:
    started = "its script" if len(ARGFIT.before) == 3 else "python -m argfit"
    lines = [
        f"Python {platform.python_version()}, {sys.platform} {platform.machine()}, {os.cpu_count()} CPUs",
        ", ".join(version_of(package) for package in PACKAGES),
        f"Load before the start: {os.getloadavg()[0]:.1f} (what else runs here is in the figures).",
        f"argfit is started by {started}.",
    ]
    if sys.dont_write_bytecode:
        lines.append("No bytecode is written here: each start may compile its sources anew, which the figures show.")
    if quick:
        lines.append("A quick run: too short to judge an aim by.")
    return "\n".join(lines) + "\n"


def ended(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(143)  # unwinds through every part's clean-up


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a short version, for trying out")
    parser.add_argument("--only", choices=PARTS | ON_REQUEST, action="append", help="this part; may be repeated")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write the tables to FILE")
    return parser.parse_args()


def texts(wanted: Sequence[str], *, quick: bool) -> Iterator[str]:
    began = time.monotonic()
    aims: list[str] = []
    yield heading(quick=quick)
    for name in wanted:
        try:
            part = (PARTS | ON_REQUEST)[name](quick=quick)
        except (PeerError, fit.WrongFitError, OSError, subprocess.SubprocessError) as error:
            aims.append(f"{NOT_MEASURED}{name}: {error}")
        else:
            aims += [str(aim) for aim in part.aims]
            yield str(part)
    yield "\n".join(["Aims", "====", "", *aims, "", f"Took {time.monotonic() - began:.0f} s."])


def main() -> int:
    options = arguments()
    signal.signal(signal.SIGTERM, ended)
    said = []
    for text in texts(options.only or list(PARTS), quick=options.quick):
        print(text, flush=True)
        said.append(text)
    if options.out:
        options.out.write_text("\n".join(said) + "\n", encoding="utf-8")
    return 1 if NOT_MEASURED in said[-1] else 0


if __name__ == "__main__":
    sys.exit(main())
