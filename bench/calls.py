"""The one tool all parts of the bench call, and the two ways they call it.

Ten arguments, three of them whole numbers. `RIGHT` is spelled as a strict server wants it,
`CHANGED` spells the three as floats. Nothing else in a call holds `.0,`, so a server can tell
the two apart by looking for these three bytes.
"""

from __future__ import annotations

import json
from typing import Any

import tiny_server

TOOL = "add_note"

SCHEMA: dict[str, Any] = json.loads(tiny_server.SCHEMA)

RIGHT: dict[str, Any] = {
    "file": "src/engine/session.py",
    "line": 1204,
    "column": 17,
    "end_line": 1219,
    "title": "The answer is read twice",
    "body": 'The second read sees "nothing left",\nwhich the caller takes for the end.',
    "weight": 0.75,
    "draft": False,
    "tags": ["reading", "sessions", "answers"],
    "reply_to": None,
}

WHOLE = ("line", "column", "end_line")

CHANGED: dict[str, Any] = {name: float(value) if name in WHOLE else value for name, value in RIGHT.items()}

RIGHT_TEXT = json.dumps(RIGHT).encode()
CHANGED_TEXT = json.dumps(CHANGED).encode()
