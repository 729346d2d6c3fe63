"""Joins whose kept side has no rows, as its conditions contradict each other: what is above them has all of its own."""

from __future__ import annotations

from typing import Any

import pytest

from support.circuits import SEEDS, checked_circuit, random_rows, reference, run_circuit
from support.profiles import MORE

STREAM = {"columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}, "timestamp": "ts"}
CATALOG: dict[str, Any] = {"streams": {"S": {**STREAM, "domain": {"b": [0, 2]}}, "T": STREAM}}
NEVER = "FROM S LEFT SEMI JOIN T ON S.a = T.a AND S.b > T.v AND S.a > 1 WHERE S.a IS NULL"
QUERIES = {
    "the row that aggregates have of none": f"SELECT MIN(S.b) AS n {NEVER} UNION SELECT MAX(T.v) AS n FROM T",
    "groups": f"SELECT S.b AS n, COUNT(*) AS m {NEVER} GROUP BY S.b UNION ALL SELECT MAX(v) AS n, COUNT(*) AS m FROM T",
    "not in of NULL": "SELECT S.b FROM S WHERE S.a IS NULL AND S.a NOT IN (SELECT T.a FROM T WHERE T.b = S.b)",
    "not in of NULL, below OR": "SELECT S.b FROM S WHERE S.a IS NULL AND (S.b = 1 OR "
    "S.a NOT IN (SELECT T.a FROM T WHERE T.b = S.b))",
    "not in of what is not NULL": "SELECT S.b FROM S WHERE S.b = 1 AND S.b NOT IN (SELECT T.b FROM T WHERE T.v > 0)",
}


@pytest.mark.parametrize("sql", QUERIES.values(), ids=list(QUERIES))
def test_what_is_above_a_side_without_rows_has_its_own(sql: str) -> None:
    checked = checked_circuit(sql, CATALOG)
    assert str(checked.verdict) == "bounded", [one.message for one in checked.diagnostics]
    bound = checked.circuit_bound
    assert bound is not None and bound.entries.value is not None
    printed = 0
    for seed in range(SEEDS * MORE):
        rows = random_rows(1, seed)
        found = run_circuit(checked, rows)
        assert found.prints(reference(sql, CATALOG, rows)), seed
        assert found.peak <= bound.entries.value
        printed += len(found.printed)
        if printed and seed + 1 >= MORE:
            break
    assert printed
