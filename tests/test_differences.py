"""EXCEPT and INTERSECT where the right side has values that the left one cannot have: they are not kept."""

from __future__ import annotations

from typing import Any

import pytest

from support.circuits import prints_as_duckdb

COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}
LIMITED: dict[str, Any] = {"timestamp": "ts", "columns": COLUMNS, "domain": {"b": [0, 2], "a": [1, 9]}}
CATALOG = {"streams": {"S": LIMITED, "T": {"timestamp": "ts", "columns": COLUMNS}}}
"""Of S a and b have so many values, which no condition says, and NULL; T's may be any."""


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT S.b FROM S EXCEPT SELECT T.v FROM T",
        "SELECT S.b FROM S WHERE S.v < 3 EXCEPT SELECT T.v FROM T WHERE T.v >= -2",
        "SELECT S.b, S.a FROM S EXCEPT SELECT T.v, T.a FROM T",
        "SELECT S.b, S.b AS c FROM S EXCEPT SELECT T.v, T.b FROM T",
        "SELECT S.b FROM S INTERSECT SELECT T.v FROM T",
        "SELECT S.b, S.a FROM S INTERSECT ALL SELECT T.v, T.a FROM T",
    ],
)
def test_values_that_the_left_side_cannot_have_are_not_kept(sql: str) -> None:
    prints_as_duckdb(sql, CATALOG)
