"""Edits of JSON text: what is to be done where, and how it is spliced.

Rules
- An edit names its place by the path it had when the text came; edits of what is inside stand beside it.
- Whatever an edit does not write itself stays, byte for byte.
"""

from collections.abc import Sequence

import msgspec

from argfit.core import spans as json_spans
from argfit.core import text as json_text
from argfit.core.problem import Path


class Edit(msgspec.Struct, frozen=True):
    """One edit: `write` bytes, `drop` the member, give it another `key`, `lift` a member out of it, `wrap` it."""

    path: Path
    kind: str
    payload: bytes | str = b""


def spliced(text: bytes, edits: Sequence[Edit]) -> bytes:
    """The text with the edits made."""
    # a number that was respelled may be written as text after all: what is written later is what is meant
    last = {edit.path: edit for edit in edits if edit.kind == "write"}
    edits = [edit for edit in edits if edit.kind != "write" or last[edit.path] is edit]
    paths = [edit.path[:-1] if edit.kind == "drop" else edit.path for edit in edits]
    paths += [(*edit.path, str(edit.payload)) for edit in edits if edit.kind == "lift"]
    root = json_spans.whole(text)
    spans = json_spans.locate(text, [path for path in paths if path]) | {(): root}
    pieces: list[tuple[int, int, bytes]] = []
    dropped: dict[Path, set[str]] = {}
    for edit in edits:
        if edit.kind == "drop":
            dropped.setdefault(edit.path[:-1], set()).add(str(edit.path[-1]))
            continue
        span = spans[edit.path]
        if edit.kind == "write":
            pieces.append((span.start, span.end, bytes(edit.payload)))  # type: ignore[arg-type] # bytes, by its kind
        elif edit.kind == "key":
            end = json_spans.key_end(text, span.key_start)
            pieces.append((span.key_start, end, json_text.encoded(edit.payload)))
        elif edit.kind == "lift":
            inner = spans[(*edit.path, str(edit.payload))]
            pieces += [(span.start, inner.start, b""), (inner.end, span.end, b"")]
        else:
            pieces += [(span.start, span.start, b"["), (span.end, span.end, b"]")]
    for parent, names in dropped.items():
        pieces += json_spans.without_members(text, frozenset(names), spans[parent].start)
    return json_spans.splice(text, pieces)
