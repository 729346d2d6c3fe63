"""What is read twice is computed once, and prints the same."""

from __future__ import annotations

from collections import Counter

import pytest

import streambound
from streambound.synopsis_exec.circuit_plan import shared
from streambound_runtime.engine.block_tables import RowsOfStream
from streambound_runtime.engine.linear import SqlPick, SqlUnion
from support.circuits import TWO_STREAMS, by_tick, checked_circuit, random_rows, reference, run_circuit
from support.profiles import MORE

COUNTS = "(SELECT S.b, COUNT(*) AS n FROM S GROUP BY S.b)"
TWICE = [
    f"SELECT x.b, x.n FROM {COUNTS} x JOIN (SELECT MAX(y.n) AS m FROM {COUNTS} y) z ON x.n >= z.m",
    f"SELECT x.b, y.n FROM {COUNTS} x JOIN {COUNTS} y ON x.b = y.n",
    f"SELECT x.b, x.n FROM {COUNTS} x UNION ALL SELECT y.b, y.n FROM {COUNTS} y",
]


@pytest.mark.parametrize("sql", TWICE)
def test_a_subquery_that_is_there_twice(sql: str) -> None:
    job = streambound.compile(sql, TWO_STREAMS).compiled.job
    kinds = Counter(type(one).__name__ for one in job.plan.operators)
    assert kinds["RowsOfStream"] == 1 and kinds["SqlGroup"] <= 2
    checked, some = checked_circuit(sql, TWO_STREAMS), 0
    for seed in range(3 * MORE):
        rows = random_rows(1, seed)
        found = run_circuit(checked, rows)
        expected = reference(sql, TWO_STREAMS, rows, found.ends)
        assert by_tick(found.printed, found.ends) == by_tick(expected, found.ends)
        assert checked.circuit_bound is not None and found.peak <= (checked.circuit_bound.entries.number or 0)
        some += len(expected)
    assert some > 3 * MORE


def test_the_last_operator_stays() -> None:
    rows = RowsOfStream("a", "S", ("x",), ("BIGINT",)), RowsOfStream("b", "S", ("x",), ("BIGINT",))
    picks = SqlPick("c", "a", ("c0",), ("BIGINT",), True), SqlPick("d", "b", ("c0",), ("BIGINT",), True)
    union = SqlUnion("e", ("c", "d"), ("BIGINT",), True)
    assert shared((*rows, *picks, union)) == (rows[0], picks[0], SqlUnion("e", ("c", "c"), ("BIGINT",), True))
    assert shared((*rows, *picks)) == (rows[0], picks[0], SqlPick("d", "a", ("c0",), ("BIGINT",), True))
