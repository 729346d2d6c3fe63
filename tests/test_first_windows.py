"""The first groups of windows of each key, in any order: the latest ones, those with the most rows."""

from __future__ import annotations

from typing import Any

import pytest

from support.circuits import Circuit, checked_circuit, prints_as_duckdb, proved, random_rows, run_circuit

COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}
STREAM = {"timestamp": "ts", "columns": COLUMNS, "domain": {"b": [0, 2]}, "max_per_timestamp": 2}
CATALOG: dict[str, Any] = {"streams": {"S": STREAM}}
FOURS = "(SELECT ts DIV 4 AS w, b, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY ts DIV 4, b)"


def first(function: str, order: str, limit: int = 1, partition: str = "PARTITION BY b", body: str = FOURS) -> str:
    over = f"{function}() OVER ({partition} ORDER BY {order}) AS r"
    return f"SELECT b, w, n, r FROM (SELECT *, {over} FROM {body}) WHERE r <= {limit}"


QUERIES = {
    "the latest window of each key": (first("ROW_NUMBER", "w DESC"), 4 + 4),
    "the latest two": (first("ROW_NUMBER", "w DESC", 2), 4 + 8),
    "the latest of all": (first("ROW_NUMBER", "w DESC, b NULLS FIRST", 2, ""), 4 + 2),
    "those with most rows": (first("ROW_NUMBER", "n DESC, w DESC", 2), 4 + 8),
    "all of the latest window": (first("RANK", "w DESC", 1, ""), 4 + 4),
    "of each number of rows the latest two": (first("DENSE_RANK", "w DESC, n", 2), 4 + 8),
    "of windows that HAVING leaves": (
        first("ROW_NUMBER", "w DESC", body=f"(SELECT * FROM {FOURS} WHERE n > 1 AND m < 3)"),
        4 + 4,
    ),
    "of windows that overlap": (
        first(
            "ROW_NUMBER",
            "w DESC",
            body="(SELECT b, x.ts DIV 2 AS w, SUM(x.v) AS n FROM S AS x WHERE x.v > -2 GROUP BY b, x.ts DIV 2)",
        ),
        None,
    ),
    "beside all windows": (
        "SELECT x.b, x.n, y.t FROM (SELECT b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY w DESC) "
        f"AS r FROM {FOURS}) WHERE r = 1) AS x JOIN (SELECT b, COUNT(*) AS t FROM S GROUP BY b) AS y ON x.b = y.b",
        3 + 3,
    ),
    "how many rows the latest windows have": (
        "SELECT SUM(n) AS t FROM (SELECT b, n, ROW_NUMBER() OVER (PARTITION BY b ORDER BY w DESC) AS r "
        f"FROM {FOURS}) WHERE r = 1",
        None,
    ),
}


@pytest.mark.parametrize(("sql", "entries"), QUERIES.values(), ids=list(QUERIES))
def test_jobs_print_what_the_reference_and_duckdb_say(sql: str, entries: int | None) -> None:
    prints_as_duckdb(sql, CATALOG, every_prefix=True)
    checked, _ = proved(sql, CATALOG)
    assert checked.circuit_bound is not None
    sizes = [state.size.value for state in checked.circuit_bound.states if state.name.startswith("over")]
    assert entries is None or sizes == [entries]


def test_closed_windows_are_not_kept() -> None:
    checked = checked_circuit(QUERIES["the latest two"][0], CATALOG)
    rows = {"S": [{"a": 1, "b": n % 3, "v": 1, "ts": n // 2} for n in range(600)]}
    assert run_circuit(checked, rows).peak < 20


@pytest.mark.parametrize("sql", [sql for sql, _ in QUERIES.values()][::3], ids=list(QUERIES)[::3])
def test_restarts_change_nothing(sql: str) -> None:
    circuit = Circuit({"sql": sql, "catalog": CATALOG, "input": random_rows(1, 3), "mode": "changes"}, "batch")
    ticks = circuit.cuts()
    assert circuit.run(ticks, restart=True) == circuit.run(ticks, restart=False)


@pytest.mark.parametrize(
    ("sql", "verdict"),
    [
        (first("ROW_NUMBER", "w DESC", body=FOURS.replace("b", "a")).replace("b", "a"), "unbounded"),
        (first("RANK", "n DESC"), "unbounded"),
        (f"SELECT a, w, LAG(n) OVER (PARTITION BY a ORDER BY w) AS l FROM {FOURS.replace('b', 'a')}", "unbounded"),
        (first("ROW_NUMBER", "w DESC", body=FOURS).replace("r <= 1", "r > 1"), "unbounded"),
    ],
)
def test_keys_without_a_number_are_not_bounded(sql: str, verdict: str) -> None:
    assert checked_circuit(sql, CATALOG).verdict == verdict
