"""Which streams are warned of: rows wait without a limit where nothing says that a timestamp is over."""

from __future__ import annotations

from typing import Any

import pytest

from streambound.analyzer.catalog import catalog_from_mapping, parse_catalog
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


PERIODS = """
[time]
domain = [0, 1000]
[streams.B]
timestamp = "b"
columns = { a = "int", b = "bigint", e = "bigint" }
period = ["b", "e"]
domain = { a = [0, 4] }
order = "none"
"""


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


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT COUNT(*) AS n FROM S", [("S", 27)]),
        ("SELECT V.ts DIV 60 AS m, COUNT(*) AS n FROM (SELECT ts FROM S) AS V GROUP BY V.ts DIV 60", [("S", 61)]),
        ("SELECT T.a FROM T WHERE NOT EXISTS (SELECT 1 FROM S WHERE S.ts = T.ts)", [("S", 51)]),
        ("SELECT COUNT(*) AS n FROM T", []),
        ("SELECT T.ts, COUNT(*) AS n FROM T, S WHERE S.a < T.a GROUP BY T.ts", []),
    ],
)
def test_beyond_joins(sql: str, expected: list[tuple[str, int]]) -> None:
    """Bounded circuits are warned of as joins are; one that is not bounded has other findings."""
    assert warned(sql, order="none") == expected


def test_relations_that_change() -> None:
    """Changes wait as rows of streams do."""
    changes = {"timestamp": "at", "op": "op"}
    relation = {"columns": {"a": "bigint"}, "rows": 9, "changes": changes, "order": "none"}
    catalog = catalog_from_mapping(
        {"streams": {"S": {"timestamp": "ts", "columns": COLUMNS}}, "relations": {"R": relation}}
    )
    (found,) = check_source(SourceText("q.sql", "SELECT COUNT(*) AS n FROM R"), catalog)
    assert [(d.code, d.span.column) for d in found.diagnostics] == [("SB211", 27)]


def test_rows_with_periods() -> None:
    (found,) = check_source(
        SourceText("q.sql", "SEQ VT (SELECT a, count(*) AS n FROM B GROUP BY a)"), parse_catalog(PERIODS)
    )
    assert found.verdict == "bounded"
    assert [d.code for d in found.diagnostics] == ["SB211"]


def test_queries_with_worse() -> None:
    """A query that is not bounded has other findings."""
    assert warned("SELECT T.a FROM S, T WHERE S.ts > T.ts", order="none") == []
