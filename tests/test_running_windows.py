"""Running totals over the groups of windows, in their order: what closed ones add up to is all that is kept of them."""

from __future__ import annotations

from typing import Any

import pytest

from support.circuits import Circuit, checked_circuit, prints_as_duckdb, random_rows, run_circuit

COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}
STREAM = {"timestamp": "ts", "columns": COLUMNS, "domain": {"b": [0, 2]}, "max_per_timestamp": 2}
CATALOG: dict[str, Any] = {"streams": {"S": STREAM, "T": STREAM}}
FOURS = "(SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S WHERE v > -2 GROUP BY ts DIV 4, b)"
QUERIES = {
    "a total": f"SELECT w, b, SUM(n) OVER (PARTITION BY b ORDER BY w) AS s FROM {FOURS}",
    "a total of all": f"SELECT w, SUM(n) OVER (ORDER BY w, b NULLS FIRST ROWS UNBOUNDED PRECEDING) AS s FROM {FOURS}",
    "with those of the same window": f"SELECT w, b, COUNT(*) OVER (ORDER BY w) AS s, MAX(m) OVER (ORDER BY w) AS x "
    f"FROM {FOURS}",
    "those before": f"SELECT w, b, MIN(m) OVER (PARTITION BY b ORDER BY w ROWS BETWEEN UNBOUNDED PRECEDING AND "
    f"1 PRECEDING) AS x FROM {FOURS}",
    "the first, and a number": f"SELECT w, FIRST_VALUE(n) OVER (PARTITION BY b ORDER BY w) AS f, "
    f"ROW_NUMBER() OVER (PARTITION BY b ORDER BY w) AS r FROM {FOURS}",
    "of windows that HAVING leaves": "SELECT w, SUM(n) OVER (ORDER BY w) AS s FROM "
    "(SELECT ts DIV 3 AS w, COUNT(*) AS n FROM S GROUP BY ts DIV 3 HAVING MAX(v) < 4)",
    "below longer windows": "SELECT w DIV 2 AS d, MAX(s) AS x FROM "
    f"(SELECT w, SUM(n) OVER (ORDER BY w, b) AS s FROM {FOURS}) GROUP BY w DIV 2",
}


@pytest.mark.parametrize("sql", QUERIES.values(), ids=list(QUERIES))
def test_jobs_print_what_the_reference_and_duckdb_say(sql: str) -> None:
    prints_as_duckdb(sql, CATALOG, every_prefix=True)


def test_closed_windows_are_not_kept() -> None:
    checked = checked_circuit(QUERIES["a total"], CATALOG)
    rows = {"S": [{"a": 1, "b": n % 3, "v": 1, "ts": n // 2} for n in range(600)], "T": []}
    assert run_circuit(checked, rows).peak < 20


@pytest.mark.parametrize("sql", list(QUERIES.values())[::3], ids=list(QUERIES)[::3])
def test_restarts_change_nothing(sql: str) -> None:
    circuit = Circuit({"sql": sql, "catalog": CATALOG, "input": random_rows(1, 3), "mode": "changes"}, "batch")
    ticks = circuit.cuts()
    assert circuit.run(ticks, restart=True) == circuit.run(ticks, restart=False)
