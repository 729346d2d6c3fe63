"""Which streams are warned of: rows wait without a limit where nothing says that a timestamp is over."""

from __future__ import annotations

from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source

COLUMNS = {"a": "bigint", "kind": "string", "ts": "bigint"}
UNION = "SELECT S.a FROM S WHERE S.a = 1 UNION ALL SELECT T.a FROM T, S, R WHERE S.ts = T.ts AND R.a = T.a AND S.a = 1"


def warned(sql: str, **arrival: Any) -> list[tuple[str, int]]:
    streams = {name: {"timestamp": "ts", "columns": COLUMNS} for name in "ST"}
    streams["S"] |= arrival
    catalog = catalog_from_mapping({"streams": streams, "relations": {"R": {"columns": {"a": "bigint"}}}})
    (found,) = check_source(SourceText("q.sql", sql), catalog)
    return [(d.message.split()[0], d.span.column) for d in found.diagnostics if d.code == "SB211"]


@pytest.mark.parametrize(
    ("arrival", "expected"),
    [
        ({}, []),
        ({"order": "strict"}, []),
        ({"lateness": 5}, []),
        ({"punctuation": {"column": "kind", "value": "end"}}, []),
        ({"order": "none", "punctuation": {"column": "kind", "value": "end"}}, []),
        ({"order": "none", "idle_after": 9}, []),
        ({"order": "none"}, [("S", 17)]),
        ({"order": "none", "partitions": {"column": "a", "values": [1, 2]}}, [("S", 17)]),
    ],
)
def test_what_a_stream_promises(arrival: dict[str, Any], expected: list[tuple[str, int]]) -> None:
    """Each stream is warned of once, where it is used first."""
    assert warned(UNION, **arrival) == expected


def test_queries_with_worse() -> None:
    """A query that is not bounded has other findings."""
    assert warned("SELECT T.a FROM S, T WHERE S.ts > T.ts", order="none") == []
