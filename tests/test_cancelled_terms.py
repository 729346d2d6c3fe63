"""An attribute that cancels out of a comparison still makes it unknown where it is NULL, as SQL has it."""

from __future__ import annotations

import pytest

from support.against_sql import printed_as_sql_says
from support.catalogs import streams
from support.product import decided

CATALOG = streams("S T")
ROWS = {
    "S": [{"a": a, "b": b, "ts": ts} for ts, (a, b) in enumerate([(1, 0), (None, 0), (None, None), (2, 3)])],
    "T": [{"a": a, "b": b, "ts": ts} for ts, (a, b) in enumerate([(0, 1), (3, 0), (None, 3), (0, None), (5, 5)])],
}


@pytest.mark.parametrize(
    "condition",
    [
        "S.a - S.a = T.a",
        "NOT (S.a - S.a = T.a)",
        "T.a + S.a - S.a < 3",
        "NOT (T.a + S.b - S.b >= T.b + S.a - S.a)",
        "S.a - S.a = 0",
        "(S.a - S.a = T.a OR T.b = 3)",
    ],
)
def test_null_is_not_lost(condition: str) -> None:
    sql = f"SELECT S.b, T.b AS d FROM S, T WHERE {condition} AND S.ts <= T.ts AND T.ts <= S.ts + 9"
    found = printed_as_sql_says(sql, decided(sql, CATALOG), CATALOG, ROWS)
    assert found is not None
    assert found.results > 0
