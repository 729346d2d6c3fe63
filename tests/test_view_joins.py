"""Joins of a stream with a view that changes, beyond what each statement says (`test_statements.py`): what is kept."""

from __future__ import annotations

from typing import Any

import pytest

from support.circuits import certificate_of, checked_circuit, reference, run_circuit, states_of

COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}
VIEW = "(SELECT T.a AS g, COUNT(*) AS n, MAX(T.b) AS hi FROM T {} GROUP BY T.a) AS w"
LIMITED = VIEW.format("WHERE T.a BETWEEN 0 AND 2 AND T.b BETWEEN 1 AND 2")


def catalog(**domain: list[int]) -> dict[str, Any]:
    stream: dict[str, Any] = {"columns": COLUMNS, "timestamp": "ts", "max_per_timestamp": 3}
    return {"streams": {"S": {**stream, "domain": domain}, "T": stream}}


@pytest.mark.parametrize("compared", ["S.v < w.hi", "S.v + 1 >= w.hi", "w.hi <> S.v", "S.v > w.g - 1"])
def test_what_is_only_compared_with_a_view_is_clipped(compared: str) -> None:
    sql = f"SELECT S.a FROM S LEFT JOIN {LIMITED} ON S.a = w.g AND {compared} WHERE S.a BETWEEN 0 AND 3"
    assert "'clipped'" in repr(states_of(certificate_of(checked_circuit(sql, catalog()))))


def test_only_groups_that_a_row_can_meet_count() -> None:
    sql = f"SELECT S.b, w.n FROM S JOIN {VIEW.format('')} ON S.a = w.g"
    checked = checked_circuit(sql, catalog(a=[1, 3], b=[0, 1]))
    assert checked.circuit_bound is not None
    assert [state.size.value for state in checked.circuit_bound.states if "right" in state.name] == [3]


PAIRS = "FROM S {0} JOIN T ON S.a = T.a AND T.ts BETWEEN S.ts - 10 AND S.ts + 10"
NEAR = "T.a = q.a AND T.ts BETWEEN q.ts AND q.ts + 4"
FAR = f"SELECT S.a, S.ts, S.v, T.ts AS t {PAIRS.format('LEFT')}"
FAR_GROUPS = f"SELECT S.a, S.v, S.ts, T.v AS c, T.ts AS t, COUNT(*) AS n {PAIRS.format('')} GROUP BY 1, 2, 3, 4, 5"
FAR_ROWS = {
    "by a condition of one side": f"SELECT q.v, T.v AS w FROM ({FAR}) AS q LEFT JOIN T ON {NEAR} "
    "AND q.t BETWEEN q.ts - 1 AND q.ts",
    "by what both times are near": f"SELECT q.v, q.n, T.v AS w FROM ({FAR_GROUPS}) AS q LEFT JOIN T ON {NEAR} "
    "AND T.ts BETWEEN q.t AND q.t + 2",
}


@pytest.mark.parametrize("sql", FAR_ROWS.values(), ids=FAR_ROWS)
def test_rows_whose_times_are_too_far_apart_for_a_partner_do_not_wait(sql: str) -> None:
    given = {"streams": {name: {**body, "max_per_timestamp": 1} for name, body in catalog()["streams"].items()}}
    rows = {name: [{"a": 1, "b": 0, "v": n, "ts": n} for n in range(14)] for name in ("S", "T")}
    checked = checked_circuit(sql, given)
    assert checked.circuit_bound is not None and checked.circuit_bound.entries.value is not None
    run = run_circuit(checked, rows)
    assert run.prints(reference(sql, given, rows, run.ends))
    assert run.peak <= checked.circuit_bound.entries.value
