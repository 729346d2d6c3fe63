"""What asks relations, written as joins with them, gives the same rows, as often: DuckDB executes both."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import duckdb
import pytest

from streambound.analyzer.algebra.to_sql import to_sql
from streambound.analyzer.catalog import parse_catalog
from streambound.analyzer.lower import lower
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from streambound.criteria.check import check_source
from streambound.criteria.vocabulary import Verdict
from support.profiles import MORE

CATALOG = """
[streams.S]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", n = "string", ts = "bigint" }
[streams.T]
timestamp = "ts"
columns = { a = "bigint", b = "bigint", n = "string", ts = "bigint" }
[relations.R]
columns = { a = "bigint", b = "bigint", n = "string" }
rows = 6
[relations.Q]
columns = { a = "bigint", b = "bigint", n = "string" }
rows = 7
"""
LATER = "T.a = S.a AND T.ts > S.ts"
JOINED = {
    "SELECT DISTINCT S.a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a = S.a)": 6,
    "SELECT S.a, T.b FROM S JOIN T ON T.a = S.a AND T.ts > S.ts WHERE S.a IN (SELECT a FROM R)": 6,
    f"SELECT S.a FROM S JOIN T ON {LATER} WHERE EXISTS (SELECT 1 FROM R WHERE R.a = S.a AND R.b > S.b)": None,
    f"SELECT S.a, S.n FROM S SEMI JOIN R ON R.a = S.a AND S.n = R.n JOIN T ON {LATER}": 6,
    "SELECT DISTINCT S.a FROM S SEMI JOIN R ON R.a = S.a AND R.n > S.n SEMI JOIN Q ON Q.a = S.a": 6,
    f"SELECT S.a, S.n FROM S JOIN T ON {LATER} WHERE (S.a, S.n) IN (SELECT a, n FROM R)": 6,
    f"SELECT S.a FROM S JOIN T ON {LATER} WHERE S.a = (SELECT max(a) FROM R WHERE n = 'x')": 1,
    "SELECT DISTINCT S.a FROM S WHERE S.a BETWEEN (SELECT min(a) FROM R) AND (SELECT max(b) FROM Q)": None,
    "SELECT DISTINCT S.a FROM S WHERE S.a IN (SELECT a FROM R WHERE n IN (SELECT n FROM Q)) "
    "AND S.b NOT IN (SELECT b FROM Q WHERE b > 3)": 6,
    f"SELECT S.a FROM S JOIN T ON {LATER} WHERE S.a IN (SELECT a FROM R GROUP BY a HAVING count(*) > 1)": 6,
    f"SELECT S.a FROM S JOIN T ON {LATER} WHERE S.a IN (SELECT a FROM R EXCEPT SELECT a FROM Q) "
    "AND EXISTS (SELECT 1 FROM Q)": 6,
    "SELECT DISTINCT S.a + 1 AS more FROM S WHERE EXISTS (SELECT 1 FROM R, Q WHERE R.a = S.a + 1 AND R.n = Q.n)": None,
    "SELECT DISTINCT x.a FROM (SELECT a FROM S WHERE a IN (SELECT a FROM R)) x JOIN T ON x.a < T.a": 18,
    "WITH k AS (SELECT a FROM R WHERE n = 'x') SELECT DISTINCT S.a FROM S WHERE S.a IN (SELECT a FROM k)": 6,
    "SELECT DISTINCT S.a FROM S WHERE S.a IN (SELECT a FROM R) UNION SELECT a FROM T WHERE a IN (SELECT a FROM Q)": 13,
}  # fmt: skip


def _database(seed: int) -> duckdb.DuckDBPyConnection:
    chosen, database = random.Random(seed), duckdb.connect(config={"threads": 1})
    for table, ts in (("S", ", ts BIGINT"), ("T", ", ts BIGINT"), ("R", ""), ("Q", "")):
        database.execute(f"CREATE TABLE {table} (a BIGINT, b BIGINT, n VARCHAR{ts})")
        for number in range(12 if ts else 6):
            values = [chosen.choice((None, 1, 2, 3, 4)) for _ in "ab"] + [chosen.choice((None, "x", "y"))]
            values += [number] if ts else []
            database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)
    return database


def _rows(database: duckdb.DuckDBPyConnection, sql: str) -> Counter[tuple[Any, ...]]:
    return Counter(database.execute(sql).fetchall())


@pytest.mark.parametrize("sql", JOINED)
def test_the_joins_give_the_same_rows(sql: str) -> None:
    (statement,) = split_statements(SourceText("q.sql", sql))
    joined = lower(statement, parse_catalog(CATALOG, "streams.toml"), joining=True)
    assert joined.tree is not None
    text = to_sql(joined.tree).sql("duckdb")
    assert "asked1" in text
    found = [(_rows(database, sql), _rows(database, text)) for database in map(_database, range(4 * MORE))]
    assert all(one == other for one, other in found)
    assert sum(bool(one) for one, _ in found) > 1


@pytest.mark.parametrize("sql", JOINED)
def test_what_relations_allow_is_bounded(sql: str) -> None:
    (item,) = check_source(SourceText("q.sql", sql), parse_catalog(CATALOG, "streams.toml"))
    assert item.verdict is Verdict.BOUNDED, item.diagnostics
    assert item.bound is not None
    if JOINED[sql] is not None:
        assert item.bound.entries.value == JOINED[sql], item.bound.entries.text


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT S.a FROM S WHERE NOT EXISTS (SELECT 1 FROM R WHERE R.a = S.a)",
        "SELECT S.a FROM S WHERE S.a NOT IN (SELECT a FROM R)",
        "SELECT S.a FROM S WHERE S.b = 1 OR S.a IN (SELECT a FROM R)",
        "SELECT S.a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a > S.a)",
        "SELECT S.a FROM S WHERE S.a = (SELECT max(a) FROM R WHERE R.b = S.b)",
        "SELECT S.a FROM S WHERE S.a = (SELECT max(a) FROM R HAVING count(*) > 3)",
    ],
)
def test_what_is_no_join_stays_a_condition(sql: str) -> None:
    (statement,) = split_statements(SourceText("q.sql", sql))
    catalog = parse_catalog(CATALOG, "streams.toml")
    joined, plain = lower(statement, catalog, joining=True), lower(statement, catalog)
    assert joined.tree is not None and plain.tree is not None
    assert "asked" not in to_sql(joined.tree).sql("duckdb")
    database = _database(1)
    assert _rows(database, to_sql(joined.tree).sql("duckdb")) == _rows(database, sql)
