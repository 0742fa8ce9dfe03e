"""Framing: newline-delimited messages (MCP stdio transport), with a limit on what is held.

Rules
- A line keeps its own ending; joined again, what comes out is what went in.
- A line longer than the limit is passed on in parts as it comes, unparsed: no message is too large to relay.
- Nothing of the next line is ever in a part.
"""

import msgspec

# Above this a message is relayed without being parsed (8 MiB: twice what the official SDK's HTTP server takes).
LIMIT = 8 * 2**20


class Part(msgspec.Struct, frozen=True):
    """A piece of a line that is too long to hold."""

    data: bytes
    first: bool
    last: bool


class Lines:
    """Cuts a stream of chunks into lines (`bytes`, endings kept) and parts of overlong lines."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._held: list[bytes] = []
        self._size = 0
        self._overlong = False

    def feed(self, chunk: bytes) -> list[bytes | Part]:
        """Take a chunk; returns the lines that it completes and the parts that cannot be held."""
        if not self._held and not self._overlong and chunk.find(b"\n") == len(chunk) - 1 < self._limit:
            return [chunk] if chunk else []
        out: list[bytes | Part] = []
        position = 0
        while position < len(chunk):
            newline = chunk.find(b"\n", position)
            piece = chunk[position:] if newline < 0 else chunk[position : newline + 1]
            position += len(piece)
            self._take(piece, out, ends=newline >= 0)
        return out

    def rest(self) -> list[bytes | Part]:
        """What is left at the end of the stream: a last line without an ending."""
        held, self._held, self._size = b"".join(self._held), [], 0
        if self._overlong:
            self._overlong = False
            return [Part(held, first=False, last=True)]
        return [held] if held else []

    def _take(self, piece: bytes, out: list[bytes | Part], *, ends: bool) -> None:
        if self._overlong:
            out.append(Part(piece, first=False, last=ends))
            self._overlong = not ends
            return
        self._held.append(piece)
        self._size += len(piece)
        if self._size > self._limit or ends:
            whole = b"".join(self._held)
            self._held, self._size = [], 0
            if len(whole) <= self._limit:
                out.append(whole)
            else:
                out.append(Part(whole, first=True, last=ends))
                self._overlong = not ends
