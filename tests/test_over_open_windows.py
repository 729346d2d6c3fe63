"""Functions of all rows of a partition: those of windows that close are kept while these are open; others for ever."""

from __future__ import annotations

from typing import Any

import pytest

from support.circuits import Circuit, checked_circuit, prints_as_duckdb, random_rows

COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}
STREAM = {"timestamp": "ts", "columns": COLUMNS, "domain": {"b": [0, 2]}, "max_per_timestamp": 2}
CATALOG: dict[str, Any] = {"streams": {"S": STREAM}}
TIES = "a NULLS FIRST, b NULLS FIRST, v NULLS FIRST"
QUERIES = {
    "a share": "SELECT a, v, SUM(v) OVER (PARTITION BY ts DIV 4) AS t FROM S",
    "numbers": f"SELECT a, ROW_NUMBER() OVER (PARTITION BY ts DIV 4, b ORDER BY v DESC, {TIES}) AS r FROM S",
    "the row before": f"SELECT v, LAG(v) OVER (PARTITION BY ts DIV 3 ORDER BY v, {TIES}) AS l FROM S WHERE a > 1",
    "a total by value": "SELECT v, SUM(a) OVER (PARTITION BY ts DIV 4 ORDER BY v) AS s FROM S",
    "with the last ones": "SELECT v, COUNT(*) OVER (PARTITION BY ts DIV 4 ORDER BY ts RANGE BETWEEN CURRENT ROW AND "
    "UNBOUNDED FOLLOWING) AS n FROM S",
    "latest first": "SELECT v, MAX(v) OVER (PARTITION BY ts DIV 4 ORDER BY ts DESC) AS m FROM S",
    "beside a row before": "SELECT v, MIN(v) OVER (PARTITION BY ts DIV 4) AS m, COUNT(*) OVER (PARTITION BY b ORDER BY "
    "ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n FROM S WHERE a = 1",
}


@pytest.mark.parametrize("sql", QUERIES.values(), ids=list(QUERIES))
def test_jobs_print_what_the_reference_and_duckdb_say(sql: str) -> None:
    prints_as_duckdb(sql, CATALOG, duck=sql.replace(" DIV ", " // "), every_prefix=True)


@pytest.mark.parametrize("sql", QUERIES.values(), ids=list(QUERIES))
def test_restarts_change_nothing(sql: str) -> None:
    circuit = Circuit({"sql": sql, "catalog": CATALOG, "input": random_rows(1, 3), "mode": "changes"}, "batch")
    ticks = circuit.cuts()
    assert circuit.run(ticks, restart=True) == circuit.run(ticks, restart=False)


@pytest.mark.parametrize("sql", [*QUERIES.values()][:-1], ids=[*QUERIES][:-1])
def test_all_rows_of_other_partitions_are_needed(sql: str) -> None:
    for partition in ("b", "b, a"):
        for known in ("ts DIV 4, b", "ts DIV 4", "ts DIV 3"):
            sql = sql.replace(f"PARTITION BY {known}", f"PARTITION BY {partition}")
        checked = checked_circuit(sql, CATALOG)
        assert checked.verdict == "unbounded", checked.diagnostics
        assert "SB214" in {found.code for found in checked.diagnostics}
