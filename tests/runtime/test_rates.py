"""`max_per_timestamp`: against a model that counts a timestamp's rows one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streambound_runtime.rates import Rates, Read
from streambound_runtime.spec import Column, Stream
from support.profiles import examples

ROWS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abc")), max_size=12)
BATCHES = st.lists(st.tuples(ROWS, st.integers(0, 5)), max_size=4)
"""Rows as a timestamp and a text, and before which timestamp all are closed after the batch."""


def stream(most: int | None) -> Stream:
    return Stream("S", (Column("ts", "bigint"),), "ts", (), per_timestamp=most)


def times(rows: Iterable[tuple[int, str]]) -> Any:
    return np.array([ts for ts, _ in rows], dtype=np.int64)


@examples(200)
@given(st.integers(1, 4), BATCHES)
def test_the_least_texts_stay(most: int, batches: list[tuple[list[tuple[int, str]], int]]) -> None:
    rates, kept, closed = Rates(stream(most)), Counter[int](), 0
    for given_rows, until in batches:
        rows = [(ts, text) for ts, text in given_rows if ts >= closed]  # others are late
        closed, asked = max(closed, until), list[set[int]]()

        def again(crowded: set[int], rows: list[tuple[int, str]] = rows, asked: list[Any] = asked) -> Iterable[Read]:
            asked.append(crowded)
            places = [place for place, (ts, _) in enumerate(rows) if ts in crowded]
            return (Read(*rows[place], place, {"file": "f", "line": place}) for place in reversed(places))

        keep, bad = rates.checked(times(rows), closed or None, again)
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
            {**row, "row": "", "line": 0} == {
                "stream": "S", "reason": "max-per-timestamp", "detail": f"more than max_per_timestamp = {most} rows",
                "file": "f", "line": 0, "row": "",
            }
            for row in bad
        )  # fmt: skip
        assert rates.open == {ts: n for ts, n in kept.items() if ts >= closed}, "closed timestamps are forgotten"
        rates = Rates(stream(most), rates.dump())


def test_the_choice_does_not_depend_on_the_order() -> None:
    """A replay keeps the same texts, however Spark orders the files of a batch."""
    rows = [(1, text) for text in "dacb"]
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        mine = [rows[place] for place in order]
        again = lambda crowded, mine=mine: [Read(ts, text, place, {}) for place, (ts, text) in enumerate(mine)]  # noqa: E731
        keep, bad = Rates(stream(2)).checked(times(mine), None, again)
        assert sorted(text for (_, text), stays in zip(mine, keep, strict=True) if stays) == ["a", "b"]
        assert [row["row"] for row in bad] == ["c", "d"]


def test_without_a_rate_nothing_is_counted_or_read_again() -> None:
    rates = Rates(stream(None))
    keep, bad = rates.checked(np.zeros(9, dtype=np.int64), None, lambda crowded: 1 // 0)  # type: ignore[arg-type, return-value]
    assert (keep.all(), bad, rates.dump()) == (True, [], {})
