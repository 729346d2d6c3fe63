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
    run_circuit,
)
from support.embedded import run_here, write_input
from support.jobs import read
from support.profiles import MORE

COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}
CATALOG: dict[str, Any] = {
    "streams": {name: {"timestamp": "ts", "columns": COLUMNS, "max_per_timestamp": 2} for name in ("S", "T")}
}  # fmt: skip
CATALOG["relations"] = {"R": {"columns": {"k": "bigint", "x": "bigint"}, "rows": 4}}
SOON = "(SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2)"
OF_V = "(SELECT T.b FROM T WHERE T.v > S.v AND T.ts BETWEEN S.ts - 2 AND S.ts)"
LATER = "(SELECT 1 FROM T WHERE T.v < S.b AND T.ts BETWEEN S.ts AND S.ts + 1)"
LEAST = "(SELECT MIN(T.v) FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts)"
BELOW_OR = {
    "exists": f"SELECT S.a, S.v FROM S WHERE S.v > 1 OR EXISTS {SOON}",
    "not exists": f"SELECT S.a, S.v FROM S WHERE S.b = 0 OR NOT EXISTS {SOON}",
    "in": f"SELECT S.ts, S.b FROM S WHERE S.a = 1 OR S.b IN {OF_V}",
    "not in": f"SELECT S.ts, S.b FROM S WHERE S.a = 1 OR S.b NOT IN {OF_V}",
    "below AND": f"SELECT S.a, S.v FROM S WHERE S.v > 2 OR S.b <> 1 AND (S.v < 0 OR EXISTS {SOON}) AND S.a > 0",
    "beside a condition": f"SELECT S.a, S.v FROM S WHERE S.v < 3 AND (S.a IS NULL OR NOT EXISTS {SOON})",
    "with a condition of several cases": f"SELECT S.a FROM S WHERE S.v IN (1, 2) AND (S.b = 0 OR EXISTS {SOON})",
    "two": f"SELECT S.a, S.v FROM S WHERE EXISTS {SOON} OR S.b IN {OF_V}",
    "two, the first without": f"SELECT S.a, S.b FROM S WHERE NOT EXISTS {SOON} OR S.b IN {OF_V}",
    "two that have no partner": f"SELECT S.a, S.b FROM S WHERE NOT EXISTS {SOON} OR NOT EXISTS {LATER}",
    "three": f"SELECT S.v FROM S WHERE S.v > 2 OR EXISTS {SOON} OR S.b IN {OF_V} OR NOT EXISTS {LATER}",
    "AND of two, below OR": f"SELECT S.a, S.v FROM S WHERE S.b = 0 OR EXISTS {SOON} AND S.v < 3 AND S.b IN {OF_V}",
    "a comparison with a subquery": f"SELECT S.a, S.b FROM S WHERE S.b = {LEAST} OR EXISTS {SOON}",
    "a comparison with a subquery, below AND": f"SELECT S.a FROM S WHERE S.v < 3 AND NOT EXISTS {SOON} "
    f"OR S.b < {LEAST}",
    "OR of AND of two": f"SELECT S.a, S.v FROM S WHERE EXISTS {LATER} OR NOT EXISTS {SOON} AND S.b IN {OF_V}",
    "AND of OR of two": f"SELECT S.a FROM S WHERE (EXISTS {SOON} OR S.b IN {OF_V}) AND (S.v < 0 OR NOT EXISTS {LATER})",
    "groups of a window": f"SELECT S.ts DIV 5 AS w, COUNT(*) AS n, MAX(S.v) AS m FROM S "
    f"WHERE S.v > 1 OR EXISTS {SOON} GROUP BY S.ts DIV 5",
}
CASES = {
    "semi": f"SELECT S.a, S.b FROM S WHERE S.v IN (0, 1, 2) AND EXISTS {SOON}",
    "anti": f"SELECT S.a, S.b FROM S WHERE (S.v > 0 OR S.b = 1) AND NOT EXISTS {SOON}",
    "left": "SELECT S.a, T.v FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2 "
    "WHERE S.v IN (0, 1) OR S.b = 2",
    "right": "SELECT S.a, T.v FROM (SELECT * FROM T WHERE v > 0) AS T RIGHT JOIN S "
    "ON T.a = S.a AND T.ts BETWEEN S.ts - 1 AND S.ts + 2 WHERE S.b <> 1",
    "not in": f"SELECT S.ts, S.b FROM S WHERE (S.a = 1 OR S.v > 0) AND S.b NOT IN {OF_V}",
    "three, whose last partners come later": "SELECT S.a, S.b FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.a = S.a "
    "AND T.ts BETWEEN S.ts - 1 AND S.ts) AND NOT EXISTS (SELECT 1 FROM T WHERE T.b = S.v AND T.ts BETWEEN S.ts - 1 "
    "AND S.ts) AND EXISTS (SELECT 1 FROM T WHERE T.v <> 3 AND T.ts BETWEEN S.ts AND S.ts + 1)",
    "values that are few": "SELECT S.v FROM S WHERE S.v IN (0, 1) AND NOT EXISTS (SELECT 1 FROM T WHERE T.b = 0)",
    "different ones": "SELECT DISTINCT S.v FROM S WHERE S.v IN (0, 1) AND EXISTS (SELECT T.a FROM T WHERE T.b = 0)",
    "a union of windows": "SELECT x.w, COUNT(*) AS n FROM (SELECT ts DIV 4 AS w FROM S WHERE v > 0 UNION ALL "
    f"SELECT S.ts DIV 4 AS w FROM S WHERE NOT EXISTS {SOON}) AS x GROUP BY x.w",
}

OF_A_JOIN = {
    "exists of a join": "SELECT S.a, S.v FROM S WHERE EXISTS (SELECT 1 FROM T JOIN R ON R.k = T.a "
    "WHERE R.x > 0 AND T.b = S.b AND T.ts BETWEEN S.ts - 1 AND S.ts + 2)",
    "not exists of a join, the relation first": "SELECT S.a, S.v FROM S WHERE NOT EXISTS (SELECT 1 FROM R, T "
    "WHERE R.k = T.a AND R.x < T.b + 1 AND T.b = S.b AND T.ts BETWEEN S.ts - 1 AND S.ts + 2)",
    "in of a join": "SELECT S.a, S.v FROM S WHERE S.v > 0 OR S.b IN (SELECT T.b FROM T JOIN R ON R.k = T.a "
    "WHERE T.ts BETWEEN S.ts - 2 AND S.ts)",
}
RELATION = [{"k": 1, "x": 1}, {"k": 2, "x": -1}, {"k": 2, "x": 3}, {"k": None, "x": 2}]


@pytest.mark.parametrize("sql", [*BELOW_OR.values(), *CASES.values()], ids=[*BELOW_OR, *CASES])
def test_it_gives_what_duckdb_gives_and_keeps_no_more_than_is_proved(sql: str) -> None:
    checked = checked_circuit(sql, CATALOG)
    assert str(checked.verdict) == "bounded", checked.diagnostics
    bound = checked.circuit_bound
    assert bound is not None and bound.entries.value is not None
    assert proof_of(checked, certificate_of(checked)).faults == ()
    kept = printed = 0
    for seed in range(4 * MORE):
        if seed >= MORE and kept and printed:
            break
        rows = random_rows(1, seed)
        found = run_circuit(checked, rows, ticks=3 if seed < 3 else 12)
        assert in_the_end(found.printed) == in_duckdb(sql, rows)
        assert found.peak <= bound.entries.value
        kept, printed = max(kept, found.peak), printed + len(found.printed)
    assert kept and printed


def test_conditions_of_several_cases_are_tested_above_the_join_where_that_needs_no_more() -> None:
    one = checked_circuit(f"SELECT S.a FROM S WHERE S.v = 1 AND NOT EXISTS {SOON}", CATALOG)
    several = checked_circuit(f"SELECT S.a FROM S WHERE S.v IN (1, 2, 3) AND NOT EXISTS {SOON}", CATALOG)
    assert one.circuit_bound is not None and several.circuit_bound is not None
    assert several.circuit_bound.entries.value == one.circuit_bound.entries.value


@pytest.mark.parametrize("rows", ["SELECT a FROM S ORDER BY v LIMIT 3", "SELECT a FROM S GROUP BY a ORDER BY a"])
def test_what_is_refused_below_other_operators_is_told_in_words_of_sql(rows: str) -> None:
    (told,) = checked_circuit(f"SELECT x.a, COUNT(*) AS n FROM ({rows}) AS x GROUP BY x.a", CATALOG).diagnostics
    assert str(told.code) == "SB110"
    assert told.message.startswith("ORDER BY") and "ROW_NUMBER" in told.help


def test_of_a_subquery_inside_an_expression_the_message_says_so() -> None:
    checked = checked_circuit(f"SELECT S.a FROM S WHERE (S.b IN {OF_V}) = (S.b > 1)", CATALOG)
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
