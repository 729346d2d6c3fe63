"""Joins that are no inner ones, and times compared with columns that are none: what is said is true."""

from __future__ import annotations

import pytest

from streambound.analyzer.diagnostics import Diagnostic
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
    ("sql", "message", "constant"),
    [
        ("E WHERE E.at > E.seen", "E.at is an application time, and E.seen is not, though of type timestamp", "TIMEST"),
        ("E AS x WHERE seen < at", "x.at is an application time, and x.seen is not, though of type timestamp", "TIMES"),
        ("E, G WHERE E.at - G.seen < INTERVAL 1 DAY", "E.at is an application time, and G.seen is not, though", "TIME"),
        ("E WHERE E.at = E.k", "E.at is an application time, and E.k is not, but of type bigint", "TIMESTAMP"),
        ("S AS E, T WHERE T.c = E.ts", "E.ts is an application time, and T.c is not, though of type bigint", "an int"),
    ],
)
def test_a_column_of_a_times_type_is_no_application_time(sql: str, message: str, constant: str) -> None:
    found = finding(f"SELECT 1 AS one FROM {sql}")
    assert found.code == "SB111"
    assert found.message.startswith(message)
    assert f"with a constant: {constant}" in found.help
