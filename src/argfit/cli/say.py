"""What the command line says to its user: one line each, on stderr; and how odd text can stand in a line."""

import sys


def say(line: str) -> None:
    """Write one line to stderr, if there is one: closed, it is None, and `print` would take stdout instead."""
    if sys.stderr is not None:
        print(line, file=sys.stderr)


def shown(name: str) -> str:
    """A name as it can stand in one line."""
    return name if name and name.isprintable() else repr(name)


def printable(text: str) -> str:
    """Text of which nothing can break a line or act on a terminal: what does not print is escaped."""
    return text if text.isprintable() else "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)
