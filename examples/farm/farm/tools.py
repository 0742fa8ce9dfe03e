"""The farm's tools.

What makes them good to call: each argument has one type and says what it is for, lists end with whether they are
complete, and what a tool refuses it refuses in a sentence that says what to do instead.
"""

import inspect
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any
from uuid import UUID

from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from farm.store import AlreadyRecordedError, AmbiguousError, Farm, NotFoundError

INT32_LOW, INT32_HIGH = -(2**31), 2**31 - 1
Int32 = Annotated[int, Field(ge=INT32_LOW, le=INT32_HIGH, json_schema_extra={"format": "int32"})]
READS = ToolAnnotations(read_only_hint=True)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False)


class Grade(BaseModel):
    """How many eggs of one grade were gathered."""

    grade: Annotated[str, Field(min_length=1, max_length=16, description="A, B or whatever the farm sorts by")]
    quantity: Annotated[Int32, Field(ge=0)]


class Flocks(BaseModel):
    """A page of flocks."""

    flocks: list[dict[str, Any]]
    complete: Annotated[bool, Field(description="whether these are the last")]
    next_offset: Annotated[int | None, Field(serialization_alias="nextOffset")] = None


def add_tools(server: MCPServer[Any], farm: Farm) -> None:
    """Put the farm's tools on a server."""

    def list_flocks(limit: Int32 = 50, offset: Int32 = 0) -> dict[str, Any]:
        """List the flocks by number, a page at a time."""
        found, complete = farm.flocks(max(limit, 0), max(offset, 0))
        page = Flocks(
            flocks=[vars(flock) for flock in found],
            complete=complete,
            next_offset=None if complete else max(offset, 0) + len(found),
        )
        return page.model_dump(by_alias=True, exclude_none=True)

    def list_daily_entries(
        start: Annotated[date, Field(description="first day")],
        to: Annotated[date | None, Field(description="last day; left out, up to today")] = None,
        flock: Annotated[str | None, Field(description="a flock's name or number; left out, all")] = None,
    ) -> dict[str, Any]:
        """List what was gathered day by day."""
        entries = answered(farm.entries, start, to, flock)
        shown = [{"date": one.date.isoformat(), "flock": one.flock, "grades": one.grades} for one in entries]
        return {"entries": shown, "complete": True}

    def list_sales_orders(customerId: Annotated[UUID, Field(description="the customer's id")]) -> dict[str, Any]:  # noqa: N803
        """List a customer's orders. Only the owner may see them."""
        only_for("owner", "see sales orders")
        orders = answered(farm.orders, customerId)
        shown = [
            {"id": str(one.id), "date": one.date.isoformat(), "grade": one.grade, "quantity": one.quantity}
            for one in orders
        ]
        return {"orders": shown, "complete": True}

    def record_daily_entry(
        date: Annotated[date, Field(description="the day")],
        flock: Annotated[str, Field(description="the flock's name or number")],
        grades: Annotated[list[Grade], Field(description="the eggs by grade")],
    ) -> dict[str, Any]:
        """Record what a flock laid on one day; each day is recorded once."""
        counts = {one.grade: one.quantity for one in grades}
        if len(counts) < len(grades):
            raise ToolError("Each grade may be given once; add up what was gathered of it.")
        entry = answered(farm.record, date, flock, counts)
        return {"date": entry.date.isoformat(), "flock": entry.flock, "grades": entry.grades}

    def list_egg_lot_movements(lotId: Annotated[UUID, Field(description="the lot's id")]) -> dict[str, Any]:  # noqa: N803
        """List what became of a lot of eggs, from packing on."""
        moves = answered(farm.movements, lotId)
        shown = [{"date": one.date.isoformat(), "kind": one.kind, "quantity": one.quantity} for one in moves]
        return {"movements": shown, "complete": True}

    for tool in (list_flocks, list_sales_orders, list_egg_lot_movements):
        server.tool(annotations=READS)(tool)
    server.tool(annotations=READS)(published(list_daily_entries, start="from"))
    server.tool(annotations=WRITES)(record_daily_entry)


def answered(ask: Callable[..., Any], *arguments: Any) -> Any:
    """What the farm answers; what it cannot answer is the tool's own refusal."""
    try:
        return ask(*arguments)
    except (NotFoundError, AmbiguousError, AlreadyRecordedError) as refusal:
        raise ToolError(str(refusal)) from None


def only_for(role: str, act: str) -> None:
    """Refuse whoever has not this role; on stdio there is only the owner of the machine."""
    token = get_access_token()
    if token is not None and role not in (token.claims or {}).get("roles", ()):
        raise ToolError(f"Only the {role} of the farm may {act}.")


def published(tool: Callable[..., Any], **names: str) -> Callable[..., Any]:
    """A tool of which some parameters are published under names that Python keeps for itself, such as `from`."""
    signature = inspect.signature(tool, eval_str=True)
    own = {public: name for name, public in names.items()}

    def call(**arguments: Any) -> Any:
        return tool(**{own.get(name, name): value for name, value in arguments.items()})

    parameters = [
        inspect.Parameter(
            names.get(name, name),
            # the one kind of parameter that may be called by a keyword of Python's
            inspect.Parameter.POSITIONAL_ONLY,
            default=one.default,
            annotation=one.annotation,
        )
        for name, one in signature.parameters.items()
    ]
    call.__name__, call.__doc__ = tool.__name__, tool.__doc__
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": signature.return_annotation}
    return call
