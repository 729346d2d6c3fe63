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
def test_a_multiple_that_the_subquery_computes_is_a_threshold(function: str) -> None:
    sql = f"SELECT S.a, S.v FROM S WHERE S.v > (SELECT 2 * {function}(T.v) AS x FROM T)"
    checked = checked_circuit(sql, CATALOG)
    assert checked.verdict == "bounded", checked.diagnostics
    bound = checked.circuit_bound
    assert bound is not None and bound.entries.value is not None
    for seed in range(4):
        rows = random_rows(1, seed, 20)
        run = run_circuit(checked, rows)
        assert run.prints(reference(sql, CATALOG, rows))
        assert run.peak <= bound.entries.value


@pytest.mark.parametrize("function", FUNCTIONS)
def test_elsewhere_the_message_says_where_to_compute_it(function: str) -> None:
    sql = f"SELECT S.a, S.v FROM S WHERE S.v > 2 * (SELECT {function}(T.v) AS x FROM T)"
    (found,) = checked_circuit(sql, CATALOG).diagnostics
    assert "(SELECT 2 * AVG(x) …) for 2 * (SELECT AVG(x) …)" in found.message
