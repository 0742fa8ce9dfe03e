"""Tools and schemas as they stand in files: a schema, a tool, or what `tools/list` answered."""

from __future__ import annotations

import sys

from argfit.cli.say import shown

TYPE_CHECKING = False  # as type checkers read it; `argfit proxy` shares this start and must not wait for `typing`
if TYPE_CHECKING:
    import argparse
    from typing import Any


_SCHEMA_NAMES = ("inputSchema", "input_schema", "parameters")  # of MCP, and of what models' APIs take


class Unreadable(Exception):
    """The user's input cannot be used; the message says why and what to do next."""


def add_schema(parser: argparse.ArgumentParser) -> None:
    """Declare `--schema` and `--tool`."""
    parser.add_argument(
        "--schema",
        metavar="FILE",
        required=True,
        help="a schema, a tool, or a tools/list result (then --tool)",
    )
    parser.add_argument("--tool", metavar="NAME", help="which tool of a tools/list result")


def read_schema(file: str, tool: str | None) -> Any:
    """The schema in a file that holds a schema, a tool, or a `tools/list` result."""
    name = shown(file)
    found = read_json(file, "--schema names a schema, a tool or a tools/list result")
    tools = listed(found)
    if tools is not None:
        return _input_schema(_pick(name, tools, tool))
    if tool is not None and not (isinstance(found, dict) and found.get("name") == tool):
        raise Unreadable(f"{name} does not list tools, so --tool {shown(tool)} is not in it; leave --tool out")
    return _input_schema(found)


def read_json(file: str, wanted: str) -> Any:
    """The JSON value in a file, or on stdin where it is `-`; `wanted` says what it should hold."""
    from argfit.core import text as json_text

    try:
        if file == "-":
            if sys.stdin is None:
                raise Unreadable(f"stdin is closed; {wanted}")
            return json_text.loads(sys.stdin.buffer.read())
        with open(file, "rb") as opened:  # noqa: PTH123 - pathlib costs as much as the rest of this start
            return json_text.loads(opened.read())
    except OSError as error:
        raise Unreadable(f"cannot read {shown(file)}: {error.strerror}; {wanted}") from None
    except json_text.NotJson:
        raise Unreadable(f"{shown(file)} is not JSON; {wanted}") from None


def listed(found: Any) -> list[Any] | None:
    """The tools in what a server answered to `tools/list`, with or without its envelope; None where it lists none."""
    if isinstance(found, dict) and isinstance(found.get("result"), dict):
        found = found["result"]
    elif isinstance(found, dict) and "jsonrpc" in found and "error" in found:
        raise Unreadable("the file holds a server's error, not its tools; save the answer to tools/list")
    tools = found if isinstance(found, list) else found.get("tools") if isinstance(found, dict) else None
    return tools if isinstance(tools, list) else None


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


def is_tool(found: Any) -> bool:
    """Whether a JSON value is a tool, as MCP or a model's API has it."""
    named = isinstance(found, dict) and isinstance(found.get("name"), str) and "properties" not in found
    return named or (isinstance(found, dict) and any(name in found for name in _SCHEMA_NAMES[:2]))


def schema_of(tool: dict[str, Any]) -> Any:
    """The schema of a tool's arguments; None where it has none."""
    return next((tool[name] for name in _SCHEMA_NAMES if name in tool), None)


def _input_schema(found: Any) -> Any:
    if not is_tool(found):
        return found
    schema = schema_of(found)
    if schema is None:
        name = shown(str(found.get("name")))
        raise Unreadable(f"the tool {name} has no inputSchema; --schema names a schema, a tool or a tools/list result")
    return schema
