"""Fragments: rows of an epoch, of which each is valid from a begin to before an end, in so many copies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import isnan, nan

from streambound_runtime.row_values import Value

FragmentRow = tuple[Value, ...]
Fragment = tuple[FragmentRow, int, int, int]
"""Values, begin, end and how many copies."""
LEAST, GREATEST = -(2**63), 2**63 - 1
"""Where time begins and ends, if nobody says so."""


def clipped(rows: Iterable[Fragment], low: int | None, high: int | None) -> list[Fragment]:
    """The parts of rows that lie in the time that there is."""
    found = list[Fragment]()
    for row, begin, end, count in rows:
        first = begin if low is None else max(begin, low)
        last = end if high is None else min(end, high)
        if first < last:
            found.append((row, first, last, count))
    return found


def coalesced(fragments: Iterable[Fragment]) -> Iterator[Fragment]:
    """Maximal periods of constant multiplicity: the unique encoding (Dignös et al., Definition 5.3), in order of time.

    >>> list(coalesced([(("a",), 0, 10, 1), (("a",), 4, 6, 1)]))
    [(('a',), 0, 4, 1), (('a',), 4, 6, 2), (('a',), 6, 10, 1)]
    """
    for row, changes in _changes(fragments).items():
        count, since = 0, 0
        for time in sorted(changes):
            if not changes[time]:
                continue
            if count:
                yield row, since, time, count
            count, since = count + changes[time], time


def _changes(fragments: Iterable[Fragment]) -> dict[FragmentRow, dict[int, int]]:
    """By how much the number of copies of each row changes, and when."""
    found: dict[FragmentRow, dict[int, int]] = defaultdict(dict)
    for row, begin, end, count in fragments:
        mine = found[row]
        mine[begin] = mine.get(begin, 0) + count
        mine[end] = mine.get(end, 0) - count
    return found


def normal(row: FragmentRow) -> FragmentRow:
    """Values that are equal as the same ones: zero without a sign, and one NaN."""
    if not any(isinstance(value, float) for value in row):
        return row
    return tuple((nan if isnan(value) else value + 0.0) if isinstance(value, float) else value for value in row)


def in_order(fragment: Fragment) -> tuple[int, int, list[tuple[bool, Value]]]:
    """Where a row is among others: by end, begin and values."""
    row, begin, end, _ = fragment
    return end, begin, [(value is not None, value) for value in row]
