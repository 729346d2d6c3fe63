"""Numbers of rows, and of units of time: with a suffix, or folded, as Spark takes them, or refused at their place."""

from __future__ import annotations

from typing import Any

import pytest

from support.circuits import prints_as_duckdb, proved
from support.product import checked

STREAM = {
    "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"},
    "timestamp": "ts",
    "max_per_timestamp": 2,
}
CATALOG: dict[str, Any] = {
    "streams": {name: {**STREAM, "domain": {"a": [0, 9], "b": [0, 2], "v": [-3, 4]}} for name in ("S", "T")},
    "relations": {"R": {"columns": {"k": "bigint"}, "rows": 3}},
}
RANKED = (
    "SELECT b, v FROM (SELECT b, v, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v DESC, a, ts) AS n FROM S) q WHERE "
)
READ = {
    RANKED + "n <= 2L": RANKED + "n <= 2",
    RANKED + "3S > n": RANKED + "n < 3",
    RANKED + "n BETWEEN 1L AND 1 + 1": RANKED + "n BETWEEN 1 AND 2",
    "SELECT ts DIV 5L AS w, COUNT(*) AS n FROM S GROUP BY 1": "SELECT ts // 5 AS w, COUNT(*) AS n FROM S GROUP BY 1",
    "SELECT a, LAG(a, 1 + 1, 0L) OVER (ORDER BY ts, b, a, v) AS x FROM S": "SELECT a, LAG(a, 2, 0) OVER (ORDER BY ts "
    "NULLS FIRST, b NULLS FIRST, a NULLS FIRST, v) AS x FROM S",
    "SELECT b, SUM(v) OVER (ORDER BY ts RANGE 2L PRECEDING) AS x FROM S": "SELECT b, SUM(v) OVER (ORDER BY ts RANGE 2 "
    "PRECEDING) AS x FROM S",
}
"""Statements as Spark takes them, and the same in DuckDB's words."""


@pytest.mark.parametrize("sql", READ)
def test_a_number_is_read_as_spark_reads_it(sql: str) -> None:
    prints_as_duckdb(sql, CATALOG, duck=READ[sql])
    assert proved(sql, CATALOG)[1] == proved(READ[sql].replace("//", "DIV"), CATALOG)[1]


def test_a_unit_of_time_takes_any_whole_number() -> None:
    stream = {"columns": {"a": "bigint", "t": "timestamp"}, "timestamp": "t", "domain": {"a": [1, 5]}}
    catalog = {"streams": {"P": stream, "Q": stream}}
    bounds = [
        checked(f"SELECT P.a FROM P JOIN Q ON P.a = Q.a AND {condition}", catalog).bound.tables
        for condition in (
            "Q.t BETWEEN P.t AND timestampadd(MINUTE, 5L, P.t)",
            "Q.t BETWEEN P.t AND P.t + INTERVAL 5 MINUTES",
        )
    ]
    assert bounds[0] == bounds[1]
