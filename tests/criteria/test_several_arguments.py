"""Several arguments whose different values are kept: each has its own, and M has all of them."""

from __future__ import annotations

import pytest

from streambound.criteria.judged import CircuitBound
from support.circuits import checked_circuit, run_circuit

S = {
    "timestamp": "ts",
    "max_per_timestamp": 10,
    "columns": {"a": "bigint", "b": "bigint", "ts": "bigint"},
    "domain": {"a": [0, 9], "b": [0, 9]},
}
ROWS = {"S": [{"a": n % 10 if n < 10 else None, "b": n % 10 if n < 10 else None, "ts": n} for n in range(12)]}
CASES = {
    "of a stream": ("SELECT COUNT(DISTINCT a) AS x, COUNT(DISTINCT b) AS y FROM S", 1 + 11 + 11),
    "of groups": (
        "SELECT COUNT(DISTINCT a) AS x, COUNT(DISTINCT n) AS y FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) AS g",
        11 + 1 + 11 + 11,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_m_has_the_values_of_each_argument(name: str) -> None:
    sql, most = CASES[name]
    checked = checked_circuit(sql, {"streams": {"S": S}})
    assert checked.circuit is not None
    assert CircuitBound(checked.circuit.states).entries.value == most
    states = [state.name for state in checked.circuit.states]
    assert len(set(states)) == len(states)
    run = run_circuit(checked, ROWS)
    assert most - 11 < run.peak <= most
