"""Name the argument hazards in a server's tools, before any call is made.

Try:
  argfit lint tools.json
  argfit lint -- uvx mcp-server-fetch
  argfit lint --format json --level info tools.json

FILE holds what the server answered to tools/list, a tool, or - for stdin. After -- stands a server's command: it is
started, asked for its tools, and ended.

Exit codes: 0 no finding at or above the level, 1 there are some, 2 the input cannot be read or the server not asked.
"""

from __future__ import annotations

import argparse

from argfit.cli.options import seconds
from argfit.cli.say import printable, say, shown
from argfit.cli.schemas import Unreadable, is_tool, listed, read_json, schema_of

TYPE_CHECKING = False  # as type checkers read it; `argfit proxy` shares this start and must not wait for `typing`
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from argfit.core.lint import Finding

SUMMARY = "argument hazards in a server's tools"
_HOW = "argfit lint -- COMMAND ARG..."
_WANTED = "FILE is what a server answered to tools/list, or a tool"
_ROOT = "arguments"
_PLACES = 12  # of one hazard in one tool, in text; the rest is counted


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.usage = "argfit lint [options] FILE | argfit lint [options] -- COMMAND [ARG ...]"
    parser.add_argument("file", metavar="FILE", nargs="?", help="tools as JSON; - reads stdin")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.add_argument(
        "--level",
        choices=("info", "warning", "error"),
        default="warning",
        help="the least that is shown, and that makes the exit code 1 (default: warning)",
    )
    parser.add_argument(
        "--wait",
        metavar="SECONDS",
        type=seconds,
        default=60.0,
        help="how long a started server has to list its tools (default: 60)",
    )


def run(options: argparse.Namespace) -> int:
    """Look at the tools, print what was found, and return the exit code."""
    from argfit.core.hazards import HAZARDS, LEVELS
    from argfit.core.lint import lint

    try:
        tools = _tools(options)
    except Unreadable as error:
        say(f"argfit lint: {error}")
        return 2
    try:
        found = [finding for name, schema in tools for finding in lint(name, schema)]
    except RecursionError:
        say("argfit lint: a schema nests too deep to be looked at; take it apart into $defs")
        return 2
    least = LEVELS.index(options.level)
    shown_ones = [finding for finding in found if LEVELS.index(HAZARDS[finding.hazard].level) >= least]
    lines = _as_json(shown_ones) if options.format == "json" else _as_text(shown_ones, len(tools), len(found))
    for line in lines:
        print(line)
    return 1 if shown_ones else 0


def _tools(options: argparse.Namespace) -> list[tuple[str, Any]]:
    """Names and schemas."""
    if bool(options.file) == bool(options.after):
        both = "give one of them, a FILE or a server's command after --, not both"
        raise Unreadable(both if options.file else f"name a FILE, or a server's command after --: {_HOW}")
    if options.after:
        tools = _asked(options.after, options.wait)
    else:
        found = read_json(options.file, _WANTED)
        tools = listed(found) or [found]
        if _goes_on(found):
            say(f"argfit lint: {shown(options.file)} holds one page of a longer listing; the rest is not looked at")
    named = [
        (tool["name"] if isinstance(tool.get("name"), str) else f"tool {count}", schema_of(tool))
        for count, tool in enumerate(tools, 1)
        if is_tool(tool)
    ]
    if not named and options.file:
        raise Unreadable(f"{shown(options.file)} lists no tools; {_WANTED}")
    return named


def _asked(command: list[str], patience: float) -> list[Any]:
    from argfit.proxy.listing import NoListing, list_tools

    try:
        listing = list_tools(command, patience)
    except OSError as error:
        reason = f"{error.strerror or error}; check the command after --"
        raise Unreadable(f"cannot start {shown(command[0])}: {reason}") from None
    except ValueError as error:
        raise Unreadable(f"cannot start {shown(command[0])}: {error}; check the command after --") from None
    except NoListing as error:
        raise Unreadable(printable(str(error))) from None
    if listing.unfinished:
        say(f"argfit lint: the server's listing does not end; {len(listing.tools)} tools of it are looked at")
    return listing.tools


def _goes_on(found: Any) -> bool:
    result = found.get("result", found) if isinstance(found, dict) else None
    return isinstance(result, dict) and isinstance(result.get("nextCursor"), str)


def _as_json(found: list[Finding]) -> Iterator[str]:
    import json

    from argfit.core.hazards import HAZARDS

    yield json.dumps(
        [
            {
                "tool": finding.tool,
                "path": finding.path,
                "rule": finding.hazard,
                "level": (hazard := HAZARDS[finding.hazard]).level,
                "found": finding.detail,
                "what": hazard.title,
                "why": hazard.why,
                "instead": hazard.instead,
            }
            for finding in found
        ],
        indent=2,
    )


def _as_text(found: list[Finding], tools: int, in_all: int) -> Iterator[str]:
    """Hazard by hazard, the worst first, since one change of habit mends all places of one."""
    from argfit.core.hazards import HAZARDS

    for name, hazard in HAZARDS.items():
        places: dict[str, list[str]] = {}
        for finding in found:
            if finding.hazard == name:
                said = f" ({finding.detail})" if finding.detail else ""
                places.setdefault(finding.tool, []).append(f"{finding.path or _ROOT}{said}")
        if not places:
            continue
        yield f"{hazard.level}  {name}: {hazard.title}"
        yield f"  Why: {hazard.why}"
        yield f"  Instead: {hazard.instead}"
        if all(paths == [_ROOT] for paths in places.values()):  # said of tools as wholes
            yield f"    {_few([shown(tool) for tool in places])}"
        else:
            yield from (printable(f"    {shown(tool)}: {_few(paths)}") for tool, paths in places.items())
        yield ""
    below = in_all - len(found)
    said = f"{_counted(len(found), 'finding')} in {_counted(tools, 'tool')}"
    yield f"{said}; {below} below the level (--level info shows all)" if below else said


def _few(names: list[str]) -> str:
    more = f", and {len(names) - _PLACES} more" if len(names) > _PLACES else ""
    return f"{', '.join(names[:_PLACES])}{more}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
