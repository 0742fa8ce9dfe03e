"""The tools of many servers, as a client knows them: what fits each, and how a call is shown.

Rules
- Lookup: the server that is named, and no other; without a name the first, in the order added, that has the tool.
- A call is fitted, and shown, by what is known at that moment: where a server is gone, as it came. Neither fails.
- A schema is compiled once, when it is first needed, however many tools have it.
- What is read is never altered, only replaced: who fits needs no lock.
"""

import json
import re
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any

import msgspec

from argfit.core.choices import WIDENING, formats_named, repairs_named
from argfit.core.fit import Fit
from argfit.core.fitter import Fitter
from argfit.core.plan import Plan
from argfit.log import Notes

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, default=str).encode
# a text, to be passed over; or a small number, which Python writes `1e-05`, and the SDK's encoder 0.00001
_TEXT_OR_SMALL = re.compile(r'"(?:[^"\\]++|\\.)*+"|([0-9])(?:\.([0-9]++))?e-0([5-9])', re.DOTALL)
_BY_IDENTITY = b"object"
_SURROGATE = re.compile("[\ud800-\udfff]")

_Key = tuple[bytes, bool]  # a schema as text, and whether its tool destroys: tools share what is compiled for them


class _Tool(msgspec.Struct, frozen=True):
    """One tool as its server lists it."""

    schema: Any
    key: _Key


class ToolCatalog:
    """The tools of a client's servers: `update` when a server lists them, `fit` and `render` for each call.

    `repairs` and `formats` are those of `Fitter`; a tool whose `destructiveHint` is true gets no repair that may widen
    its call. Safe under threads and tasks. Raises ValueError where a name is unknown.
    """

    def __init__(self, *, repairs: Iterable[str] | str = (), formats: Iterable[str] | str = ()) -> None:
        self._repairs = repairs_named(repairs)
        self._formats = formats_named(formats)
        self._servers: dict[str, dict[str, _Tool]] = {}
        self._fitters: dict[_Key, Fitter | None] = {}
        self._lock = Lock()
        self.notes = Notes()

    def update(self, server_id: str, tools: Iterable[Any]) -> None:
        """Replace what a server lists; `tools` are dicts as in a `tools/list` result, or objects of an SDK.

        A tool without a name is left out; of two with one name the first counts. A known server keeps its place.
        """
        listed: dict[str, _Tool] = {}
        for tool in tools:
            name = _part(tool, "name", "name")
            if isinstance(name, str) and name not in listed:
                schema = _part(tool, "inputSchema", "input_schema")
                destroys = _part(_part(tool, "annotations", "annotations"), "destructiveHint", "destructive_hint")
                listed[name] = _Tool(schema, (_as_text(schema), destroys is True))
        with self._lock:
            self._keep({**self._servers, server_id: listed})

    def remove(self, server_id: str) -> None:
        """Forget a server; one that is not known is no error."""
        with self._lock:
            self._keep({name: tools for name, tools in self._servers.items() if name != server_id})

    def _keep(self, servers: dict[str, dict[str, _Tool]]) -> None:
        keys = {tool.key for tools in servers.values() for tool in tools.values()}
        self._servers = servers
        self._fitters = {key: fitter for key, fitter in self._fitters.items() if key in keys}

    def input_schema(self, tool: str, server_id: str | None = None) -> Any:
        """The `inputSchema` of a tool, or None where no server that counts lists it."""
        found = self._tool(tool, server_id)
        return None if found is None else found.schema

    def fit(self, tool: str, arguments: Any, server_id: str | None = None) -> Fit:
        """Fit the arguments of a call; where there is no schema for it they are right as they came.

        What was changed is logged at DEBUG, what may have lost digits at WARNING, both without values.
        """
        fit, plan = self.looked_at(tool, arguments, server_id)
        if plan is not None:
            self.notes.take(tool, plan, fit)
        return fit

    def looked_at(self, tool: str, arguments: Any, server_id: str | None = None) -> tuple[Fit, Plan | None]:
        """The fit, and the plan it was made by (None where there is no schema), with nothing logged."""
        fitter = self._fitter(tool, server_id)
        return (Fit(True, arguments), None) if fitter is None else (fitter.fit(arguments), fitter.plan)

    def render(self, tool: str, arguments: Any, server_id: str | None = None) -> str:
        """A call as it is shown to a user: `MCP Tool: name ({"line":5})`, the JSON as the official SDK sends it.

        `MCP Tool: name` where no arguments are sent (None).
        """
        if arguments is None:
            return f"MCP Tool: {tool}"
        fitter = self._fitter(tool, server_id)
        return f"MCP Tool: {tool} ({_shown(arguments if fitter is None else fitter.fit(arguments).arguments)})"

    def _tool(self, name: str, server_id: str | None) -> _Tool | None:
        servers = self._servers
        if server_id is not None:
            return servers.get(server_id, {}).get(name)
        return next((tools[name] for tools in servers.values() if name in tools), None)

    def _fitter(self, name: str, server_id: str | None) -> Fitter | None:
        tool = self._tool(name, server_id)
        if tool is None or not isinstance(tool.schema, dict | bool):
            return None
        fitters = self._fitters
        if tool.key not in fitters:
            with self._lock:
                fitters = self._fitters
                if tool.key not in fitters:
                    fitters[tool.key] = self._compiled(tool)
        return fitters[tool.key]

    def _compiled(self, tool: _Tool) -> Fitter | None:
        text, destroys = tool.key
        repairs = self._repairs - WIDENING if destroys else self._repairs
        schema = tool.schema if text.startswith(_BY_IDENTITY) else msgspec.json.decode(text)
        return Fitter(schema, repairs=repairs, formats=self._formats)


def _part(tool: Any, key: str, attribute: str) -> Any:
    """A part of a tool that is a dict, in either spelling, or an object of an SDK, in that of either generation."""
    if isinstance(tool, Mapping):
        return tool.get(key, tool.get(attribute))
    return getattr(tool, attribute) if hasattr(tool, attribute) else getattr(tool, key, None)


def _as_text(schema: Any) -> bytes:
    """A schema as text, so that what is done to it later changes nothing; by its identity where it is not JSON."""
    try:
        return msgspec.json.encode(schema)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return b"%s %d" % (_BY_IDENTITY, id(schema))


def _shown(value: Any) -> str:
    try:
        text = _encode(value)
    except (ValueError, RecursionError):  # it holds itself, or nests too deep
        return "…"
    text = _TEXT_OR_SMALL.sub(_as_sent, text)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _as_sent(found: re.Match[str]) -> str:
    first, rest, exponent = found.groups()
    if exponent is None:
        return found[0]
    if exponent == "5":
        return f"0.0000{first}{rest or ''}"
    return f"{first}.{rest}e-{exponent}" if rest else f"{first}e-{exponent}"
