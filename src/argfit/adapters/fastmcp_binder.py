"""The binder of a FastMCP tool: the arguments part of its function's pydantic schema, and the function behind it."""

import functools
import inspect
import traceback
import typing
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
from fastmcp.exceptions import ToolError
from fastmcp.server.dependencies import without_injected_parameters
from fastmcp.tools import FunctionTool, Tool
from fastmcp.tools.base import ToolResult
from fastmcp.tools.function_tool import _is_json_data, _strict_input_validation
from fastmcp.utilities.types import get_cached_typeadapter
from pydantic_core import SchemaValidator, to_json

from argfit.adapters.pydantic_binder import ANY_SHAPE_OR_NOT, has_own

_MARK, _NO_JSON = "argfit_bound", object()


class Binder:
    """The arguments part of a tool function's pydantic schema, and the function as it is called with what it gave."""

    def __init__(self, tool: FunctionTool) -> None:
        function = tool.fn
        schema = get_cached_typeadapter(without_injected_parameters(function)).core_schema
        self._arguments, definitions = _arguments_of(schema)
        self._validator = SchemaValidator(
            {"type": "definitions", "schema": self._arguments, "definitions": definitions}
            if definitions
            else self._arguments
        )
        described = self._arguments.get("arguments_schema", [])
        self.own = frozenset(_name_of(part) for part in described if has_own(part["schema"], definitions))
        self._names = [part["name"] for part in described]
        authors = any(has_own(part["schema"], definitions, ANY_SHAPE_OR_NOT) for part in described)
        self._in_thread = authors and tool.run_in_thread and not inspect.iscoroutinefunction(function)
        self._call = self._taking_anything(function)

    async def bind(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """What the function is to be called with, by its own names; ValidationError where that cannot be."""
        if self._in_thread:  # an author's validator of a blocking tool may block, too
            return await anyio.to_thread.run_sync(self._bind, arguments)
        return self._bind(arguments)

    def _bind(self, arguments: dict[str, Any]) -> dict[str, Any]:
        strict = _strict_input_validation()
        by_place, by_name = (
            self._validator.validate_json(to_json(arguments), strict=True)
            if strict and _is_json_data(arguments)
            else self._validator.validate_python(arguments, strict=strict)
        )
        # what is no JSON is not written as JSON on its way through FastMCP's second look, which would undo enums
        return {**dict(zip(self._names, by_place, strict=False)), **(by_name or {}), _MARK: _NO_JSON}

    def bound(self, tool: Tool) -> Tool:
        """The tool as one that is run with what was bound."""
        bound = tool.model_copy(update={"fn": self._call})
        convert = bound.convert_result

        def converted(value: Any) -> ToolResult:
            try:
                return convert(value)
            except ToolError as error:
                if not _is_fastmcps(error):
                    raise  # the tool's author wrote what turns its results into what is sent
                raise TypeError("the result of a tool cannot be sent") from error

        object.__setattr__(bound, "convert_result", converted)  # a fault, and no refusal of the tool's own
        return bound

    def _taking_anything(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function as one whose published arguments are of any type: they have been bound."""
        names = frozenset(self._names)
        signature = inspect.signature(function)
        parameters = [
            one.replace(annotation=Any, default=one.empty if one.default is one.empty else None)
            if one.name in names
            else one
            for one in signature.parameters.values()
        ]

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def call(**values: Any) -> Any:
                values.pop(_MARK, None)
                return await function(**values)
        else:

            @functools.wraps(function)
            def call(**values: Any) -> Any:
                values.pop(_MARK, None)
                return function(**values)

        hints = dict(inspect.get_annotations(function))
        with suppress(Exception):  # as FastMCP has it: what cannot be resolved stays as it is written
            hints = typing.get_type_hints(function, include_extras=True)
        parameters = [one if one.name in names else _resolved(one, hints) for one in parameters]
        mark = inspect.Parameter(_MARK, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any)
        variable = [one for one in parameters if one.kind is one.VAR_KEYWORD]
        fixed = [one for one in parameters if one.kind is not one.VAR_KEYWORD]
        call.__signature__ = signature.replace(parameters=[*fixed, mark, *variable])  # type: ignore[attr-defined]
        hints = {**hints, _MARK: Any}
        call.__annotations__ = {name: Any if name in names else hint for name, hint in hints.items()}
        del call.__wrapped__  # or its types are looked up behind it
        return call


def _is_fastmcps(error: Exception) -> bool:
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__")).startswith("fastmcp.")


def _resolved(parameter: inspect.Parameter, hints: dict[str, Any]) -> inspect.Parameter:
    return parameter.replace(annotation=hints.get(parameter.name, parameter.annotation))


def _name_of(part: dict[str, Any]) -> str:
    """The name by which pydantic publishes an argument: of several aliases, none."""
    alias = part.get("alias")
    return alias if isinstance(alias, str) else str(part["name"])


def _arguments_of(schema: Any) -> tuple[Any, list[Any]]:
    """The arguments part of a call's core schema, and the definitions it may refer to."""
    definitions: list[Any] = []
    while schema["type"] != "call":
        definitions = schema.get("definitions", definitions)
        schema = schema["schema"]
    return schema["arguments_schema"], definitions
