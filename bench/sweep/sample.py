"""Right calls made from a schema: values that are easily taken for something else, wherever they are allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import Any

from schema import Document, Flat, Schema

ATTEMPTS = 40  # per call; some schemas have few right calls among those that are made
DEEPEST = 6  # below this only what is required is made

# What plain text is taken for by one that does not ask the schema. The marks must never show in a message.
TRICKY = (
    "007", "1.10", "null", "[1,2]", "true", "", " x ", "1e5", "1234567890123456789", "True", "NaN", "1700000000.100000",
    '{"item": 1}', '["mark-7f3a"]', '"quoted mark-7f3a"', "Zürich 東京 🎈", "mark-7f3a, mark-8b2c", "line\nmark-7f3a\n",
    "2024-01-05", "mark-7f3a", "0x1F", "+5", "\\u0041", "<mark-7f3a>",
)  # fmt: skip
# For patterns and lengths: whatever meets them is taken.
PATTERNED = (
    "PROJ-123", "PROJ_1", "app=web", "app!=web,tier=front", "2024", "2024-01", "2024-01-05", "0123456789abcdef" * 4,
    "https://example.org/mark-7f3a", "abc", "ABC", "a", "A1", "12", "a-b", "a_b", "a.b", "user@example.org", "1.2.3",
    "00000000-0000-4000-8000-000000000000", "2024-01-05T10:00:00Z", "x" * 40,
)  # fmt: skip
FORMATTED = {
    "date": "2024-01-05",
    "date-time": "2024-01-05T10:00:00Z",
    "uri": "https://example.org/mark-7f3a",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
INTEGERS = (0, 1, 5, -3, 12, 100, 1000, -1, 2**53 + 1, 2**53, 2**60, 17, 1730419200000)
NUMBERS = (2.0, 2.5, 0, 0.5, -1.25, 3, 1.1, 1e-3, 120.0, 2**53 + 1)
ANYTHING = (5.0, "5", None, True, [1.0, "007"], {"item": 1, "n": 2.0}, "mark-7f3a", 7, "")
STRANGE_KEYS = ("x-mark 7", "Ünlaut", "5", "item", "x_y-Z")


def right_calls(document: Document, rng: Random, calls: int) -> Iterator[dict[str, Any]]:
    """Right calls, at most so many: the leanest, the fullest, and some between."""
    seen: set[str] = set()
    for call in range(calls):
        for attempt in range(ATTEMPTS):
            fullness = (0.0, 1.0)[call] if call < 2 and attempt < ATTEMPTS // 2 else rng.random()
            made = _Sampler(document, rng, fullness).of(document.root, 0)
            if isinstance(made, dict) and repr(made) not in seen and document.accepts(made):
                seen.add(repr(made))
                yield made
                break


class _Sampler:
    def __init__(self, document: Document, rng: Random, fullness: float) -> None:
        self.document = document
        self.rng = rng
        self.fullness = fullness

    def of(self, schema: Schema, depth: int) -> Any:
        flats = self.document.flats(schema)
        flat = self.rng.choice(flats) if flats else Flat()
        if flat.members:
            return self.rng.choice(flat.members)
        kinds = sorted(flat.types)
        if "type" not in flat.keywords and not flat.keywords.keys() & {"properties", "required", "items"} and depth:
            return self.rng.choice(ANYTHING)
        if "type" not in flat.keywords:
            kinds = ["array"] if "items" in flat.keywords else ["object"]
        kind = self.rng.choice(kinds)
        if kind == "object":
            return self._object(flat, depth)
        if kind == "array":
            return self._list(flat, depth)
        if kind == "string":
            return self._text(flat)
        if kind in {"integer", "number"}:
            return self._number(flat, INTEGERS if kind == "integer" else NUMBERS)
        return None if kind == "null" else self.rng.random() < 0.5

    def _object(self, flat: Flat, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        refused = _refused_names(flat.keywords.get("not"))
        for name in [*flat.properties, *sorted(flat.required - flat.properties.keys())]:
            wanted = name in flat.required or (depth < DEEPEST and self.rng.random() < self.fullness)
            schema = flat.of_member(name)
            if wanted and name not in refused and schema is not None:
                made[name] = self.of(schema, depth + 1)
        extra = flat.of_member("x-mark 7")
        few = flat.keywords.get("minProperties", 0)
        if extra is not None and depth < DEEPEST and (len(made) < few or self.rng.random() < self.fullness / 3):
            for key in self.rng.sample(STRANGE_KEYS, self.rng.choice((1, max(1, min(few, 2))))):
                made.setdefault(key, self.of(extra, depth + 1))
        return made

    def _list(self, flat: Flat, depth: int) -> list[Any]:
        fewest = flat.keywords.get("minItems", 0)
        most = flat.keywords.get("maxItems", max(fewest, 3))
        wanted = fewest if depth >= DEEPEST else self.rng.randint(min(fewest or 1, most), max(fewest, min(3, most)))
        made: list[Any] = []
        for _ in range(4 * wanted):
            schema = flat.of_item(len(made))
            if len(made) == wanted or schema is None:
                break
            item = self.of(schema, depth + 1)
            if not flat.keywords.get("uniqueItems") or item not in made:
                made.append(item)
        return made

    def _text(self, flat: Flat) -> str:
        pattern = flat.keywords.get("pattern")
        pool: tuple[str, ...] = (*PATTERNED, *TRICKY) if pattern else TRICKY
        if flat.keywords.get("format") in FORMATTED:
            pool = (*pool, *[FORMATTED[flat.keywords["format"]]] * len(pool))
        fewest, most = flat.keywords.get("minLength", 0), flat.keywords.get("maxLength", 10**6)
        fitting = [text for text in pool if fewest <= len(text) <= most and _matches(pattern, text)]
        return self.rng.choice(fitting) if fitting else "x" * int(fewest)

    def _number(self, flat: Flat, pool: tuple[float, ...]) -> float:
        low, high = flat.keywords.get("minimum"), flat.keywords.get("maximum")
        edges = [int(edge) if pool is INTEGERS else edge for edge in (low, high) if edge is not None]
        inside = [one for one in (*pool, *edges) if _within(flat.keywords, one)]
        return self.rng.choice(inside or [0])


def _within(keywords: dict[str, Any], number: float) -> bool:
    step = keywords.get("multipleOf")
    return (
        number >= keywords.get("minimum", number)
        and number <= keywords.get("maximum", number)
        and (keywords.get("exclusiveMinimum") is None or number > keywords["exclusiveMinimum"])
        and (keywords.get("exclusiveMaximum") is None or number < keywords["exclusiveMaximum"])
        and (not step or number % step == 0)
    )


def _matches(pattern: str | None, text: str) -> bool:
    if pattern is None:
        return True
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return True  # the judge will tell


def _refused_names(schema: Any) -> set[str]:
    """The names that `not` keeps out, where it says so plainly."""
    if not isinstance(schema, dict):
        return set()
    required = schema.get("required", [])
    own = set(required) if len(required) == 1 and schema.keys() == {"required"} else set()
    return own.union(*(_refused_names(branch) for branch in schema.get("anyOf", ())))
