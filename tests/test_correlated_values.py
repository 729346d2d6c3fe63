"""Subqueries over streams that are an aggregate of each row's partners: joins with groups, within windows of time.

Each job prints what DuckDB and the reference evaluator, which evaluates the subquery itself, say of every prefix.
"""

from __future__ import annotations

import duckdb
import pytest
import sqlglot

from streambound.analyzer.algebra.null_conditions import rejects_null
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.to_sql import to_sql
from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.lower import lower
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import split_statements
from support.circuits import TWO_STREAMS as CATALOG
from support.circuits import (
    checked_circuit,
    random_rows,
)
from support.profiles import MORE

NEAR = "T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 2 AND p.ts + 1"
BEFORE = "T AS q WHERE q.b = p.b AND q.ts BETWEEN p.ts - 2 AND p.ts"
BOUNDED = {
    "the greatest before": f"SELECT p.a, p.v, (SELECT MAX(q.v) FROM {BEFORE}) AS m FROM S AS p",
    "a number of rows, 0 of none": f"SELECT p.a, (SELECT COUNT(*) FROM {NEAR}) AS n FROM S AS p",
    "a number of values": f"SELECT p.b, (SELECT COUNT(DISTINCT q.b) FROM {NEAR}) AS n FROM S AS p",
    "a threshold": f"SELECT p.a, p.v FROM S AS p WHERE p.v > (SELECT AVG(q.v) FROM {NEAR})",
    "a scaled threshold": f"SELECT p.a FROM S AS p WHERE p.v + 1 > 2 * (SELECT MIN(q.v) FROM {NEAR}) - 1",
    "without a name": f"SELECT (SELECT MIN(q.v) FROM {NEAR}), p.b, EXISTS (SELECT 1 FROM {BEFORE}) FROM S AS p",
    "of no rows": f"SELECT COALESCE((SELECT SUM(q.v) FROM {NEAR} AND q.v > 1), -7) AS s FROM S AS p",
    "two in a list": f"SELECT (SELECT MAX(q.v) FROM {BEFORE}) AS m, (SELECT COUNT(q.a) FROM {NEAR}) AS n FROM S AS p",
    "in the list and the condition": f"SELECT (SELECT MAX(q.v) FROM {BEFORE}) AS m FROM S AS p "
    f"WHERE p.b > 0 AND p.v <= (SELECT COUNT(*) FROM {NEAR})",
    "several aggregates": f"SELECT p.v, (SELECT MAX(q.v) - MIN(q.v) + COUNT(*) + p.b FROM {NEAR}) AS s FROM S AS p",
    "of a product with the row": f"SELECT p.b, (SELECT SUM(q.v * p.v) FROM {NEAR}) AS s FROM S AS p",
    "of the row's own stream": "SELECT p.a, (SELECT COUNT(*) FROM S AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts AND "
    "p.ts + 2) AS n FROM S AS p",
    "without an equality": "SELECT p.v, (SELECT COUNT(*) FROM T AS q WHERE q.v < p.v AND q.ts >= p.ts - 1 "
    "AND q.ts <= p.ts) AS n FROM S AS p",
    "by what may be NULL on both sides": "SELECT p.v, (SELECT COUNT(*) FROM T AS q WHERE q.a IS NOT DISTINCT FROM p.a "
    "AND q.ts BETWEEN p.ts - 1 AND p.ts) AS n FROM S AS p",
    "also where it is NULL": "SELECT p.v, (SELECT COUNT(*) FROM T AS q WHERE (q.a = p.a OR q.b = 1) "
    "AND q.ts BETWEEN p.ts - 1 AND p.ts) AS n FROM S AS p",
    "of a join": "SELECT p.v, r.v AS w, (SELECT SUM(q.v) FROM T AS q WHERE q.a = r.a "
    "AND q.ts BETWEEN p.ts - 1 AND p.ts) AS s FROM S AS p JOIN T AS r ON r.a = p.a AND r.ts BETWEEN p.ts AND p.ts + 1",
    "with all columns": f"SELECT *, (SELECT MIN(q.b) FROM {NEAR}) AS m FROM S AS p "
    f"WHERE (SELECT COUNT(*) FROM {BEFORE}) > 0",
    "whether there is one": f"SELECT p.a, EXISTS (SELECT 1 FROM {NEAR}) AS t FROM S AS p",
    "whether there is none, in an expression": f"SELECT p.a, CASE WHEN NOT EXISTS (SELECT q.a, q.v FROM {BEFORE} "
    "AND q.v > 0) THEN p.v ELSE -1 END AS t FROM S AS p WHERE p.v > 0",
    "whether there is one, compared": f"SELECT p.a FROM S AS p WHERE (p.v > 0) = EXISTS (SELECT * FROM {NEAR})",
    "whether there is one, added up": f"SELECT p.ts DIV 4 AS w, SUM(CASE WHEN EXISTS (SELECT 1 FROM {NEAR}) THEN 1 "
    "ELSE 0 END) AS n FROM S AS p GROUP BY p.ts DIV 4",
    "truth": f"SELECT p.a, (SELECT BOOL_OR(q.v > 1) FROM {NEAR}) AS t FROM S AS p",
    "of all earlier rows": "SELECT p.v, (SELECT COUNT(*) FROM T AS q WHERE q.b = p.b AND q.ts <= p.ts) AS n "
    "FROM S AS p",
    "of all earlier rows that pass": "SELECT p.a, (SELECT SUM(q.v) FILTER (WHERE q.v > 0) + MAX(q.a) + p.v FROM T AS q "
    "WHERE p.ts >= q.ts AND q.a < 3 AND p.b = q.b) AS s FROM S AS p WHERE p.v > 0",
    "of all earlier rows of its own stream": "SELECT p.a, p.b FROM S AS p WHERE p.v < "
    "(SELECT AVG(q.v) FROM S AS q WHERE q.ts <= p.ts)",
    "of all earlier rows, with all columns": "SELECT *, (SELECT MIN(q.v) FROM T AS q WHERE q.b = p.b AND q.ts <= p.ts) "
    "AS m FROM S AS p",
    "a group's key": f"SELECT (SELECT COUNT(*) FROM {NEAR}) AS n, SUM(p.v) AS s FROM S AS p "
    f"GROUP BY p.ts DIV 4, (SELECT COUNT(*) FROM {NEAR})",
    "two of all earlier rows": "SELECT p.v, (SELECT COUNT(*) FROM T AS q WHERE q.b = p.b AND q.ts <= p.ts) AS n, "
    "(SELECT SUM(q.v) FROM T AS q WHERE q.b = p.b AND q.ts <= p.ts) AS s FROM S AS p",
    "added up": f"SELECT p.ts DIV 4 AS w, SUM((SELECT COUNT(*) FROM {NEAR})) AS n FROM S AS p GROUP BY p.ts DIV 4",
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [name for name, sql in BOUNDED.items() if "p WHERE" not in sql or name.endswith("threshold")]
)
def test_the_joins_give_the_rows_of_the_subquery(name: str) -> None:
    """Both as batch SQL, with equal rows and NULL among them."""
    (statement,) = split_statements(SourceText("q.sql", BOUNDED[name]))
    catalog = catalog_from_mapping(CATALOG)
    written, joined = (lower(statement, catalog, joining) for joining in (False, True))
    assert written.tree is not None and joined.tree is not None
    assert len(schema(written.tree, catalog)) == len(schema(joined.tree, catalog))
    text = to_sql(joined.tree).sql("duckdb")
    assert ("OVER" if "all earlier" in name else "GROUP BY") in text
    for seed in range(2 * MORE):
        with duckdb.connect(config={"threads": 1}) as database:
            for table, rows in random_rows(1, seed, 20).items():
                database.execute(f"CREATE TABLE {table} (a BIGINT, b BIGINT, v BIGINT, ts BIGINT)")
                database.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", [[*row.values()] for row in rows * 2])
            sql = sqlglot.transpile(BOUNDED[name], read="spark", write="duckdb")[0]
            assert sorted(map(repr, database.execute(sql).fetchall())) == sorted(
                map(repr, database.execute(text).fetchall())
            )


@pytest.mark.parametrize(
    "subquery",
    [
        "SELECT MAX(q.v) FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 1 AND p.ts HAVING COUNT(*) > 1",
        "SELECT q.v FROM T AS q WHERE q.a = p.a AND q.ts BETWEEN p.ts - 1 AND p.ts ORDER BY q.v LIMIT 1",
        "SELECT q.v FROM T AS q WHERE q.a = p.a AND q.ts = p.ts",
    ],
)
def test_others_are_refused_with_what_is_decided(subquery: str) -> None:
    checked = checked_circuit(f"SELECT p.v, ({subquery}) AS m FROM S AS p", CATALOG)
    (found,) = checked.diagnostics
    assert checked.verdict == "unsupported"
    assert "an aggregate of rows in a window of time around the row's" in found.help


def test_without_a_window_every_row_waits_for_good() -> None:
    checked = checked_circuit("SELECT p.v, (SELECT MAX(q.v) FROM T AS q WHERE q.a = p.a) AS m FROM S AS p", CATALOG)
    assert checked.verdict == "unbounded" and checked.circuit_witness is not None
    found = checked.diagnostics[0]
    assert "every value of p.a must be remembered" in found.message and "T.ts BETWEEN" in found.help
    bounded = "SELECT p.b, (SELECT MAX(q.b) FROM T AS q WHERE q.b = p.b) AS m FROM S AS p"
    assert checked_circuit(bounded, CATALOG).verdict == "bounded"


def test_all_columns_are_those_of_the_rows() -> None:
    sql = "SELECT * FROM S AS p WHERE p.b > (SELECT MAX(q.b) FROM T AS q)"
    (statement,) = split_statements(SourceText("q.sql", sql))
    catalog = catalog_from_mapping(CATALOG)
    tree = lower(statement, catalog).tree
    assert tree is not None
    assert [column.name for column in schema(tree, catalog)] == ["a", "b", "v", "ts"]


@pytest.mark.parametrize(
    ("condition", "rejects"),
    [
        ("x = 1", True),
        ("y BETWEEN x - 1 AND 3", True),
        ("y BETWEEN 1 AND x", True),
        ("y BETWEEN 1 AND 3", False),
        ("NOT y BETWEEN x AND 3", False),
        ("NOT x BETWEEN y AND 3", True),
        ("x = 1 OR y = 1", False),
        ("x = 1 AND y = 1", True),
        ("x IS NULL", False),
        ("NOT x IS NULL", True),
        ("x <=> y", False),
        ("COALESCE(x, 0) = y", False),
    ],
)
def test_conditions_that_reject_null(condition: str, rejects: bool) -> None:
    node = sqlglot.parse_one(condition, dialect="spark")
    assert rejects_null(node, lambda column: column.name == "x") is rejects
    with duckdb.connect() as database:
        text = node.sql("duckdb")
        rows = "(SELECT NULL::BIGINT AS x, unnest([NULL, 0, 1, 2, 4]) AS y)"
        assert bool(database.execute(f"SELECT 1 FROM {rows} WHERE {text}").fetchall()) is not rejects
