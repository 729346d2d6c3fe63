"""A statement with timestamps against the statement as it stands on every prefix, in DuckDB."""

from __future__ import annotations

from collections import Counter

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.recheck.oracle.stamped import stamped
from support.choices import Choices
from support.oracle import Oracle, by_timestamp
from support.product import NotAnalysed, lowered, parsed
from support.profiles import MORE
from support.queries import Features, make_statement
from support.streams import small_rows

CATALOG = {
    "streams": {
        "S": {"timestamp": "at", "columns": {"a": "bigint", "b": "bigint", "at": "timestamp"}},
        "T": {"timestamp": "ts", "columns": {"ts": "timestamp", "a": "bigint", "b": "bigint"}},
    },
    "relations": {"R": {"columns": {"a": "bigint", "n": "bigint"}}},
}
MADE = {
    "a relation alone": "SELECT R.n FROM R",
    "a star over tables": "SELECT * FROM (SELECT a, b FROM S) q, R WHERE q.a = R.a",
    "a qualified star": "SELECT q.* FROM (SELECT * FROM R) AS q, T WHERE q.a = t.a",
    "stars of two subqueries": (
        "SELECT x.a, y.b FROM (SELECT * FROM S) x, (SELECT * FROM T) y WHERE x.a = y.a AND x.at >= y.ts"),
    "a subquery with names": "SELECT q.u FROM (SELECT b, at FROM S) AS q(u, v) JOIN T ON T.ts < q.v AND T.a = q.u",
    "a common table expression twice": (
        "WITH c AS (SELECT a AS k, b, at FROM S WHERE b > 0) SELECT x.k, y.b FROM c AS x, c AS y WHERE x.at < y.at"),
    "one with names, and one on top": (
        "WITH c(k, v) AS (SELECT a, at FROM S), d AS (SELECT * FROM c, R WHERE c.k = R.a) SELECT n, k FROM d"),
    "one that hides a stream": "WITH T AS (SELECT a, at FROM S) SELECT T.a, R.n FROM T, R WHERE T.a = R.a",
    "one with other names where it is used": (
        "WITH c AS (SELECT a, at FROM S) SELECT q.u, T.b FROM c AS q(u, v), T WHERE q.v = T.ts"),
    "a bag union": "SELECT a, 1 AS one FROM S UNION ALL SELECT b, 2 FROM T UNION ALL SELECT a, 3 FROM R",
    "a set union": "SELECT a FROM S UNION SELECT b FROM T UNION SELECT a FROM R",
    "a union below a join": "SELECT q.a, R.n FROM (SELECT a FROM S UNION ALL SELECT b FROM T) q JOIN R ON R.a = q.a",
    "a set of a subset": "SELECT DISTINCT q.a FROM (SELECT DISTINCT a, b FROM S) q, T WHERE T.a = q.b",
    "in parentheses": "(SELECT DISTINCT a FROM S)",
}  # fmt: skip


def _check(sql: str, catalog: dict[str, object], seed: int) -> int:
    """Compare both forms; the number of results."""
    width = len(lowered(sql, catalog).branches[0].outputs)
    rows = small_rows(Choices.seeded(seed), catalog, timestamps=6)
    oracle = Oracle(catalog, rows)
    tree = stamped(parsed(sql), catalog_from_mapping(catalog), [f"c{i}" for i in range(width)])
    found = oracle.rows(tree.sql("spark"))
    static = oracle.counts(sql, -(2**62))
    new = {now: counts for now, counts in oracle.prefix_expected(sql).items() if counts}
    timeless = [row for row in found if row["_ts"] is None]
    assert sum(row["_mult"] for row in timeless) == sum(static.values())
    assert by_timestamp([row for row in found if row["_ts"] is not None]) == _later(new, static)
    return len(found)


def _later(new: dict[int, Counter[tuple[object, ...]]], static: Counter[tuple[object, ...]]) -> object:
    """What the timestamps add to the results that need no stream."""
    first = min(new, default=0)
    after = {now: counts - static if now == first else counts for now, counts in new.items()}
    return {now: counts for now, counts in after.items() if counts}


@pytest.mark.parametrize("name", MADE)
def test_made_statements(name: str) -> None:
    assert sum(_check(MADE[name], CATALOG, seed) for seed in range(5)) > 0


def test_random_statements() -> None:
    results = done = 0
    for seed in range(30 * MORE):
        statement = make_statement(Choices.seeded(seed), Features())
        try:
            results += _check(statement.sql, statement.catalog, seed)
            done += 1
        except NotAnalysed:
            continue
    assert done > 20
    assert results > 15
