"""The servers of an `mcp.json`, as other clients write it too."""

import json
from pathlib import Path
from typing import Any, NamedTuple


class ConfigError(Exception):
    """The file cannot be used; the message says why and what to write."""


class Entry(NamedTuple):
    """One server: a command to start, or a URL to speak to."""

    name: str
    command: str | None
    args: list[str]
    env: dict[str, str]
    cwd: str | None
    url: str | None
    headers: dict[str, str]
    speaks: Any  # the "type" that other clients tell servers by


def read(path: Path) -> list[Entry]:
    """The servers that a file names, in its order; ConfigError where there are none to be had."""
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; give the path of an mcp.json") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is no JSON: {error}") from None
    servers = document.get("mcpServers") if isinstance(document, dict) else None
    if not isinstance(servers, dict) or not servers:
        raise ConfigError(f'{path} names no servers; write {{"mcpServers": {{"name": {{"command": "..."}}}}}}')
    return [_entry(path, name, described) for name, described in servers.items()]


def _entry(path: Path, name: str, described: Any) -> Entry:
    if not isinstance(described, dict) or not isinstance(described.get("command") or described.get("url"), str):
        raise ConfigError(f'{path}: the server {name!r} has neither a "command" nor a "url"')
    args = described.get("args") or []
    env, headers = (described.get(key) or {} for key in ("env", "headers"))
    if not isinstance(args, list) or not isinstance(env, dict) or not isinstance(headers, dict):
        raise ConfigError(f'{path}: "args" of the server {name!r} is a list, "env" and "headers" are objects')
    if not all(isinstance(one, str | int | float) for one in (*args, *env.values(), *headers.values())):
        raise ConfigError(f'{path}: "args", "env" and "headers" of the server {name!r} hold text')
    command, cwd = described.get("command") or None, described.get("cwd") or None
    if not isinstance(cwd, str | None):
        raise ConfigError(f'{path}: "cwd" of the server {name!r} is a folder')
    here = path.absolute().parent  # what the file names by a relative path is beside it, wherever we or the server are
    return Entry(
        name=name,
        command=str(here / command) if command and "/" in command else command,
        args=[str(one) for one in args],
        env={key: str(value) for key, value in env.items()},
        cwd=str(here / cwd) if cwd else None,
        url=described.get("url"),
        headers={key: str(value) for key, value in headers.items()},
        speaks=described.get("type"),
    )
