"""Set operations of views: both sides have columns of the same types, as those of streams have."""

from __future__ import annotations

from typing import Any

import pytest

from support.circuits import checked_circuit, is_bounded, proved

STREAM: dict[str, Any] = {
    "timestamp": "ts",
    "columns": {"a": "bigint", "i": "int", "x": "double", "d": "decimal(10,2)", "e": "decimal(10,3)", "ts": "bigint"},
}
CATALOG = {"streams": {"S": STREAM, "T": STREAM}}


@pytest.mark.parametrize("operation", ["UNION ALL", "UNION", "EXCEPT", "INTERSECT ALL"])
@pytest.mark.parametrize(
    ("above", "below", "told"),
    [
        ("SUM(a)", "SUM(x)", "column 'c' is bigint above and double here"),
        ("SUM(d)", "SUM(e)", "column 'c' is decimal(20,2) above and decimal(20,3) here"),
        ("MAX(i)", "SUM(a)", None),
        ("MAX(a)", "NULL", None),
    ],
)
def test_columns_of_two_types_are_an_error(operation: str, above: str, below: str, told: str | None) -> None:
    sql = f"SELECT {above} AS c FROM S {operation} SELECT {below} FROM T"
    checked = checked_circuit(sql, CATALOG)
    assert [one.message for one in checked.diagnostics if str(one.code) == "SB106"] == ([told] if told else [])
    assert told is None or str(checked.verdict) == "error"


@pytest.mark.parametrize("operation", ["EXCEPT", "EXCEPT ALL", "INTERSECT"])
def test_rows_wait_for_those_of_a_side_that_ends(operation: str) -> None:
    """Any rows of T may come before those of S that equal them, however few S brings until it ends."""
    sql = f"SELECT a FROM S WHERE ts < 5 {operation} SELECT a FROM T"
    assert not is_bounded(sql, CATALOG)
    limited = sql.replace("ts < 5", "ts < 5 AND a IN (1, 2)")
    assert is_bounded(limited, CATALOG)


RELATION = {"streams": CATALOG["streams"], "relations": {"R": {"columns": {"a": "bigint", "n": "bigint"}, "rows": 7}}}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a, n FROM R EXCEPT SELECT a, ts FROM S", "SELECT a FROM R WHERE n > 2 INTERSECT SELECT a FROM S",
        "SELECT a FROM S INTERSECT SELECT a FROM R",
    ],
)  # fmt: skip
def test_a_relation_that_does_not_change_asks_for_its_own_rows_alone(sql: str) -> None:
    assert proved(sql, RELATION)[1] == 7


@pytest.mark.parametrize(
    "sql", ["SELECT a FROM R EXCEPT ALL SELECT a FROM S", "SELECT a FROM S EXCEPT SELECT a FROM R"]
)
def test_others_keep_rows_of_streams(sql: str) -> None:
    assert not is_bounded(sql, RELATION)
