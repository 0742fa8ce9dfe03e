"""Options that commands share."""

from __future__ import annotations

import argparse

from argfit.core.choices import formats_named, repairs_named

TYPE_CHECKING = False  # as type checkers read it; `argfit proxy` shares this start and must not wait for `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LONGEST_WAIT = 3600.0  # seconds; longer than any client waits for an answer
_REPAIRS = "repairs to make, by names with commas or all"
_FORMATS = "formats that count (date, uuid, int32 and so on), by names with commas or all; they only describe otherwise"
_BY_TOOL = "; after TOOL= for that tool only; may be repeated"


def add_repair(parser: argparse.ArgumentParser, *, by_tool: bool = False) -> None:
    """Declare `--repair`: the names, or with `by_tool` a list of pairs of a tool ("" for all) and its names."""
    _add_choice(parser, "--repair", repairs_named, _REPAIRS, by_tool=by_tool)


def add_formats(parser: argparse.ArgumentParser, *, by_tool: bool = False) -> None:
    """Declare `--formats`, likewise."""
    _add_choice(parser, "--formats", formats_named, _FORMATS, by_tool=by_tool)


def add_on_misfit(parser: argparse.ArgumentParser) -> None:
    """Declare `--on-misfit`."""
    parser.add_argument(
        "--on-misfit",
        choices=("forward", "explain", "refuse"),
        default="explain",
        help="a call that does not fit goes on as it is (forward), also explained when the server answers it with "
        "an error (explain, the default), or is answered by argfit and not sent (refuse)",
    )


def add_schema_wait(parser: argparse.ArgumentParser) -> None:
    """Declare `--schema-wait`."""
    parser.add_argument(
        "--schema-wait",
        metavar="SECONDS",
        type=seconds,
        default=2.0,
        help="how long a call may wait for its tool's schema; past that it goes on untouched (default: 2)",
    )


def add_strip(parser: argparse.ArgumentParser) -> None:
    """Declare `--strip`."""
    parser.add_argument(
        "--strip",
        metavar="NAME",
        action="append",
        default=[],
        help="leave out this top-level argument where the tool does not declare it; may be repeated",
    )


def seconds(text: str) -> float:
    """A number of seconds."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= LONGEST_WAIT:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds from 0 to {LONGEST_WAIT:.0f}")
    return number


def gathered(pairs: Iterable[tuple[str, frozenset[str]]]) -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    """What was chosen for all tools, and for some by name."""
    by_tool: dict[str, frozenset[str]] = {}
    for tool, names in pairs:
        by_tool[tool] = by_tool.get(tool, frozenset()) | names
    return by_tool.pop("", frozenset()), by_tool


def _add_choice(
    parser: argparse.ArgumentParser,
    option: str,
    named: Callable[[Iterable[str]], frozenset[str]],
    about: str,
    *,
    by_tool: bool,
) -> None:
    def names(text: str) -> frozenset[str]:
        try:
            return named(name for name in text.split(",") if name)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    def pair(text: str) -> tuple[str, frozenset[str]]:
        tool, _, rest = text.rpartition("=")
        return tool, names(rest)

    if by_tool:
        parser.add_argument(
            option, metavar="[TOOL=]NAMES", action="append", type=pair, default=[], help=about + _BY_TOOL
        )
    else:
        parser.add_argument(option, metavar="NAMES", type=names, default=frozenset(), help=about)
