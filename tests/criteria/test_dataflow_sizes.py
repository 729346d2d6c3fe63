"""What the rules of `criteria.dataflow` find of statements whose bounds take several facts together."""

from __future__ import annotations

from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import some_statements
from streambound.criteria.dataflow.judge import judge
from streambound.synopsis_exec.operations.plan import plan_of_judgement

STREAM: dict[str, Any] = {
    "timestamp": "ts",
    "max_per_timestamp": 2,
    "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"},
    "domain": {"b": [0, 2]},
}
CATALOG = catalog_from_mapping(
    {
        "streams": {"S": STREAM, "T": STREAM},
        "relations": {"R": {"columns": {"a": "bigint", "b": "bigint"}, "rows": 12}},
    }
)
ENDS = "FROM S JOIN T ON S.b = T.b WHERE T.ts <= 20"
SIZES = {
    "a late condition on a value of one row": (
        "SELECT S.a, T.v % 3 AS w FROM S, T WHERE S.ts > T.ts AND (S.v * (T.v % 3)) >= 2 AND T.b = 1",
        "6",
    ),
    "a limit by constants that are added": (
        "SELECT b, v FROM (SELECT b, v, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v DESC, a, ts) AS n FROM S) q "
        "WHERE n BETWEEN 1L AND 1 + 1",
        "8",
    ),
    "groups of times beside a stream that ends": (f"SELECT S.ts, COUNT(*) AS n {ENDS} GROUP BY S.ts", "83"),
    "groups of buckets beside a stream that ends": (
        f"SELECT S.ts DIV 4 AS w, COUNT(*) AS n {ENDS} GROUP BY S.ts DIV 4",
        "20*c_S + 9",
    ),
    "a subquery above groups": (
        "SELECT a, n FROM (SELECT b AS a, COUNT(*) AS n FROM S GROUP BY b) WHERE n IN (SELECT a FROM R)",
        "rows_R + 4",
    ),
    "NOT IN a relation above groups": (
        "SELECT a, n FROM (SELECT b AS a, SUM(v) AS n FROM S GROUP BY b) WHERE n NOT IN (SELECT a FROM R WHERE b > 1)",
        "3*rows_R + 4",
    ),
}
"""Statements, and M."""


@pytest.mark.parametrize("name", SIZES)
def test_what_is_bounded_has_a_job(name: str) -> None:
    sql, entries = SIZES[name]
    (statement,) = some_statements(SourceText("q.sql", sql), None, CATALOG.models)
    found = judge(statement, CATALOG)
    assert found is not None and found.entries is not None, sql
    assert found.entries.text == entries
    assert plan_of_judgement(found, statement).bound.entries == found.entries
