"""NOT IN of a column that may be NULL, within windows of time (B5): outputs at random, and M."""

from __future__ import annotations

import pytest

from support.circuits import checked_circuit, random_rows, reference, run_circuit

STREAM = {
    "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"},
    "timestamp": "ts",
    "max_per_timestamp": 2,
}
CATALOG = {"streams": {"S": STREAM, "T": STREAM}}
PARTNERS = (
    "T.ts BETWEEN S.ts - 1 AND S.ts + 2",
    "T.ts BETWEEN S.ts - 2 AND S.ts AND T.b = S.b",
    "T.ts = S.ts AND T.v > 0",
)


@pytest.mark.parametrize("partners", PARTNERS)
def test_one_null_among_the_partners_takes_the_row(partners: str) -> None:
    sql = f"SELECT S.b, S.v FROM S WHERE S.v > -2 AND S.a NOT IN (SELECT T.a FROM T WHERE {partners})"
    checked = checked_circuit(sql, CATALOG)
    assert str(checked.verdict) == "bounded"
    bound = checked.circuit_bound
    assert bound is not None and bound.entries.value is not None
    retracted = 0
    for seed in range(12):
        rows = random_rows(1, seed)
        found = run_circuit(checked, rows)
        assert found.printed == reference(sql, CATALOG, rows)
        assert len(found.printed) > 0 and found.peak <= bound.entries.value
        retracted += sum(n < 0 for n in found.printed.values())
    assert retracted or "+ 2" not in partners


def test_a_null_that_may_come_at_any_time_keeps_every_row_open() -> None:
    checked = checked_circuit("SELECT S.v FROM S WHERE S.a NOT IN (SELECT T.a FROM T WHERE T.ts > S.ts)", CATALOG)
    assert str(checked.verdict) == "unbounded"
