"""NOT IN of a column that may be NULL, within windows of time (B5): outputs at random, and M."""

from __future__ import annotations

import pytest

from support.circuits import (
    SEEDS,
    certificate_of,
    checked_circuit,
    in_duckdb,
    in_the_end,
    proof_of,
    proved,
    random_rows,
    reference,
    run_circuit,
)
from support.profiles import MORE

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
    for seed in range(MORE):
        rows = random_rows(1, seed)
        found = run_circuit(checked, rows, ticks=8)
        assert found.prints(reference(sql, CATALOG, rows))
        assert len(found.printed) > 0 and found.peak <= bound.entries.value
        retracted += sum(n < 0 for n in found.printed.values())
    assert retracted or "+ 2" not in partners


def test_a_null_that_may_come_at_any_time_keeps_every_row_open() -> None:
    checked = checked_circuit("SELECT S.v FROM S WHERE S.a NOT IN (SELECT T.a FROM T WHERE T.ts > S.ts)", CATALOG)
    assert str(checked.verdict) == "unbounded"


WAITING = {
    "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"},
    "timestamp": "ts",
    "domain": {"a": [1, 9], "b": [0, 2]},
}
AT_ANY_TIME = (
    "SELECT S.b FROM S WHERE S.a NOT IN (SELECT T.a FROM T)",
    "SELECT S.a FROM S WHERE S.a NOT IN (SELECT T.b FROM T WHERE T.v > 0)",
    "SELECT S.a, S.b FROM S WHERE S.v <> 0 AND S.a NOT IN (SELECT T.v FROM T WHERE T.b = S.b)",
    "SELECT S.b FROM S WHERE S.v BETWEEN 0 AND 1 AND S.v NOT IN (SELECT T.v FROM T WHERE T.a >= S.b)",
    "SELECT COUNT(*) AS n, SUM(b) AS total FROM S WHERE a NOT IN (SELECT T.a FROM T WHERE T.v < 2)",
)


@pytest.mark.parametrize("sql", AT_ANY_TIME)
def test_a_null_that_may_come_at_any_time_takes_rows_of_bounded_columns(sql: str) -> None:
    tables = {"streams": {"S": WAITING, "T": WAITING}}
    checked = checked_circuit(sql, tables)
    assert str(checked.verdict) == "bounded", [one.message for one in checked.diagnostics]
    assert proof_of(checked, certificate_of(checked)).faults == ()
    bound = checked.circuit_bound
    assert bound is not None and bound.entries.value is not None
    assert "anti_joins" in {rewrite["rule"] for rewrite in certificate_of(checked)["rewrites"]}
    retracted = printed = 0
    for seed in range(SEEDS * MORE):
        rows = random_rows(1, seed)
        found = run_circuit(checked, rows, ticks=8)
        assert found.prints(reference(sql, tables, rows)), seed
        assert found.peak <= bound.entries.value
        printed += len(found.printed)
        retracted += sum(n < 0 for n in found.printed.values())
        if printed > 5 and retracted and seed + 1 >= MORE:
            return
    raise AssertionError("nothing is taken back")


def test_columns_that_a_null_leaves_unbounded() -> None:
    """Where y is NULL, equality bounds nothing, though NOT EXISTS with the same equality is bounded."""
    tables = {"streams": {"S": {**WAITING, "domain": {"b": [0, 2]}}, "T": WAITING}}
    sql = "SELECT S.a FROM S WHERE {} (SELECT T.a FROM T{})"
    assert str(checked_circuit(sql.format("NOT EXISTS", " WHERE T.a = S.a"), tables).verdict) == "bounded"
    assert str(checked_circuit(sql.format("S.a NOT IN", ""), tables).verdict) == "unbounded"


SEVERAL = {
    "SELECT S.v FROM S WHERE (S.a, S.b) NOT IN (SELECT T.a, T.b FROM T WHERE T.ts BETWEEN S.ts - 1 AND S.ts + 2)": 6,
    "SELECT S.v FROM S WHERE (S.a, S.v) NOT IN (SELECT T.b, T.v FROM T WHERE T.ts = S.ts AND T.a IS NOT NULL)": 0,
    "SELECT S.v FROM S WHERE (S.b, S.ts) NOT IN (SELECT T.b, T.ts FROM T)": 0,
}
"""Statements with M: a row goes if each of its values is equal to the one beside it, or one of the two is NULL."""


@pytest.mark.parametrize("sql", SEVERAL)
def test_not_in_of_several_columns_asks_whether_some_value_is_another_one(sql: str) -> None:
    checked, most = proved(sql, CATALOG)
    assert most == SEVERAL[sql]
    assert "anti_joins" in {rewrite["rule"] for rewrite in certificate_of(checked)["rewrites"]}
    left_out = 0
    for seed in range(MORE + 1):
        rows = random_rows(1, seed)
        found = run_circuit(checked, rows, ticks=8)
        assert found.prints(reference(sql, CATALOG, rows))
        if "FROM T WHERE" not in sql:  # DuckDB has no correlated ones of several columns
            assert in_the_end(found.printed) == in_duckdb(sql, rows)
        assert len(found.printed) > 0 and found.peak <= most
        left_out += len(rows["S"]) - sum(found.printed.values())
    assert left_out
