"""Segments: stretches of time on which the same rows are valid, with a lineage each.

One pass over rows in order of their begins, with a heap of ends (after LAWAN of Papaioannou, Theobald, Böhlen,
"Generalized Lineage-Aware Temporal Windows", Section VI). Its memory is the rows that are valid at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from streambound_runtime.lineage.absorption import absorbed
from streambound_runtime.lineage.formulas import FALSE, Formula, both, conjunction, disjunction, negation, without


class Segment(NamedTuple):
    """``lineage`` holds from ``begin`` to before ``end``."""

    begin: int
    end: int
    lineage: Formula


class Valid(NamedTuple):
    """A row that is valid until ``end``, exclusive; ``order`` distinguishes rows with the same end.

    ``marked``: the row is a match without values, or comes from the right side of a set operation.
    """

    end: int
    order: int
    lineage: Formula
    marked: bool


class Segments:
    """The segments of rows that are pushed in order of begin.

    ``lineage`` makes one of the rows valid together; where it is the constant false there is no segment. A neighbour
    whose lineage, up to a point, is ``equivalent`` to that of the segment before prolongs it.
    """

    __slots__ = ("_at", "_equivalent", "_last", "_lineage", "_order", "_valid", "found")

    def __init__(
        self,
        begin: int,
        lineage: Callable[[Sequence[Valid]], Formula],
        equivalent: Callable[[Segment, Formula, int], bool],
    ) -> None:
        self._at, self._lineage, self._equivalent = begin, lineage, equivalent
        self._valid: list[Valid] = []
        self._order = 0
        self._last: Segment | None = None
        self.found: list[Segment] = []
        """The segments that are complete; whoever takes them empties it."""

    def push(self, begin: int, end: int, lineage: Formula, marked: bool = False) -> None:
        """A row that is valid from ``begin`` on, which is no earlier than those before."""
        self.advance(begin)
        self._order += 1
        heappush(self._valid, Valid(end, self._order, lineage, marked))

    def advance(self, to: int) -> None:
        """Nothing that begins before ``to`` comes any more."""
        valid = self._valid
        while valid and valid[0].end <= to:
            self._segment(valid[0].end)
            heappop(valid)
        self._segment(to)

    def close(self, end: int) -> list[Segment]:
        """The remaining segments, up to ``end``."""
        self.advance(end)
        if self._last is not None:
            self.found.append(self._last)
            self._last = None
        return self.found

    def _segment(self, to: int) -> None:
        if to <= self._at:
            return
        lineage, begin, self._at = self._lineage(self._valid), self._at, to
        if lineage is FALSE:
            return
        last = self._last
        if last is not None and last.end == begin and self._equivalent(last, lineage, to):
            self._last = last._replace(end=to)
            return
        if last is not None:
            self.found.append(last)
        self._last = Segment(begin, to, lineage)


def paired(left: Formula, right: Formula, independent: bool) -> Formula:
    """The lineage of two rows that match."""
    return both(left, right) if independent else absorbed(conjunction((left, right)))


def padded(row: Formula, independent: bool, valid: Sequence[Valid]) -> Formula:
    """The lineage of a row without a match, or with one that has no values; ``b | !(b | s)`` is ``b | !s``.

    ``valid`` are the matches; ``independent``: all are different variables.
    """
    if not valid:
        return row
    others = [one.lineage for one in valid if not one.marked]
    if independent and len(others) == len(valid):
        return without(row, others)
    blank = (one.lineage for one in valid if one.marked)
    return absorbed(conjunction((row, disjunction((negation(disjunction(others)), *blank)))))
