"""Repairs of a value as a whole: each off unless named, each made only if the place then fits.

Rules (contract, section 3)
- The order is the table's; the first that makes the place fit wins. Where one repair has two possible outcomes,
  none is taken.
- `unquote` never feeds a drop: the word "null" is null only where null is allowed. Nor is what it decodes to repaired
  as a whole (text for a list is not one value of it): only what is inside of it is.
"""

import re
from typing import Any

import msgspec

from argfit.core import text as json_text
from argfit.core.edit import Edit, spliced
from argfit.core.engine import Engine
from argfit.core.mend import Mended, Mender, Repair
from argfit.core.place import At
from argfit.core.problem import Path
from argfit.core.spelling import Change, from_digits
from argfit.core.values import EXACT, is_number

UNQUOTE = "unquote"

_PLAIN_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.0+)?\Z")
_MAY_BE_JSON = re.compile(r"[-0-9{\[tfnTF]")
_PYTHON_WORDS = {"True": True, "False": False}
# commas, semicolons and line breaks, in any script
_SPLITS = re.compile("[,;\n\r\v\f\x1c-\x1e\x85\u2028\u2029\u060c\u061b\u3001\uff0c\uff1b]")
_CUT_OFF = re.compile(r"""\s*[\[{]\s*["'\[{]""")  # a list or an object that was not written to its end
_PAIRS = ("[]", "{}", "()", "<>", '""')


def _unquote(mender: Mender, at: At, value: Any, path: Path, origin: Path) -> Mended | None:
    if not isinstance(value, str) or not _MAY_BE_JSON.match(value):
        return None
    if mender.takes_free_text(at):
        return None
    if value in _PYTHON_WORDS:
        word = _PYTHON_WORDS[value]
        edit = Edit(origin, "write", json_text.encoded(word))
        return Mended(word, (Change(path, UNQUOTE, value, word),), (edit,)) if mender.fits(at, word) else None
    text = value.encode("utf-8", "surrogatepass")
    try:
        decoded = json_text.read(text).value
    except (json_text.NotJson, json_text.DoubledKey):
        return None
    if isinstance(decoded, str) or value != value.strip() or not json_text.is_strict(text):
        return None
    if is_number(decoded) and (decoded - decoded != 0 or _is_odd_integer(mender, at, value, decoded)):
        return None
    mended = mender.respell_and_mend(at, decoded, path, (), whole=False)
    if mended.problems:
        container = isinstance(decoded, dict | list) and mender.takes(at, decoded)
        return Mended(value, problems=mended.problems) if container else None
    change = Change(path, UNQUOTE, value, mended.value)
    edit = Edit(origin, "write", json_text.as_utf8(spliced(text, mended.edits)))
    return Mended(mended.value, (change, *from_digits(mended.changes)), (edit,))


def _is_odd_integer(mender: Mender, at: At, text: str, number: Any) -> bool:
    """Whether a number stands for an integer and is not written as one: `1e3`."""
    if _PLAIN_INTEGER.match(text):
        return False
    return not mender.takes(at, 0.5) or mender.wants_integer(at, number)


def _unwrap_item(mender: Mender, at: At, value: Any, path: Path, origin: Path) -> Mended | None:
    if not isinstance(value, dict) or list(value) != ["item"] or mender.takes_item(at):
        return None
    mended = mender.respell_and_mend(at, value["item"], path, (*origin, "item"))
    if mended.problems:
        return None
    change = Change(path, "unwrap-item", value, mended.value)
    return Mended(mended.value, (change, *mended.changes), (Edit(origin, "lift", "item"), *mended.edits))


def _member_case(mender: Mender, at: At, value: Any, path: Path, origin: Path) -> Mended | None:
    if not isinstance(value, str):
        return None
    alike = {member for member in mender.listed_texts(at) if member.casefold() == value.casefold()}
    fitting = [member for member in alike if mender.fits(at, member)]
    if len(fitting) != 1:
        return None
    member = fitting[0]
    edit = Edit(origin, "write", json_text.encoded(member))
    return Mended(member, (Change(path, "member-case", value, member),), (edit,))


def _wrap(mender: Mender, at: At, value: Any, path: Path, origin: Path) -> Mended | None:
    if value is None or value == "" or isinstance(value, list) or not mender.engine.types.only(at, "array"):
        return None
    if (isinstance(value, dict) and list(value) == ["item"]) or (isinstance(value, str) and not _is_one(value)):
        return None
    mended = mender.respell_and_mend(at, [value], path, origin, whole=False)
    wrapped_twice = any(change.rule == "wrap" and change.path == (*path, 0) for change in mended.changes)
    if mended.problems or wrapped_twice:
        return None
    change = Change(path, "wrap", value, mended.value)
    # the item stood where the list is
    edits = [msgspec.structs.replace(one, path=(*origin, *one.path[len(origin) + 1 :])) for one in mended.edits]
    return Mended(mended.value, (change, *mended.changes), (Edit(origin, "wrap"), *edits))


def _is_one(text: str) -> bool:
    """Whether text is plainly one value, and not a list in some spelling of its own."""
    if _SPLITS.search(text) or text[0] + text[-1] in _PAIRS or _CUT_OFF.match(text):
        return False
    try:
        decoded = json_text.loads(text.encode("utf-8", "surrogatepass"))
    except json_text.NotJson:
        return True
    return not isinstance(decoded, dict | list | str)


def _quote(mender: Mender, at: At, value: Any, path: Path, origin: Path) -> Mended | None:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= EXACT:
        return None
    if not mender.engine.types.only(at, "string") or not mender.fits(at, str(value)):
        return None
    edit = Edit(origin, "write", json_text.encoded(str(value)))
    return Mended(str(value), (Change(path, "quote", value, str(value)),), (edit,))


REPAIRS: dict[str, Repair] = {
    UNQUOTE: _unquote,
    "unwrap-item": _unwrap_item,
    "member-case": _member_case,
    "wrap": _wrap,
    "quote": _quote,
}


def mender(engine: Engine) -> Mender:
    """What mends values under a compiled schema, by the repairs that are on."""
    return Mender(engine, REPAIRS)
