"""Rows as columns, with how often each counts; selecting, grouping and joining them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod
from typing import NamedTuple, cast

import numpy as np

from streambound_runtime.arrays import Integers, Mask, Numbers, Values, are_integers
from streambound_runtime.operators.exact import totals
from streambound_runtime.operators.ordered import few, order_of, searched, sums_below

PAIRS = 1 << 20
"""How many pairs of a join are in memory at a time."""
CODES = 1 << 31
"""The codes of an index are below, so that they fit into 64 bits together with places in a log."""


class ColumnFrame(NamedTuple):
    """Rows as columns: when each counts from, how often, and its values.

    ``n`` is None where each counts once; ``nulls`` are masks, where there are NULLs.
    """

    time: Integers
    n: Numbers | None
    columns: dict[str, Values]
    nulls: dict[str, Mask]

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.time)

    def take(self, index: Integers | slice) -> ColumnFrame:
        """The rows with these numbers."""
        return ColumnFrame(
            self.time[index],
            None if self.n is None else self.n[index],
            {name: values[index] for name, values in self.columns.items()},
            {name: null[index] for name, null in self.nulls.items()},
        )

    def beside(self, other: ColumnFrame, n: Numbers | None) -> ColumnFrame:
        """The columns of both, row by row; the time is this one's."""
        return ColumnFrame(self.time, n, {**self.columns, **other.columns}, {**self.nulls, **other.nulls})

    def by(self, *names: str) -> list[tuple[Values, Mask | None]]:
        """Some columns, each with its mask of NULLs or None."""
        return [(self.columns[name], self.nulls.get(name)) for name in names]


def stacked(frames: list[ColumnFrame]) -> ColumnFrame:
    """Frames of the same columns, one below the other."""
    if len(frames) == 1:
        return frames[0]
    nulls = {}
    for name in sorted({name for frame in frames for name in frame.nulls}):
        masks = [frame.nulls.get(name, np.zeros(frame.size, dtype=bool)) for frame in frames]
        nulls[name] = np.concatenate(masks)
    once = all(frame.n is None for frame in frames)
    counts: list[Numbers] = [np.ones(frame.size, dtype=np.int64) if frame.n is None else frame.n for frame in frames]
    return ColumnFrame(
        np.concatenate([frame.time for frame in frames]),
        None if once else cast(Numbers, np.concatenate(counts)),  # whose stubs know one type at a time
        {name: np.concatenate([frame.columns[name] for frame in frames]) for name in frames[0].columns},
        nulls,
    )


# --- groups ----------------------------------------------------------------------------------------------------------


def coded(columns: list[tuple[Values, Mask | None]], length: int) -> tuple[Integers, int]:
    """A number per row, in the order of the columns' values, NULL first, and a number above all of them."""
    codes, size = np.zeros(length, dtype=np.int64), 1
    for values, null in columns:
        column, width = _column_codes(values, null)
        if size * width > 2**62:
            found, codes = np.unique(codes, return_inverse=True)
            size = len(found)
        if size * width > 2**62:
            found, column = np.unique(column, return_inverse=True)
            width = len(found)
        codes, size = (combined_codes(codes, width, column), size * width) if size > 1 else (column, width)
    return codes, size


def combined_codes(codes: Integers, width: int, column: Integers) -> Integers:
    """The codes of some columns and of one more, whose codes are below ``width``."""
    codes = codes * width
    codes += column
    return codes


def coded_alike(few_rows: ColumnFrame, more: ColumnFrame, names: tuple[str, ...]) -> tuple[Integers, Integers, int]:
    """As `coded` for the rows of two frames, without putting them one below the other where that can be seen before."""
    columns = [(few_rows.columns[name], more.columns[name]) for name in names]
    spans = [span(*both) for both in columns]
    size = prod(width for _, width in spans)
    if few_rows.nulls or more.nulls or size == 0 or not few(size, more.size):
        together = stacked([frame._replace(n=None) for frame in (few_rows, more)])
        codes, size = coded(together.by(*names), together.size)
        return codes[: few_rows.size], codes[few_rows.size :], size
    found = []
    for side, frame in enumerate((few_rows, more)):
        codes = np.zeros(frame.size, dtype=np.int64)
        for number, (both, (low, width)) in enumerate(zip(columns, spans, strict=True)):
            values = both[side]
            assert are_integers(values), "a span is that of integers"
            column: Integers = values - low if low else values
            codes = combined_codes(codes, width, column) if number else column
        found.append(codes)
    return found[0], found[1], size


def _column_codes(values: Values, null: Mask | None) -> tuple[Integers, int]:
    if not len(values):
        return np.zeros(0, dtype=np.int64), 1
    low, width = span(values)
    codes: Integers
    if are_integers(values) and width and few(width, len(values)):
        codes = values - low if low else values
    else:
        found, codes = np.unique(values, return_inverse=True)
        width = len(found)
    return (codes, width) if null is None else (np.where(null, 0, codes + 1), width + 1)


def span(*columns: Values) -> tuple[int, int]:
    """The least of some integers, and how many numbers from there on reach the greatest; 0 for no 64-bit integers."""
    some = [values for values in columns if len(values)]
    if not some or any(values.dtype != np.int64 for values in some):
        return 0, 0
    low = min(int(values.min()) for values in some)
    return low, max(int(values.max()) for values in some) - low + 1


def groups(codes: Integers, size: int) -> tuple[Integers, Integers]:
    """Where each code occurs first, in the order of the codes, and each row's number among these."""
    if not few(size, len(codes)):
        return renumbered(codes)
    where = firsts(codes, size)
    present = np.flatnonzero(where >= 0)
    if len(present) == size:
        return where, codes
    number = np.empty(size, dtype=np.int64)
    number[present] = np.arange(len(present))
    return where[present], number[codes]


def renumbered(codes: Integers) -> tuple[Integers, Integers]:
    """As `groups`, whatever the codes are. As `np.unique`, whose sort takes several times as long."""
    if not len(codes):
        return codes, codes
    order = order_of(codes)
    ordered = codes[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    number = np.empty(len(codes), dtype=np.int64)
    number[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(codes)))
    return order[starts], number


def firsts(codes: Integers, size: int) -> Integers:
    """Where each code below ``size`` occurs first; -1 where it does not."""
    where = np.full(size, -1, dtype=np.int64)
    where[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # the last assignment holds: the first row
    return where


def summed(frame: ColumnFrame, names: tuple[str, ...], distinct: bool) -> ColumnFrame:
    """Rows of the same time and values as one row, in order."""
    codes, size = coded([(frame.time, None), *frame.by(*names)], frame.size)
    first, number = groups(codes, size)
    return frame.take(first)._replace(n=None if distinct else totals(frame.n, number, len(first)))


# --- joins -----------------------------------------------------------------------------------------------------------


class Level(NamedTuple):
    """A column of an index: its values, and the codes of the columns so far where those are numbered anew.

    Without ``values``, all numbers from ``low`` on are, ``width`` of them.
    """

    values: Values | None
    low: int
    width: int
    codes: Integers | None


class Index(NamedTuple):
    """Rows in the order of some columns' values: what other rows' values are looked up in."""

    order: Integers
    levels: list[Level]
    codes: Integers
    """The codes of the sorted rows."""
    starts: Integers | None
    """Where each code begins, and the end; None where there are too many codes for an array."""


def indexed(columns: list[Values], length: int) -> Index:
    """An index of rows by some columns."""
    codes, size, levels = np.zeros(length, dtype=np.int64), 1, []
    for values in columns:
        low, width = span(values)
        found: Values | None = None
        if are_integers(values) and width and size * width <= CODES:
            place: Integers = values - low
        else:
            distinct, place = np.unique(values, return_inverse=True)
            found, width = cast(Values, distinct), len(distinct)
        codes, size, numbered = combined_codes(codes, width, place) if size > 1 else place, size * max(1, width), None
        if size > CODES:  # the next column must not make it more than 64 bits
            numbered, codes = np.unique(codes, return_inverse=True)
            size = len(numbered)
        levels.append(Level(found, low, width, numbered))
    order = order_of(codes)
    starts = sums_below(codes, size) if few(size, length) else None
    return Index(order, levels, codes[order], starts)


def matched(index: Index, columns: list[Values], length: int) -> tuple[Integers, Integers]:
    """For ``length`` rows, where in an index those begin and end whose values equal theirs."""
    if not columns or not len(index.order):
        return np.zeros(length, dtype=np.int64), np.full(length, len(index.order))
    codes, found = codes_in(index, columns, length)
    if index.starts is not None:
        low, high = index.starts[codes], index.starts[codes + 1]
        return low, high if found is None else np.where(found, high, low)
    low = searched(index.codes, codes)
    high, there = low.copy(), index.codes[np.minimum(low, len(index.codes) - 1)] == codes
    some = np.flatnonzero(there if found is None else there & found)
    high[some] = searched(index.codes, codes[some] + 1)
    return low, high


def codes_in(index: Index, columns: list[Values], length: int) -> tuple[Integers, Mask | None]:
    """The codes that rows have in an index that is not empty, and which rows have one; None for all."""
    codes: Integers = np.zeros(length, dtype=np.int64)
    found: Mask | None = None
    for number, (values, level) in enumerate(zip(columns, index.levels, strict=True)):
        place, there = _place(level, values)
        codes = codes * level.width + place if number else place
        if there is not None:
            found = there if found is None else found & there
        if level.codes is not None:
            codes, known = _looked_up(level.codes, codes)
            found = known if found is None else found & known
    return codes, found


def _place(level: Level, values: Values) -> tuple[Integers, Mask | None]:
    """The places of values among those of a column, and which are there; None for all."""
    if level.values is not None:
        return _looked_up(level.values, values)
    if not are_integers(values):
        return _looked_up(np.arange(level.low, level.low + level.width), values)
    place: Integers = (
        values - level.low if level.low else values
    )  # beyond 64 bits it wraps, to no number below the width
    there = place.view(np.uint64) < level.width
    return (place, None) if there.all() else (np.where(there, place, 0), there)


def _looked_up(ordered: Values, values: Values) -> tuple[Integers, Mask]:
    """The places of values among distinct ones in order, and which are there."""
    place = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return place, ordered[place] == values


def pairs(index: Index, low: Integers, high: Integers) -> Iterator[tuple[Integers, Integers]]:
    """The pairs of rows and of an index's rows between their bounds, some at a time, by their numbers."""
    some = np.flatnonzero(high > low)
    if len(some) < len(low):
        low, high = low[some], high[some]
    counts = high - low
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    cuts = sorted({0, len(some), *np.searchsorted(ends, np.arange(PAIRS, total, PAIRS)).tolist()})
    for start, stop in pairwise(cuts):
        mine = counts[start:stop]
        rows = np.repeat(some[start:stop], mine)
        before = np.repeat(ends[start:stop] - mine - low[start:stop], mine)
        yield rows, index.order[np.arange(len(rows)) + (ends[start - 1] if start else 0) - before]
