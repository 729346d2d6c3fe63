"""NOT IN of a column that may be NULL (B5): what bounds it, beside NOT EXISTS. `test_statements.py` has its results."""

from __future__ import annotations

from typing import Any

from support.circuits import certificate_of, checked_circuit

STREAM: dict[str, Any] = {
    "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"},
    "timestamp": "ts",
    "domain": {"a": [1, 9], "b": [0, 2]},
}
SQL = "SELECT S.a FROM S WHERE {} (SELECT T.a FROM T{})"


def test_a_row_that_a_null_may_take_at_any_time_is_an_anti_join_and_a_count() -> None:
    checked = checked_circuit(
        "SELECT S.b FROM S WHERE S.a NOT IN (SELECT T.a FROM T)", {"streams": {"S": STREAM, "T": STREAM}}
    )
    assert "anti_joins" in {rewrite["rule"] for rewrite in certificate_of(checked)["rewrites"]}


def test_columns_that_a_null_leaves_unbounded() -> None:
    """Where y is NULL, equality bounds nothing, though NOT EXISTS with the same equality is bounded."""
    tables = {"streams": {"S": {**STREAM, "domain": {"b": [0, 2]}}, "T": STREAM}}
    assert str(checked_circuit(SQL.format("NOT EXISTS", " WHERE T.a = S.a"), tables).verdict) == "bounded"
    assert str(checked_circuit(SQL.format("S.a NOT IN", ""), tables).verdict) == "unbounded"
