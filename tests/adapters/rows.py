"""What every guarded server answers, whatever framework it is of: the tools' types, the rows, the bodies that fail."""

import json
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

INT32 = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]


class Grade(BaseModel):
    grade: str
    quantity: INT32


def odd(value: Any) -> Any:
    return value.split(",") if isinstance(value, str) else value


def even(value: int) -> int:
    if value % 2:
        raise ValueError(f"{value} is odd")
    return value


def add_farm(tool: Callable[..., Any], tool_error: type[Exception]) -> None:
    """Put the tools that the rows call on a server, by its decorator and with its own error."""

    @tool
    def list_flocks(limit: INT32 = 50, offset: int = 0) -> str:
        return repr((limit, offset))

    @tool
    def list_entries(day: date, to: date | None = None, flock: str | None = None) -> str:
        if flock == "No Such Flock":
            raise tool_error(f"No flock is named {flock!r}.")
        return repr((day, to, flock))

    @tool
    async def list_orders(customerId: UUID) -> str:  # noqa: N803 - as published
        return repr(customerId)

    @tool
    def record(day: date, grades: list[Grade]) -> str:
        return repr((day, grades))

    @tool
    def tagged(tags: Annotated[list[str], BeforeValidator(odd)]) -> str:
        return repr(tags)

    @tool
    def evens(n: Annotated[int, AfterValidator(even)]) -> str:
        return repr(n)


SAYS = "An error occurred invoking '{}': {}"

ROWS: list[tuple[str, Any, str]] = [
    ("list_entries", {"day": "10/11/2026"}, "day must be a date, YYYY-MM-DD."),
    ("list_entries", {"day": 123}, "day must be a date, YYYY-MM-DD."),
    ("list_entries", {"day": "86400"}, "day must be a date, YYYY-MM-DD."),
    ("list_entries", {"day": "2026-01-01T00:00:00"}, "day must be a date, YYYY-MM-DD."),
    ("list_flocks", {"limit": "ten"}, "limit must be a whole number."),
    ("list_flocks", {"limit": None}, "limit must be a whole number."),
    ("list_flocks", {"limit": " 1"}, "limit must be a whole number."),
    ("list_flocks", {"limit": True}, "limit must be a whole number."),
    ("list_flocks", {"limit": 5.5}, "limit must be a whole number."),
    ("list_flocks", {"limit": 2147483648}, "limit must be a whole number from -2147483648 to 2147483647."),
    ("list_orders", {"customerId": "Acme"}, "customerId must be an id."),
    ("list_orders", {}, "customerId is required."),
    ("record", {"day": "2026-01-01", "grades": "invalid"}, "grades must be a list."),
    ("record", {"day": "2026-01-01", "grades": [1]}, "grades[0] must be an object."),
    (
        "record",
        {"day": "2026-01-01", "grades": [{"grade": "A", "quantity": "ten"}]},
        "grades[0].quantity must be a whole number.",
    ),
    (
        "record",
        {"day": "2026-01-01", "grades": [{"grade": "A", "Quantity": "ten"}]},
        "grades[0].quantity must be a whole number.",
    ),
    (
        "record",
        {"day": "2026-01-01", "grades": [{"grade": "A", "quantity": None}]},
        "grades[0].quantity must be a whole number.",
    ),
    ("record", {"grades": []}, "day is required."),
    ("tagged", {"tags": 5}, "tags must be a list."),
    ("evens", {"n": 3}, "n is not in an allowed form."),
    ("list_flocks", {"limit": "x", "offset": "y"}, "limit must be a whole number; offset must be a whole number."),
]


FITS: list[tuple[str, Any, str]] = [
    ("list_flocks", {"limit": "2"}, "(2, 0)"),
    ("list_flocks", {"limit": 2.0, "Offset": "1"}, "(2, 1)"),
    ("list_flocks", {"limit": 3, "else": 1}, "(3, 0)"),
    ("list_flocks", {}, "(50, 0)"),
    ("list_flocks", None, "(50, 0)"),
    ("list_entries", {"day": "2026-01-01", "flock": "null"}, "(datetime.date(2026, 1, 1), None, 'null')"),
    ("list_entries", {"day": "2026-01-01", "flock": '{"a":1}'}, "(datetime.date(2026, 1, 1), None, '{\"a\":1}')"),
    ("list_entries", {"day": "2026-01-01", "to": None}, "(datetime.date(2026, 1, 1), None, None)"),
    (
        "record",
        {"day": "2026-01-01", "grades": '[{"grade": "A", "quantity": 2.0}]'},
        "(datetime.date(2026, 1, 1), [Grade(grade='A', quantity=2)])",
    ),
    ("tagged", {"tags": "a,b"}, "['a', 'b']"),
    ("tagged", {"tags": '["a", "b"]'}, "['a', 'b']"),
    ("evens", {"n": 4.0}, "4"),
]

BODIES: dict[str, Callable[..., Any]] = {}


def body(function: Callable[..., Any]) -> Callable[..., Any]:
    BODIES[function.__name__] = function
    return function


@body
def value_error(n: int) -> str:
    raise ValueError("s3cret")


@body
def json_error(n: int) -> Any:
    return json.loads("s3cret")


@body
def type_error(n: int) -> str:
    raise TypeError("s3cret")


@body
def key_error(n: int) -> Any:
    return dict[str, int]()["s3cret"]


@body
def pydantic_error(n: int) -> str:
    return repr(Grade.model_validate({"s3cret": 1}))
