"""The order desk's database: a SQLite file, made anew for each run, and the difference between two looks at it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

Value = str | int | float | None
Row = dict[str, Value]

SCHEMA = """
CREATE TABLE orders (
    order_id TEXT PRIMARY KEY,
    customer TEXT NOT NULL,
    item TEXT NOT NULL,
    paid REAL NOT NULL,
    status TEXT NOT NULL
);
CREATE TABLE refunds (
    refund_id INTEGER PRIMARY KEY,
    order_id TEXT NOT NULL,
    amount REAL NOT NULL
);
CREATE TABLE messages (
    message_id INTEGER PRIMARY KEY,
    customer TEXT NOT NULL,
    text TEXT NOT NULL
);
"""

ORDERS = (
    ("W1001", "Mia Berg", "desk lamp", 49.0, "pending"),
    ("W1002", "Mia Berg", "office chair", 189.0, "shipped"),
    ("W1003", "Mia Berg", "desk lamp", 49.0, "pending"),
    ("W1004", "Jonas Frey", "coffee grinder", 79.0, "delivered"),
    ("W1005", "Jonas Frey", "coffee beans", 18.5, "pending"),
    ("W1006", "Ana Costa", "bookshelf", 240.0, "delivered"),
)
REFUNDS = (("W1004", 79.0),)
KEYS = {"orders": "order_id", "refunds": "refund_id", "messages": "message_id"}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All rows of all tables at one moment: `tables[table][key]` is a row."""

    tables: dict[str, dict[Value, Row]]


@dataclass(frozen=True, slots=True)
class Change:
    """One row that differs: `before` is None for a new row, `after` for one that is gone."""

    table: str
    key: Value
    before: Row | None
    after: Row | None

    @property
    def columns(self) -> dict[str, tuple[Value, Value]]:
        """What changed in a row that stayed: column to (before, after)."""
        if self.before is None or self.after is None:
            return {}
        pairs = {name: (self.before[name], self.after[name]) for name in self.before}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def create(path: Path) -> None:
    """Write a new database file with the desk's orders; an existing file is replaced."""
    path.unlink(missing_ok=True)
    with opened(path) as database:
        database.executescript(SCHEMA)
        database.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", ORDERS)
        database.executemany("INSERT INTO refunds (order_id, amount) VALUES (?, ?)", REFUNDS)


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection whose changes are committed at the end, or undone by an error."""
    database = sqlite3.connect(path)
    database.row_factory = sqlite3.Row
    try:
        with database:
            yield database
    finally:
        database.close()


def snapshot(path: Path) -> Snapshot:
    """What is in the database now."""
    with opened(path) as database:
        return Snapshot(
            {
                table: {row[key]: dict(row) for row in database.execute(f"SELECT * FROM {table} ORDER BY {key}")}
                for table, key in KEYS.items()
            }
        )


def diff(before: Snapshot, after: Snapshot) -> list[Change]:
    """Every row that is new, gone or different, by table and key."""
    changes = []
    for table in KEYS:
        old, new = before.tables[table], after.tables[table]
        for key in [*old, *(key for key in new if key not in old)]:
            if old.get(key) != new.get(key):
                changes.append(Change(table, key, old.get(key), new.get(key)))
    return changes
