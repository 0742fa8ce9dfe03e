"""Fit arguments from the command line: the fitted JSON on stdout, problems on stderr.

Try:
  argfit fit --schema tool.json '{"line": 5.0}'
  argfit fit --schema tools.json --tool get_symbol_info - < arguments.json

Exit codes: 0 the arguments fit (as sent or after fitting), 1 they do not, 2 the input cannot be read.
"""

from __future__ import annotations

import argparse
import sys

from argfit.cli.options import add_formats, add_repair, add_strip
from argfit.cli.say import say, shown
from argfit.cli.schemas import Unreadable, add_schema, read_schema

SUMMARY = "arguments fitted to a schema, as JSON on stdout"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_schema(parser)
    add_repair(parser)
    add_formats(parser)
    add_strip(parser)
    parser.add_argument(
        "arguments", metavar="ARGS", nargs="?", help="the arguments as JSON; - (the default) reads stdin"
    )


def run(options: argparse.Namespace) -> int:
    """Fit, print, and return the exit code."""
    # Imported only now: `argfit proxy` shares this command line and starts its server first.
    from argfit.core.fitter import Fitter
    from argfit.core.source import SchemaError

    try:
        schema = read_schema(options.schema, options.tool)
        text = _arguments([options.arguments, *options.after] if options.arguments else options.after)
        fitter = Fitter(schema, repairs=options.repair, formats=options.formats, strip=options.strip)
    except (Unreadable, SchemaError) as error:
        say(f"argfit fit: {error}")
        return 2
    for at in fitter.plan.unusable:
        say(f"argfit fit: schema at {shown(at)} is not usable and is left out")
    fit = fitter.fit_json(text)
    if sys.stdout is None:
        say("argfit fit: stdout is closed; the fitted JSON has nowhere to go")
        return 2
    sys.stdout.buffer.write((fit.json or b"").rstrip(b"\r\n") + b"\n")
    sys.stdout.buffer.flush()
    if not fit.ok:
        say(fit.message)
    return 0 if fit.ok else 1


def _arguments(given: list[str]) -> bytes:
    from argfit.core import text as json_text

    if len(given) > 1:
        raise Unreadable("more than one ARGS; put the JSON into one word: '{\"line\": 5.0}'")
    from_stdin = not given or given[0] == "-"
    if from_stdin and sys.stdin is None:
        raise Unreadable("stdin is closed; pass the arguments as one word: '{\"line\": 5.0}'")
    text = sys.stdin.buffer.read() if from_stdin else given[0].encode("utf-8", "surrogateescape")
    try:
        json_text.loads(text)
    except json_text.NotJson:
        raise Unreadable("the arguments are not JSON; pass one JSON object, as in '{\"line\": 5.0}'") from None
    return text
