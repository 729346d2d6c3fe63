"""Joins of a stream with a view that changes, beyond what each statement says (`test_statements.py`): what is kept."""

from __future__ import annotations

from typing import Any

import pytest

from support.circuits import certificate_of, checked_circuit, states_of

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
