"""Numbers of a stream that are compared with a view's of another type, in sums that are pushed below the join."""

from __future__ import annotations

import pytest

from support.circuits import TWO_STREAMS, checked_circuit


@pytest.mark.parametrize("shown", ["SUM(S.v * w.m)", "SUM(S.b * w.m)", "COUNT(*)"])
def test_sums_of_a_join_by_a_cast_are_answered(shown: str) -> None:
    """What is pushed below the join reads the columns that are cast, not the casts."""
    view = "SELECT b, AVG(v) AS m FROM T GROUP BY b"
    checked = checked_circuit(f"SELECT {shown} AS n FROM S JOIN ({view}) AS w ON S.b > w.m", TWO_STREAMS)
    assert checked.verdict in ("bounded", "unsupported")
    assert checked.verdict == "bounded" or "numbers of two types" in checked.diagnostics[0].message
