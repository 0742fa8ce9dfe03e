import pytest
from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Terminal:
    return Terminal(capsysbinary, monkeypatch)
