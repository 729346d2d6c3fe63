"""Overlapping, unmatched and negating windows of two relations, and what a join makes of them, as rows with lineage.

From the pairs that `overlaps` finds, less those that do not satisfy the join's condition. For a row r and the rows S(t)
that match it at t (Papaioannou, Theobald, Böhlen, Section V, with the sweeps of Section VI made one):
overlapping windows are r with s, where both are valid, of lineage ``r & s``; unmatched ones r, where S(t) is empty, of
lineage ``r``; negating ones r, where S(t) is the same, of lineage ``r & !(s1 | s2 | …)``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

from streambound_runtime.lineage.formulas import FALSE, Formula
from streambound_runtime.tp.overlaps import LETTERS, SIDES
from streambound_runtime.tp.padding import goes_on, padded, paired
from streambound_runtime.tp.rows import BEGIN, END, LINEAGE, Carried, P, formula_of
from streambound_runtime.tp.segments import Segments

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class WindowJoin:
    """What a join takes of the windows.

    ``overlapping``: whether pairs are rows of the result. ``windows``: of which sides the unmatched and negating ones
    are. ``blanks``: of which sides rows without any value make pairs that are the same fact as the other side's row
    without a match, and so are counted into its windows. ``independent``: the sides' rows are different variables.
    """

    widths: tuple[int, int]
    overlapping: bool
    windows: tuple[bool, bool]
    blanks: tuple[bool, bool] = (False, False)
    independent: bool = False

    @property
    def sides_shown(self) -> tuple[int, ...]:
        """The sides whose columns the result has: an anti join has those of the left one only."""
        return (0, 1) if self.overlapping else (0,)


@dataclass(frozen=True, slots=True)
class Swept:
    """Rows of a result: the values of each column, and for each row its period and lineage."""

    columns: list[pa.Array]
    begins: list[int]
    ends: list[int]
    lineages: list[Formula]


class _OpenRow:
    """A row whose windows are being found."""

    __slots__ = ("end", "lineage", "place", "segments")

    def __init__(self, place: int, begin: int, end: int, lineage: Formula, independent: bool) -> None:
        self.place, self.end, self.lineage = place, end, lineage
        self.segments = Segments(begin, partial(padded, lineage, independent), goes_on)


class _OpenRows:
    """The open rows of one side."""

    def __init__(self) -> None:
        self.rows: dict[int, _OpenRow] = {}
        self._ends: list[tuple[int, int]] = []

    def open(self, number: int, row: _OpenRow) -> None:
        """A row whose pairs are to come."""
        self.rows[number] = row
        heappush(self._ends, (row.end, number))

    def closed(self, up_to: int | None) -> Iterator[_OpenRow]:
        """The rows that end up to a point, which are open no more; all of them for None."""
        while self._ends and (up_to is None or self._ends[0][0] <= up_to):
            yield self.rows.pop(heappop(self._ends)[1])


class _WindowRows:
    """The places, periods and lineages of the rows that are put out."""

    def __init__(self) -> None:
        self.places: tuple[list[int | None], list[int | None]] = ([], [])
        self.begins: list[int] = []
        self.ends: list[int] = []
        self.lineages: list[Formula] = []

    def pair(self, place: int, begin: int, end: int, lineage: Formula) -> None:
        """An overlapping window: both sides' values are in one row of the input."""
        if lineage is not FALSE:
            self._add((place, place), begin, end, lineage)

    def windows(self, side: int, row: _OpenRow) -> None:
        """All windows of a row that has ended."""
        at = (row.place, None) if side == 0 else (None, row.place)
        for begin, end, lineage in row.segments.close(row.end):
            self._add(at, begin, end, lineage)

    def _add(self, places: tuple[int | None, int | None], begin: int, end: int, lineage: Formula) -> None:
        self.places[0].append(places[0])
        self.places[1].append(places[1])
        self.begins.append(begin)
        self.ends.append(end)
        self.lineages.append(lineage)


class _PairedRow(NamedTuple):
    """A row of one side, in a batch of pairs."""

    number: int
    begin: int
    end: int
    lineage: Formula


def windows(join: WindowJoin, batches: Iterator[pa.RecordBatch]) -> Iterator[Swept]:
    """The rows of a join from the pairs that satisfy its condition; memory is the rows valid at a time, and a batch."""
    carried, sides, group = Carried(), (_OpenRows(), _OpenRows()), None
    for batch in batches:
        if not batch.num_rows:
            continue
        first, output = carried.add(batch), _WindowRows()
        blank = tuple(_blank(batch, side, join.widths[side]) if join.blanks[side] else None for side in (0, 1))
        pairs = zip(batch.column("group").to_pylist(), _rows(batch, 0), _rows(batch, 1), strict=True)
        for place, (found, left, right) in enumerate(pairs, start=first):
            begin = max(row.begin for row in (left, right) if row is not None)
            _close(sides, begin if found == group else None, output)
            group = found
            if left is None or right is None:
                for side, row in zip(sides, (left, right), strict=True):
                    if row is not None:
                        side.open(row.number, _OpenRow(place, row.begin, row.end, row.lineage, join.independent))
                continue
            end = min(left.end, right.end)
            blanks = [marks is not None and marks[place - first] for marks in blank]
            if join.windows[0]:
                sides[0].rows[left.number].segments.push(begin, end, right.lineage, blanks[1])
            if join.windows[1]:
                sides[1].rows[right.number].segments.push(begin, end, left.lineage, blanks[0])
            if join.overlapping and not any(blanks):
                output.pair(place, begin, end, paired(left.lineage, right.lineage, join.independent))
        yield _made(join, carried, output)
        _forget(carried, sides)
    output = _WindowRows()
    _close(sides, None, output)
    if output.lineages:
        yield _made(join, carried, output)


def _rows(batch: pa.RecordBatch, side: int) -> Iterator[_PairedRow | None]:
    letter = LETTERS[side]
    numbers = batch.column(SIDES[side]).to_pylist()
    begins, ends = (batch.column(f"{letter}{name}").to_pylist() for name in (BEGIN, END))
    lineages, chances = (batch.column(f"{letter}{name}").to_pylist() for name in (LINEAGE, P))
    for number, begin, end, lineage, p in zip(numbers, begins, ends, lineages, chances, strict=True):
        yield None if number is None else _PairedRow(number, begin, end, formula_of(lineage, p))


def _blank(batch: pa.RecordBatch, side: int, width: int) -> list[bool]:
    """For each row whether all values of a side are NULL."""
    nulls = [batch.column(f"{LETTERS[side]}{place}").is_null() for place in range(width)]
    return [all(row) for row in zip(*(column.to_pylist() for column in nulls), strict=True)]


def _close(sides: Sequence[_OpenRows], up_to: int | None, output: _WindowRows) -> None:
    for number, side in enumerate(sides):
        for row in side.closed(up_to):
            output.windows(number, row)


def _forget(carried: Carried, sides: Sequence[_OpenRows]) -> None:
    """Keep the rows whose windows are still being found, and tell them their new places."""
    rows = [row for side in sides for row in side.rows.values()]
    carried.keep([row.place for row in rows])
    for place, row in enumerate(rows):
        row.place = place


def _made(join: WindowJoin, carried: Carried, output: _WindowRows) -> Swept:
    columns = [
        carried.column(f"{LETTERS[side]}{place}", output.places[side])
        for side in join.sides_shown
        for place in range(join.widths[side])
    ]
    return Swept(columns, output.begins, output.ends, output.lineages)
