"""Part of every job: rows as columns, with how often each counts; selecting, grouping and joining them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from synopsis_exec.job.exact import totals

DENSE = 1 << 16
"""Codes below this are always worth an array that they index."""
PAIRS = 1 << 20
"""How many pairs of a join are in memory at a time."""


class Frame(NamedTuple):
    """Rows as columns: when each counts from, how often, and its values.

    ``n`` is None where each counts once; ``nulls`` are masks, where there are NULLs.
    """

    time: Any
    n: Any
    columns: dict[str, Any]
    nulls: dict[str, Any]

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.time)

    def take(self, index: Any) -> Frame:
        """The rows with these numbers."""
        return Frame(
            self.time[index],
            None if self.n is None else self.n[index],
            {name: values[index] for name, values in self.columns.items()},
            {name: null[index] for name, null in self.nulls.items()},
        )

    def beside(self, other: Frame, n: Any) -> Frame:
        """The columns of both, row by row; the time is this one's."""
        return Frame(self.time, n, {**self.columns, **other.columns}, {**self.nulls, **other.nulls})

    def by(self, *names: str) -> list[tuple[Any, Any]]:
        """Some columns, each with its mask of NULLs or None."""
        return [(self.columns[name], self.nulls.get(name)) for name in names]


def stacked(frames: list[Frame]) -> Frame:
    """Frames of the same columns, one below the other."""
    if len(frames) == 1:
        return frames[0]
    nulls = {}
    for name in sorted({name for frame in frames for name in frame.nulls}):
        masks = [frame.nulls.get(name, np.zeros(frame.size, dtype=bool)) for frame in frames]
        nulls[name] = np.concatenate(masks)
    once = all(frame.n is None for frame in frames)
    counts = [np.ones(frame.size, dtype=np.int64) if frame.n is None else frame.n for frame in frames]
    return Frame(
        np.concatenate([frame.time for frame in frames]),
        None if once else np.concatenate(counts),
        {name: np.concatenate([frame.columns[name] for frame in frames]) for name in frames[0].columns},
        nulls,
    )


# --- groups ----------------------------------------------------------------------------------------------------------


def coded(columns: list[tuple[Any, Any]], length: int) -> tuple[Any, int]:
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
        codes, size = (codes * width + column, size * width) if size > 1 else (column, width)
    return codes, size


def _column_codes(values: Any, null: Any) -> tuple[Any, int]:
    if not len(values):
        return np.zeros(0, dtype=np.int64), 1
    low = int(values.min()) if values.dtype == np.int64 else 0
    width = int(values.max()) - low + 1 if values.dtype == np.int64 else 0
    if 0 < width <= max(DENSE, 4 * len(values)):
        codes = values - low
    else:
        found, codes = np.unique(values, return_inverse=True)
        width = len(found)
    return (codes, width) if null is None else (np.where(null, 0, codes + 1), width + 1)


def groups(codes: Any, size: int) -> tuple[Any, Any]:
    """Where each code occurs first, in the order of the codes, and each row's number among these."""
    if size > max(DENSE, 4 * len(codes)):
        _, first, number = np.unique(codes, return_index=True, return_inverse=True)
        return first, number
    where = firsts(codes, size)
    present = np.flatnonzero(where >= 0)
    number = np.empty(size, dtype=np.int64)
    number[present] = np.arange(len(present))
    return where[present], number[codes]


def firsts(codes: Any, size: int) -> Any:
    """Where each code below ``size`` occurs first; -1 where it does not."""
    where = np.full(size, -1, dtype=np.int64)
    where[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # the last assignment holds: the first row
    return where


def summed(frame: Frame, names: tuple[str, ...], distinct: bool) -> Frame:
    """Rows of the same time and values as one row, in order."""
    codes, size = coded([(frame.time, None), *frame.by(*names)], frame.size)
    first, number = groups(codes, size)
    return frame.take(first)._replace(n=None if distinct else totals(frame.n, number, len(first)))


# --- joins -----------------------------------------------------------------------------------------------------------


class Level(NamedTuple):
    """A column of an index: its values, and the codes of the columns so far where those are numbered anew."""

    values: Any
    codes: Any


class Index(NamedTuple):
    """Rows in the order of some columns' values: what other rows' values are looked up in."""

    order: Any
    levels: list[Level]
    codes: Any
    """The codes of the sorted rows."""
    starts: Any
    """Where each code begins, and the end; None where there are too many codes for an array."""


def indexed(columns: list[Any], length: int) -> Index:
    """An index of rows by some columns."""
    codes, size, levels = np.zeros(length, dtype=np.int64), 1, []
    for values in columns:
        found, inverse = np.unique(values, return_inverse=True)
        codes, size, numbered = codes * len(found) + inverse, size * max(1, len(found)), None
        if size > 2**31:  # the next column must not make it more than 64 bits
            numbered, codes = np.unique(codes, return_inverse=True)
            size = len(numbered)
        levels.append(Level(found, numbered))
    order = np.argsort(small(codes), kind="stable")
    codes = codes[order]
    starts = np.searchsorted(codes, np.arange(size + 1)) if size <= max(DENSE, 4 * length) else None
    return Index(order, levels, codes, starts)


def small(codes: Any) -> Any:
    """The codes in 16 bits where they fit: those are sorted without comparisons."""
    return codes.astype(np.uint16) if len(codes) and codes.max() < DENSE else codes


def matched(index: Index, columns: list[Any], length: int) -> tuple[Any, Any]:
    """For ``length`` rows, where in an index those begin and end whose values equal theirs."""
    if not columns or not len(index.order):
        return np.zeros(length, dtype=np.int64), np.full(length, len(index.order))
    codes, found = np.zeros(length, dtype=np.int64), np.ones(length, dtype=bool)
    for values, level in zip(columns, index.levels, strict=True):
        place = _looked_up(level.values, values, found)
        codes = codes * len(level.values) + place
        if level.codes is not None:
            codes = _looked_up(level.codes, codes, found)
    if index.starts is not None:
        low, high = index.starts[codes], index.starts[codes + 1]
    else:
        low, high = np.searchsorted(index.codes, codes), np.searchsorted(index.codes, codes, side="right")
    return np.where(found, low, 0), np.where(found, high, 0)


def _looked_up(ordered: Any, values: Any, found: Any) -> Any:
    """The places of values among distinct ones; those that are not there are taken off ``found``."""
    width = int(ordered[-1]) - int(ordered[0]) + 1 if ordered.dtype == values.dtype == np.int64 else 0
    if 0 < width <= max(DENSE, 4 * len(ordered)):
        places = np.zeros(width, dtype=np.int64)
        places[ordered - ordered[0]] = np.arange(len(ordered))
        place = places[np.clip(values, ordered[0], ordered[-1]) - ordered[0]]
    else:
        place = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    found &= ordered[place] == values
    return place


def pairs(index: Index, low: Any, high: Any) -> Iterator[tuple[Any, Any]]:
    """The pairs of rows and of an index's rows between their bounds, some at a time, by their numbers."""
    length = len(low)
    counts = np.maximum(high - low, 0)
    ends = np.cumsum(counts)
    total = int(ends[-1]) if length else 0
    cuts = sorted({0, length, *np.searchsorted(ends, np.arange(PAIRS, total, PAIRS)).tolist()})
    for start, stop in pairwise(cuts):
        mine = counts[start:stop]
        rows = np.repeat(np.arange(start, stop), mine)
        before = np.repeat(ends[start:stop] - mine - low[start:stop], mine)
        yield rows, index.order[np.arange(len(rows)) + (ends[start - 1] if start else 0) - before]
