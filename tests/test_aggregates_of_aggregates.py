"""SUM of COUNT and its like as one aggregate (D3), and aggregates of no rows: each prefix as DuckDB has it."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from support.circuits import checked_circuit, rounded, run_circuit
from support.prefix_sql import PrefixSql
from support.profiles import MORE

STREAM = {
    "columns": {"a": "bigint", "b": "bigint", "ts": "bigint"},
    "timestamp": "ts",
    "max_per_timestamp": 2,
    "domain": {"a": [0, 3]},
}
CATALOG: dict[str, Any] = {"streams": {"S": STREAM, "T": STREAM}}
GROUPS = (
    "SELECT a, COUNT(*) FILTER (WHERE b > 3) AS n, COUNT(b) AS m, SUM(b) FILTER (WHERE b > 3) AS s FROM S GROUP BY a"
)
ALL = "SELECT COUNT(*) FILTER (WHERE b > 3) AS n, SUM(b) AS s FROM S WHERE b > 2"
QUERIES = (
    f"SELECT SUM(n) AS n, SUM(m) AS m, SUM(s) AS s FROM ({GROUPS}) AS g",
    f"SELECT a, SUM(n) AS n FROM ({GROUPS}) AS g GROUP BY a",
    f"SELECT SUM(n) AS n, SUM(s) AS s FROM ({ALL}) AS g",
    f"SELECT n FROM ({GROUPS}) AS g UNION SELECT SUM(n) AS n FROM ({ALL}) AS h",
    "SELECT SUM(S.a) AS s, COUNT(*) AS n FROM S ANTI JOIN T ON S.a = T.a WHERE S.a > 3",
    "SELECT MAX(n) AS n, MIN(n) AS m, COUNT(*) AS k FROM (SELECT COUNT(*) AS n FROM S GROUP BY ts DIV 4, b) AS g",
    "SELECT MIN(s) AS s FROM (SELECT SUM(b) AS s FROM S GROUP BY ts DIV 3 HAVING COUNT(*) > 1) AS g WHERE s > 2",
    "SELECT T.a FROM T UNION ALL SELECT SUM(S.a) AS s FROM S LEFT JOIN T ON S.a = T.a WHERE S.a > 3",
)


def some_rows(seed: int, sql: str) -> dict[str, list[dict[str, Any]]]:
    rng = random.Random(seed)

    def row(now: int) -> dict[str, Any]:
        return {"a": rng.choice([None, 0, 1, 2, 3]), "b": rng.choice([None, 1, 2, 3, 4]), "ts": now}

    read = [name for name in ("S", "T") if f" {name}" in sql]  # results begin with the first row of what is named
    return {name: [row(now) for now in range(1, 16) for _ in range(rng.randint(0, 2))] for name in read}


@pytest.mark.parametrize("sql", QUERIES)
def test_they_are_what_batch_sql_says(sql: str) -> None:
    checked = checked_circuit(sql, CATALOG)
    assert checked.verdict == "bounded", [one.message for one in checked.diagnostics]
    assert checked.circuit_bound is not None
    for seed in range(MORE):
        rows, expected, before = some_rows(seed, sql), Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]]()
        for time, now in PrefixSql(CATALOG).results(sql, rows).items():
            for row in {*now, *before}:
                if now[row] != before[row]:
                    expected[(*map(rounded, row), time)] = now[row] - before[row]
            before = now
        run = run_circuit(checked, rows)
        assert expected and run.prints(expected), seed
        assert run.peak <= checked.circuit_bound.entries.value
