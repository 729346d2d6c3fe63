"""What is computed of several rows, or is a time, below other operators: jobs print what batch SQL says, within M."""

from __future__ import annotations

import pytest

from support.circuits import TWO_STREAMS as CATALOG
from support.circuits import checked_circuit, circuit_plan, random_rows, reference, run_circuit
from support.profiles import MORE

PAIRS = "FROM S JOIN T ON S.ts > T.ts"
NEAR = f"{PAIRS} AND S.ts < T.ts + 9"
BOUNDED = [
    f"SELECT x, COUNT(*) AS n FROM (SELECT S.b * T.b AS x {PAIRS}) GROUP BY x",
    f"SELECT S.b * T.b AS x, SUM(S.v) AS v {PAIRS} GROUP BY S.b * T.b",
    f"SELECT S.b * T.b AS x {PAIRS} UNION ALL SELECT b FROM S GROUP BY b",
    f"SELECT S.b * T.b AS x {PAIRS} EXCEPT SELECT b FROM S",
    f"SELECT S.b, COUNT(DISTINCT S.b * T.b) AS v {PAIRS} GROUP BY S.b",
    f"SELECT S.b, MAX(S.b * T.b) AS v {PAIRS} GROUP BY S.b",
    f"SELECT S.ts DIV 4 AS z, S.b * T.b AS x, COUNT(*) AS n {NEAR} GROUP BY S.ts DIV 4, S.b * T.b",
    f"SELECT x, COUNT(*) AS n FROM (SELECT S.ts - T.ts AS x {NEAR}) GROUP BY x",
    f"SELECT S.ts DIV 4 AS z, S.ts - T.ts AS x, COUNT(*) AS n {NEAR} GROUP BY S.ts DIV 4, S.ts - T.ts",
    f"SELECT S.ts DIV 4 AS z, T.ts AS x, COUNT(*) AS n {NEAR} GROUP BY S.ts DIV 4, T.ts",
    f"SELECT S.b, COUNT(DISTINCT S.ts - T.ts) AS n {NEAR} GROUP BY S.b",
    f"SELECT S.ts - T.ts AS d {NEAR} EXCEPT SELECT b FROM S",
    "SELECT b, MAX(ts) AS m FROM S GROUP BY b",
    "SELECT b, MIN(ts) AS m, COUNT(*) AS n FROM S GROUP BY b",
    "SELECT MAX(ts) AS m, MIN(ts) AS n, MAX(v) AS w FROM S",
    f"SELECT MAX(T.ts) AS m {PAIRS}",
    f"SELECT n FROM (SELECT S.b, T.b, COUNT(*) AS n {PAIRS} GROUP BY S.b, T.b) WHERE n > 1",
    f"SELECT y, n FROM (SELECT S.b, T.b, COUNT(*) AS n {PAIRS} GROUP BY S.b, T.b) AS d (x, y, n) WHERE x < 2",
]


@pytest.mark.parametrize("seed", range(1, 1 + MORE))
@pytest.mark.parametrize("sql", BOUNDED)
def test_a_job_prints_the_changes_of_every_prefix(sql: str, seed: int) -> None:
    checked = checked_circuit(sql, CATALOG)
    assert checked.verdict == "bounded", checked.diagnostics
    rows = random_rows(1, seed)
    run = run_circuit(checked, rows)
    assert run.prints(reference(sql, CATALOG, rows))
    assert run.printed
    assert checked.circuit_bound is not None
    most = checked.circuit_bound.entries.value
    assert most is not None and run.peak <= most


def test_both_halves_of_an_inequality_below_an_aggregate_are_counted_once() -> None:
    checked = checked_circuit(f"SELECT T.b, COUNT(*) AS n {PAIRS} AND S.v <> T.b GROUP BY T.b", CATALOG)
    assert checked.circuit_bound is not None
    assert [state.size.value for state in checked.circuit_bound.states] == [3, 3]


def test_columns_of_one_name_are_those_of_the_select_list_all_the_same() -> None:
    checked = checked_circuit(
        f"SELECT * FROM (SELECT S.b AS x, T.b AS y, COUNT(*) AS n {PAIRS} GROUP BY S.b, T.b) AS d (p, q, r)", CATALOG
    )
    assert [column.name for column in circuit_plan(checked).columns] == ["p", "q", "r"]
