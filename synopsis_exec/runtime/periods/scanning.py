"""Pairs of rows of two sides that agree in keys and are valid together, by one scan in order of begin.

Rows of both sides lie in one order, by key and begin. A row makes pairs with the rows of the other side that follow it
and begin before it ends: they lie side by side, so that a batch's pairs are found by two searches. What is still valid
at the end of a batch is carried to the next one. Only pairs that overlap are looked at, and only what is valid is held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from streambound_runtime.arrays import Integers, Mask
from streambound_runtime.periods.frames import BEGIN, END

if TYPE_CHECKING:
    import pyarrow as pa

SIDE = "side"
"""The column that says whose a row is: 0 left, 1 right."""
_AT_A_TIME = 2**16
"""Things that are worked on at a time, or more where they belong to one: what tells them apart has 16 bits."""


@dataclass(frozen=True, slots=True)
class PairStretch:
    """The pairs of some rows with those before.

    The rows are ``rows`` at the places ``new``; ``left`` and ``right`` are the places of each pair's rows, in no order.
    ``groups`` numbers the keys of all rows, ``numbers`` the rows themselves, within a partition.
    """

    rows: pa.Table
    new: slice
    left: Integers
    right: Integers
    groups: Integers
    numbers: Integers


def scanned(
    keys: Sequence[str], batches: Iterator[pa.RecordBatch], nullable: Sequence[str] = ()
) -> Iterator[PairStretch]:
    """All pairs, each once, in order of the rows that begin later; memory is the rows of a key that are valid, a batch
    and the pairs of a stretch. Of the ``keys``, those that are ``nullable`` match nothing where they are NULL.
    """
    import pyarrow as pa

    held: pa.Table | None = None
    groups = numbers = np.zeros(0, dtype=np.int64)
    group = number = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        first, rows = len(numbers), pa.Table.from_batches([batch])
        if first:
            rows = pa.concat_tables([held, rows])
        rows = rows.combine_chunks()
        cells, unequal = ([_whole(rows.column(name)) for name in names] for names in (keys, nullable))
        own = _groups(cells, unequal, rows.num_rows)
        groups = own + (groups[0] if first else group)
        numbers = np.concatenate([numbers, np.arange(number, number + batch.num_rows)])
        begin, end, side = (np.asarray(rows.column(name)) for name in (BEGIN, END, SIDE))
        for new, left, right in _pairs(own, begin, end, side, first):
            yield PairStretch(rows, new, left, right, groups, numbers)
        group, number = groups[-1] + 1, numbers[-1] + 1
        valid = (own == own[-1]) & (end > begin[-1])
        held, groups, numbers = rows.filter(pa.array(valid)), groups[valid], numbers[valid]


def _groups(keys: Sequence[pa.Array], nullable: Sequence[pa.Array], size: int) -> Integers:
    """The number of each row's group, from 0; a row with a NULL where that matches nothing is one of its own."""
    starts = changes(keys, size)
    for key in nullable:
        if key.null_count:
            missing = np.asarray(key.is_null())
            starts |= missing
            starts[1:] |= missing[:-1]
    return np.cumsum(starts) - 1


def _pairs(
    groups: Integers, begin: Integers, end: Integers, side: Integers, first: int
) -> Iterator[tuple[slice, Integers, Integers]]:
    """The pairs of which one row, at least, is at the place ``first`` or after it."""
    size = len(begin)
    codes = keyed(np.concatenate([groups, groups]), np.concatenate([begin, end]))
    starts, ends = codes[:size], codes[size:]
    until = np.searchsorted(starts, ends, side="left")  # the first row that begins no more before each ends
    counts = np.zeros(size, dtype=np.int64)
    met = []
    for mine in (0, 1):
        rows, others = np.flatnonzero(side == mine), np.flatnonzero(side != mine)
        low = np.searchsorted(others, rows)
        high = np.maximum(np.searchsorted(others, until[rows]), low)
        counts[others] = covering(low, high, len(others))
        met.append((rows, others, low, high))
    for part in stretches(counts[first:]):
        new = slice(first + part.start, first + part.stop)
        found: tuple[list[Integers], list[Integers]] = ([], [])
        for mine, (rows, others, low, high) in enumerate(met):
            since, to = np.searchsorted(others, (new.start, new.stop))
            which, other = ranges(np.clip(low, since, to), np.clip(high, since, to))
            found[mine].append(rows[which])
            found[1 - mine].append(others[other])
        yield new, np.concatenate(found[0]), np.concatenate(found[1])


def keyed(rows: Integers, times: Integers) -> Integers:
    """A number for each row and time, in the order of these; rows are numbers from 0."""
    least, most = int(times.min(initial=0)), int(times.max(initial=0))
    if (int(rows.max(initial=0)) + 1) * (most - least + 1) < 2**63:
        return rows * (most - least + 1) + (times - least)
    points, ranks = np.unique(times, return_inverse=True)
    return rows * len(points) + ranks


def ranges(low: Integers, high: Integers) -> tuple[Integers, Integers]:
    """The numbers from each ``low`` to before its ``high``, and before them which range each is of."""
    counts = high - low
    which = np.repeat(np.arange(len(counts)), counts)
    return which, np.arange(len(which)) + np.repeat(low - np.cumsum(counts) + counts, counts)


def covering(low: Integers, high: Integers, size: int) -> Integers:
    """How many of the ranges have each of the numbers from 0 to before ``size``."""
    changes = np.bincount(low, minlength=size + 1) - np.bincount(high, minlength=size + 1)
    return np.cumsum(changes[:size])


def stretches(counts: Integers) -> Iterator[slice]:
    """Stretches of things, 65,536 at most, which have about as many others, that are counted."""
    totals, start = np.cumsum(counts + 1), 0
    while start < len(counts):
        before = int(totals[start - 1]) if start else 0
        stop = max(int(np.searchsorted(totals, before + _AT_A_TIME, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


def in_order(places: Integers, start: int) -> Integers:
    """The order of what is at these places of one stretch, which begins at ``start``; equal ones stay as they are."""
    return np.argsort((places - start).astype(np.uint16), kind="stable")  # of 16 bits it is linear


def changes(columns: Sequence[pa.Array], size: int) -> Mask:
    """For each row whether it differs from the one before, as the first does; NULLs are equal, and so are NaNs."""
    found = np.zeros(size, dtype=bool)
    found[:1] = True
    for column in columns:
        found[1:] |= _differs(column)
    return found


def _differs(column: pa.Array) -> Mask:
    """Whether each value but the first is another than the one before it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_nested(column.type):
        return np.array([one != other for one, other in pairwise(column.to_pylist())], dtype=bool)
    before, after = column.slice(0, len(column) - 1), column.slice(1)
    unequal = pc.fill_null(pc.not_equal(before, after), False)
    if pa.types.is_floating(column.type):
        unequal = pc.and_(unequal, pc.invert(pc.fill_null(pc.and_(pc.is_nan(before), pc.is_nan(after)), False)))
    if column.null_count:
        unequal = pc.or_(unequal, pc.xor(pc.is_null(before), pc.is_null(after)))
    found: Mask = unequal.to_numpy(zero_copy_only=False)
    return found


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0)  # of a table whose chunks have been combined
