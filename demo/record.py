"""Run a server and keep a copy of every byte that goes into its stdin.

    python record.py FILE COMMAND ARG...

The copy is written before the bytes are passed on, so whoever has seen the server's answer finds the question
in FILE. Only stdin is in between: the server has our stdout and stderr, and its exit code becomes ours.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import IO

CHUNK = 65536


def pass_on(tape: IO[bytes], server_stdin: IO[bytes]) -> None:
    """Copy our stdin to the tape and to the server until either end closes."""
    # A server that stops reading is no error here; its exit code tells the rest.
    with contextlib.suppress(BrokenPipeError), server_stdin:
        # os.read, not sys.stdin: it returns what is there without waiting for a full buffer, and holds no
        # lock that would hinder our exit when the server ends first.
        while chunk := os.read(0, CHUNK):
            tape.write(chunk)
            server_stdin.write(chunk)
            server_stdin.flush()


def main(argv: list[str]) -> int:
    """Start the server, record until it exits, return its exit code (128+N for signal N)."""
    path, *command = argv
    with Path(path).open("ab", buffering=0) as tape:
        try:
            server = subprocess.Popen(command, stdin=subprocess.PIPE)
        except OSError as error:
            print(f"record: cannot start {command[0]}: {error.strerror}", file=sys.stderr)
            return 127

        def hand_down(number: int, _frame: FrameType | None) -> None:
            server.send_signal(number)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, hand_down)
        threading.Thread(target=pass_on, args=(tape, server.stdin), daemon=True).start()
        code = server.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: record.py FILE COMMAND ARG...")
    sys.exit(main(sys.argv[1:]))
