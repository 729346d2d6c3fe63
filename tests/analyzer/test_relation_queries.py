"""Joins and subqueries that ask relations alone are decided when a row arrives; those that ask streams are refused."""

from __future__ import annotations

from itertools import combinations

import pytest

from streambound.analyzer.expressions import rows
from streambound.analyzer.render import render
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source
from streambound.criteria.vocabulary import Verdict
from streambound_runtime import spec
from support.cases import catalog, lowered

BOUNDED = {
    "SELECT S.a, R.name FROM S LEFT JOIN R ON R.a = S.a": 0,
    "SELECT S.a, R.name FROM R RIGHT OUTER JOIN S ON R.a = S.a": 0,
    "SELECT * EXCEPT (x, s, d, f, day) FROM S LEFT JOIN R USING (a)": 0,
    "SELECT S.a FROM S LEFT SEMI JOIN R ON R.a = S.a AND R.name <> S.s": 0,
    "SELECT S.a FROM S ANTI JOIN R USING (a)": 0,
    "SELECT a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a = S.a AND name LIKE 'x%')": 0,
    "SELECT a FROM S WHERE NOT EXISTS (SELECT 1 FROM R)": 0,
    "SELECT a FROM S WHERE a IN (SELECT a FROM R) OR b NOT IN (SELECT a FROM R WHERE name = 'n')": 0,
    "SELECT a, (SELECT max(R.a) FROM R WHERE R.name = S.s) AS m FROM S": 0,
    "SELECT a, (SELECT count(*) FROM R) AS n FROM S": 0,
    "SELECT a FROM S WHERE a > (SELECT avg(a) FROM R) AND b + 1 < (SELECT min(a) FROM R)": 0,
    "WITH k AS (SELECT a, count(*) AS n FROM R GROUP BY a) SELECT S.a FROM S SEMI JOIN k ON k.a = S.a AND n > 1": 0,
    "WITH k AS (SELECT a FROM R) SELECT a FROM S WHERE a IN (SELECT a FROM k)": 0,
    "SELECT a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a IN (SELECT a FROM R q WHERE q.name = R.name))": 0,
    "SELECT a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE name = 'x') OR b = 1": 0,
    "SELECT a FROM S WHERE (SELECT count(*) > 3 FROM R)": 0,
    "SELECT a FROM S WHERE a > (SELECT max(a) FROM R HAVING max(a) > (SELECT min(a) FROM R))": 0,
    "SELECT T.c FROM S LEFT ANTI JOIN R ON R.a = S.a JOIN T ON T.a = S.a AND T.ts > S.ts AND S.a BETWEEN 1 AND 3": 3,
}  # fmt: skip


@pytest.mark.parametrize("sql", BOUNDED)
def test_what_asks_relations_waits_for_nothing(sql: str) -> None:
    (item,) = check_source(SourceText("case.sql", sql), catalog())
    assert item.verdict is Verdict.BOUNDED, item.diagnostics
    assert item.bound is not None
    assert item.bound.entries.text in (str(BOUNDED[sql]), f"{BOUNDED[sql]}*c_S"), item.bound.entries.text


def test_a_left_join_is_what_has_a_partner_and_what_has_none() -> None:
    ((_, found),) = lowered("SELECT S.a, R.name FROM S LEFT JOIN R ON R.a = S.a AND R.name > 'm' WHERE S.b > 1")
    assert found.query is not None
    assert render(found.query).split("\n") == [
        "SELECT S.a, R.name FROM S, R WHERE R.a = S.a AND R.name > 'm' AND S.b > 1",
        "UNION ALL",
        "SELECT S.a, NULL AS name FROM S WHERE (NOT EXISTS(SELECT 1 FROM `R` AS `R` WHERE R.a = S.a AND R.name > 'm'))"
        " AND S.b > 1",
    ]


COMPUTED = {
    "SELECT S.a, c.n FROM S JOIN (SELECT a, count(*) AS n FROM R GROUP BY a) AS c ON c.a = S.a": "0",
    "SELECT S.a, c.n FROM S LEFT JOIN (SELECT a, count(*) AS n FROM R GROUP BY a) AS c ON c.a = S.a": "0",
    "WITH k AS (SELECT DISTINCT a FROM R) SELECT k.a FROM S JOIN k ON k.a = S.a JOIN T ON T.ts > S.ts AND T.a = k.a":
        "rows_k",
    "WITH k AS (SELECT a FROM R EXCEPT SELECT a FROM R) SELECT k.a FROM S JOIN k USING (a) JOIN T ON T.ts > S.ts":
        "rows_k",
    "SELECT 1 AS b FROM S JOIN (SELECT max(a) AS m FROM R) k ON k.m = S.a JOIN T ON T.ts > S.ts AND T.a = S.a":
        "rows_k",
}  # fmt: skip


@pytest.mark.parametrize("sql", COMPUTED)
def test_a_subquery_over_relations_is_a_relation(sql: str) -> None:
    (item,) = check_source(SourceText("case.sql", sql), catalog())
    assert item.verdict is Verdict.BOUNDED, item.diagnostics
    assert item.bound is not None
    assert item.bound.entries.text.endswith(COMPUTED[sql]), item.bound.entries.text


def test_equal_subqueries_are_one_relation() -> None:
    k = "(SELECT DISTINCT a FROM R)"
    other = "(SELECT a FROM R GROUP BY a)"
    ((_, found),) = lowered(f"SELECT k.a FROM S JOIN {k} AS k ON k.a = S.a JOIN {other} AS l ON l.a = S.b")
    assert found.query is not None
    assert [source.table for source in found.query.branches[0].sources] == ["S", "k", "l"]
    ((_, again),) = lowered(render(found.query))
    assert again.query is not None
    assert render(again.query) == render(found.query)


WAITING = "SELECT S.a FROM S JOIN T ON S.ts < T.ts JOIN {} AS k ON k.a = S.b"


@pytest.mark.parametrize(
    "rows",
    [
        "(SELECT DISTINCT a FROM R)",
        "(SELECT a, count(*) AS n FROM R GROUP BY a)",
        "(SELECT max(a) AS a FROM R)",
    ],
)
def test_rows_that_are_computed_are_proved_of_by_a_witness_of_what_they_are_computed_of(rows: str) -> None:
    (item,) = check_source(SourceText("case.sql", WAITING.format(rows)), catalog())
    assert item.verdict is Verdict.UNBOUNDED
    assert item.circuit_witness is not None
    witness = item.circuit_witness.of_size(3)
    assert witness is not None
    subsets = [subset for size in range(4) for subset in combinations(range(3), size)]
    found = [item.circuit_witness.changes(witness, subset, range(witness.size)) for subset in subsets]
    assert all(one != other for one, other in combinations(found, 2))


def test_nothing_is_proved_of_rows_that_are_never_there() -> None:
    rows = "(SELECT a FROM R EXCEPT SELECT a FROM R)"
    (item,) = check_source(SourceText("case.sql", WAITING.format(rows)), catalog())
    assert item.verdict is Verdict.UNKNOWN
    assert any("the rows of k are computed" in found.message for found in item.diagnostics)


def test_a_row_that_waits_for_a_stream_must_still_be_bounded() -> None:
    sql = "SELECT S.a, R.name FROM S LEFT JOIN R ON R.a = S.a JOIN T ON T.ts > S.ts"
    (item,) = check_source(SourceText("case.sql", sql), catalog())
    assert item.verdict is not Verdict.BOUNDED
    assert any(found.message.startswith("nothing bounds S.a, which is shown") for found in item.diagnostics)


def test_the_analysis_and_the_runtime_call_a_row_the_same() -> None:
    """They must not import each other; expressions of the one are evaluated by the other."""
    assert rows.ROW == spec.ROW
