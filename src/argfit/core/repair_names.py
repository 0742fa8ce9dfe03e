"""The names of the repairs; light, since the command line reads them before a server is started."""

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
ALL = frozenset(REPAIRS) - {"rename-case"}
# A dropped filter widens a call, and so may a wrapped one: for tools that destroy these must be named by the tool.
WIDENING = frozenset({"drop-null", "drop-empty", "wrap"})


def named(repairs: Iterable[str] | str) -> frozenset[str]:
    """The repairs that are meant by names, or by `all`; ValueError names the nearest for one that is unknown."""
    found: set[str] = set()
    for name in [repairs] if isinstance(repairs, str) else repairs:
        if name == "all":
            found |= ALL
        elif name in REPAIRS:
            found.add(name)
        else:
            near = min(REPAIRS, key=lambda known: len(set(known) ^ set(name)))
            raise ValueError(f"there is no repair {name!r}; the nearest is {near!r} of {', '.join(REPAIRS)}")
    return frozenset(found)
