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

    def run(self, *words: str, stdin: bytes = b"", closed: str = "") -> Ran:
        """Run a command; `closed` names a standard stream that it is started without."""
        with self._patch.context() as patch:
            patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            if closed:
                patch.setattr(closed, None)
            try:
                code: object = main(words)
            except SystemExit as end:
                code = end.code
        assert isinstance(code, int)
        out, err = self._capture.readouterr()
        return Ran(code, out.decode("utf-8", "surrogateescape"), err.decode())
