"""Verdicts of queries with expressions: bounded by domains that are evident, unbounded where DuckDB agrees, or unknown.

A wrong *unbounded* would be the worst: the cases that are not are those of which a careless witness says that they are.
"""

from __future__ import annotations

from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.query import Computed
from streambound.criteria.size import Number
from streambound.criteria.vocabulary import Verdict
from streambound.criteria.witness import build
from streambound.recheck.oracle.prove import prove
from streambound.reports.witness_report import json_rows
from support.catalogs import streams, with_domain, with_relation
from support.product import checked, decided, parsed

CATALOG: dict[str, Any] = with_relation(
    with_domain(
        streams("S T", s="string", d="double", p="decimal(12,2)", t="tinyint", f="boolean", g="string", day="date"),
        "S",
        "g",
        ["red", "green"],
    ),
    k="bigint",
    name="string",
)
BOUNDED = {
    "SELECT DISTINCT a % 10 FROM S": 20,
    "SELECT DISTINCT pmod(a, 10) FROM S": 11,
    "SELECT DISTINCT CASE WHEN a > 3 THEN 'x' ELSE 'y' END FROM S": 3,
    "SELECT DISTINCT IF(a > 3, 1, b % 3) FROM S": 6,
    "SELECT DISTINCT a > 3 FROM S": 3,
    "SELECT DISTINCT s LIKE 'x%' FROM S": 3,
    "SELECT DISTINCT CAST(a AS TINYINT) FROM S": 257,
    "SELECT DISTINCT t + 1 FROM S": 257,
    "SELECT DISTINCT t * 2.5 FROM S": 257,
    "SELECT DISTINCT CAST(t AS STRING) FROM S": 257,
    "SELECT DISTINCT length(g) FROM S": 3,
    "SELECT DISTINCT upper(g) FROM S": 3,
    "SELECT DISTINCT g || '!' FROM S": 3,
    "SELECT DISTINCT month(day) FROM S": 13,
    "SELECT DISTINCT coalesce(a % 3, 7) FROM S": 11,
    "SELECT DISTINCT a + 1 FROM S WHERE a BETWEEN 1 AND 5": 6,
    "SELECT DISTINCT b - 3 AS z FROM S WHERE b + 1 BETWEEN 1 AND 5": 6,
    "SELECT T.a + 1 AS z FROM S, T WHERE S.ts > T.ts AND T.a > 3 AND T.a < 6 AND S.b > T.a": 6,
    "SELECT S.a FROM S, T WHERE S.ts > T.ts AND upper(S.s) = 'X'": 1,
    "SELECT S.a FROM S, T WHERE S.ts > T.ts AND S.a % 5 = T.a % 5": 9,
    "SELECT S.a FROM S, T WHERE S.ts > T.ts AND length(T.s) < 3": 1,
    "SELECT concat(S.s, '-', T.a % 3) AS z FROM S, T WHERE S.ts > T.ts": 6,
    "SELECT DISTINCT S.a % 3 + T.a % 2 AS z FROM S, T WHERE S.ts > T.ts": None,
}
UNBOUNDED = (
    "SELECT DISTINCT a + 1 FROM S",
    "SELECT DISTINCT 7 - a FROM S",
    "SELECT DISTINCT a * 3 + b FROM S WHERE b = 0",
    "SELECT DISTINCT -a FROM S",
    "SELECT DISTINCT a, a + 1 AS z FROM S",
    "SELECT DISTINCT a + 1 AS z FROM S WHERE a > b",
    "SELECT DISTINCT a * 2 FROM S",
    "SELECT DISTINCT abs(a) FROM S",
    "SELECT DISTINCT upper(s) FROM S",
    "SELECT DISTINCT concat('id-', s, '.x') FROM T",
    "SELECT DISTINCT CAST(a AS STRING) FROM S",
    "SELECT DISTINCT coalesce(a, 5) FROM S",
    "SELECT DISTINCT a, a % 10, CASE WHEN a > 3 THEN 'x' END FROM S",
    "SELECT DISTINCT a FROM S WHERE s LIKE 'x%'",
    "SELECT DISTINCT a FROM S WHERE b % 7 = 3",
    "SELECT S.b FROM S, T WHERE S.ts > T.ts AND upper(S.s) = upper(T.s)",
    "SELECT S.b FROM S, T WHERE S.ts > T.ts AND S.a * 2 < T.a + 1",
    "SELECT T.a, T.a + S.b AS c FROM S, T WHERE S.ts > T.ts",
    "SELECT DISTINCT a FROM S WHERE upper(s) = 'X' UNION SELECT a FROM S WHERE b % 2 = 1",
    "SELECT DISTINCT a * 2 AS z FROM S UNION SELECT a * 2 FROM S WHERE b > 4",
    "SELECT a * 2 AS z FROM S WHERE b < 0 UNION SELECT a FROM T WHERE length(s) = 2",
    "SELECT x.a FROM S AS x, S AS y WHERE x.ts < y.ts AND upper(x.s) = upper(y.s)",
    "SELECT x.a, y.b % 3 AS m FROM S AS x, S AS y WHERE x.ts < y.ts AND y.b % 3 = 1",
    "SELECT S.a FROM S, T WHERE S.ts < T.ts AND NOT EXISTS (SELECT 1 FROM R WHERE R.k = S.a)",
    "SELECT S.a FROM S ANTI JOIN R ON R.k = S.a AND R.name <> S.s, T WHERE S.ts < T.ts",
    "SELECT S.a FROM S, T WHERE S.ts < T.ts AND S.a NOT IN (SELECT k FROM R)",
    "SELECT S.a, R.name FROM S LEFT JOIN R ON R.k = S.a JOIN T ON S.ts < T.ts",
)
UNKNOWN = (
    "SELECT DISTINCT a * 0 FROM S",
    "SELECT DISTINCT length(s) FROM S",
    "SELECT DISTINCT greatest(a, -1000) FROM S",
    "SELECT DISTINCT CASE WHEN a > 0 THEN a ELSE 0 END FROM S",
    "SELECT DISTINCT CAST(CAST(a AS SMALLINT) AS DECIMAL(10,0)) FROM S",
    "SELECT DISTINCT CAST(CAST(a AS DECIMAL(2,0)) AS BIGINT) FROM S",
    "SELECT DISTINCT a FROM S WHERE length(CAST(a AS STRING)) < 4",
    "SELECT DISTINCT a FROM S WHERE get_json_object(s, '$.x') = 'y'",
    "SELECT DISTINCT a, 100 / (a - 70000) FROM S",
    "SELECT (T.a + S.b) % 2 AS z FROM S, T WHERE S.ts > T.ts",
    "SELECT DISTINCT sqrt(a) FROM S",
    "SELECT DISTINCT a * b FROM S WHERE a + b = 1",
)
OF_SEVERAL = (
    "SELECT DISTINCT a * 2 AS z FROM S UNION SELECT a FROM S",
    "SELECT DISTINCT a + 0 AS z FROM S WHERE a % 2 = 0 UNION SELECT a FROM S WHERE a % 3 = 0",
    "SELECT x.a FROM S AS x, S AS y WHERE x.ts < y.ts AND x.a % 3 = y.a % 2",
)
"""Of which another branch, or another use of the table, sees what was chosen for an expression's sake."""


@pytest.mark.parametrize("sql", BOUNDED, ids=str)
def test_bounded(sql: str) -> None:
    decision = decided(sql, CATALOG)
    assert decision.verdict is Verdict.BOUNDED
    assert decision.bound is not None
    if (entries := BOUNDED[sql]) is not None:
        assert decision.bound.entries == Number(entries)


@pytest.mark.parametrize("sql", UNBOUNDED, ids=str)
def test_unbounded_as_duckdb_proves(sql: str) -> None:
    decision = decided(sql, CATALOG)
    assert decision.verdict is Verdict.UNBOUNDED
    assert decision.witness is not None
    witness = build(decision.witness.plan, 5)
    assert witness is not None
    split = decision.derivation.split
    elements, probes = ([json_rows(split, rows) for rows in part] for part in (witness.elements, witness.probes))
    catalog = catalog_from_mapping(CATALOG)
    assert prove(parsed(sql), catalog, json_rows(split, witness.always), elements, probes).holds


@pytest.mark.parametrize("sql", OF_SEVERAL, ids=str)
def test_nothing_is_proved_where_another_branch_sees_what_was_chosen(sql: str) -> None:
    assert decided(sql, CATALOG).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("sql", UNKNOWN, ids=str)
def test_unknown_with_the_expression_named(sql: str) -> None:
    decision = decided(sql, CATALOG)
    assert decision.verdict is Verdict.UNKNOWN
    assert decision.diagnostics[0].code == "SB207"
    assert "not every value of" in decision.diagnostics[0].message


def test_a_declared_domain_is_no_room_for_a_witness() -> None:
    catalog = with_domain(CATALOG, "S", "a", [0, 99_999])
    assert decided("SELECT DISTINCT a * 2.5 FROM S", catalog).verdict is not Verdict.UNBOUNDED
    assert decided("SELECT DISTINCT a % 10 FROM S", catalog).bound.entries == Number(11)  # type: ignore[union-attr]


def test_one_expression_is_one_column_of_its_table() -> None:
    query = decided("SELECT a * 2 AS x, 2 * a AS y FROM S WHERE a*2 > 3 AND A * 2 < b", CATALOG).query
    (source,) = query.branches[0].sources
    assert [column.expression for column in source.derived] == ["`a` * 2", "2 * `a`"]


def test_what_is_not_used_is_not_derived() -> None:
    query = decided("SELECT a FROM (SELECT a, upper(s) AS u, a / b AS q FROM S) AS x WHERE u = 'X'", CATALOG).query
    assert [column.name for column in query.branches[0].sources[0].derived] == ["upper(s)"]


def test_several_rows_are_computed_of_the_largest_parts() -> None:
    query = decided("SELECT upper(S.s) || (T.a + T.b) || S.g AS z FROM S, T WHERE S.ts = T.ts", CATALOG).query
    value = query.branches[0].outputs[0].value
    assert isinstance(value, Computed)
    assert value.text == "`_1` || `_2` || `_3`"
    assert [str(attribute) for attribute in value.attributes] == ["S.upper(s)", "T.a + b", "S.g"]


def test_a_rejected_expression_is_told_where_its_column_is_declared() -> None:
    found = checked("SELECT DISTINCT a + 1 FROM S", CATALOG).diagnostics[0]
    assert "domain." not in found.help


@pytest.mark.parametrize(
    ("expression", "words"), [("x || x", "more than 2,000 parts"), ("upper(x)", "nested too deeply")]
)
def test_expressions_of_expressions_end(expression: str, words: str) -> None:
    ctes = "".join(f", c{n} AS (SELECT {expression} AS x FROM c{n - 1})" for n in range(1, 61))
    found = checked(f"WITH c0 AS (SELECT s AS x FROM S){ctes} SELECT x FROM c60", CATALOG)
    assert found.decision is None
    assert words in found.diagnostics[0].message
