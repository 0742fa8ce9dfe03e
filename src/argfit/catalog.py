"""The tools of many servers, as a client knows them: what fits each, and how a call is shown.

Rules
- Lookup: the server that is named, and no other; without a name the first, in the order added, that has the tool.
- Of a tool in several versions (FastMCP lists the newest, and says in `_meta` which that is) the first that is listed
  counts for calls that name no version; for those that do, the one they name, or none.
- A call is fitted, and shown, by what is known at that moment: where a server is gone, as it came. Neither fails: what
  nests too deep for the stack that is left goes as it came, too.
- A schema is compiled once, when it is first needed, however many tools have it, of however many servers; on a stack of
  its own, or what it comes to would hang on how deep the first call of it was made.
- A schema counts as it was when it was listed: it is kept as text, and what its owner does to it later changes nothing.
- What is read is never altered, only replaced: who fits needs no lock.
"""

import json
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import Any

import msgspec

from argfit.core import text as json_text
from argfit.core.choices import WIDENING, formats_named, repairs_named
from argfit.core.fit import Fit, unjudged
from argfit.core.fitter import Fitter
from argfit.core.plan import Plan
from argfit.log import Notes

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, default=str).encode
# a text, to be passed over; a small number, which Python writes `1e-05`, and the SDK's encoder 0.00001; or what is no
# JSON number, for which that encoder writes null
_TEXT_OR_ODD = re.compile(r'"(?:[^"\\]++|\\.)*+"|([0-9])(?:\.([0-9]++))?e-0([5-9])|NaN|-?Infinity', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPARE = 512  # schemas that stay compiled though no server lists them: an agent's tool at hand may be of such a one


Name = str | tuple[str, str]  # of a tool, or of one version of it


class _Tool(msgspec.Struct, frozen=True):
    """One tool as it counts: its schema as text, and whether it destroys. Equal ones share what is compiled."""

    schema: bytes
    destroys: bool


class ToolCatalog:
    """The tools of a client's servers: `update` when a server lists them, `fit` and `render` for each call.

    `repairs` and `formats` are those of `Fitter`; a tool whose `destructiveHint` is true gets no repair that may widen
    its call. Safe under threads and tasks. Raises ValueError where a name is unknown.
    """

    def __init__(self, *, repairs: Iterable[str] | str = (), formats: Iterable[str] | str = ()) -> None:
        self._repairs = repairs_named(repairs)
        self._formats = formats_named(formats)
        self._servers: dict[str, dict[Name, _Tool]] = {}
        self._fitters: dict[_Tool, Fitter | None] = {}
        self._lock = Lock()
        self.notes = Notes()

    def __getstate__(self) -> dict[str, Any]:
        return {"repairs": self._repairs, "formats": self._formats, "servers": self._servers}

    def __setstate__(self, state: dict[str, Any]) -> None:
        servers = state.pop("servers")
        self.__init__(**state)  # type: ignore[misc] # what is compiled, and the lock, are made anew
        self._servers = servers

    def update(self, server_id: str, tools: Any) -> None:
        """Replace what a server lists; `tools` are dicts as in a `tools/list` result, or objects of an SDK.

        A whole result is taken, too, in either form; of a listing on several pages, give the tools of all. A tool
        without a name is left out; of two with one name the first counts. A known server keeps its place. Raises
        TypeError for an id that is no text, and for what is neither tools nor a result.
        """
        listed = _listed(server_id, tools)
        with self._lock:
            self._keep({**self._servers, server_id: listed})

    def add(self, server_id: str, tools: Any) -> None:
        """Take what a server lists on one page of several, beside what is known of it; `tools` as for `update`."""
        listed = _listed(server_id, tools)
        with self._lock:
            self._keep({**self._servers, server_id: {**self._servers.get(server_id, {}), **listed}})

    def remove(self, server_id: str) -> None:
        """Forget a server; one that is not known is no error."""
        with self._lock:
            self._keep({name: tools for name, tools in self._servers.items() if name != server_id})

    def _keep(self, servers: dict[str, dict[Name, _Tool]]) -> None:
        """Let servers list what they do, and schemas that none of them lists go, but for the last few."""
        listed = {tool for tools in servers.values() for tool in tools.values()}
        spare = [tool for tool in self._fitters if tool not in listed]
        gone = set(spare[:-_SPARE])
        self._servers = servers
        self._fitters = {tool: fitter for tool, fitter in self._fitters.items() if tool not in gone}

    def knows(self, tool: Name, server_id: str | None = None) -> bool:
        """Whether a server that counts lists a tool."""
        return self._tool(tool, server_id) is not None

    def input_schema(self, tool: str, server_id: str | None = None) -> Any:
        """A copy of the `inputSchema` of a tool; None where no server that counts lists it."""
        found = self._tool(tool, server_id)
        return None if found is None else json_text.loads(found.schema)

    def fit(self, tool: str, arguments: Any, server_id: str | None = None) -> Fit:
        """Fit the arguments of a call; where there is no schema for it they are right as they came.

        What was changed is logged at DEBUG, what may have lost digits at WARNING, both without values.
        """
        fit, plan = self.looked_at(tool, arguments, server_id)
        if plan is not None:
            self.notes.take(tool, plan, fit, server_id)
        return fit

    def fit_json(self, tool: str, text: bytes | str, server_id: str | None = None) -> Fit:
        """Fit the arguments of a call as JSON text, whose digits count as they are written.

        `fit.json` is the fitted text, for a client that writes its calls itself; the official SDK's takes
        `fit.arguments`, and `render` shows what it writes for them. Logged as by `fit`.
        """
        with suppress(RuntimeError):  # the stack is at its end, or there is no other to be had
            fitter = self._fitter(self._tool(tool, server_id))
            if fitter is not None:
                fit = fitter.fit_json(text)
                self.notes.take(tool, fitter.plan, fit, server_id)
                return fit
        return unjudged(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)

    def looked_at(
        self, tool: Name, arguments: Any, server_id: str | None = None, *, at_hand: Any = None
    ) -> tuple[Fit, Plan | None]:
        """The fit, and the plan it was made by (None where there is no schema), with nothing logged.

        A tool `at_hand`, as `update` takes it, counts in place of what is listed.
        """
        with suppress(RuntimeError):  # the stack is at its end, or there is no other to be had
            fitter = self._fitter(self._tool(tool, server_id) if at_hand is None else _as_listed(at_hand))
            if fitter is not None:
                return fitter.fit(arguments), fitter.plan
        return Fit(True, arguments), None

    def render(self, tool: str, arguments: Any, server_id: str | None = None) -> str:
        """A call as it is shown to a user: `MCP Tool: name ({"line":5})`, the JSON as the official SDK sends it.

        `MCP Tool: name` where no arguments are sent (None). Where its transports differ, it is the one on stdio.
        """
        if arguments is None:
            return f"MCP Tool: {tool}"
        return f"MCP Tool: {tool} ({_shown(self.looked_at(tool, arguments, server_id)[0].arguments)})"

    def _tool(self, name: Name, server_id: str | None) -> _Tool | None:
        servers = self._servers
        try:
            if server_id is not None:
                return servers.get(server_id, {}).get(name)
            return next((tools[name] for tools in servers.values() if name in tools), None)
        except TypeError:  # a name of no such kind: nothing goes by it
            return None

    def _fitter(self, tool: _Tool | None) -> Fitter | None:
        if tool is None:
            return None
        fitters = self._fitters
        if tool not in fitters:
            with self._lock:
                if tool not in self._fitters:
                    self._fitters[tool] = self._compiled(tool)
                    self._keep(self._servers)
                fitters = self._fitters
        return fitters[tool]

    def _compiled(self, tool: _Tool) -> Fitter | None:
        schema = json_text.loads(tool.schema)
        if not isinstance(schema, dict | bool):
            return None
        repairs = self._repairs - WIDENING if tool.destroys else self._repairs
        with ThreadPoolExecutor(1) as own_stack:
            return own_stack.submit(Fitter, schema, repairs=repairs, formats=self._formats).result()


def _listed(server_id: Any, tools: Any) -> dict[Name, _Tool]:
    """The tools of a server's listing, by what they can be called for."""
    if not isinstance(server_id, str):
        raise TypeError(f"a server's id is text, not {type(server_id).__name__}")
    listed: dict[Name, _Tool] = {}
    for tool in _tools_of(tools):
        name, version = _part(tool, "name", "name"), version_of(tool)
        if isinstance(name, str):
            as_listed = _as_listed(tool)
            listed.setdefault(name, as_listed)
            if version is not None:
                listed.setdefault((name, version), as_listed)
    return listed


def _tools_of(listed: Any) -> Iterable[Any]:
    """The tools of a listing, or of a whole result."""
    tools = _part(listed, "tools", "tools")
    if tools is None:
        tools = listed
    whole = isinstance(tools, str | bytes | Mapping) or hasattr(tools, "model_dump")  # which iterate, too
    if whole or not isinstance(tools, Iterable):
        raise TypeError(f"tools are a list of them or a tools/list result, not {type(tools).__name__}")
    return tools


def _as_listed(tool: Any) -> _Tool:
    destroys = _part(_part(tool, "annotations", "annotations"), "destructiveHint", "destructive_hint")
    return _Tool(_as_text(_part(tool, "inputSchema", "input_schema")), destroys is True)


def version_of(tool: Any) -> str | None:
    """The version that a tool is said to be of, in its `_meta` as FastMCP has it; None where that says nothing."""
    version = _part(_part(_part(tool, "_meta", "meta"), "fastmcp", "fastmcp"), "version", "version")
    return None if version is None else str(version)


def named_by(name: str, meta: Any) -> Name:
    """What a call asks for: a tool, or that version of it which the call's `_meta` names."""
    version = version_of({"_meta": meta})
    return name if version is None else (name, version)


def _part(tool: Any, key: str, attribute: str) -> Any:
    """A part of a tool that is a dict, in either spelling, or an object of an SDK, in that of either generation."""
    if isinstance(tool, Mapping):
        return tool.get(key, tool.get(attribute))
    return getattr(tool, attribute) if hasattr(tool, attribute) else getattr(tool, key, None)


def _as_text(schema: Any) -> bytes:
    """A schema as text; null, which is none, where it is no JSON."""
    try:
        return msgspec.json.encode(schema)
    except (TypeError, ValueError, OverflowError, RecursionError):
        pass  # the encoder below takes integers of any length, and half characters
    try:
        return json.dumps(schema).encode()
    except (TypeError, ValueError, RecursionError):
        return b"null"


def _shown(value: Any) -> str:
    try:
        text = _encode(value)
    except (TypeError, ValueError, RecursionError):  # it has an odd key, holds itself, or nests too deep
        return "…"
    text = _TEXT_OR_ODD.sub(_as_sent, text)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _as_sent(found: re.Match[str]) -> str:
    first, rest, exponent = found.groups()
    if exponent is None:
        return found[0] if found[0].startswith('"') else "null"
    if exponent == "5":
        return f"0.0000{first}{rest or ''}"
    return f"{first}.{rest}e-{exponent}" if rest else f"{first}e-{exponent}"
