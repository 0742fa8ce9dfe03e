"""A terminal with the client in it, for tests."""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.examples.odd_stdio import ODD
from tests.proxy.running import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
PROMPT = "> "
SETSID = shutil.which("setsid")
CLIENT = [sys.executable, "-m", "terminal"]
COLOUR = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Screen:
    """A terminal with the client in it."""

    def __init__(self, descriptor: int, process: "subprocess.Popen[bytes]") -> None:
        self._descriptor = descriptor
        self.process = process
        self.raw = ""
        self._read = 0  # how much of it was waited for

    def until(self, words: str) -> str:
        """What is written, from where the last wait ended, until these words are there."""
        began = self._read
        until = time.monotonic() + PATIENCE
        while (found := self.raw.find(words, began)) < 0:
            ready, _, _ = select.select([self._descriptor], [], [], max(0, until - time.monotonic()))
            assert ready, f"{words!r} was not written; this was: {self.raw[began:]!r}"
            self.raw += os.read(self._descriptor, 65536).decode("utf-8", "replace")
        self._read = found + len(words)
        return COLOUR.sub("", self.raw[began : self._read]).replace("\r", "")

    def type(self, line: str) -> str:
        """Type a line; what is written until the next prompt."""
        os.write(self._descriptor, line.encode() + b"\n")
        self.until("\n")  # the echo
        return self.until(f"\n{PROMPT}")

    def press(self, key: bytes) -> None:
        """Press a key."""
        os.write(self._descriptor, key)


needs_setsid = pytest.mark.skipif(SETSID is None, reason="setsid (util-linux) is not installed")


def comes(true: Callable[[], bool]) -> bool:
    """Whether something comes true in time."""
    until = time.monotonic() + PATIENCE
    while not (came := true()) and time.monotonic() < until:
        select.select([], [], [], 0.01)
    return came


@contextmanager
def terminal(config: Path, columns: int = 0, **environment: str) -> Iterator[Screen]:
    """The client in a terminal of its own, of which it does not know how wide it is, but where that is said."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    settings = {"PYTHONPATH": str(ROOT / "src"), "TERM": "xterm", "INPUTRC": os.devnull, **environment}
    # setsid --ctty makes this terminal the one that Ctrl-C comes from
    process = subprocess.Popen(
        [str(SETSID), "--ctty", "--wait", *CLIENT, str(config)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=ROOT / "examples" / "terminal",
        env={**os.environ, **settings},
    )
    os.close(theirs)
    try:
        yield Screen(ours, process)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def configured(folder: Path, **said: Any) -> Path:
    """An mcp.json with a server that says what it is told to; see `odd_stdio.py`."""
    path = folder / "mcp.json"
    entry = {"command": sys.executable, "args": [str(ODD), json.dumps(said), str(folder / "note")]}
    path.write_text(json.dumps({"mcpServers": {"odd": entry}}))
    return path


@contextmanager
def odd(folder: Path, **said: Any) -> Iterator[Screen]:
    """The client in a terminal, connected to such a server."""
    with terminal(configured(folder, **said)) as screen:
        yield screen


def asked(folder: Path) -> list[str]:
    """The methods that such a server was asked."""
    return (folder / "note").read_text().split()


def text(*texts: str, **more: Any) -> dict[str, Any]:
    """An answer of text."""
    return {"result": {"content": [{"type": "text", "text": one} for one in texts], **more}}
