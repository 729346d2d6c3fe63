"""Overlapping, unmatched and negating windows of two relations, and what a join makes of them, as rows with lineage.

From the pairs that `overlaps` finds, less those that do not satisfy the join's condition. For a row r and the rows S(t)
that match it at t (Papaioannou, Theobald, Böhlen, Section V, with the sweeps of Section VI made one):
overlapping windows are r with s, where both are valid, of lineage ``r & s``; unmatched ones r, where S(t) is empty, of
lineage ``r``; negating ones r, where S(t) is the same, of lineage ``r & !(s1 | s2 | …)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streambound_runtime.arrays import Integers, Mask
from streambound_runtime.periods.scanning import covering, in_order, keyed, ranges, stretches
from streambound_runtime.periods.times import GREATEST, LEAST
from streambound_runtime.tp.overlaps import LETTERS, SIDES
from streambound_runtime.tp.rows import BEGIN, END, LINEAGE, Carried, P, values_at
from streambound_runtime.tp.swept import Lineages, PaddedLineages, PairLineages, RowLineages, Swept


class Cuts:
    """Where each row is cut, up to the time until which all is ``known`` of it: a segment begins at each point.

    Of each point: the row that it is ``of``, the time that it is ``at``, and the ``counts`` of the pairs that cover its
    segment; the ``last`` one of a row is its end, or begins what is not known yet, and has no pairs. The pairs of each
    cover the segments from ``low`` to before ``high``. Given are the rows' begins and ends, the row that each pair is
    of, in order, its begin and end, and which pairs ``count``: where none of these is, a row is not cut.
    """

    def __init__(
        self, begin: Integers, end: Integers, known: Integers,
        of: Integers, pair_begin: Integers, pair_end: Integers, count: Mask,
    ) -> None:  # fmt: skip
        rows = np.arange(len(begin))
        closed, ended = np.flatnonzero(end <= known), np.flatnonzero(pair_end <= known[of])
        cut = np.concatenate([rows, closed, of, of[ended]])
        times = np.concatenate([begin, end[closed], np.maximum(pair_begin, begin[of]), pair_end[ended]])
        _, firsts, places = np.unique(keyed(cut, times), return_index=True, return_inverse=True)
        self.of, self.at = cut[firsts], times[firsts]
        self.low = places[len(rows) + len(closed) :][: len(of)]
        self.high = np.searchsorted(self.of, of, side="right")
        self.high[ended] = places[len(times) - len(ended) :]
        self._join(count, places[len(rows) : len(rows) + len(closed)])
        self.last = np.append(self.of[1:] != self.of[:-1], True)
        self.high = np.minimum(self.high, np.searchsorted(self.of, of, side="right") - 1)
        self.counts = covering(self.low, self.high, len(self.of))

    def _join(self, count: Mask, ends: Integers) -> None:
        """Take away the points between segments without a pair that counts; what is not known yet is one of these."""
        counted = covering(self.low[count], self.high[count], len(self.of)) > 0
        kept = counted.copy()
        kept[1:] |= counted[:-1] | (self.of[1:] != self.of[:-1])
        kept[:1] = kept[ends] = True
        places = np.append(np.cumsum(kept) - 1, np.count_nonzero(kept))
        self.of, self.at = self.of[kept], self.at[kept]
        self.low, self.high = places[self.low], places[self.high]


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


def windows(join: WindowJoin, batches: Iterator[pa.RecordBatch]) -> Iterator[Swept]:
    """The rows of a join from the pairs that satisfy its condition.

    Memory is a batch and, where windows are wanted, the rows and pairs that are valid at a time.
    """
    carried, begin = Carried(), np.zeros(0, dtype=np.int64)
    for batch in batches:
        if not batch.num_rows:
            continue
        first = carried.add(batch)
        given = _Given(join, carried.rows, first, begin)
        group = np.asarray(carried.rows.column("group"))
        valid = (group == group[-1]) & (given.end > given.begin[-1]) & any(join.windows)
        yield from given.swept(valid, int(given.begin[-1]))
        begin = given.begin[valid]
        carried.keep(np.flatnonzero(valid))
    if len(begin):
        given = _Given(join, carried.rows, len(begin), begin)
        yield from given.swept(np.zeros(len(begin), dtype=bool), GREATEST)


class _Given:
    """Rows alone and pairs, the first of them carried: what is known of a row before its ``begin`` is told."""

    def __init__(self, join: WindowJoin, rows: pa.Table, first: int, begin: Integers) -> None:
        self.join, self.rows, self.first = join, rows, first
        self.numbers = [_filled(rows.column(name), -1) for name in SIDES]
        self.begin = np.maximum(*(_filled(rows.column(f"{letter}{BEGIN}"), LEAST) for letter in LETTERS))
        self.end = np.minimum(*(_filled(rows.column(f"{letter}{END}"), GREATEST) for letter in LETTERS))
        self.begin[:first] = begin
        self.paired = (self.numbers[0] >= 0) & (self.numbers[1] >= 0)
        self.blank = [
            self._blank(side) if join.blanks[side] else np.zeros(rows.num_rows, dtype=bool) for side in (0, 1)
        ]

    def swept(self, valid: Mask, frontier: int) -> Iterator[Swept]:
        """The rows of the result that are known, where those that are ``valid`` are known up to a frontier.

        The begins of valid rows become those of what is not known of them.
        """
        if self.join.overlapping:
            yield from self._pairs()
        for side in (0, 1):
            if self.join.windows[side]:
                yield from self._windows(side, valid, frontier)

    def _pairs(self) -> Iterator[Swept]:
        """Overlapping windows: both sides' values are in one row of the input."""
        shown = self.paired & ~self.blank[0] & ~self.blank[1]
        shown[: self.first] = False
        places = np.flatnonzero(shown)
        if not len(places):
            return
        lineages = PairLineages(self._lineages(0, places), self._lineages(1, places), self.join.independent)
        yield self._made((places, places), self.begin[places], self.end[places], lineages)

    def _windows(self, side: int, valid: Mask, frontier: int) -> Iterator[Swept]:
        """Unmatched and negating windows of the rows of a side."""
        rows, pairs = np.flatnonzero(~self.paired & (self.numbers[side] >= 0)), np.flatnonzero(self.paired)
        if not len(rows):
            return
        of = np.searchsorted(self.numbers[side][rows], self.numbers[side][pairs])
        matches, blank = self._lineages(1 - side, pairs), self.blank[1 - side][pairs]
        order = np.argsort(keyed(of, _ranks(matches.texts)))
        pairs, of, matches, blank = pairs[order], of[order], matches.at(order), blank[order]
        known = np.where(valid[rows], frontier, self.end[rows])
        cuts = Cuts(self.begin[rows], self.end[rows], known, of, self.begin[pairs], self.end[pairs], ~blank)
        for part in stretches(cuts.counts):
            low, high = np.searchsorted(of, (cuts.of[part.start], cuts.of[part.stop - 1] + 1))
            which, at = ranges(*(np.clip(ends[low:high], part.start, part.stop) for ends in (cuts.low, cuts.high)))
            which = low + which[in_order(at, part.start)]
            told = part.start + np.flatnonzero(~cuts.last[part])
            if not len(told):
                continue
            places, none = rows[cuts.of[told]], np.full(len(told), -1)
            lineages = PaddedLineages(
                self._lineages(side, places), cuts.counts[told], matches.at(which), blank[which], self.join.independent
            )
            yield self._made(
                (places, none) if side == 0 else (none, places), cuts.at[told], cuts.at[told + 1], lineages
            )
        going = valid[rows]
        self.begin[rows[going]] = cuts.at[cuts.last][going]

    def _made(self, places: tuple[Integers, Integers], begins: Integers, ends: Integers, lineages: Lineages) -> Swept:
        """Rows of the result from the places of either side's values, -1 where there are none."""
        columns = []
        for side in self.join.sides_shown:
            at = pa.array(places[side], mask=places[side] < 0)
            columns += [values_at(self.rows, f"{LETTERS[side]}{place}", at) for place in range(self.join.widths[side])]
        return Swept(columns, begins, ends, lineages)

    def _lineages(self, side: int, places: Integers) -> RowLineages:
        at = pa.array(places)
        return RowLineages(*(values_at(self.rows, f"{LETTERS[side]}{name}", at) for name in (LINEAGE, P)))

    def _blank(self, side: int) -> Mask:
        """Whether all values of a side are NULL."""
        missing = [self.rows.column(f"{LETTERS[side]}{place}").is_null() for place in range(self.join.widths[side])]
        found: Mask = np.logical_and.reduce([np.asarray(column) for column in missing])
        return found


def _filled(column: pa.ChunkedArray, value: int) -> Integers:
    found: Integers = np.asarray(pc.fill_null(column, value))
    return found


def _ranks(texts: pa.Array) -> Integers:
    """Numbers in the order of the texts, which is that of their code points."""
    encoded = texts.dictionary_encode()
    ranks = np.empty(len(encoded.dictionary), dtype=np.int64)
    ranks[np.asarray(pc.sort_indices(encoded.dictionary))] = np.arange(len(ranks))
    found: Integers = ranks[np.asarray(encoded.indices)]
    return found
