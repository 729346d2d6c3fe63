"""EXISTS and IN below OR, and joins whose kept side has several cases: as in DuckDB, with verdict, M and proof."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streambound.jobs import planned_circuit
from streambound.synopsis_exec.job_spec import job_spec
from support.circuits import (
    Printed,
    certificate_of,
    checked_circuit,
    in_duckdb,
    in_the_end,
    proof_of,
    random_rows,
)
from support.embedded import run_here, write_input
from support.jobs import read

COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}
CATALOG: dict[str, Any] = {
    "streams": {name: {"timestamp": "ts", "columns": COLUMNS, "max_per_timestamp": 2} for name in ("S", "T")}
}  # fmt: skip
CATALOG["relations"] = {"R": {"columns": {"k": "bigint", "x": "bigint"}, "rows": 4}}
SOON = "(SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2)"
OF_V = "(SELECT T.b FROM T WHERE T.v > S.v AND T.ts BETWEEN S.ts - 2 AND S.ts)"

OF_A_JOIN = {
    "exists of a join": "SELECT S.a, S.v FROM S WHERE EXISTS (SELECT 1 FROM T JOIN R ON R.k = T.a "
    "WHERE R.x > 0 AND T.b = S.b AND T.ts BETWEEN S.ts - 1 AND S.ts + 2)",
    "not exists of a join, the relation first": "SELECT S.a, S.v FROM S WHERE NOT EXISTS (SELECT 1 FROM R, T "
    "WHERE R.k = T.a AND R.x < T.b + 1 AND T.b = S.b AND T.ts BETWEEN S.ts - 1 AND S.ts + 2)",
    "in of a join": "SELECT S.a, S.v FROM S WHERE S.v > 0 OR S.b IN (SELECT T.b FROM T JOIN R ON R.k = T.a "
    "WHERE T.ts BETWEEN S.ts - 2 AND S.ts)",
}
RELATION = [{"k": 1, "x": 1}, {"k": 2, "x": -1}, {"k": 2, "x": 3}, {"k": None, "x": 2}]


def test_conditions_of_several_cases_are_tested_above_the_join_where_that_needs_no_more() -> None:
    one = checked_circuit(f"SELECT S.a FROM S WHERE S.v = 1 AND NOT EXISTS {SOON}", CATALOG)
    several = checked_circuit(f"SELECT S.a FROM S WHERE S.v IN (1, 2, 3) AND NOT EXISTS {SOON}", CATALOG)
    assert one.circuit_bound is not None and several.circuit_bound is not None
    assert several.circuit_bound.entries.value == one.circuit_bound.entries.value


@pytest.mark.parametrize("rows", ["SELECT a FROM S ORDER BY v", "SELECT a FROM S GROUP BY a ORDER BY a"])
def test_what_is_refused_below_other_operators_is_told_in_words_of_sql(rows: str) -> None:
    (told,) = checked_circuit(f"SELECT x.a, COUNT(*) AS n FROM ({rows}) AS x GROUP BY x.a", CATALOG).diagnostics
    assert str(told.code) == "SB110"
    assert told.message.startswith("ORDER BY") and "LIMIT" in told.help


def test_of_a_subquery_inside_an_expression_the_message_says_so() -> None:
    checked = checked_circuit(f"SELECT S.a FROM S WHERE (S.b IN {OF_V[:-1]} GROUP BY T.b)) = (S.b > 1)", CATALOG)
    assert [str(one.code) for one in checked.diagnostics] == ["SB110"]
    assert "inside an expression" in checked.diagnostics[0].message


@pytest.mark.parametrize("sql", OF_A_JOIN.values(), ids=list(OF_A_JOIN))
def test_of_a_join_with_a_relation_only_the_stream_is_remembered(sql: str, tmp_path: Path) -> None:
    checked = checked_circuit(sql, CATALOG)
    assert str(checked.verdict) == "bounded", checked.diagnostics
    assert checked.circuit_bound is not None and checked.catalog is not None
    assert "c_T" in str(checked.circuit_bound.entries) and "rows_R" not in str(checked.circuit_bound.entries)
    assert proof_of(checked, certificate_of(checked)).faults == ()
    plan = planned_circuit(checked, checked.catalog)
    assert plan is not None
    job, rows = job_spec(plan), random_rows(1, 3)
    write_input(job, tmp_path, {**rows, "R": RELATION})
    run_here(job, tmp_path)
    printed = Printed()
    for row in read(tmp_path / "output"):
        printed[tuple(row.values())[:-1]] += row["_mult"]
    values = ", ".join(f"({row['k'] or 'NULL'}, {row['x']})" for row in RELATION)
    assert in_the_end(printed) == in_duckdb(f"WITH R(k, x) AS (VALUES {values}) {sql}", rows)
    assert printed
