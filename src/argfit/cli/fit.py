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

TYPE_CHECKING = False  # as type checkers read it; `argfit proxy` shares this start and must not wait for `typing`
if TYPE_CHECKING:
    from typing import Any

SUMMARY = "arguments fitted to a schema, as JSON on stdout"


class Unreadable(Exception):
    """The user's input cannot be used; the message says why and what to do next."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--schema",
        metavar="FILE",
        required=True,
        help="a schema, a tool, or a tools/list result (then --tool)",
    )
    parser.add_argument("--tool", metavar="NAME", help="which tool of a tools/list result")
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
        schema = _schema(options.schema, options.tool)
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


def _schema(file: str, tool: str | None) -> Any:
    """The schema in a file that holds a schema, a tool, or a `tools/list` result."""
    name = shown(file)
    from argfit.core import text as json_text

    try:
        with open(file, "rb") as opened:  # noqa: PTH123 - pathlib costs as much as the rest of this start
            found = json_text.loads(opened.read())
    except OSError as error:
        raise Unreadable(f"cannot read {name}: {error.strerror}; --schema names a JSON file") from None
    except json_text.NotJson:
        raise Unreadable(f"{name} is not JSON; --schema names a schema, a tool or a tools/list result") from None
    if isinstance(found, dict) and isinstance(found.get("result"), dict):
        found = found["result"]
    tools = found if isinstance(found, list) else found.get("tools") if isinstance(found, dict) else None
    if isinstance(tools, list):
        return _input_schema(_pick(name, tools, tool))
    if tool is not None and not (isinstance(found, dict) and found.get("name") == tool):
        raise Unreadable(f"{name} does not list tools, so --tool {shown(tool)} is not in it; leave --tool out")
    return _input_schema(found)


def _pick(file: str, tools: list[Any], wanted: str | None) -> Any:
    named = {tool["name"]: tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)}
    if wanted is None and len(named) == 1:
        return next(iter(named.values()))
    if not named:
        raise Unreadable(f"{file} lists no tools; --schema takes a schema, a tool or a tools/list result")
    if wanted is None or wanted not in named:
        said = f"has no tool {shown(wanted)}" if wanted else "lists several tools"
        raise Unreadable(f"{file} {said}; name one with --tool: {', '.join(map(shown, named))}")
    return named[wanted]


def _input_schema(found: Any) -> Any:
    return found["inputSchema"] if isinstance(found, dict) and "inputSchema" in found else found


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
