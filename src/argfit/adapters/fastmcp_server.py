"""FastMCP servers (4.x): `guard(server)` names a bad argument, runs nothing, and logs one quiet line.

Rules
- A call is decided on where the tool itself begins: inside every middleware, interceptor and auth check.
- The arguments part of the tool's own pydantic schema binds, once; the function gets what was bound.
- The tool's own refusal keeps its text; a fault stays FastMCP's to log, and tells the caller nothing.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from fastmcp import FastMCP
from fastmcp.exceptions import AuthorizationError, ToolError
from fastmcp.server.dependencies import without_injected_parameters
from fastmcp.server.middleware import Middleware
from fastmcp.server.transforms import Transform
from fastmcp.tools import FunctionTool, Tool
from fastmcp.tools.base import ToolResult
from fastmcp.tools.function_tool import _strict_input_validation
from fastmcp.utilities.types import get_cached_typeadapter
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent
from pydantic import ValidationError
from pydantic_core import SchemaValidator, to_json

from argfit.adapters.pydantic_binder import faults, has_own
from argfit.core import record, refusal
from argfit.core.choices import chosen, repairs_named
from argfit.core.guarding import CONTRACTS, REPAIRS, UNKNOWN, Guarded, Rules
from argfit.log import Notes, write

_CALL = "tools/call"
_UNSHAPED = "io.github.argfit/arguments"  # arguments that are no object, on their way to the tool
_HOSTS = "Error calling tool"  # how the text of a fault begins that FastMCP tells


def guard(
    server: FastMCP[Any],
    *,
    repairs: Iterable[str] = REPAIRS,
    contract: str = "schema",
    unknown: str = "published",
) -> FastMCP[Any]:
    """Guard a server's tools, and return the server.

    `repairs` names repairs to make; `contract` says whether a call must fit the published schema and bind (`schema`)
    or only bind (`binder`); `unknown="refuse"` also refuses arguments that a tool does not declare. Raises ValueError
    for a name that is none of these.
    """
    rules = Rules(repairs_named(repairs), chosen("contract", contract, CONTRACTS), chosen("unknown", unknown, UNKNOWN))
    if not any(isinstance(one, _Outcome) for one in server.middleware):
        server.middleware.insert(0, _Outcome())
        server.add_transform(_Tools(rules))
        server._mcp_server.middleware.insert(0, _shaped)  # noqa: SLF001 - no public way
    return server


async def _shaped(ctx: Any, call_next: Any) -> Any:
    """Let a call in whatever the shape of its arguments: what is no object is carried in one."""
    params = ctx.params
    arguments = params.get("arguments") if ctx.method == _CALL and isinstance(params, Mapping) else None
    if arguments is not None and not isinstance(arguments, dict):
        ctx = replace(ctx, params={**params, "arguments": {_UNSHAPED: arguments}})
    return await call_next(ctx)


class _Outcome(Middleware):
    """What becomes of a call, seen from outside of all other middleware."""

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Tell nothing of a fault, and log the refusal of a caller who may not call."""
        name = context.message.name
        try:
            return await call_next(context)
        except AuthorizationError as error:
            write(record.refused(name))
            return _error(str(error))
        except ToolError as error:
            told_by_host = error.__cause__ is not None and str(error).startswith(_HOSTS)
            if not told_by_host or isinstance(error.__cause__, MCPError):
                raise
            return _error(refusal.fault_of(name))


class _Tools(Transform):
    """Gives out each tool with its guard before it."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._guards: dict[str, _ToolGuard] = {}

    async def get_tool(self, name: str, call_next: Any, *, version: Any = None) -> Any:
        """The tool as it is called."""
        tool = await call_next(name, version=version)
        if tool is None:
            return None
        known = self._guards.get(tool.key)
        if known is None or known.tool is not tool:
            known = self._guards[tool.key] = _ToolGuard(tool, self._rules)
        return known.guarded


class _ToolGuard:
    """One tool and its guard."""

    def __init__(self, tool: Tool, rules: Rules) -> None:
        self.tool = tool
        destroys = getattr(tool.annotations, "destructive_hint", None) is True
        rules = rules.for_destroying() if destroys else rules
        self._binder = _Binder(tool.fn) if isinstance(tool, FunctionTool) else None
        own = self._binder.own if self._binder else frozenset[str]()
        self._guard = Guarded(tool.parameters, rules, binders_own=own)
        self._notes = Notes()
        self.guarded = tool.model_copy(update={"fn": self._binder.bound_call} if self._binder else {})
        self._run = self.guarded._run  # noqa: SLF001 - what FastMCP calls
        self._convert = self.guarded.convert_result
        for method, ours in (("_run", self.run), ("convert_result", self.convert)):
            object.__setattr__(self.guarded, method, ours)  # a model's methods, for this one copy

    async def run(self, arguments: dict[str, Any]) -> Any:
        """Decide on a call, and run the tool with what was bound."""
        name = self.tool.name
        fit = self._guard.fit(arguments.get(_UNSHAPED, arguments))
        bound: dict[str, Any] | None = None if self._guard.decides(fit) else fit.arguments
        if bound is not None and self._binder is not None:
            try:
                bound = self._binder.bind(bound)
            except ValidationError as error:
                fit, bound = self._guard.refused_by_binder(fit, faults(error)), None
        self._notes.take(name, self._guard.engine.plan, fit)
        if bound is None:
            write(record.misfit(name, self._guard.engine.plan, fit.problems))
            return _error(refusal.text_of(name, fit), refusal.meta_of(fit))
        try:
            result = await self._run(bound)
        except ToolError as error:
            write(record.refused(name))
            return _error(str(error))
        if getattr(result, "is_error", False):
            write(record.refused(name))
        return result

    def convert(self, value: Any) -> ToolResult:
        """A tool's result as it is sent; one that cannot be is a fault, not a refusal of the tool's own."""
        try:
            return self._convert(value)
        except ToolError as error:
            raise TypeError("the result of a tool cannot be sent") from error


class _Binder:
    """The arguments part of a tool function's pydantic schema, and the function as it is called with what it gave."""

    def __init__(self, function: Callable[..., Any]) -> None:
        schema = get_cached_typeadapter(without_injected_parameters(function)).core_schema
        self._arguments, definitions = _arguments_of(schema)
        self._validator = SchemaValidator(
            {"type": "definitions", "schema": self._arguments, "definitions": definitions}
            if definitions
            else self._arguments
        )
        described = self._arguments.get("arguments_schema", [])
        self.own = frozenset(
            part.get("alias", part["name"]) for part in described if has_own(part["schema"], definitions)
        )
        self._names = [part["name"] for part in described]
        self.bound_call = self._taking_anything(function)

    def bind(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """What the function is to be called with, by its own names; ValidationError where that cannot be."""
        strict = _strict_input_validation()
        by_place, by_name = (
            self._validator.validate_json(to_json(arguments), strict=True)
            if strict
            else self._validator.validate_python(arguments)
        )
        return dict(zip(self._names, by_place, strict=False)) | (by_name or {})

    def _taking_anything(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function as one whose published arguments are of any type: they have been bound."""
        signature = inspect.signature(function)
        parameters = [
            one.replace(annotation=Any) if one.name in self._names else one for one in signature.parameters.values()
        ]
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def call(*args: Any, **kwargs: Any) -> Any:
                return await function(*args, **kwargs)
        else:

            @functools.wraps(function)
            def call(*args: Any, **kwargs: Any) -> Any:
                return function(*args, **kwargs)

        call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        hints = inspect.get_annotations(function)
        call.__annotations__ = {name: Any if name in self._names else hint for name, hint in hints.items()}
        del call.__wrapped__  # or its types are looked up behind it
        return call


def _arguments_of(schema: Any) -> tuple[Any, list[Any]]:
    """The arguments part of a call's core schema, and the definitions it may refer to."""
    definitions: list[Any] = []
    while schema["type"] != "call":
        definitions = schema.get("definitions", definitions)
        schema = schema["schema"]
    return schema["arguments_schema"], definitions


def _error(text: str, meta: dict[str, Any] | None = None) -> ToolResult:
    return ToolResult(content=[TextContent(type="text", text=text)], meta=meta, is_error=True)
