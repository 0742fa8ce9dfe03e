import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.proxy.running import Gate, Sign


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    path = tmp_path / "gate"
    os.mkfifo(path)
    held = os.open(path, os.O_RDWR)  # both ends, so that neither we nor the server wait for the other to open it
    yield Gate(str(path), held)
    os.close(held)


@pytest.fixture
def sign(tmp_path: Path) -> Iterator[Sign]:
    path = tmp_path / "sign"
    os.mkfifo(path)
    held = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield Sign(str(path), held)
    os.close(held)
