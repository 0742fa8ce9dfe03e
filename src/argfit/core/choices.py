"""What an operator may choose by name; light, since the command line reads it before a server is started."""

from collections.abc import Iterable

# In the contract's order; `all` is all of them, and `rename-case` a part of `rename`.
REPAIRS = (
    "rename",
    "rename-case",
    "unquote",
    "unwrap-item",
    "drop-null",
    "drop-empty",
    "member-case",
    "wrap",
    "quote",
)
ALL_REPAIRS = frozenset(REPAIRS) - {"rename-case"}
# A dropped filter widens a call, and so may a wrapped one: for tools that destroy these must be named by the tool.
WIDENING = frozenset({"drop-null", "drop-empty", "wrap"})

PLAIN_NUMBER = "plain-number"  # an exact rule that must be asked for; no part of `all`

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


def repairs_named(names: Iterable[str] | str) -> frozenset[str]:
    """The repairs (and `plain-number`) that are meant by names, or by `all`; ValueError for one that is unknown."""
    return _named("repair", names, (*REPAIRS, PLAIN_NUMBER), ALL_REPAIRS)


def formats_named(names: Iterable[str] | str) -> frozenset[str]:
    """The formats that are meant by names, or by `all`; ValueError for one that is unknown."""
    known = (*TEXT_FORMATS, *INTEGER_FORMATS)
    return _named("format", names, known, frozenset(known))


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
