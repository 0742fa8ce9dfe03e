"""A relay that only carries bytes: two blocking threads, no lines, nothing read.

    python bench/byte_relay.py COMMAND ARG…

The least any relay in Python can cost. `parse_relay.py` runs the same loop with its own pump.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable

Pump = Callable[[int, int], None]

CHUNK = 65536


def write_all(target: int, data: bytes) -> None:
    sent = os.write(target, data)
    while sent < len(data):
        sent += os.write(target, data[sent:])


def carry(source: int, target: int) -> None:
    while chunk := os.read(source, CHUNK):
        write_all(target, chunk)


def relay(command: list[str], pump: Pump) -> int:
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert child.stdin  # noqa: S101 - tells the type checker what PIPE means
    assert child.stdout  # noqa: S101 - likewise
    child_in = child.stdin.fileno()

    def upstream() -> None:
        try:
            pump(0, child_in)
        finally:
            os.close(child_in)

    # A daemon: when the child has ended, nobody waits for the client's next byte.
    threading.Thread(target=upstream, daemon=True).start()
    pump(child.stdout.fileno(), 1)
    return child.wait()


if __name__ == "__main__":
    # os._exit: a daemon thread inside a blocking read must not be joined or finalised.
    os._exit(relay(sys.argv[1:], carry))
