"""A small farm to begin with: the same for everybody, so that what the pages and checks say comes out."""

from datetime import date, timedelta
from uuid import UUID

from farm import store
from farm.store import Farm

CUSTOMER = UUID("5f0c6d1e-0000-4000-8000-000000000001")
LOT = UUID("5f0c6d1e-0000-4000-8000-00000000000a")
START = date(2026, 10, 1)
DAYS = 14


def fill(farm: Farm) -> None:
    """Fill a new farm."""
    names = [(1, "North House", 240), (2, "Meadow", 180), (3, "Orchard", 160), (4, "Meadow", 90)]
    farm.add(store.flocks, [{"number": number, "name": name, "birds": birds} for number, name, birds in names])
    for day in range(DAYS):
        for number, _, birds in names:
            laid = birds * (88 + (day + number) % 5) // 100
            best = laid * 9 // 10
            farm.record(START + timedelta(days=day), str(number), {"A": best, "B": laid - best})
    farm.add(
        store.sales_orders,
        [
            {
                "id": UUID(int=CUSTOMER.int + 100 + week),
                "customer_id": CUSTOMER,
                "date": START + timedelta(days=7 * week),
                "grade": "A",
                "quantity": 600 + 30 * week,
            }
            for week in range(3)
        ],
    )
    farm.add(store.egg_lots, [{"id": LOT, "flock_id": 1, "packed": START}])
    farm.add(
        store.lot_movements,
        [
            {"lot_id": LOT, "date": START, "kind": "packed", "quantity": 360},
            {"lot_id": LOT, "date": START + timedelta(days=1), "kind": "sold", "quantity": -300},
            {"lot_id": LOT, "date": START + timedelta(days=3), "kind": "broken", "quantity": -4},
        ],
    )
