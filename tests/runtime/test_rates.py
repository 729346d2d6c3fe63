"""`max_per_timestamp` and `max_rate`: against models that count rows one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from streambound_runtime.operators.rates import Rates
from streambound_runtime.promises import Rate
from streambound_runtime.spec import Stream, TableColumn
from support.profiles import examples

ROWS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abc")), max_size=12)
BATCHES = st.lists(st.tuples(ROWS, st.integers(0, 5)), max_size=4)
"""Rows as a timestamp and a text, and before which timestamp all are closed after the batch."""


def stream(most: int | None) -> Stream:
    return Stream("S", (TableColumn("ts", "bigint"),), "ts", (), per_timestamp=most)


def reads(rows: Iterable[tuple[int, int, str]]) -> pa.Table:
    """Rows that are read again: the place of each, its timestamp and its text."""
    columns = [[*column] for column in zip(*rows, strict=True)]
    return pa.table({"place": columns[0], "ts": columns[1], "row": columns[2], "line": columns[0]})


def told(bad: tuple[pa.Table, pa.Table] | None) -> list[Any]:
    """What is told of all rows that are too many."""
    if bad is None:
        return []
    assert sum(bad[1].column("n").to_pylist()) == 0
    return list(bad[0].to_pylist())


def times(rows: Iterable[tuple[int, str]]) -> Any:
    return np.array([ts for ts, _ in rows], dtype=np.int64)


@examples(100)
@given(st.integers(1, 4), BATCHES)
def test_the_least_texts_stay(most: int, batches: list[tuple[list[tuple[int, str]], int]]) -> None:
    rates, kept, closed = Rates(stream(most)), Counter[int](), 0
    for given_rows, until in batches:
        rows = [(ts, text) for ts, text in given_rows if ts >= closed]  # others are late
        closed, asked = max(closed, until), list[set[int]]()

        def again(crowded: set[int], rows: list[tuple[int, str]] = rows, asked: list[Any] = asked) -> pa.Table:
            asked.append(crowded)
            return reads((place, *row) for place, row in reversed([*enumerate(rows)]) if row[0] in crowded)

        keep, excess = rates.checked(times(rows), closed or None, again)
        bad = told(excess)
        counts = kept + Counter(ts for ts, _ in rows)
        crowded = {ts for ts in {ts for ts, _ in rows} if counts[ts] > most}
        assert asked == [crowded] * bool(crowded), "rows are read again only where some are too many"
        for ts in {ts for ts, _ in rows}:
            mine = sorted(text for time, text in rows if time == ts)
            stay = mine[: max(most - kept[ts], 0)]
            left = [text for (time, text), stays in zip(rows, keep.tolist(), strict=True) if time == ts and stays]
            assert sorted(left) == stay
            assert sorted(row["row"] for row in bad if rows[row["line"]][0] == ts) == mine[len(stay) :]
            kept[ts] += len(stay)
        assert {row["line"] for row in bad} == {*np.flatnonzero(~keep).tolist()}
        assert all(
            (row["reason"], row["detail"], row["length"])
            == ("max-per-timestamp", f"more than max_per_timestamp = {most} rows", None)
            for row in bad
        )
        assert rates.open == {ts: n for ts, n in kept.items() if ts >= closed}, "closed timestamps are forgotten"
        rates = Rates(stream(most), rates.dump())


class Plainly:
    """Keeps every row of a stream that was accepted, and looks at all intervals that hold the next one."""

    def __init__(self, most: int | None, rate: Rate) -> None:
        self.most, self.rate, self.times = most, rate, list[int]()

    def takes(self, ts: int) -> str:
        """Why there is no room for one more row; if there is, it is taken, and the answer is empty."""
        if self.most is not None and self.times.count(ts) >= self.most:
            return "max-per-timestamp"
        for first in range(ts - self.rate.per + 1, ts + 1):
            if sum(first <= time < first + self.rate.per for time in self.times) >= self.rate.rows:
                return "max-rate"
        self.times.append(ts)
        return ""


WIDE_ROWS = st.lists(st.tuples(st.integers(0, 20), st.sampled_from("abc")), max_size=25)
WIDE_BATCHES = st.lists(st.tuples(WIDE_ROWS, st.integers(0, 20)), max_size=4)
LIMITS = st.tuples(st.none() | st.integers(1, 3), st.integers(1, 6), st.integers(1, 8))


@examples(200)
@given(LIMITS, WIDE_BATCHES)
def test_no_interval_has_more_rows_than_its_rate(
    limits: tuple[int | None, int, int], batches: list[tuple[list[tuple[int, str]], int]]
) -> None:
    """Rows come in any order, earlier batches may have later timestamps, and the counts survive a restart."""
    most, rows_per, per = limits
    declared = Stream(
        "S", (TableColumn("ts", "bigint"),), "ts", (), per_timestamp=most, rate=Rate(rows_per, per, str(per))
    )
    rates, model, closed = Rates(declared), Plainly(most, declared.rate or Rate(1, 1, "")), 0
    for given_rows, until in batches:
        rows = [(ts, text) for ts, text in given_rows if ts >= closed]  # others are late
        closed = max(closed, until)
        again = lambda crowded, rows=rows: reads((n, *row) for n, row in enumerate(rows) if row[0] in crowded)  # noqa: E731
        expected = [(ts, text, reason) for ts, text in sorted(rows) if (reason := model.takes(ts))]
        crowded = rates.crowded(times(rows))
        keep, excess = rates.checked(times(rows), closed or None, again)
        bad = told(excess)
        assert crowded == bool(expected)
        assert sorted((rows[row["line"]][0], row["row"], row["reason"]) for row in bad) == sorted(expected)
        assert {row["line"] for row in bad} == {*np.flatnonzero(~keep).tolist()}
        assert all(time > closed - max(per, 1) for time in rates.open) or not closed
        rates = Rates(declared, rates.dump())
    for first in range(-per, 21):
        assert sum(first <= time < first + per for time in model.times) <= rows_per


def test_a_rate_in_words() -> None:
    declared = Stream("S", (), "ts", (), rate=Rate(1, 1_000_000, "1 second"))
    rows = [(0, "a"), (999_999, "b"), (1_000_000, "c")]
    again = lambda crowded: reads((place, *row) for place, row in enumerate(rows) if row[0] in crowded)  # noqa: E731
    keep, bad = Rates(declared).checked(times(rows), None, again)
    assert keep.tolist() == [True, False, True]
    (row,) = told(bad)
    assert (row["reason"], row["detail"]) == ("max-rate", "more than max_rate = 1 rows per 1 second")


def test_many_rows_that_are_too_many_take_as_long_as_they_are() -> None:
    """Each is looked at once, however many an interval may have."""
    declared = Stream("S", (), "ts", (), rate=Rate(20_000, 10**6, "1 second"))
    ts = np.arange(100_000, dtype=np.int64)
    again = lambda crowded: reads((time, time, "") for time in sorted(crowded))  # noqa: E731
    keep, bad = Rates(declared).checked(ts, None, again)
    assert keep.sum() == 20_000 and len(told(bad)) == 80_000 and keep[:20_000].all()


def test_of_rows_beyond_the_most_is_only_told_how_many_there_are() -> None:
    rows = [(1, "a"), (2, "b"), (1, "c"), (1, "d"), (2, "e")]
    keep, bad = Rates(stream(1)).checked(
        times(rows), None, lambda crowded: reads((n, *row) for n, row in enumerate(rows)), 1
    )
    assert bad is not None and keep.tolist() == [True, True, False, False, False]
    assert bad[0].column("row").to_pylist() == ["c"]
    assert bad[1].to_pylist() == [{"detail": "more than max_per_timestamp = 1 rows", "n": 2}]


def test_the_choice_does_not_depend_on_the_order() -> None:
    """A replay keeps the same texts, however Spark orders the files of a batch."""
    rows = [(1, text) for text in "dacb"]
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        mine = [rows[place] for place in order]
        again = lambda crowded, mine=mine: reads((place, *row) for place, row in enumerate(mine))  # noqa: E731
        keep, bad = Rates(stream(2)).checked(times(mine), None, again)
        assert sorted(text for (_, text), stays in zip(mine, keep, strict=True) if stays) == ["a", "b"]
        assert [row["row"] for row in told(bad)] == ["c", "d"]


def test_without_a_rate_nothing_is_counted_or_read_again() -> None:
    rates = Rates(stream(None))
    keep, bad = rates.checked(np.zeros(9, dtype=np.int64), None, lambda crowded: 1 // 0)  # type: ignore[arg-type, return-value]
    assert (keep.all(), bad, rates.dump()) == (True, None, {})
