"""The systems compared: each takes a tool's schema, its arguments as types, and the text that was sent.

What a system's function gets is what it hands on. Its own refusal is a Refused; whatever else it raises is a crash.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import clients
import fastmcp.exceptions
import mcp.server.mcpserver.exceptions as mcp_exceptions
import msgspec
import pydantic
from fastmcp import FastMCP
from fastmcp.tools import FunctionTool
from json_repair import repair_json
from kinds import NOT_SENT, Kind, Schema
from mcp.server.mcpserver import MCPServer
from verdicts import Crashed, Refused, Result

from argfit import Fitter

Run = Callable[[Schema, dict[str, Kind], str], Mapping[str, Any]]


@dataclass(frozen=True)
class System:
    name: str
    repairs: str  # what it is set to do
    run: Run

    def __str__(self) -> str:
        return f"{self.name} ({self.repairs})"

    def __call__(self, schema: Schema, fields: dict[str, Kind], text: str) -> Result:
        try:
            return self.run(schema, fields, text)
        except Refused as refused:
            return refused
        except Exception as error:  # noqa: BLE001  # a crash of a system under test is a finding, not ours to raise
            return Crashed(error)


def silence() -> None:
    """Systems log and warn as they like; only the table is to be seen."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")


def plain(value: Any) -> Any:
    """A value as JSON has it; what was not sent is left out."""
    match value:
        case pydantic.BaseModel():
            return plain({name: getattr(value, name) for name in type(value).model_fields})
        case dict():
            return {key: plain(part) for key, part in value.items() if not is_default(part)}
        case list():
            return [plain(item) for item in value]
    return value


def is_default(value: Any) -> bool:
    return isinstance(value, str) and value == NOT_SENT


def object_of(text: str) -> dict[str, Any]:
    """The arguments as a protocol's own types take them: an object, or none at all."""
    arguments = json.loads(text)
    if arguments is not None and not isinstance(arguments, dict):
        raise Refused
    return arguments or {}


def argfit_with(repairs: tuple[str, ...]) -> Run:
    def run(schema: Schema, fields: dict[str, Kind], text: str) -> Mapping[str, Any]:
        fit = Fitter(schema, repairs=repairs).fit_json(text)
        if not fit.ok or fit.json is None:
            raise Refused
        handed_on: Mapping[str, Any] = json.loads(fit.json)  # the bytes that leave are what counts
        return handed_on

    return run


def pydantic_with(*, strict: bool) -> Run:
    def run(schema: Schema, fields: dict[str, Kind], text: str) -> Mapping[str, Any]:
        types: dict[str, Any] = {
            name: (kind.type, NOT_SENT) if kind.optional else (kind.type, ...) for name, kind in fields.items()
        }
        model = pydantic.create_model("Arguments", __config__=pydantic.ConfigDict(extra="forbid"), **types)
        try:
            arguments: Mapping[str, Any] = plain(model.model_validate_json(text, strict=strict))
        except pydantic.ValidationError as error:
            raise Refused from error
        return arguments

    return run


def msgspec_lax(schema: Schema, fields: dict[str, Kind], text: str) -> Mapping[str, Any]:
    members: list[Any] = [
        (name, kind.msgspec_type, msgspec.UNSET) if kind.optional else (name, kind.msgspec_type)
        for name, kind in fields.items()
    ]
    struct = msgspec.defstruct("Arguments", members, forbid_unknown_fields=True, kw_only=True)
    try:
        arguments: Mapping[str, Any] = msgspec.to_builtins(msgspec.json.decode(text, type=struct, strict=False))
    except msgspec.ValidationError as error:
        raise Refused from error
    return arguments


def json_repair_with(mode: Any) -> Run:
    def run(schema: Schema, fields: dict[str, Kind], text: str) -> Mapping[str, Any]:
        try:
            repaired: Any = repair_json(text, return_objects=True, schema=schema, schema_repair_mode=mode)
        except ValueError as error:
            raise Refused from error
        return object_of(json.dumps(repaired))

    return run


def tool_of(fields: dict[str, Kind], got: dict[str, Any]) -> Callable[..., Any]:
    """A tool function of these arguments that keeps what it is called with."""

    async def tool(**arguments: Any) -> str:
        got.update(arguments)
        return ""

    tool.__annotations__ = {name: kind.type for name, kind in fields.items()}
    tool.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=kind.type,
                default=NOT_SENT if kind.optional else inspect.Parameter.empty,
            )
            for name, kind in fields.items()
        ]
    )
    return tool


def mcp_sdk(schema: Schema, fields: dict[str, Kind], text: str) -> Mapping[str, Any]:
    got: dict[str, Any] = {}
    server: MCPServer[Any] = MCPServer("battery")
    server.add_tool(tool_of(fields, got), name="tool", structured_output=False)
    try:
        asyncio.run(server.call_tool("tool", object_of(text)))
    except mcp_exceptions.UnexpectedToolError:
        raise
    except mcp_exceptions.ToolError as error:
        raise Refused from error
    arguments: Mapping[str, Any] = plain(got)
    return arguments


def fastmcp_with(*, strict: bool) -> Run:
    def run(schema: Schema, fields: dict[str, Kind], text: str) -> Mapping[str, Any]:
        got: dict[str, Any] = {}
        server = FastMCP("battery", strict_input_validation=strict)
        server.add_tool(FunctionTool.from_function(tool_of(fields, got), name="tool"))
        try:
            asyncio.run(server.call_tool("tool", object_of(text)))
        except fastmcp.exceptions.ValidationError as error:
            raise Refused from error
        arguments: Mapping[str, Any] = plain(got)
        return arguments

    return run


ARGFIT_EXACT = System("argfit", "none: exact changes only", argfit_with(()))
ARGFIT_ALL = System("argfit", "all", argfit_with(("all",)))

SYSTEMS = (
    ARGFIT_EXACT,
    ARGFIT_ALL,
    System("pydantic", "lax", pydantic_with(strict=False)),
    System("pydantic", "strict", pydantic_with(strict=True)),
    System("msgspec", "strict=False", msgspec_lax),
    System("json_repair", "schema, standard", json_repair_with("standard")),
    System("json_repair", "schema, salvage", json_repair_with("salvage")),
    System("MCP Python SDK", "a tool's arguments", mcp_sdk),
    System("FastMCP", "default", fastmcp_with(strict=False)),
    System("FastMCP", "strict_input_validation", fastmcp_with(strict=True)),
    System("validator alone", "none", clients.NOTHING),
    System("re-creation", "Ajv-style coerceTypes", clients.COERCE_TYPES),
    System("re-creation", "coerceTypes, then JSON in text", clients.COERCE_TYPES_THEN_DECODE),
    System("re-creation", "all JSON in text, on failure", clients.HEAL),
    System("re-creation", "text by its first type", clients.FIRST_TYPE),
    System("re-creation", "text by type, through float", clients.FLOATS),
    System("re-creation", "the same, and wraps", clients.FLOATS_AND_WRAP),
)
