"""Windows of time as one value that other operators read: as the same query over the two ends says, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from support.cases import read_named
from support.circuits import SEEDS, checked_circuit, random_rows, run_circuit
from support.profiles import MORE

MINUTE = 60_000_000
COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "timestamp"}
STREAM = {"columns": COLUMNS, "timestamp": "ts", "domain": {"b": [0, 2]}, "max_per_timestamp": 2}
CATALOG: dict[str, Any] = {"streams": {"S": STREAM, "T": STREAM}}
W, E = "window(ts, '4 minutes')", "window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e"
COUNTED = f"(SELECT {W} AS w, b, COUNT(*) AS n FROM S GROUP BY {W}, b)"
BY_ENDS = f"(SELECT {E}, b, COUNT(*) AS n FROM S GROUP BY {W}, b)"
QUERIES = read_named("window_structs.sql")


@pytest.mark.parametrize(("sql", "by_ends"), QUERIES.values(), ids=list(QUERIES))
def test_a_window_is_its_two_ends(sql: str, by_ends: str) -> None:
    one, two = checked_circuit(sql, CATALOG), checked_circuit(by_ends, CATALOG)
    assert str(one.verdict) == str(two.verdict) == "bounded", [d.message for d in (*one.diagnostics, *two.diagnostics)]
    assert one.circuit_bound is not None and two.circuit_bound is not None
    assert one.circuit_bound.entries.value == two.circuit_bound.entries.value
    printed = 0
    for seed in range(SEEDS * MORE):
        rows = random_rows(MINUTE, seed)
        found = run_circuit(one, rows)
        assert found.prints(run_circuit(two, rows).printed)
        printed += len(found.printed)
        if printed and seed + 1 >= MORE:
            break
    assert printed


def test_the_ends_of_one_that_is_renamed() -> None:
    checked = checked_circuit(f"SELECT x.start AS s, y FROM {COUNTED} AS q (x, k, y) WHERE k = 1", CATALOG)
    by_ends = checked_circuit(f"SELECT s, n AS y FROM {BY_ENDS} WHERE b = 1", CATALOG)
    assert str(checked.verdict) == str(by_ends.verdict) == "bounded", checked.diagnostics
    rows = random_rows(MINUTE, 1)
    assert run_circuit(checked, rows).prints(run_circuit(by_ends, rows).printed)
