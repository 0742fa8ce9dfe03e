"""Put argfit in front of a stdio MCP server: `argfit proxy --` goes before the server's own command.

Try:
  argfit proxy -- uvx mcp-server-fetch

The server's stderr goes through and its exit code becomes argfit's; a command that cannot be started
exits 127.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from argfit.cli.options import add_formats, add_repair, add_strip, gathered, seconds
from argfit.cli.say import say, shown
from argfit.proxy import process

TYPE_CHECKING = False  # as type checkers read it; importing `typing` would keep the server waiting
if TYPE_CHECKING:
    from argfit.core.record import Log

SUMMARY = "a stdio MCP server behind argfit"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.usage = "argfit proxy [options] -- COMMAND [ARG ...]"
    parser.add_argument(
        "--on-misfit",
        choices=("forward", "explain", "refuse"),
        default="explain",
        help="a call that does not fit goes on as it is (forward), also explained when the server answers it with "
        "an error (explain, the default), or is answered by argfit and not sent (refuse)",
    )
    add_strip(parser)
    add_repair(parser, by_tool=True)
    add_formats(parser, by_tool=True)
    parser.add_argument(
        "--schema-wait",
        metavar="SECONDS",
        type=seconds,
        default=2.0,
        help="how long a call may wait for its tool's schema; past that it goes on untouched (default: 2)",
    )
    parser.add_argument("--verbose", action="store_true", help="write log lines to stderr, without values")
    parser.add_argument("misplaced", nargs="*", help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> int:
    """Start the server, relay until it ends, and return its exit code."""
    if options.misplaced or not options.after:
        say("argfit proxy: put -- and then the server's command last: argfit proxy -- COMMAND ARG...")
        return 2
    try:
        child = process.start(options.after)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        say(f"argfit: cannot start {shown(options.after[0])}: {reason}; check the command after --")
        return process.CANNOT_START

    # Imported only now: the server starts up meanwhile, and its first answer comes no later for our sake.
    from argfit.proxy.stdio import Relay
    from argfit.wire.conversation import Settings
    from argfit.wire.session import Session
    from argfit.wire.tools import Chosen

    repairs, formats = Chosen(*gathered(options.repair)), Chosen(*gathered(options.formats))
    settings = Settings(options.on_misfit, frozenset(options.strip), options.verbose, repairs, formats)
    session = Session(settings, os.urandom(8).hex(), options.schema_wait)
    return Relay(child, session, _log_to_stderr() if options.verbose else lambda line: None).run()


def _log_to_stderr() -> Callable[[Log], None]:
    import logging  # only where it is asked for: it costs 5 ms of every start

    logging.basicConfig(stream=sys.stderr, level=logging.DEBUG, format="%(levelname)s %(name)s: %(message)s")
    logger = logging.getLogger("argfit")

    def write(line: Log) -> None:
        logger.log(logging.getLevelNamesMapping()[line.level], line.text, *line.args, extra=line.extra)

    return write
