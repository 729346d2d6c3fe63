"""Outer joins: as the reference evaluator says of every prefix, and DuckDB of all rows, within M."""

from __future__ import annotations

import pytest

from support.circuits import TWO_STREAMS as CATALOG
from support.circuits import prints_as_duckdb

P = "(SELECT ts DIV 4 AS w, b, COUNT(*) AS n FROM S WHERE v > 0 GROUP BY ts DIV 4, b) AS p"
Q = "(SELECT ts DIV 4 AS w, b, MAX(v) AS m FROM T WHERE a < 3 GROUP BY ts DIV 4, b) AS q"
G = "(SELECT b, COUNT(*) AS n FROM S WHERE v > 1 GROUP BY b) AS g"
H = "(SELECT b, MAX(v) AS m FROM T WHERE a = 1 GROUP BY b) AS h"
QUERIES = {
    f"{kind}, {name}": f"SELECT {shown} FROM {left} {kind} JOIN {right} ON {on}"
    for kind in ("RIGHT", "FULL")
    for name, shown, left, right, on in (
        ("windows", "p.w, q.w AS x, p.b, n, m", P, Q, "p.w = q.w AND p.b = q.b"),
        ("windows, all columns", "q.*, p.w AS x, p.n", P, Q, "p.w = q.w AND p.n > q.m"),
        ("windows beside the one before", "COALESCE(p.w, q.w) AS w, n, m", P, Q, "p.w = q.w + 1 AND p.b = q.b"),
        ("groups", "g.*, h.b AS c, m", G, H, "g.b = h.b"),
        ("groups, one column", "m", G, H, "g.b = h.b AND g.n > h.m"),
        ("groups, counted", "COUNT(*) AS c, COUNT(n) AS d, SUM(m) AS s", G, H, "g.b = h.b"),
    )
} | {
    "RIGHT, a stream that groups are joined to": f"SELECT T.b, T.a, n FROM {G} RIGHT JOIN T ON T.b = g.b AND T.a = 1",
    "LEFT, equal or both NULL": "SELECT S.a, T.v FROM S LEFT JOIN T ON S.a IS NOT DISTINCT FROM T.a AND "
    "T.ts BETWEEN S.ts - 1 AND S.ts + 1",
    "FULL, equal or both NULL, shifted": "SELECT S.a, T.v FROM S FULL JOIN T ON S.a + 1 IS NOT DISTINCT FROM T.b AND "
    "T.ts BETWEEN S.ts - 1 AND S.ts + 1 AND T.v >= S.v",
    "LEFT, each alternative with a window": "SELECT S.b, T.v FROM S LEFT JOIN T ON (S.a = T.a AND T.ts BETWEEN S.ts "
    "AND S.ts + 1) OR (S.b = T.b AND T.ts BETWEEN S.ts - 2 AND S.ts)",
    "RIGHT, by a distance": "SELECT S.b, T.v FROM S RIGHT JOIN T ON S.b = T.b AND abs(S.ts - T.ts) < 3",
    "FULL, by a bucket": "SELECT S.b, T.v FROM S FULL JOIN T ON S.b = T.b AND S.ts DIV 3 = T.ts DIV 3",
    "RIGHT, then by window": f"SELECT q.w, COUNT(n) AS c FROM {P} RIGHT JOIN {Q} ON p.w = q.w GROUP BY q.w",
}


@pytest.mark.parametrize("sql", QUERIES.values(), ids=list(QUERIES))
def test_jobs_print_what_the_reference_and_duckdb_say(sql: str) -> None:
    prints_as_duckdb(sql, CATALOG, 25, every_prefix=True)
