"""Windows of time: every stage says what a count by hand says, of tumbling, hopping and session windows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambound.incremental.evaluate import SourceChange, evaluate, ticks
from streambound.incremental.zset import ZSet
from support.lifted import stages_of
from support.prefixes import recomputed
from support.profiles import examples

SECOND = 1_000_000
CATALOG = {"streams": {"S": {"timestamp": "ts", "columns": {"a": "bigint", "ts": "timestamp"}}}}
Rows = list[tuple[int, int]]
ROWS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 25)), min_size=1, max_size=8)
Counted = Counter[tuple[int, int]]


def tumbling(rows: Rows) -> Counted:
    return Counter((a, time // 5 * 5) for a, time in rows)


def hopping(rows: Rows) -> Counted:
    return Counter((a, start) for a, time in rows for start in range(-10, 30, 2) if start <= time < start + 6)


def sessions(rows: Rows) -> Counted:
    found = Counted()
    for a in (0, 1):
        times = sorted(time for key, time in rows if key == a)
        starts = [time for at, time in enumerate(times) if not at or time > times[at - 1] + 4]
        found.update((a, max(start for start in starts if start <= time)) for time in times)
    return found


@pytest.mark.parametrize(
    ("bucket", "by_hand"),
    [
        ("window(ts, '5 seconds')", tumbling),
        ("window(ts, '6 seconds', '2 seconds')", hopping),
        ("session_window(ts, '4 seconds')", sessions),
    ],
)
@examples(25)
@given(rows=ROWS)
def test_windows_are_those_of_a_count_by_hand(bucket: str, by_hand: Callable[[Rows], Counted], rows: Rows) -> None:
    name = bucket.split("(", maxsplit=1)[0]
    sql = f"SELECT a, {name}.start AS w, COUNT(*) AS n FROM S GROUP BY a, {bucket}"
    changes = [SourceChange("S", (Fraction(a), Fraction(t * SECOND)), Fraction(t * SECOND)) for a, t in rows]
    times, given_ = ticks(changes)
    seen = 0
    for stage in stages_of(sql, CATALOG):
        if stage.over == "streams":
            continue
        whole = stage.over == "Z-sets"
        changed = recomputed(stage.circuit, given_) if whole else evaluate(stage.circuit, given_)
        view, total = ZSet(), {}
        for time, change in zip(times, changed, strict=True):
            view += change
            total[int(time) // SECOND] = view
        for time, found in total.items():
            counted = by_hand([row for row in rows if row[1] <= time])
            assert found == ZSet.of(
                (Fraction(a), Fraction(start * SECOND), Fraction(n)) for (a, start), n in counted.items()
            ), stage.name
        seen += 1
    assert seen == 5
