"""The byte relay's loop, which also parses each line and does nothing with it.

    python bench/parse_relay.py COMMAND ARG…

What it costs to look at every message at all: the measure for a relay that also decides.
One write per chunk, as a relay that wants throughput must do it.
"""

from __future__ import annotations

import os
import sys

import msgspec
from byte_relay import CHUNK, relay, write_all


class Envelope(msgspec.Struct):
    id: msgspec.Raw = msgspec.Raw()
    method: str = ""


DECODE = msgspec.json.Decoder(Envelope).decode


def parse(line: bytes) -> Envelope | None:
    try:
        return DECODE(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None


def parse_and_carry(source: int, target: int) -> None:
    rest = b""
    while chunk := os.read(source, CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            parse(line)
        if lines:
            write_all(target, b"\n".join(lines) + b"\n")
    if rest:
        write_all(target, rest)


if __name__ == "__main__":
    os._exit(relay(sys.argv[1:], parse_and_carry))
