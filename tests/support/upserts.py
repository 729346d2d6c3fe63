"""Queries whose results have a key, rows for them in some batches, and what their upserts come to."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb

from support.jobs import write

ROWS = {"a": "bigint", "b": "bigint", "amount": "decimal(9,2)", "ts": "bigint"}
CATALOG: dict[str, Any] = {
    "streams": {
        "S": {"timestamp": "ts", "columns": ROWS, "domain": {"a": [0, 3], "b": [0, 2]}, "max_per_timestamp": 3},
        "O": {"timestamp": "ts", "columns": ROWS, "unique": ["a"], "domain": {"a": [0, 50]}},
    },
    "relations": {"R": {"columns": {"a": "bigint", "name": "string"}, "rows": 4}},
}
GROUPS = "SELECT a, b, COUNT(*) AS n, SUM(amount) AS s FROM S GROUP BY a, b"
LATEST = """SELECT a, b, amount FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY ts DESC, amount, b) AS place FROM S) AS q WHERE place = 1"""
TOP = """SELECT a, place, amount FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY amount, ts, b) AS place FROM S) AS q WHERE place <= 2"""
HAVING = "SELECT a, COUNT(*) AS n FROM S GROUP BY a HAVING COUNT(*) % 3 <> 0"
JOINED = """SELECT q.a, q.n, r.m FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS q
    LEFT JOIN (SELECT b, MAX(amount) AS m FROM S GROUP BY b) AS r ON q.a = r.b"""
KEYS = [
    (GROUPS, ("a", "b")),
    ("SELECT DISTINCT b FROM S", ("b",)),
    (LATEST, ("a",)),
    (TOP, ("a", "place")),
    (HAVING, ("a",)),
    (JOINED, ("a",)),
    ("SELECT 1 AS id, COUNT(*) AS n FROM S", ("id",)),
    ("SELECT O.a, O.amount, O.ts FROM O", ("a",)),
    ("SELECT DISTINCT S.b, R.name FROM S JOIN R ON R.a = S.a", ("b", "name")),
]
"""Queries with a key, and it."""
BATCHES = 5


def streams(folder: Path, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Rows of the streams, some with NULLs, in files that are a batch each."""
    dice, rows = random.Random(seed), dict[str, list[dict[str, Any]]](S=[], O=[])
    for number in range(BATCHES):
        some = [
            {"a": dice.choice([None, 0, 1, 2, 3]), "b": dice.choice([None, 0, 1, 2]), "ts": 10 * number + at}
            for at in range(10)
            for _ in range(dice.randrange(3))
        ]
        for row in some:
            row["amount"] = dice.randrange(5) / 4
        once = [{"a": 10 * number + at, "b": at, "amount": 1, "ts": 10 * number + at} for at in range(10)]
        for name, part in (("S", some), ("O", once)):
            rows[name] += part
            write(folder / "in" / name / f"{number}.jsonl", *part, modified=1_600_000_000 + number)
    rows["R"] = [{"a": a, "name": "xy"[a % 2]} for a in (0, 1, 3)]
    write(folder / "in" / "R.jsonl", *rows["R"])
    return rows


def by_sql(sql: str, rows: dict[str, list[dict[str, Any]]]) -> list[tuple[Any, ...]]:
    """What DuckDB returns on all rows."""
    with duckdb.connect() as database:
        for name, mine in rows.items():
            columns = CATALOG["streams"].get(name, CATALOG["relations"].get(name))["columns"]
            declared = ", ".join(f"{n} {'VARCHAR' if kind == 'string' else kind}" for n, kind in columns.items())
            database.execute(f"CREATE TABLE {name} ({declared})")
            marks = ", ".join("?" for _ in columns)
            database.executemany(f"INSERT INTO {name} VALUES ({marks})", [[row[n] for n in columns] for row in mine])
        return sorted((tuple(map(plain, row)) for row in database.execute(sql).fetchall()), key=repr)


def plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int) else float(value)


def applied(records: Iterable[dict[str, Any]], key: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """The table that upserts leave; a row that goes is there, and as it was."""
    table = dict[tuple[Any, ...], dict[str, Any]]()
    for record in records:
        row = {name: value for name, value in record.items() if name not in ("_ts", "_op")}
        mine = tuple(row[name] for name in key)
        if record["_op"] == "delete":
            assert table.pop(mine) == row
        else:
            assert table.get(mine) != row, "what stays the same is not told again"
            table[mine] = row
    return sorted((tuple(map(plain, row.values())) for row in table.values()), key=repr)
