"""The server as a child process. All that differs between operating systems sits in this file.

Rules
- The child keeps our process group and the descriptors we were given: whoever kills the group reaches it, and
  what a client passes down arrives. It gets our stderr itself, so its log goes through untouched.
- A signal that asks us to stop goes to the child, and when it ends, so do we. One that the terminal sends goes
  to its whole group by itself: handed on, it would come twice, and a second Ctrl-C breaks a server's clean-up.
- The child's exit code becomes ours; killed by signal N is 128+N, as a shell says it.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

CANNOT_START = 127  # as a shell says it (POSIX.1-2017, Shell Command Language, 2.8.2)
SENT_BY_KERNEL = 0x80  # si_code SI_KERNEL (sigaction(2)): the terminal's own Ctrl-C
_TO_HAND_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")


def start(command: Sequence[str], *, group: bool = False) -> subprocess.Popen[bytes]:
    """Start a server with pipes for its stdin and stdout; OSError where it cannot be started.

    With `group` it leads a process group of its own, for whoever is to end it with all that it starts.
    """
    program = command[0]
    if sys.platform == "win32":  # `npx` and its like are .cmd files, which only a search by PATHEXT finds
        program = shutil.which(program) or program
    return subprocess.Popen(
        [program, *command[1:]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        close_fds=False,
        start_new_session=group,
    )


def kill_group(child: subprocess.Popen[bytes]) -> None:
    """Kill a child and whatever is left in the process group that it leads."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            child.kill()
        else:
            os.killpg(child.pid, signal.SIGKILL)


class Signals:
    """Hands signals on to a child; to be made on the main thread, before any other thread is started."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        handled = (getattr(signal, name, None) for name in _TO_HAND_ON)
        # one that was ignored when we were started (nohup) stays ignored, here and in the child
        self._numbers = {number for number in handled if number and signal.getsignal(number) != signal.SIG_IGN}
        if sys.platform == "linux":  # only there a signal says who sent it
            signal.pthread_sigmask(signal.SIG_BLOCK, {*self._numbers, signal.SIGCHLD})
        else:
            for number in self._numbers:
                signal.signal(number, self._hand_on)

    def wait(self) -> int:
        """Wait for the child to end; returns its exit code."""
        if sys.platform == "linux":
            while self._child.poll() is None:
                caught = signal.sigwaitinfo({*self._numbers, signal.SIGCHLD})
                if caught.si_signo != signal.SIGCHLD and caught.si_code != SENT_BY_KERNEL:
                    self._child.send_signal(caught.si_signo)
            # from here on we only wait for a client to read: a signal ends us as it ends any program
            for number in self._numbers:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, self._numbers)
        returncode = self._child.wait()
        return 128 - returncode if returncode < 0 else returncode

    def _hand_on(self, number: int, _frame: object) -> None:
        if self._child.returncode is not None:
            sys.exit(128 + number)
        if sys.platform != "win32":  # there Ctrl-C and Ctrl-Break reach the whole console group by themselves
            self._child.send_signal(number)


def refuse_more(descriptor: int) -> None:
    """Close our end of a pipe, so that whoever writes to it learns that nobody reads.

    The descriptor's number stays taken: another file that got it would be read in its place.
    """
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
