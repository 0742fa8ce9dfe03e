"""What the command line says to its user: one line each, on stderr."""

import sys


def say(line: str) -> None:
    """Write one line to stderr, if there is one: closed, it is None, and `print` would take stdout instead."""
    if sys.stderr is not None:
        print(line, file=sys.stderr)


def shown(name: str) -> str:
    """A name as it can stand in one line."""
    return name if name and name.isprintable() else repr(name)
