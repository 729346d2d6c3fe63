"""A multiple of an aggregate as a threshold (D5): decided where the subquery computes it, else the message says so."""

from __future__ import annotations

from typing import Any

import pytest

from support.circuits import checked_circuit, random_rows, reference, run_circuit

COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}
BODY = {"timestamp": "ts", "columns": COLUMNS, "domain": {"a": [0, 9], "v": [-3, 4]}, "max_per_timestamp": 2}
CATALOG: dict[str, Any] = {"streams": {"S": BODY, "T": BODY}}
FUNCTIONS = ["AVG", "SUM", "COUNT"]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("multiple", ["(SELECT 2 * {}(T.v) AS x FROM T)", "2 * (SELECT {}(T.v) AS x FROM T)"])
def test_a_multiple_inside_or_outside_of_the_subquery_is_a_threshold(function: str, multiple: str) -> None:
    sql = f"SELECT S.a, S.v FROM S WHERE S.v > {multiple.format(function)}"
    checked = checked_circuit(sql, CATALOG)
    assert checked.verdict == "bounded", checked.diagnostics
    bound = checked.circuit_bound
    assert bound is not None and bound.entries.value is not None
    for seed in range(4):
        rows = random_rows(1, seed, 20)
        run = run_circuit(checked, rows)
        assert run.prints(reference(sql, CATALOG, rows))
        assert run.peak <= bound.entries.value
