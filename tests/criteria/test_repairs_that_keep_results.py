"""What is offered as safe changes no result: by DuckDB, with and without DISTINCT, on prefixes of random rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import duckdb
import pytest

from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.diagnostics import FixKind
from streambound.analyzer.edits import applied
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.criteria.check import Checked, check_source
from streambound.criteria.repairs.demands import unseen_duplicates
from streambound.criteria.repairs.rejected import Rejected
from streambound.criteria.repairs.repair import with_repairs
from streambound.criteria.vocabulary import Verdict

TABLE = 'columns = { k = "bigint", a = "bigint", ts = "bigint" }\ntimestamp = "ts"\ndomain.k = [0, 3]\n'
CATALOG = parse_catalog(f"[streams.S]\n{TABLE}\n[streams.T]\n{TABLE}", "streams.toml")
INNER = (
    "SELECT DISTINCT k, a FROM S",
    "SELECT k, a FROM S UNION SELECT k, a FROM T",
    "SELECT DISTINCT S.k, T.a FROM S JOIN T ON S.k = T.k",
    "SELECT y.k, y.a FROM (SELECT DISTINCT k, a FROM S WHERE a > 1) AS y",
    "SELECT k, a FROM S INTERSECT SELECT k, a FROM T",
    "SELECT k, MAX(a) AS a FROM (SELECT DISTINCT k, a FROM S) AS y GROUP BY k",
    "SELECT k, COUNT(*) AS a FROM (SELECT DISTINCT k, a FROM S) AS y GROUP BY k",
    "SELECT k, a FROM (SELECT k, a FROM S UNION SELECT k, a FROM T) AS y UNION ALL SELECT k, a FROM T",
    "SELECT DISTINCT k, a FROM S LIMIT 2",
)
OUTER = (
    "SELECT MAX(x.a) AS m, MIN(x.k) AS l FROM ({}) AS x",
    "SELECT x.k, COUNT(*) AS n FROM ({}) AS x GROUP BY x.k",
    "SELECT x.k, COUNT(DISTINCT x.a) AS n FROM ({}) AS x GROUP BY x.k",
    "SELECT x.k, MAX(x.a) AS m FROM ({}) AS x GROUP BY x.k HAVING COUNT(*) > 1",
    "SELECT x.k, SUM(x.a) AS n FROM ({}) AS x GROUP BY x.k",
    "SELECT DISTINCT x.k FROM ({}) AS x LEFT JOIN T ON x.k = T.k AND x.a < T.a",
    "SELECT x.k, T.a FROM ({}) AS x JOIN T ON x.k = T.k",
    "SELECT S.a FROM S WHERE S.k IN (SELECT x.k FROM ({}) AS x)",
    "SELECT S.a FROM S WHERE NOT EXISTS (SELECT 1 FROM ({}) AS x WHERE x.k = S.k AND x.a < S.a)",
    "SELECT x.k FROM ({}) AS x UNION SELECT k FROM T",
    "SELECT x.k FROM ({}) AS x UNION ALL SELECT k FROM T",
    "SELECT k FROM T EXCEPT SELECT x.k FROM ({}) AS x",
    "SELECT k FROM T EXCEPT ALL SELECT x.k FROM ({}) AS x",
    "WITH x AS ({}) SELECT MAX(x.a) AS m FROM x WHERE x.k IN (SELECT y.k FROM x AS y)",
    "WITH x AS ({}) SELECT MAX(x.a) AS m, (SELECT COUNT(*) FROM x AS y) AS n FROM x",
    "SELECT x.k, x.a, ROW_NUMBER() OVER (PARTITION BY x.k ORDER BY x.a) AS r FROM ({}) AS x",
    "SELECT DISTINCT z.k FROM (SELECT x.k, COUNT(*) AS n FROM ({}) AS x GROUP BY x.k) AS z WHERE z.n > 1",
)


def parsed(sql: str) -> Rejected:
    (statement,) = split_statements(SourceText("q.sql", sql))
    return Rejected(statement, CATALOG, Checked(statement, Verdict.UNKNOWN, ()))


def safe(sql: str) -> Iterator[str]:
    """A statement after each of the changes that keep all results."""
    for change in unseen_duplicates(parsed(sql)):
        assert change.effect is FixKind.SAFE and change.edits
        yield parsed(applied(sql, change.edits)).syntax.sql("duckdb")


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    """Tables with few values, NULLs and many duplicates, of which a time is shown."""
    random = Random(7)
    with duckdb.connect(config={"threads": 1}) as db:
        for table in "ST":
            db.execute(f"CREATE TABLE all_{table} (k BIGINT, a BIGINT, ts BIGINT)")
            db.execute(f"CREATE TABLE {table} (k BIGINT, a BIGINT, ts BIGINT)")
            rows = [[random.choice((0, 1, 2, 3, None)), random.choice((0, 1, 2, 3, None)), ts] for ts in range(24)]
            db.executemany(f"INSERT INTO all_{table} VALUES (?, ?, ?)", rows)
        yield db


def prefixes(db: duckdb.DuckDBPyConnection, statements: list[str]) -> Iterator[list[Counter[tuple[Any, ...]]]]:
    for until in range(4, 25, 5):
        for table in "ST":
            db.execute(f"DELETE FROM {table}")
            db.execute(f"INSERT INTO {table} SELECT * FROM all_{table} WHERE ts < {until}")
        yield [Counter(db.execute(sql).fetchall()) for sql in statements]


@pytest.mark.parametrize("outer", OUTER)
def test_without_a_needless_distinct_all_results_stay(outer: str, database: duckdb.DuckDBPyConnection) -> None:
    for inner in INNER:
        sql = outer.format(inner)
        for first, *others in prefixes(database, [parsed(sql).syntax.sql("duckdb"), *safe(sql)]):
            assert all(other == first for other in others), sql


def test_a_distinct_that_is_needed_is_not_left_out() -> None:
    counts = {outer: sum(len([*safe(outer.format(inner))]) for inner in INNER[:2]) for outer in OUTER}
    assert [outer for outer, count in counts.items() if count == 2] == [OUTER[i] for i in (0, 2, 5, 7, 8, 9, 11, 13)]
    assert not any(count for outer, count in counts.items() if count != 2)
    assert not [*safe(OUTER[0].format(INNER[-1]))]


def test_what_is_offered_is_bounded_and_comes_first() -> None:
    (item,) = check_source(SourceText("q.sql", OUTER[0].format(INNER[0])), CATALOG)
    assert item.verdict is Verdict.UNKNOWN
    found = with_repairs(item).repairs
    assert found is not None
    assert [fix.kind for fix in found.fixes] == ["safe", "changes-results"]
    (again,) = check_source(SourceText("q.sql", found.fixes[0].sql), CATALOG)
    assert again.verdict is Verdict.BOUNDED
