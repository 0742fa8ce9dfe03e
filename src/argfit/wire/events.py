"""A stream of server-sent events (WHATWG HTML, 9.2): events by their data, and every byte as it came.

Rules
- An event ends at a blank line, and is not held any longer; lines end with CRLF, LF or CR.
- Several `data` lines are one text, with line feeds between. Comments, ids and names stay where they stand.
- An event that is too large to hold passes in parts, and is not read.
"""

import re

import msgspec

_BOM = b"\xef\xbb\xbf"
_ENDING = re.compile(rb"\r\n|\n|\r")


class Event(msgspec.Struct, frozen=True):
    """One event as it came, or a part of one that is not read; `data` is None where it has none."""

    raw: bytes
    data: bytes | None = None

    def saying(self, data: bytes) -> bytes:
        """The event with other data, which holds no line ending; what else it has stays."""
        out: list[bytes] = []
        written = False
        for line, ending in _lines(self.raw):
            if _field(line) != b"data":
                out += (line, ending)
            elif not written:
                written = True
                out += (b"data: ", data, ending)
        return b"".join(out)


class Events:
    """The events of one stream, put together from chunks; one of more than `limit` bytes is not held."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()  # an event that is not whole yet
        self._from = 0  # where in it a line begins that is not whole
        self._begun = False  # that line, before what is held
        self._searched = 0  # so much of it, for a line's ending
        self._first = True  # chunks of the stream: a byte order mark may begin it
        self._passing = False  # what is held is the end of an event that was too large
        self._data: list[bytes] = []  # what the event that is not whole says in its whole lines
        self._after_cr = False  # a line feed that comes now is the other half of a line ending

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that are whole with this chunk."""
        found: list[Event] = []
        held = self._held
        if self._after_cr and chunk[:1] == b"\n":
            if held:
                self._from += 1
            else:
                found.append(Event(b"\n"))
                chunk = chunk[1:]
        held += chunk
        self._after_cr = held[-1:] == b"\r" or (self._after_cr and not chunk)
        if self._first:
            if len(held) < len(_BOM) and _BOM.startswith(held):
                return []
            self._first = False
            if held.startswith(_BOM):
                found.append(Event(_BOM))
                del held[: len(_BOM)]
        start = 0
        while (ending := _ENDING.search(held, max(self._from, self._searched))) is not None:
            if self._begun:
                self._begun = False
            elif ending.start() == self._from:
                found.append(self._event(bytes(held[start : ending.end()])))
                start = ending.end()
            elif held.startswith(b"data", self._from):
                self._read(bytes(held[self._from : ending.start()]))
            self._from = ending.end()
        del held[:start]
        self._from -= start
        if len(held) > self._limit:
            found.append(Event(bytes(held)))
            self._begun = self._begun or self._from < len(held)
            held.clear()
            self._data.clear()
            self._from, self._passing = 0, True
        self._searched = len(held)
        return found

    def rest(self) -> bytes:
        """What is left at the end of the stream: no event, and passed on all the same."""
        left = bytes(self._held)
        self._held.clear()
        return left

    def _read(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data" and not self._passing:
            self._data.append(value.removeprefix(b" "))

    def _event(self, raw: bytes) -> Event:
        said, self._data, self._passing = self._data, [], False
        return Event(raw, b"\n".join(said) if said else None)


def _lines(raw: bytes) -> list[tuple[bytes, bytes]]:
    found: list[tuple[bytes, bytes]] = []
    at = 0
    for ending in _ENDING.finditer(raw):
        found.append((raw[at : ending.start()], ending[0]))
        at = ending.end()
    return [*found, (raw[at:], b"")] if at < len(raw) else found


def _field(line: bytes) -> bytes:
    return line.partition(b":")[0]
