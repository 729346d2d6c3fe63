"""The order of equal rows in the batch SQL that a job is compared with."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.recheck.oracle.tied_rows import with_ties

CATALOG = catalog_from_mapping(
    {
        "streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "v": "bigint", "ts": "bigint"}}},
        "relations": {"R": {"columns": {"k": "bigint"}}},
    }
)
TIES = "`x`.`a`, `x`.`v`, `x`.`ts`"
FROM_FIRST = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
ORDERED = {
    "SELECT LAG(v) OVER (PARTITION BY a ORDER BY ts) AS l FROM S AS x": (
        f"SELECT LAG(v) OVER (PARTITION BY a ORDER BY ts, {TIES}) AS l FROM S AS x"
    ),
    "SELECT SUM(v) OVER (ORDER BY ts ROWS 2 PRECEDING) AS l FROM S AS x": (
        f"SELECT SUM(v) OVER (ORDER BY ts, {TIES} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS l FROM S AS x"
    ),
    "SELECT FIRST_VALUE(v) OVER (ORDER BY ts) AS l FROM S AS x": (
        f"SELECT FIRST_VALUE(v) OVER (ORDER BY ts, {TIES} {FROM_FIRST}) AS l FROM S AS x"
    ),
    "SELECT ROW_NUMBER() OVER w AS r, SUM(v) OVER w AS s FROM S AS x WINDOW w AS (ORDER BY ts)": (
        f"SELECT ROW_NUMBER() OVER (ORDER BY ts, {TIES}) AS r, SUM(v) OVER (ORDER BY ts) AS s FROM S AS x"
    ),
    "SELECT ROW_NUMBER() OVER (ORDER BY n) AS r FROM (SELECT *, COUNT(*) AS n FROM R CROSS JOIN S GROUP BY ALL) AS x": (
        "SELECT ROW_NUMBER() OVER (ORDER BY n, `x`.`k`, `x`.`a`, `x`.`v`, `x`.`ts`, `x`.`n`) AS r "
        "FROM (SELECT *, COUNT(*) AS n FROM R CROSS JOIN S GROUP BY ALL) AS x"
    ),
    "SELECT LEAD(v) OVER (ORDER BY ts) AS l FROM S AS x LEFT SEMI JOIN R ON R.k = x.a": (
        f"SELECT LEAD(v) OVER (ORDER BY ts, {TIES}) AS l FROM S AS x LEFT SEMI JOIN R ON R.k = x.a"
    ),
}


@pytest.mark.parametrize("sql", ORDERED)
def test_equal_rows_are_in_the_order_of_their_columns(sql: str) -> None:
    assert with_ties(parse_one(sql, dialect="spark"), CATALOG).sql("spark") == ORDERED[sql]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(v) OVER (ORDER BY ts) AS s, RANK() OVER (ORDER BY ts) AS r FROM S",
        "SELECT LAST_VALUE(v) OVER (ORDER BY ts) AS l FROM S",
        "WITH S AS (SELECT 1 AS ts) SELECT ROW_NUMBER() OVER (ORDER BY ts) AS r FROM S",
        "SELECT ROW_NUMBER() OVER (ORDER BY ts) AS r FROM nowhere",
    ],
)
def test_what_no_order_of_equal_rows_changes_or_is_known_of_stays(sql: str) -> None:
    tree = parse_one(sql, dialect="spark")
    assert with_ties(tree, CATALOG) == tree
