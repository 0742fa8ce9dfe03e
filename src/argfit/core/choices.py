"""What an operator may choose by name; light, since the command line reads it before a server is started."""

from collections.abc import Iterable

# Exact rules: another spelling of the same value. The first is always on, the second must be asked for by its name.
WHOLE_NUMBER, PLAIN_NUMBER = "whole-number", "plain-number"
EXACT_RULES = {
    WHOLE_NUMBER: "a whole number sent with a point or an exponent (5.0, 1e3) is written as an integer (5, 1000)",
    PLAIN_NUMBER: "the same where a number with a fraction would do as well: 2.0 is written as 2, and 2.5 stays",
}

# Repairs: changes of the value, in the contract's order. `all` is all of them, and `rename-case` a part of `rename`.
REPAIRS = {
    "rename": "a name not declared here that differs from one missing only in case, _ or - becomes that name"
    " (in an open object, only a required one)",
    "rename-case": "a name not declared here that differs from one missing only in case becomes that name",
    "unquote": 'text that spells a value that fits becomes that value: "5" is 5, "true" is true, "[1,2]" is a list; on'
    " the first line, the whole of the arguments sent as text",
    "unwrap-item": 'an object {"item": ...} that is a leftover of a list in XML becomes what is inside',
    "drop-null": "an optional argument sent as null, which it does not take, is left out",
    "drop-empty": "an optional argument sent as empty text, which it does not take, is left out",
    "member-case": "one of the listed values in another case becomes the listed value",
    "wrap": "a single value where only a list fits becomes a list of one; not text that looks like a list",
    "quote": "an integer where only text fits becomes its digits",
}
ALL_REPAIRS = frozenset(REPAIRS) - {"rename-case"}
# A dropped filter widens a call, and so may a wrapped one: for tools that destroy these must be named by the tool.
WIDENING = frozenset({"drop-null", "drop-empty", "wrap"})

# The formats of text that the judge knows (2020-12 validation, 7.3), and the integer formats by their bounds
# (OpenAPI's format registry).
TEXT_FORMATS = tuple(
    "date date-time time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference"
    " uri-template uuid json-pointer relative-json-pointer regex".split()
)
INTEGER_FORMATS = {
    f"{sign}int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if not sign else (0, 2**bits - 1)
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
_ALL_FORMATS = frozenset((*TEXT_FORMATS, *INTEGER_FORMATS))


def repairs_named(names: Iterable[str] | str) -> frozenset[str]:
    """The repairs (and `plain-number`) that are meant by names, or by `all`; ValueError for one that is unknown."""
    return _named("repair", names, (*REPAIRS, PLAIN_NUMBER), ALL_REPAIRS)


def formats_named(names: Iterable[str] | str) -> frozenset[str]:
    """The formats that are meant by names, or by `all`; ValueError for one that is unknown."""
    return _named("format", names, (*TEXT_FORMATS, *INTEGER_FORMATS), _ALL_FORMATS)


def _named(what: str, names: Iterable[str] | str, known: tuple[str, ...], everything: frozenset[str]) -> frozenset[str]:
    found: set[str] = set()
    for name in [names] if isinstance(names, str) else names:
        if name == "all":
            found |= everything
        elif name in known:
            found.add(name)
        else:
            near = min(known, key=lambda one: len(set(one) ^ set(name)))
            raise ValueError(f"there is no {what} {name!r}; the nearest is {near!r} of {', '.join(known)}")
    return frozenset(found)


def chosen(what: str, name: str, known: tuple[str, ...]) -> str:
    """A name that is among those known; ValueError where it is not."""
    if name not in known:
        raise ValueError(f"{what} is one of {', '.join(map(repr, known))}, not {name!r}")
    return name
