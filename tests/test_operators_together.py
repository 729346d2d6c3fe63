"""Operators above each other, beyond what each statement says (`test_statements.py`): words, names and sizes."""

from __future__ import annotations

from typing import Any

import pytest

from streambound.criteria.judged import CircuitBound
from support.circuits import TWO_STREAMS as CATALOG
from support.circuits import checked_circuit, circuit_plan, random_rows, reference, run_circuit

PAIRS = "FROM S JOIN T ON S.ts > T.ts"
JOINED = "S AS p JOIN T AS l ON l.a = p.a AND l.ts BETWEEN p.ts - 1 AND p.ts + 2"


@pytest.mark.parametrize("join", ["LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"])
def test_a_row_of_a_join_that_waits_without_end_is_refused(join: str) -> None:
    checked = checked_circuit(f"SELECT p.b FROM {JOINED} {join} T AS r ON r.b = p.b AND r.ts >= p.ts", CATALOG)
    found = checked.diagnostics[-1]
    assert checked.verdict == "unknown" and "a row of the other side may come later" in found.message
    assert found.help.startswith("limit how much later a partner may come")


def test_both_halves_of_an_inequality_below_an_aggregate_are_counted_once() -> None:
    checked = checked_circuit(f"SELECT T.b, COUNT(*) AS n {PAIRS} AND S.v <> T.b GROUP BY T.b", CATALOG)
    assert checked.circuit_bound is not None
    assert [state.size.value for state in checked.circuit_bound.states] == [3, 3]


def test_columns_of_one_name_are_those_of_the_select_list_all_the_same() -> None:
    checked = checked_circuit(
        f"SELECT * FROM (SELECT S.b AS x, T.b AS y, COUNT(*) AS n {PAIRS} GROUP BY S.b, T.b) AS d (p, q, r)", CATALOG
    )
    assert [column.name for column in circuit_plan(checked).columns] == ["p", "q", "r"]


@pytest.mark.parametrize("aggregate", ["KURTOSIS(a)", "APPROX_COUNT_DISTINCT(a)"])
def test_another_aggregate_is_refused_where_it_stands(aggregate: str) -> None:
    (told,) = checked_circuit(f"SELECT b, {aggregate} AS x FROM S GROUP BY b", CATALOG).diagnostics
    assert told.message == f"the aggregate {aggregate.split('(', maxsplit=1)[0]} is outside the query language"
    assert (told.span.column, told.span.end_column) == (11, 11 + len(aggregate))


@pytest.mark.parametrize(
    ("sql", "most"),
    [
        ("SELECT COUNT(DISTINCT a) AS x, COUNT(DISTINCT b) AS y FROM S", 1 + 11 + 11),
        (
            "SELECT COUNT(DISTINCT a) AS x, COUNT(DISTINCT n) AS y "
            "FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS g",
            11 + 1 + 11 + 11,
        ),
    ],
    ids=["of a stream", "of groups"],
)
def test_m_has_the_different_values_of_each_argument(sql: str, most: int) -> None:
    columns, domain = dict.fromkeys(("a", "b", "ts"), "bigint"), {"a": [0, 9], "b": [0, 9]}
    stream = {"timestamp": "ts", "max_per_timestamp": 10, "columns": columns, "domain": domain}
    checked = checked_circuit(sql, {"streams": {"S": stream}})
    assert checked.circuit is not None
    assert CircuitBound(checked.circuit.states).entries.value == most
    states = [state.name for state in checked.circuit.states]
    assert len(set(states)) == len(states)
    rows = [{"a": n if n < 10 else None, "b": n if n < 10 else None, "ts": n} for n in range(12)]
    assert most - 11 < run_circuit(checked, {"S": rows}).peak <= most


@pytest.mark.parametrize("function", ["AVG", "SUM", "COUNT"])
@pytest.mark.parametrize("multiple", ["(SELECT 2 * {}(T.v) AS x FROM T)", "2 * (SELECT {}(T.v) AS x FROM T)"])
def test_a_multiple_of_an_aggregate_is_a_threshold(function: str, multiple: str) -> None:
    """D5, inside or outside of the subquery."""
    few: dict[str, Any] = {
        name: {**body, "domain": {"a": [0, 9], "v": [-3, 4]}} for name, body in CATALOG["streams"].items()
    }
    sql, tables = f"SELECT S.a, S.v FROM S WHERE S.v > {multiple.format(function)}", {"streams": few}
    checked, rows = checked_circuit(sql, tables), random_rows(1, 0, 20)
    assert checked.circuit_bound is not None and checked.circuit_bound.entries.value is not None
    run = run_circuit(checked, rows)
    assert run.prints(reference(sql, tables, rows, run.ends))
    assert run.peak <= checked.circuit_bound.entries.value


@pytest.mark.parametrize("shown", ["SUM(S.v * w.m)", "SUM(S.b * w.m)", "COUNT(*)"])
def test_sums_of_a_join_by_a_cast_are_answered(shown: str) -> None:
    """What is pushed below the join reads the columns that are cast, not the casts."""
    view = "SELECT b, AVG(v) AS m FROM T GROUP BY b"
    checked = checked_circuit(f"SELECT {shown} AS n FROM S JOIN ({view}) AS w ON S.b > w.m", CATALOG)
    assert checked.verdict in ("bounded", "unsupported")
    assert checked.verdict == "bounded" or "numbers of two types" in checked.diagnostics[0].message
