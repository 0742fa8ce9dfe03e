"""Put argfit in front of a stdio MCP server: `argfit proxy --` goes before the server's own command.

Try:
  argfit proxy -- uvx mcp-server-fetch

The server's stderr goes through and its exit code becomes argfit's; a command that cannot be started
exits 127.
"""

from __future__ import annotations

import argparse
import os

from argfit.cli.options import add_formats, add_on_misfit, add_repair, add_schema_wait, add_strip, gathered
from argfit.cli.say import say, shown
from argfit.proxy import process

SUMMARY = "a stdio MCP server behind argfit"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.usage = "argfit proxy [options] -- COMMAND [ARG ...]"
    add_on_misfit(parser)
    add_strip(parser)
    add_repair(parser, by_tool=True)
    add_formats(parser, by_tool=True)
    add_schema_wait(parser)
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
    if not options.verbose:
        return Relay(child, session, lambda line: None).run()
    from argfit.cli.log import to_stderr  # only where it is asked for: it costs 5 ms of every start

    return Relay(child, session, to_stderr()).run()
