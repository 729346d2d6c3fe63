"""A windowed aggregate of a stream is SEQ VT over rows that are valid as long as they are in the window, at random.

Neither shares an operator with the other: buckets and OVER keep rows by their timestamps, SEQ VT by their ends.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from streambound.criteria.vocabulary import Verdict
from support.circuits import checked_circuit, random_rows, rounded, run_circuit
from support.period_streams import run_periods
from support.profiles import MORE

VALUES = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}
CATALOG: dict[str, Any] = {
    "streams": {
        "S": {"timestamp": "ts", "columns": VALUES, "domain": {"b": [0, 2]}, "max_per_timestamp": 2},
        "P": {
            "timestamp": "vb",
            "columns": {**VALUES, "vb": "bigint", "ve": "bigint"},
            "period": ["vb", "ve"],
            "max_duration": 9,
        },
    }
}
AGGREGATES = ("COUNT(*)", "COUNT(a)", "SUM(v)", "MIN(v)", "MAX(a)", "AVG(v)", "COUNT(DISTINCT v)", "SUM(DISTINCT b)")
WHERE = ("", "WHERE v > 0", "WHERE b = 1 OR a IS NULL", "WHERE a <> v")
Rows = list[dict[str, Any]]


def snapshots(sql: str, rows: Rows, every: int) -> dict[int, Counter[tuple[Any, ...]]]:
    """The result at each point of time."""
    checked = checked_circuit(f"SEQ VT ({sql})", CATALOG)
    assert checked.verdict is Verdict.BOUNDED, sql
    ordered = sorted(rows, key=lambda row: row["vb"])
    found: dict[int, Counter[tuple[Any, ...]]] = {}
    for (*values, begin, end, n), times in run_periods(checked, {"P": ordered}, every).all.items():
        for time in range(begin, end):
            found.setdefault(time, Counter())[tuple(map(rounded, values))] += n * times
    return found


def windowed(sql: str, rows: Rows) -> Counter[tuple[Any, ...]]:
    """The results of all changes."""
    checked = checked_circuit(sql, CATALOG)
    assert checked.verdict is Verdict.BOUNDED, sql
    found = Counter[tuple[Any, ...]]()
    for (*values, _), n in run_circuit(checked, {"S": rows}).printed.items():
        found[tuple(values)] += n
    return Counter({row: n for row, n in found.items() if n})


@pytest.mark.parametrize("seed", range(5 * MORE))
def test_groups_of_a_bucket_are_those_at_its_points(seed: int) -> None:
    random, rows = Random(seed), random_rows(1, seed)["S"]
    size = random.choice((2, 4, 5))
    keys = random.choice((("b",), ("a",), ("a", "b")))
    asked = [f"{text} AS c{place}" for place, text in enumerate(random.sample(AGGREGATES, random.randint(1, 3)))]
    where = random.choice(WHERE)
    listed = ", ".join([*keys, *asked])
    in_buckets = windowed(
        f"SELECT ts DIV {size} AS z, {listed} FROM S {where} GROUP BY ts DIV {size}, {', '.join(keys)}", rows
    )
    valid = [{**row, "vb": row["ts"] // size * size, "ve": row["ts"] // size * size + size} for row in rows]
    at = snapshots(f"SELECT {listed} FROM P {where} GROUP BY {', '.join(keys)}", valid, random.randint(1, 7))
    buckets = {(row["ts"] // size) for row in rows}
    assert in_buckets == Counter({(z, *row): n for z in buckets for row, n in at.get(z * size, {}).items()})
    assert all(at.get(z * size + more) == at.get(z * size) for z in buckets for more in range(size))
    assert in_buckets


@pytest.mark.parametrize("seed", range(5 * MORE))
def test_rows_before_a_row_are_those_that_are_valid_then(seed: int) -> None:
    random, rows = Random(seed), random_rows(1, seed)["S"]
    width, text = random.randint(0, 4), random.choice(("COUNT(*)", "COUNT(a)", "SUM(v)", "MAX(v)", "MIN(a)"))
    window = f"OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN {width} PRECEDING AND CURRENT ROW)"
    over = windowed(f"SELECT ts, b, {text} {window} AS n FROM S", rows)
    valid = [{**row, "vb": row["ts"], "ve": row["ts"] + width + 1} for row in rows]
    at = snapshots(f"SELECT b, {text} AS n FROM P GROUP BY b", valid, random.randint(1, 7))
    there = {time: dict([*found]) for time, found in at.items()}
    assert over == Counter((row["ts"], row["b"], there[row["ts"]][row["b"]]) for row in rows)
