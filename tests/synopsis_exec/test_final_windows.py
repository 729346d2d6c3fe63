"""Final results of windows have the last timestamp of their window, whichever of its ends the query shows."""

from __future__ import annotations

from typing import Any

import pytest

from support.circuits import in_the_end, proved, random_rows, run_circuit

SECOND = 1_000_000
STREAM: dict[str, Any] = {
    "timestamp": "ts",
    "columns": {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "timestamp"},
    "max_per_timestamp": 2,
}
CATALOG = {"streams": {"S": STREAM, "T": STREAM}}
GROUPS = "SELECT a, window.{} AS w, COUNT(*) AS n FROM S GROUP BY a, window(ts, {})"
ENDS = {"start": 10 * SECOND - 1, "end": -1}
"""How much later than each end of a window of ten seconds its last timestamp is."""


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("window", ["'10 seconds'", "'10 seconds', '5 seconds'"])
@pytest.mark.parametrize("outer", ["{}", "SELECT MAX(q.a) AS a, q.w, SUM(q.n) AS n FROM ({}) AS q GROUP BY q.w"])
def test_final_results_have_the_last_timestamp_of_their_window(end: str, window: str, outer: str) -> None:
    checked, most = proved(outer.format(GROUPS.format(end, window)), CATALOG)
    rows = random_rows(SECOND, seed=1)
    found = run_circuit(checked, rows, final=True)
    assert {time - start for _, start, _, time in found.printed} == {ENDS[end]}
    assert in_the_end(found.printed) == in_the_end(run_circuit(checked, rows).printed)
    assert 0 < found.peak <= most
