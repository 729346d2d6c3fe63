"""Groups by windows of a stream joined with one that ends: rows of this one may come after a window, until its end."""

from __future__ import annotations

from typing import Any

import pytest

from support.circuits import checked_circuit, prints_as_duckdb

STREAM = {"timestamp": "ts", "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}}
CATALOG: dict[str, Any] = {"streams": {"S": STREAM | {"max_per_timestamp": 2}, "T": STREAM | {"max_per_timestamp": 2}}}
JOIN = "FROM S JOIN T ON S.b = T.b AND T.b BETWEEN 0 AND 3"
QUERIES = {
    "distinct": "SELECT DISTINCT S.ts, T.b FROM S LEFT JOIN T ON S.b = T.b WHERE T.ts IN (1, 2, 9)",
    "groups of a time": f"SELECT S.ts, COUNT(*) AS n {JOIN} WHERE T.ts <= 20 GROUP BY S.ts",
    "groups of windows": f"SELECT S.ts DIV 4 AS w, COUNT(*) AS n {JOIN} WHERE T.ts <= 20 GROUP BY S.ts DIV 4",
    "soon after": f"SELECT S.ts DIV 4 AS w, MAX(T.v) AS m {JOIN} AND T.ts <= S.ts + 5 WHERE T.ts <= 20 "
    "GROUP BY S.ts DIV 4",
}


@pytest.mark.parametrize("sql", QUERIES.values(), ids=list(QUERIES))
def test_jobs_print_what_the_reference_and_duckdb_say(sql: str) -> None:
    prints_as_duckdb(sql, CATALOG, duck=sql.replace(" DIV ", " // "), every_prefix=True)


def test_a_window_waits_no_longer_than_it_must() -> None:
    """Where no row of the stream that ends comes later than the other's, it waits for none."""
    sql, sizes = QUERIES["groups of windows"], []
    for one in (sql.replace("WHERE", "AND T.ts <= S.ts WHERE"), sql):
        bound = checked_circuit(one, CATALOG).circuit_bound
        assert bound is not None
        sizes += [state.size.value for state in bound.states if state.name.startswith("groups")]
    assert sizes == [1, 6]
