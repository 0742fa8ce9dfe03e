"""A proxy that runs, with its pipes in a test's hands. Every wait has a bound, and none is measured."""

import os
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

PATIENCE = 30.0  # seconds; only a test that fails waits so long
STUCK = 0.5  # seconds without room after which a pipe is taken to be full
PIECE = select.PIPE_BUF  # what a pipe that is ready takes without blocking (POSIX.1-2017, pipe)
STRICT = (sys.executable, str(Path(__file__).with_name("strict_server.py")))
PROXY = (sys.executable, "-m", "argfit", "proxy")

# The same, but for the seconds that the relay allows for things to come to rest after the end of the server.
PACED = """
import sys
from argfit.cli.main import main
from argfit.proxy import stdio
stdio.LINGER, stdio.DRAIN = {linger}, {drain}
sys.exit(main(["proxy", *sys.argv[1:]]))
"""


class Running:
    """A started proxy, and the ends of its pipes that are ours."""

    def __init__(self, process: "subprocess.Popen[Any]") -> None:
        self.process = process
        self.stdin, self.stdout, self.stderr = (
            pipe.fileno() if pipe else -1 for pipe in (process.stdin, process.stdout, process.stderr)
        )
        self._unread = b""

    def send(self, *messages: bytes) -> None:
        data = b"".join(messages)
        assert self.send_until_stuck(data, PATIENCE) == len(data), "nothing reads what is sent"

    def send_until_stuck(self, data: bytes, patience: float = STUCK) -> int:
        """Send as much as is taken; how many bytes that is."""
        sent = 0
        while sent < len(data) and select.select([], [self.stdin], [], patience)[1]:
            sent += os.write(self.stdin, data[sent : sent + PIECE])
        return sent

    def line(self) -> bytes:
        """The next line on stdout; what is left of it where the stream ends."""
        while b"\n" not in self._unread and (chunk := self.some()):
            self._unread += chunk
        line, newline, self._unread = self._unread.partition(b"\n")
        return line + newline

    def some(self) -> bytes:
        """What can be read on stdout next; empty at its end."""
        assert select.select([self.stdout], [], [], PATIENCE)[0], "nothing is said"
        return os.read(self.stdout, 1 << 16)

    def complaint(self) -> bytes:
        """The next line on stderr."""
        said = b""
        while not said.endswith(b"\n"):
            assert select.select([self.stderr], [], [], PATIENCE)[0], "nothing is said"
            said += os.read(self.stderr, 1)
        return said

    def complaints_until_stuck(self) -> bytes:
        """What is said on stderr until nothing more comes."""
        said = b""
        while select.select([self.stderr], [], [], STUCK)[0]:
            said += os.read(self.stderr, 1 << 16)
        return said

    def close_stdout(self) -> None:
        """Read no more."""
        if self.process.stdout:
            self.process.stdout.close()

    def end(self) -> tuple[bytes, int]:
        """Close stdin; what is still said until the end, and the exit code."""
        rest, _ = self.process.communicate(timeout=PATIENCE)
        return self._unread + rest, self.process.returncode

    def exit_code(self) -> int:
        """The exit code, with stdin left open."""
        return self.process.wait(PATIENCE)

    def memory(self) -> int:
        """The most memory in use so far, in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024


class Gate(NamedTuple):
    """What a server waits at: a line can be read at `path` once it is open."""

    path: str
    descriptor: int

    def open(self) -> None:
        os.write(self.descriptor, b"go\n")


class Sign(NamedTuple):
    """Shows that a server lives, once it has opened `path` to write to it."""

    path: str
    descriptor: int

    def wait_for_end(self) -> None:
        assert select.select([self.descriptor], [], [], PATIENCE)[0], "it lives on"
        assert os.read(self.descriptor, 1) == b""


@contextmanager
def started(command: Sequence[str], **pipes: Any) -> Iterator[Running]:
    """Start a command with pipes; whatever happens, it is gone afterwards."""
    with subprocess.Popen(command, bufsize=0, **pipes) as process:
        try:
            yield Running(process)
        finally:
            process.kill()


def running(*command: str, options: Sequence[str] = (), **pipes: Any) -> AbstractContextManager[Running]:
    """Start the proxy in front of a command."""
    return _running(PROXY, options, command, pipes)


def running_at_pace(
    *command: str, linger: float = 0.05, drain: float = 0.05, options: Sequence[str] = ()
) -> AbstractContextManager[Running]:
    """Start the proxy in front of a command, with other times allowed than it takes by itself."""
    return _running(python(PACED.format(linger=linger, drain=drain)), options, command, {})


def _running(
    proxy: Sequence[str], options: Sequence[str], command: Sequence[str], pipes: dict[str, Any]
) -> AbstractContextManager[Running]:
    usual = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return started([*proxy, *options, "--", *command], **(usual | pipes))


def python(code: str) -> tuple[str, ...]:
    """A command that is a few lines of Python."""
    return (sys.executable, "-c", code)
