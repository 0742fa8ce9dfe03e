"""`argfit COMMAND`: reads the command line and hands over to the command.

Exit codes (contract, section 8): 0 fits, 1 problems, 2 usage or unreadable input; `proxy` passes the
server's on.
"""

import argparse
import io
import sys
from collections.abc import Sequence

from argfit.cli import explain, fit, lint, proxy, serve
from argfit.cli.say import say, shown

_COMMANDS = {"fit": fit, "explain": explain, "lint": lint, "proxy": proxy, "serve": serve}


class _Parser(argparse.ArgumentParser):
    """Errors are one line that names the next step, and exit 2."""

    def error(self, message: str) -> None:  # type: ignore[override] # argparse says NoReturn, and exit() never returns
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


class _Version(argparse.Action):
    """Looks the version up only when asked: the metadata costs as much as the rest of the start."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib import metadata

        print(f"argfit {metadata.version('argfit')}")
        parser.exit()


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """What stands before the first `--` and after it: a server's command is not ours to read."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return list(arguments[:at]), list(arguments[at + 1 :])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    parser = _Parser(
        prog="argfit",
        description="Makes the arguments of MCP tool calls fit the tool's schema, or says which do not.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    parsers = {}
    for name, module in _COMMANDS.items():
        parsers[name] = commands.add_parser(
            name,
            help=module.SUMMARY,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.configure(parsers[name])
    before, after = _split(sys.argv[1:] if arguments is None else arguments)
    parsed, unknown = parser.parse_known_args(before)
    if unknown:
        parsers[parsed.command].error(f"unrecognized arguments: {' '.join(map(shown, unknown))}")
    parsed.after = after
    if isinstance(sys.stdout, io.TextIOWrapper):  # what its encoding does not know is escaped
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = int(_COMMANDS[parsed.command].run(parsed))
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        sys.stdout = None  # or the interpreter would flush it once more at the end
        if isinstance(error, BrokenPipeError):  # whoever read our output has gone (`| head`)
            return 141
        say(f"argfit {parsed.command}: cannot write its output: {error.strerror}; make room, or write elsewhere")
        return 2
    return code
