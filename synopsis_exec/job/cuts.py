"""Part of a job: where a batch is cut into ranges of time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

SHARES = 256
"""Into how many parts of as many rows the timestamps of a batch are divided before ranges are chosen among them."""
MOST_OVERLAP = 0.5
"""How many rows, as part of all, may be folded again because the range after theirs reaches back to them."""


def quantiles(condition: str) -> str:
    """The timestamps between the parts, of rows that fulfil a condition, as an aggregate in Spark SQL."""
    shares = ", ".join(f"{place / SHARES}D" for place in range(SHARES))
    return f"percentile_approx(CASE WHEN {condition} THEN ts END, array({shares}), {8 * SHARES})"


def chosen(parts: Sequence[int], ranges: int, reach: int | None) -> list[int]:
    """Where ranges begin, all but the first, among the beginnings of parts: at most so many, of as many rows each.

    Where a range reaches back, so few that the rows that are folded twice are few. None at the first timestamp.

    >>> chosen([0, 1, 2, 3, 4, 5, 6, 7], 4, None)
    [2, 4, 6]
    >>> chosen([0, 1, 2, 3, 4, 5, 6, 7], 4, 1)
    [2, 4, 6]
    >>> chosen([0, 1, 2, 3, 4, 5, 6, 7], 4, 4)
    [4]
    """
    for number in range(min(ranges, len(parts)), 1, -1):
        places = [place * len(parts) // number for place in range(1, number)]
        cuts = sorted({parts[place] for place in places} - {parts[0]})
        if reach is None or overlap(parts, cuts, reach) <= MOST_OVERLAP:
            return cuts
    return []


def overlap(parts: Sequence[int], cuts: Sequence[int], reach: int) -> float:
    """How many rows, as part of all, lie so close before a cut."""
    return sum(bisect_left(parts, cut) - bisect_left(parts, cut - reach) for cut in cuts) / len(parts)


def range_text(cuts: Sequence[int], time: str) -> str:
    """The number of the range that a time is in, in Spark SQL.

    >>> range_text([5, 9], "ts")
    'CASE WHEN ts < 9 THEN CASE WHEN ts < 5 THEN 0 ELSE 1 END ELSE 2 END'
    """
    return _between(cuts, time, 0, len(cuts))


def _between(cuts: Sequence[int], time: str, low: int, high: int) -> str:
    if low == high:
        return str(low)
    middle = (low + high) // 2
    less, more = _between(cuts, time, low, middle), _between(cuts, time, middle + 1, high)
    return f"CASE WHEN {time} < {cuts[middle]} THEN {less} ELSE {more} END"
