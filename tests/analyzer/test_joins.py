"""Joins that are no inner ones, and times compared with columns that are none: what is said is true."""

from __future__ import annotations

import pytest

from streambound.analyzer.diagnostics import Diagnostic
from streambound.analyzer.query import formula_attributes
from support.cases import lowered
from support.choices import Choices
from support.oracle import Oracle
from support.streams import small_rows

WAITS = "a row without a partner may still get one"
ONE = "JOIN gives the same where no row has several partners, and always under SELECT DISTINCT"


def finding(sql: str) -> Diagnostic:
    ((_, found),) = lowered(sql)
    (diagnostic,) = found.diagnostics
    return diagnostic


@pytest.mark.parametrize(
    ("from_", "name", "token", "help"),
    [
        ("S SEMI JOIN T ON S.a = T.a", "SEMI JOIN", "SEMI", ONE),
        ("S LEFT JOIN T ON S.a = T.a", "LEFT JOIN", "LEFT", WAITS),
        ("S LEFT JOIN (SELECT R.a FROM R, T) AS q ON S.a = q.a", "LEFT JOIN", "LEFT", WAITS),
        ("S JOIN R ON S.a = R.a RIGHT JOIN R AS q ON S.a = q.a", "RIGHT JOIN", "RIGHT", WAITS),
        ("S FULL JOIN R ON S.a = R.a", "FULL JOIN", "FULL", WAITS),
        ("S LEFT ANTI JOIN T ON S.a = T.a", "LEFT ANTI JOIN", "LEFT", WAITS),
    ],
)
def test_a_join_is_named_at_its_token_with_a_reason(from_: str, name: str, token: str, help: str) -> None:
    sql = f"SELECT S.a FROM {from_}"
    found = finding(sql)
    assert found.code == "SB110"
    assert found.message == f"{name} is outside the query language"
    assert sql[found.span.start : found.span.end] == token
    assert found.help.startswith(help)


def test_what_a_cte_reads_counts() -> None:
    sql = "WITH {name} AS (SELECT a FROM S) SELECT S.a FROM S LEFT JOIN {name} ON S.a = {name}.a"
    assert finding(sql.format(name="q")).help.startswith(WAITS)
    assert finding(sql.format(name="R")).help.startswith(WAITS)


def test_a_semi_join_may_be_a_join_under_distinct_and_with_one_partner() -> None:
    sql = "SELECT DISTINCT S.a FROM S SEMI JOIN T ON S.a = T.a"
    assert finding(sql).help == "write JOIN: under DISTINCT it gives the same"
    catalog = {
        "streams": {name: {"timestamp": "ts", "columns": {"a": "bigint", "ts": "bigint"}} for name in ("S", "T")},
        "relations": {},
    }
    same = 0
    for seed in range(30):
        rows = small_rows(Choices.seeded(seed), catalog, 6)
        oracle = Oracle(catalog, rows)
        assert oracle.counts(sql) == oracle.counts(sql.replace("SEMI JOIN", "JOIN"))
        rows["T"] = list({row["a"]: row for row in rows["T"]}.values())
        oracle, bag = Oracle(catalog, rows), sql.replace("DISTINCT ", "")
        found = oracle.counts(bag)
        assert found == oracle.counts(bag.replace("SEMI JOIN", "JOIN"))
        same += bool(found)
    assert same > 10


@pytest.mark.parametrize(
    "sql",
    [
        "E WHERE E.at > E.seen",
        "E AS x WHERE seen < at",
        "E, G WHERE E.at - G.seen < INTERVAL 1 DAY",
        "E WHERE E.at IN (E.seen, TIMESTAMP '2026-01-31 12:00:00')",
        "E WHERE E.at <=> E.seen",
        "S AS E, T WHERE T.c = E.ts",
    ],
)
def test_a_time_beside_another_column_is_a_value(sql: str) -> None:
    """An attribute that P+ does not take for the time, and that rows are shown with as it is."""
    ((_, found),) = lowered(f"SELECT 1 AS one FROM {sql}")
    query = found.query
    assert query is not None
    derived = [column for source in query.branches[0].sources for column in source.columns if column.expression]
    assert [column.expression for column in derived] in (["`at`"], ["`ts`"])
    assert not any(query.branches[0].is_time(a) for a in formula_attributes(query.branches[0].where))


def test_a_time_beside_a_column_of_another_type() -> None:
    found = finding("SELECT 1 AS one FROM E WHERE E.at = E.k")
    assert (found.code, found.message) == ("SB104", "timestamp and bigint cannot be compared exactly")
