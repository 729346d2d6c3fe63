"""A bound beyond any memory is noted beyond joins, too, with what makes it smaller."""

from __future__ import annotations

import pytest

from streambound.analyzer.catalog import catalog_from_mapping
from streambound.analyzer.spans import SourceText
from streambound.criteria.check import check_source


@pytest.mark.parametrize(
    ("sql", "domain", "way_out"),
    [
        ("SELECT a, COUNT(*) AS n FROM S GROUP BY a, ts DIV 86400", [1, 4], None),
        ("SELECT a, COUNT(*) AS n FROM S GROUP BY a", [1, 2 * 10**9], "narrow the window or the domains"),
        ("SELECT a, SUM(a) OVER (ORDER BY ts RANGE 2000000000 PRECEDING) AS s FROM S", [1, 4], "narrow the window"),
        (
            "SELECT a, SUM(a) OVER (ORDER BY ts RANGE INTERVAL 1 DAY PRECEDING) AS s FROM S",
            [1, 4],
            "a TIMESTAMP counts microseconds",
        ),
    ],
)
def test_a_state_beyond_memory_is_noted_with_a_way_out(sql: str, domain: list[int], way_out: str | None) -> None:
    time = "timestamp" if "INTERVAL" in sql else "bigint"
    stream = {"timestamp": "ts", "columns": {"a": "bigint", "ts": time}, "domain": {"a": domain}}
    (found,) = check_source(SourceText("q.sql", sql), catalog_from_mapping({"streams": {"S": stream}}))
    assert found.verdict == "bounded"
    assert [d.code for d in found.diagnostics] == ([] if way_out is None else ["SB208"])
    assert way_out is None or (found.diagnostics[0].help or "").startswith(way_out)
