"""The latest row of another stream, of a window of time: what DuckDB's LATERAL says, and the way out without one."""

from __future__ import annotations

import pytest

from streambound import check
from support.circuits import checked_circuit, in_duckdb, in_the_end, random_ends, random_rows, run_circuit
from support.profiles import MORE

COLUMNS = {"a": "bigint", "b": "bigint", "v": "bigint", "ts": "bigint"}
CATALOG = {"streams": {name: {"timestamp": "ts", "columns": COLUMNS, "max_per_timestamp": 1} for name in "ST"}}
LATEST = (
    "SELECT S.a, S.ts, q.v, q.b FROM {} JOIN LATERAL (SELECT T.v, T.b FROM T WHERE {} ORDER BY T.ts DESC LIMIT 1) AS q"
)
WINDOWS = {
    "an hour": ("S LEFT", "T.a = S.a AND T.ts <= S.ts AND T.ts >= S.ts - 3"),
    "between": ("S", "T.ts BETWEEN S.ts - 2 AND S.ts AND T.b = S.b AND T.v > 0"),
    "before": ("S LEFT", "T.a = S.a AND S.ts > T.ts AND S.ts < T.ts + 4"),
    "of a partner": (
        "S JOIN T AS u ON u.a = S.a AND u.ts BETWEEN S.ts - 3 AND S.ts LEFT",
        "T.b = u.b AND T.ts <= u.ts AND T.ts >= u.ts - 5",
    ),
    "beside partners": (
        "S LEFT JOIN T AS u ON u.a = S.a AND u.ts BETWEEN S.ts - 3 AND S.ts",
        "T.b = S.b AND T.ts <= S.ts AND T.ts >= S.ts - 5",
    ),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_the_latest_rows_are_those_of_duckdb(name: str) -> None:
    """Of rows at different times, so that there is no choice."""
    sql = f"{LATEST.format(*WINDOWS[name])} ON TRUE"
    checked, printed = checked_circuit(sql, CATALOG), 0
    assert checked.circuit_bound is not None and checked.circuit_bound.entries.value is not None
    for seed in range(3 * MORE):
        drawn = random_rows(1, seed, 25)
        rows = {stream: [*{row["ts"]: row for row in several}.values()] for stream, several in drawn.items()}
        ticks = random_ends(sorted({row["ts"] for several in rows.values() for row in several}), 5)
        run = run_circuit(checked, rows, ticks=ticks)
        assert in_the_end(run.printed) == in_duckdb(sql, rows)
        assert run.peak <= checked.circuit_bound.entries.value
        printed += len(run.printed)
        if printed and seed + 1 >= MORE:
            return
    raise AssertionError("nothing is printed")


@pytest.mark.parametrize("join", [LATEST.format("S LEFT", "T.a = S.a AND T.ts <= S.ts") + " ON TRUE",
                                  "SELECT S.b, T.v FROM S ASOF JOIN T ON T.a = S.a AND T.ts < S.ts"])  # fmt: skip
def test_a_latest_row_of_any_age_is_repaired_by_a_window(join: str) -> None:
    (found,) = check(join, CATALOG)
    assert found.verdict == "unbounded"
    assert "the latest row of each of its values" in found.diagnostics[0].message
    assert found.repairs[0].title == "require S.ts within 10 after T.ts"


def test_a_length_of_another_unit_is_no_window() -> None:
    """Not of a number of microseconds for a timestamp, nor of an interval for an integer."""
    sql = f"{LATEST.format('S', 'T.a = S.a AND T.ts <= S.ts AND T.ts >= S.ts - INTERVAL 1 HOUR')} ON TRUE"
    assert [one.verdict for one in check(sql, CATALOG)] == ["unsupported"]
