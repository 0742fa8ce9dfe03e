"""The server as a child process. All that differs between operating systems sits in this file.

Rules
- The child keeps our process group: whoever kills the group reaches it too.
- It gets our stderr itself, so its log goes through untouched.
- Its exit code becomes ours; killed by signal N is 128+N, as a shell says it.
"""

import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence

CANNOT_START = 127  # as a shell says it (POSIX.1-2017, Shell Command Language, 2.8.2)
_FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")


def start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a server with pipes for its stdin and stdout; OSError where it cannot be started."""
    program = command[0]
    if sys.platform == "win32":  # `npx` and its like are .cmd files, which only a search by PATHEXT finds
        program = shutil.which(program) or program
    return subprocess.Popen([program, *command[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)


def forward_signals(child: subprocess.Popen[bytes]) -> None:
    """Hand the signals that ask a program to stop on to the child: when it ends, so do we."""

    def hand_on(number: int, _frame: object) -> None:
        if child.returncode is not None:  # it has ended, and we only wait for a client that does not read
            sys.exit(128 + number)
        if sys.platform != "win32":  # there Ctrl-C and Ctrl-Break reach the whole console group by themselves
            child.send_signal(number)

    for name in _FORWARDED:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, hand_on)


def exit_code(returncode: int) -> int:
    """The exit code that stands for how a child ended."""
    return 128 - returncode if returncode < 0 else returncode
