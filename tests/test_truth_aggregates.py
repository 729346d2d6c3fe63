"""BOOL_AND, BOOL_OR and their other names: the least and the greatest truth value, of which false is the lesser."""

from __future__ import annotations

import pytest

from support.circuits import checked_circuit, prints_as_duckdb

STREAM = {"columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}, "timestamp": "ts"}
CATALOG = {"streams": {"S": {**STREAM, "domain": {"b": [0, 2]}}, "T": STREAM}}
QUERIES = (
    "SELECT b, BOOL_AND(v > 0) AS every, BOOL_OR(a = 1) AS some, COUNT(*) AS n FROM S GROUP BY b",
    "SELECT BOOL_OR(v > 3 AND a IS NULL) AS found FROM S WHERE b = 1",
    "SELECT ts DIV 5 AS w, BOOL_AND(v < 4) AS every FROM S GROUP BY ts DIV 5 HAVING BOOL_OR(v < -2)",
    "SELECT x.b, BOOL_AND(x.n > 1) AS every FROM (SELECT b, ts DIV 5 AS w, COUNT(*) AS n FROM S GROUP BY b, ts DIV 5) "
    "AS x GROUP BY x.b",
)


@pytest.mark.parametrize("sql", QUERIES)
def test_they_are_what_duckdb_says(sql: str) -> None:
    prints_as_duckdb(sql, CATALOG)


@pytest.mark.parametrize("aggregate", ["COLLECT_LIST(a)", "MAX_BY(a, v)", "APPROX_COUNT_DISTINCT(a)"])
def test_another_aggregate_is_refused_where_it_stands(aggregate: str) -> None:
    (told,) = checked_circuit(f"SELECT b, {aggregate} AS x FROM S GROUP BY b", CATALOG).diagnostics
    assert told.message == f"the aggregate {aggregate.split('(', maxsplit=1)[0]} is outside the query language"
    assert (told.span.column, told.span.end_column) == (11, 11 + len(aggregate))
