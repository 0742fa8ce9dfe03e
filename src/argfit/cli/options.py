"""Options that commands share."""

import argparse

from argfit.core.repair_names import named


def repairs(names: str) -> frozenset[str]:
    """The repairs named in an option, with commas between them."""
    try:
        return named(name for name in names.split(",") if name)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_strip(parser: argparse.ArgumentParser) -> None:
    """Declare `--strip`."""
    parser.add_argument(
        "--strip",
        metavar="NAME",
        action="append",
        default=[],
        help="leave out this top-level argument where the tool does not declare it; may be repeated",
    )
