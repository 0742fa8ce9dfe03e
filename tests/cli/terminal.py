"""The command line as a user meets it, without a process of its own."""

import io
from typing import NamedTuple

import pytest

from argfit.cli.main import main


class Ran(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


class Terminal:
    """Runs commands, one after the other."""

    def __init__(self, capture: pytest.CaptureFixture[bytes], patch: pytest.MonkeyPatch) -> None:
        self._capture = capture
        self._patch = patch

    def run(self, *words: str, stdin: bytes = b"") -> Ran:
        self._patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code: object = main(words)
        except SystemExit as end:
            code = end.code
        assert isinstance(code, int)
        out, err = self._capture.readouterr()
        return Ran(code, out.decode(), err.decode())
