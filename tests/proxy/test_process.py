import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.proxy.running import PATIENCE, Running, python, started

from argfit.proxy import process

# Starts a command and waits for its end as the proxy does, on the platform it is told to be on.
STARTS = """
import sys, types
from argfit.proxy import process
process.sys = types.SimpleNamespace(platform=sys.argv[1], exit=sys.exit)
signals = process.Signals(process.start(sys.argv[2:]))
code = signals.wait()
"""
EXITS = f"{STARTS}\nsys.exit(code)"
PLATFORMS = pytest.mark.parametrize("platform", ["linux", "darwin"])

# Says what signals reach it, and ends at the second.
HEARS = """
import signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) != signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_BLOCK, heard := {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
print("ready", file=sys.stderr, flush=True)
for _ in range(2):
    print(signal.Signals(signal.sigwait(heard)).name, file=sys.stderr, flush=True)
sys.exit(7)
"""


@contextmanager
def waiting(platform: str, *prefix: str) -> Iterator[Running]:
    """A process that has started a child and waits for its end; what the child says is on stderr."""
    command = [*prefix, *python(EXITS), platform, *python(HEARS)]
    with started(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as parent:
        assert parent.complaint() == b"ready\n"
        yield parent


@contextmanager
def child(*command: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A child that we have started; whatever happens, it is gone afterwards."""
    with process.start(command) as started:
        try:
            yield started
        finally:
            started.kill()


def test_a_server_gets_pipes_for_stdin_and_stdout_and_our_own_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    with child(*python("import sys; print(input()); print('log', file=sys.stderr)")) as server:
        assert server.stderr is None
        assert server.communicate(b"hello\n", timeout=PATIENCE)[0] == b"hello\n"
    assert capfd.readouterr().err == "log\n"


def test_a_server_stays_in_our_process_group() -> None:
    with child(*python("import os; print(os.getpgid(0))")) as server:
        out, _ = server.communicate(timeout=PATIENCE)
    assert int(out) == os.getpgid(0)


def test_a_server_gets_the_descriptors_that_were_passed_down_to_us() -> None:
    ours, its = os.pipe()
    os.set_inheritable(its, True)
    with child(*python(f"import os; os.write({its}, b'here')")) as server:
        os.close(its)
        server.communicate(timeout=PATIENCE)
    with os.fdopen(ours, "rb") as read:
        assert read.read() == b"here"


def test_a_command_that_cannot_be_started_is_an_os_error(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("not a program")
    with pytest.raises(FileNotFoundError):
        process.start([str(tmp_path / "missing")])
    with pytest.raises(PermissionError):
        process.start([str(plain)])


def test_on_windows_a_command_is_looked_up_as_its_shell_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.setattr("shutil.which", {"py": sys.executable}.get)
    with child("py", "-c", "print('found')") as server:
        assert server.communicate(timeout=PATIENCE)[0] == b"found\n"
    with pytest.raises(FileNotFoundError, match="missing-command"):
        process.start(["missing-command"])


@PLATFORMS
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_each_signal_that_asks_us_to_stop_is_handed_on_and_the_end_is_the_childs(
    platform: str, number: signal.Signals
) -> None:
    with waiting(platform) as parent:
        for _ in range(2):
            parent.process.send_signal(number)
            assert parent.complaint() == f"{number.name}\n".encode()
        assert parent.exit_code() == 7


@PLATFORMS
def test_a_signal_that_was_ignored_when_we_started_stays_ignored(platform: str) -> None:
    with waiting(platform, "sh", "-c", 'trap "" HUP; exec "$@"', "sh") as parent:
        parent.process.send_signal(signal.SIGHUP)
        for _ in range(2):
            parent.process.send_signal(signal.SIGTERM)
            assert parent.complaint() == b"SIGTERM\n"
        assert parent.exit_code() == 7


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who sent a signal")
def test_the_terminals_own_ctrl_c_which_reaches_the_whole_group_by_itself_is_not_handed_on() -> None:
    in_a_terminal = python("import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)")
    # this child has left the group, and so hears only what is handed on
    hears = python(f"import os, sys; os.setpgid(0, 0); print(os.getppid(), file=sys.stderr){HEARS}")
    command = [*in_a_terminal, *python(EXITS), "linux", *hears]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as shown:
        parent = int(shown.line())
        assert shown.line() == b"ready\r\n"
        shown.send(b"\x03")
        assert shown.some() == b"^C"
        for _ in range(2):
            os.kill(parent, signal.SIGTERM)
            assert shown.line() == b"SIGTERM\r\n"
        assert shown.exit_code() == 7


@PLATFORMS
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_after_the_end_of_the_child_ends_us(platform: str, number: signal.Signals) -> None:
    raises = f"{STARTS}\nimport signal\nsignal.raise_signal({int(number)})"
    ran = subprocess.run([*python(raises), platform, "true"], timeout=PATIENCE, check=False)
    assert ran.returncode in (-number, 128 + number)


@PLATFORMS
@pytest.mark.parametrize(
    ("ends", "code"),
    [("exit 0", 0), ("exit 1", 1), ("exit 255", 255), ("kill -9 $$", 137), ("kill -15 $$", 143)],
)
def test_an_end_by_signal_n_is_128_and_n_as_a_shell_says_it(platform: str, ends: str, code: int) -> None:
    ran = subprocess.run([*python(EXITS), platform, "sh", "-c", ends], timeout=PATIENCE, check=False)
    assert ran.returncode == code


def test_what_cannot_be_started_is_127_as_a_shell_says_it() -> None:
    assert process.CANNOT_START == 127


def test_a_pipe_that_is_refused_tells_its_writer_and_keeps_its_number_taken() -> None:
    reads, writes = os.pipe()
    process.refuse_more(reads)
    with pytest.raises(BrokenPipeError):
        os.write(writes, b"x")
    assert os.read(reads, 1) == b""
    os.close(reads)
    os.close(writes)
