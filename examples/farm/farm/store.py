"""The farm's records, in a SQL database.

Any database that SQLAlchemy has a driver for will do; a file of SQLite is the default. Each function is one question
or one act, in one transaction. Nothing here knows of MCP.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

import sqlalchemy as sa

metadata = sa.MetaData()

flocks = sa.Table(
    "flocks",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("number", sa.Integer, nullable=False, unique=True),
    sa.Column("name", sa.String(80), nullable=False),
    sa.Column("birds", sa.Integer, nullable=False),
)
daily_entries = sa.Table(
    "daily_entries",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("flock_id", sa.ForeignKey("flocks.id"), nullable=False),
    sa.Column("date", sa.Date, nullable=False),
    sa.UniqueConstraint("flock_id", "date"),
)
entry_grades = sa.Table(
    "entry_grades",
    metadata,
    sa.Column("entry_id", sa.ForeignKey("daily_entries.id"), primary_key=True),
    sa.Column("grade", sa.String(16), primary_key=True),
    sa.Column("quantity", sa.Integer, nullable=False),
)
sales_orders = sa.Table(
    "sales_orders",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("customer_id", sa.Uuid, nullable=False, index=True),
    sa.Column("date", sa.Date, nullable=False),
    sa.Column("grade", sa.String(16), nullable=False),
    sa.Column("quantity", sa.Integer, nullable=False),
)
egg_lots = sa.Table(
    "egg_lots",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("flock_id", sa.ForeignKey("flocks.id"), nullable=False),
    sa.Column("packed", sa.Date, nullable=False),
)
lot_movements = sa.Table(
    "lot_movements",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("lot_id", sa.ForeignKey("egg_lots.id"), nullable=False),
    sa.Column("date", sa.Date, nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("quantity", sa.Integer, nullable=False),
)


class NotFoundError(LookupError):
    """Nothing is known by this name or id; the message may be shown to whoever asked."""


class AmbiguousError(LookupError):
    """More than one thing is known by this name; the message may be shown to whoever asked."""


class AlreadyRecordedError(ValueError):
    """There is an entry of this flock and day; the message may be shown to whoever asked."""


@dataclass(frozen=True)
class Flock:
    number: int
    name: str
    birds: int


@dataclass(frozen=True)
class Entry:
    date: date
    flock: str
    grades: dict[str, int]


@dataclass(frozen=True)
class Order:
    id: UUID
    date: date
    grade: str
    quantity: int


@dataclass(frozen=True)
class Movement:
    date: date
    kind: str
    quantity: int


class Farm:
    """One farm's database."""

    def __init__(self, url: str) -> None:
        self._engine = sa.create_engine(url)

    def create(self) -> bool:
        """Make the tables where they are missing; returns whether the farm is new."""
        metadata.create_all(self._engine)
        with self._engine.begin() as connection:
            return connection.execute(sa.select(sa.func.count()).select_from(flocks)).scalar_one() == 0

    def add(self, table: sa.Table, rows: Sequence[dict[str, Any]]) -> None:
        """Put rows into a table."""
        with self._engine.begin() as connection:
            connection.execute(table.insert(), rows)

    def flocks(self, limit: int, offset: int) -> tuple[list[Flock], bool]:
        """Flocks by number, and whether these were the last."""
        asked = sa.select(flocks).order_by(flocks.c.number).limit(limit + 1).offset(offset)
        with self._engine.begin() as connection:
            rows = connection.execute(asked).all()
        found = [Flock(row.number, row.name, row.birds) for row in rows[:limit]]
        return found, len(rows) <= limit

    def entries(self, start: date, end: date | None, flock: str | None) -> list[Entry]:
        """Daily entries from one day to another, of one flock or all."""
        asked = (
            sa.select(daily_entries.c.id, daily_entries.c.date, flocks.c.name)
            .join(flocks)
            .where(daily_entries.c.date >= start)
            .order_by(daily_entries.c.date, flocks.c.number)
        )
        with self._engine.begin() as connection:
            if end is not None:
                asked = asked.where(daily_entries.c.date <= end)
            if flock is not None:
                asked = asked.where(flocks.c.id == _flock_id(connection, flock))
            return list(_with_grades(connection, connection.execute(asked).all()))

    def record(self, day: date, flock: str, grades: dict[str, int]) -> Entry:
        """Record a flock's day; AlreadyRecordedError where that was done before."""
        with self._engine.begin() as connection:
            flock_id = _flock_id(connection, flock)
            name = connection.execute(sa.select(flocks.c.name).where(flocks.c.id == flock_id)).scalar_one()
            same_day = (daily_entries.c.flock_id == flock_id) & (daily_entries.c.date == day)
            if connection.execute(sa.select(daily_entries.c.id).where(same_day)).first() is not None:
                raise AlreadyRecordedError(f"There is an entry of {name} for {day} already.")
            made = connection.execute(daily_entries.insert().values(flock_id=flock_id, date=day))
            (entry_id,) = made.inserted_primary_key or (None,)
            rows = [{"entry_id": entry_id, "grade": grade, "quantity": quantity} for grade, quantity in grades.items()]
            if rows:
                connection.execute(entry_grades.insert(), rows)
        return Entry(day, name, grades)

    def orders(self, customer: UUID) -> list[Order]:
        """A customer's orders; NotFoundError where there was never one."""
        asked = sa.select(sales_orders).where(sales_orders.c.customer_id == customer).order_by(sales_orders.c.date)
        with self._engine.begin() as connection:
            rows = connection.execute(asked).all()
        if not rows:
            raise NotFoundError(f"No customer {customer} has ordered here.")
        return [Order(row.id, row.date, row.grade, row.quantity) for row in rows]

    def movements(self, lot: UUID) -> list[Movement]:
        """What became of a lot of eggs; NotFoundError where there is none of this id."""
        asked = sa.select(lot_movements).where(lot_movements.c.lot_id == lot).order_by(lot_movements.c.date)
        with self._engine.begin() as connection:
            if connection.execute(sa.select(egg_lots.c.id).where(egg_lots.c.id == lot)).first() is None:
                raise NotFoundError(f"No egg lot {lot} exists on this farm.")
            rows = connection.execute(asked).all()
        return [Movement(row.date, row.kind, row.quantity) for row in rows]


def _flock_id(connection: sa.Connection, flock: str) -> int:
    """The flock that is known by a name or a number."""
    known = flocks.c.name == flock
    if re.fullmatch(r"[0-9]{1,9}", flock):
        known |= flocks.c.number == int(flock)
    rows = connection.execute(sa.select(flocks.c.id, flocks.c.number).where(known).order_by(flocks.c.number)).all()
    if not rows:
        raise NotFoundError(f"No flock is named or numbered {flock!r}.")
    if len(rows) > 1:
        numbers = ", ".join(str(row.number) for row in rows)
        raise AmbiguousError(f"More than one flock is named {flock!r}; say its number: {numbers}.")
    found: int = rows[0].id
    return found


def _with_grades(connection: sa.Connection, rows: Sequence[Any]) -> Iterator[Entry]:
    asked = sa.select(entry_grades).where(entry_grades.c.entry_id.in_([row.id for row in rows]))
    grades: dict[int, dict[str, int]] = {}
    for row in connection.execute(asked):
        grades.setdefault(row.entry_id, {})[row.grade] = row.quantity
    for row in rows:
        yield Entry(row.date, row.name, grades.get(row.id, {}))
