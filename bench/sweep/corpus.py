"""Tools as people keep them: `tools/list` results, bare lists of tools, or single tools, one JSON file each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SCHEMA_NAMES = ("inputSchema", "input_schema", "parameters")


class CorpusError(Exception):
    """The folder holds nothing to sweep, or a file that is no JSON."""


@dataclass(frozen=True)
class Tool:
    file: str
    name: str
    schema: dict[str, Any]


def tools(folders: Sequence[Path]) -> list[Tool]:
    found = [tool for folder in folders for path in sorted(folder.glob("*.json")) for tool in _tools_in(path)]
    if not found:
        raise CorpusError(f"no tool found in {', '.join(map(str, folders))}: name a folder of *.json files")
    return found


def _tools_in(path: Path) -> Iterator[Tool]:
    try:
        held = json.loads(path.read_bytes())
    except ValueError as error:
        raise CorpusError(f"{path} is no JSON ({error}): mend it or take it out of the folder") from error
    if isinstance(held, dict) and isinstance(held.get("result"), dict):
        held = held["result"]
    if isinstance(held, dict):
        held = held.get("tools", [held])
    for index, tool in enumerate(held if isinstance(held, list) else ()):
        named = tool if isinstance(tool, dict) else {}
        schema = next((named[name] for name in _SCHEMA_NAMES if name in named), None)
        if isinstance(schema, dict):
            yield Tool(path.name, str(named.get("name", index)), schema)
