"""DISTINCT and UNION of rows in buckets of time keep what GROUP BY of the same columns does: DuckDB on every prefix."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from support.circuits import certificate_of, checked_circuit, proof_of, rounded, run_circuit
from support.prefix_sql import PrefixSql

STREAM = {"columns": {"a": "bigint", "b": "bigint", "ts": "bigint"}, "timestamp": "ts", "max_per_timestamp": 2}
CATALOG: dict[str, Any] = {"streams": {"S": STREAM, "T": STREAM}}
QUERIES = (
    ("SELECT DISTINCT S.a, S.ts DIV 5 AS w FROM S", 8),
    ("SELECT DISTINCT S.ts DIV 5 AS w, S.a + S.b AS c, S.b FROM S WHERE S.a > 0", 8),
    ("SELECT S.a, S.ts DIV 5 AS w FROM S UNION SELECT T.b, T.ts DIV 5 AS w FROM T", 16),
    ("SELECT DISTINCT S.a, T.b, S.ts DIV 4 AS w FROM S JOIN T ON S.a = T.a AND T.ts = S.ts", None),
)


@pytest.mark.parametrize(("sql", "bound"), QUERIES)
def test_rows_of_closed_buckets_go(sql: str, bound: int | None) -> None:
    checked, printed = checked_circuit(sql, CATALOG), 0
    assert checked.verdict == "bounded", [one.message for one in checked.diagnostics]
    assert checked.circuit_bound is not None and checked.circuit_bound.entries.value is not None
    assert bound in (None, checked.circuit_bound.entries.value)
    assert proof_of(checked, certificate_of(checked)).faults == ()
    for seed in range(3):
        rng = random.Random(seed)
        rows = {
            name: [
                {"a": rng.choice((None, 0, 1, 2)), "b": rng.randint(0, 3), "ts": now}
                for now in range(1, 25)
                for _ in range(rng.randint(0, 2))
            ]
            for name in ("S", "T")
        }
        read = rows if "T" in sql else {"S": rows["S"]}
        expected, before = Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]]()
        for time, now_ in PrefixSql(CATALOG).results(sql, read).items():
            for row in {*now_, *before}:
                if now_[row] != before[row]:
                    expected[(*map(rounded, row), time)] = now_[row] - before[row]
            before = now_
        run = run_circuit(checked, rows)
        assert run.prints(expected) and run.peak <= checked.circuit_bound.entries.value
        printed += len(expected)
    assert printed


def test_the_last_n_values_are_no_bucket() -> None:
    assert checked_circuit("SELECT DISTINCT S.a, S.ts % 5 AS w FROM S", CATALOG).verdict != "bounded"
    assert checked_circuit("SELECT DISTINCT S.a, S.b FROM S", CATALOG).verdict == "unbounded"
