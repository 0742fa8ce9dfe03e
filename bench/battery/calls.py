"""Calls: arguments put together from parts of the table, and what may come out of each.

An argument is called by its place in the call and its kind: a_count, b_text. Each call has a schema of its own.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import jsonschema_rs
from kinds import KINDS, Kind, Schema, schema_of
from parts import ARGUMENTS, LEFT_OUT, PARTS, UNDECLARED, Class, Part, TableError

Form = Callable[[str], list[str]]


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


# The keys under which an argument of this name is sent.
KEY_FORMS: dict[str, Form] = {
    "": lambda name: [name],
    "camel": lambda name: [camel(name)],
    "kebab": lambda name: [name.replace("_", "-")],
    "upper": lambda name: [name.upper()],
    "plural": lambda name: [name + "s"],
    "twin": lambda name: [name, camel(name)],
    "two": lambda name: [camel(name), name.upper()],
    "absent": lambda name: [],
}

# The text of the arguments as a whole, made of what it would be.
WHOLE_FORMS: dict[str, Callable[[str], str]] = {
    "text": json.dumps,
    "enveloped": lambda text: f'{{"arguments": {text}}}',
    "list": lambda text: f"[{text}]",
    "number": lambda text: "42",
    "null": lambda text: "null",
    "empty": lambda text: '""',
}

# Nobody harms these: beside a single part they only make a call of it.
PLAIN = tuple(
    Part(kind, "", sent, Class.KEEP, json.loads(sent))
    for kind, sent in (("text", '"weekly report"'), ("count", "7"), ("flag", "false"), ("names", '["ann", "bob"]'))
)


@dataclass(frozen=True)
class Call:
    members: tuple[tuple[str, Part], ...]
    fields: dict[str, Kind]
    schema: Schema
    text: str

    @property
    def classes(self) -> set[Class]:
        return {part.class_ for _, part in self.members}


def call(parts: Sequence[Part]) -> Call:
    members = tuple((f"{letter}_{part.kind}", part) for letter, part in zip("abcdefghijkl", parts, strict=False))
    fields = {name: KINDS[part.kind] for name, part in members if part.kind in KINDS}
    written: list[str] = []
    for name, part in members:
        if part.kind != ARGUMENTS:
            written += [f"{json.dumps(key)}: {part.sent}" for key in KEY_FORMS[part.form](name)]
    text = f"{{{', '.join(written)}}}"
    for _, part in members:
        text = WHOLE_FORMS[part.form](text) if part.kind == ARGUMENTS else text
    return Call(members, fields, schema_of(fields), text)


def single() -> list[tuple[Part, Call]]:
    """Each part of the table in a call of its own."""
    return [(part, call([*PLAIN, part])) for part in PARTS]


def composed(count: int, seed: int) -> list[Call]:
    """Calls of 1 to 4 faults and 3 to 6 bystanders each.

    Six in ten have faults to recover only; fifteen in a hundred have one among them that may go either way; the
    rest have one or two that must be refused.
    """
    rng = random.Random(seed)  # noqa: S311  # the same calls each time is what is wanted
    by_class = {class_: [part for part in PARTS if part.class_ is class_] for class_ in Class}
    return [compose(rng, by_class) for _ in range(count)]


def compose(rng: random.Random, by_class: dict[Class, list[Part]]) -> Call:
    leading = rng.choices((Class.RECOVER, Class.EITHER, Class.REFUSE), weights=(60, 15, 25))[0]
    faults, bystanders = rng.randint(1, 4), rng.randint(3, 6)
    leaders = {Class.RECOVER: 0, Class.EITHER: 1, Class.REFUSE: rng.randint(1, min(faults, 2))}[leading]
    parts = [
        *rng.sample(by_class[leading], leaders),
        *rng.sample(by_class[Class.RECOVER], faults - leaders),
        *rng.sample(by_class[Class.KEEP], bystanders),
    ]
    if sum(part.kind == ARGUMENTS for part in parts) > 1:  # the whole can be sent in one form only
        return compose(rng, by_class)
    rng.shuffle(parts)
    return call(parts)


def check() -> None:
    """Hold the table against a validator: each row must be of its class."""
    doubled = [str(part) for part, times in Counter((p.kind, p.shown) for p in PARTS).items() if times > 1]
    wrong = [*doubled, *(f"{part} ({complaint})" for part, one in single() for complaint in complaints(part, one))]
    if wrong:
        raise TableError("rows that are not of their class: " + "; ".join(wrong))


def complaints(part: Part, one: Call) -> Iterator[str]:
    is_valid = jsonschema_rs.validator_for(one.schema, offline=True).is_valid
    sent_is_valid = is_valid(json.loads(one.text))
    if part.class_ is Class.REFUSE:
        if sent_is_valid:
            yield "valid as it was sent"
        return
    fitted = {name: p.outcome for name, p in one.members if p.kind in KINDS and p.outcome is not LEFT_OUT}
    if not is_valid(fitted):
        yield "its outcome is not valid"
    if part.class_ is Class.KEEP and not sent_is_valid:
        yield "not valid as it was sent"
    if part.class_ is Class.RECOVER and sent_is_valid and repr(fitted) == repr(json.loads(one.text)):
        yield "nothing to recover"
    if part.kind == UNDECLARED:
        yield "an undeclared key is to be refused"
