"""The rows of two relations that are valid together: one forward scan over both, sorted by key and begin.

The input has the rows of both sides, tagged: the key columns, ``side`` (0 left, 1 right), the values of the left side
as ``l0, l1, …`` and of the right one as ``r0, …``, each NULL in rows of the other, and what `rows` says. All rows of a
key follow each other, in order of begin.

The output has a row for each pair that is valid at a common time, in order of when it begins to be, and one for each
row of a side whose windows are wanted, alone, before its pairs. ``group`` numbers the keys, ``left`` and ``right`` the
rows, within a partition; what is missing is NULL. The period and lineage of the left row are ``l_b`` and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from streambound_runtime.tp.rows import BEGIN, END, LINEAGE, Carried, P, same, starts

SIDES = ("left", "right")
LETTERS = ("l", "r")
_OF_A_ROW = (BEGIN, END, LINEAGE, P)


@dataclass(frozen=True, slots=True)
class OverlapScan:
    """What a scan needs to know: the names of the key columns, how many values each side has, whose windows are wanted.

    ``nullable_keys`` are the keys that match nothing where they are NULL.
    """

    keys: tuple[str, ...]
    widths: tuple[int, int]
    windows: tuple[bool, bool]
    nullable_keys: tuple[str, ...] = ()


@dataclass(slots=True)
class _ScannedRow:
    place: int
    number: int
    end: int


class _ActiveRows:
    """The rows of one side and key that may still be valid."""

    def __init__(self) -> None:
        self.rows: list[_ScannedRow] = []
        self._prune_at = 16

    def valid_at(self, point: int) -> list[_ScannedRow]:
        """Those that are valid from a point on."""
        self.rows = [row for row in self.rows if row.end > point]
        return self.rows

    def add(self, row: _ScannedRow, point: int) -> None:
        """One more; now and then those that have ended are forgotten."""
        if len(self.rows) >= self._prune_at:
            self._prune_at = max(16, 2 * len(self.valid_at(point)))
        self.rows.append(row)


class _FoundPairs:
    """The places of the pairs and rows that are put out."""

    def __init__(self) -> None:
        self.places: tuple[list[int | None], list[int | None]] = ([], [])
        self.numbers: tuple[list[int | None], list[int | None]] = ([], [])
        self.groups: list[int] = []

    def add(self, group: int, side: int, row: _ScannedRow, other: _ScannedRow | None) -> None:
        """A row of a side, alone or with one of the other side."""
        self.groups.append(group)
        self.places[side].append(row.place)
        self.numbers[side].append(row.number)
        self.places[1 - side].append(None if other is None else other.place)
        self.numbers[1 - side].append(None if other is None else other.number)


def overlaps(scan: OverlapScan, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The pairs, as the module says; memory is the rows of a key that are valid at a time, and a batch."""
    carried = Carried()
    open_rows = (_ActiveRows(), _ActiveRows())
    group = number = 0
    last: Sequence[pa.Scalar] | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        first = carried.add(batch)
        keys = [batch.column(name) for name in scan.keys]
        changes = starts(keys, batch.num_rows)
        changes[0] = last is None or not same(last, [key[0] for key in keys])
        last = [key[len(key) - 1] for key in keys]
        matching = _matching(batch, scan.nullable_keys)
        found = _FoundPairs()
        sides, begins = batch.column("side").to_pylist(), batch.column(BEGIN).to_pylist()
        ends = batch.column(END).to_pylist()
        for i, (side, begin) in enumerate(zip(sides, begins, strict=True)):
            if changes[i]:
                group += 1
                open_rows = (_ActiveRows(), _ActiveRows())
            number += 1
            row = _ScannedRow(first + i, number, ends[i])
            if scan.windows[side]:
                found.add(group, side, row, None)
            if matching is None or matching[i]:
                for other in open_rows[1 - side].valid_at(begin):
                    found.add(group, side, row, other)
                open_rows[side].add(row, begin)
        yield from _batch(scan, carried, found)
        _forget(carried, open_rows)


def _matching(batch: pa.RecordBatch, nullable_keys: Sequence[str]) -> list[bool] | None:
    """For each row whether its keys can be equal to others; None where all can."""
    columns = [batch.column(name) for name in nullable_keys]
    if not any(column.null_count for column in columns):
        return None
    valid = [column.is_valid().to_pylist() for column in columns]
    return [all(row) for row in zip(*valid, strict=True)]


def _batch(scan: OverlapScan, carried: Carried, found: _FoundPairs) -> Iterator[pa.RecordBatch]:
    if not found.groups:
        return
    names, arrays = ["group"], [pa.array(found.groups, pa.int64())]
    for side, letter, width in zip((0, 1), LETTERS, scan.widths, strict=True):
        names.append(SIDES[side])
        arrays.append(pa.array(found.numbers[side], pa.int64()))
        for name in _OF_A_ROW:
            names.append(f"{letter}{name}")
            arrays.append(carried.column(name, found.places[side]))
        for place in range(width):
            names.append(f"{letter}{place}")
            arrays.append(carried.column(f"{letter}{place}", found.places[side]))
    yield pa.RecordBatch.from_arrays(arrays, names)


def _forget(carried: Carried, open_rows: Sequence[_ActiveRows]) -> None:
    """Keep the rows that may still be valid, and tell them their new places."""
    rows = [row for side in open_rows for row in side.rows]
    carried.keep([row.place for row in rows])
    for place, row in enumerate(rows):
        row.place = place
