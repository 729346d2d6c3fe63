"""Rows with their whole periods, as soon as they are known: pairs of rows when the later one begins.

What is given is no encoding that is unique: at each point of time the result is the sum of the rows that are valid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from streambound_runtime.operators.epochs.fragments import Fragment, FragmentRow
from streambound_runtime.operators.epochs.joins import Passes, pairs_of
from streambound_runtime.operators.epochs.plan import EpochJoin
from streambound_runtime.operators.epochs.rows import Entry, Epoch, RowsOfEpoch, saved_row
from streambound_runtime.operators.values import integer


def together(rows: Sequence[Fragment]) -> list[Fragment]:
    """Rows, equal ones as one."""
    found = Counter[tuple[FragmentRow, int, int]]()
    for row, begin, end, count in rows:
        found[row, begin, end] += count
    return [(*one, count) for one, count in found.items()]


class EpochSide(Protocol):
    """A side of a join: rows that come, and earlier ones, which later rows of the other side may meet."""

    def rows(self, epoch: Epoch) -> tuple[list[Fragment], Sequence[Fragment]]:
        """What comes in an epoch, and what has come before."""
        ...

    def keep(self, rows: Sequence[Fragment], until: int) -> None:
        """Remember what has come and is still valid at a frontier."""
        ...


class StaticSide:
    """The rows of a relation, which are all there from the first."""

    def __init__(self, known: Sequence[Fragment]) -> None:
        self.known = known

    def rows(self, epoch: Epoch) -> tuple[list[Fragment], Sequence[Fragment]]:
        """Nothing comes."""
        return [], self.known

    def keep(self, rows: Sequence[Fragment], until: int) -> None:
        """Nothing."""


class ArrivingSide:
    """Rows that come when they begin: a counter for each value, end, and begin while that lies ahead."""

    def __init__(self, arriving: RowsOfEpoch) -> None:
        self.arriving = arriving
        self.counts: dict[tuple[FragmentRow, int, int], int] = {}

    def rows(self, epoch: Epoch) -> tuple[list[Fragment], Sequence[Fragment]]:
        """What comes in an epoch, and what is valid since before."""
        return self.arriving(epoch), [(*one, count) for one, count in self.counts.items()]

    def keep(self, rows: Sequence[Fragment], until: int) -> None:
        """Remember what is still valid at a frontier."""
        held = [(*one, count) for one, count in self.counts.items()]
        self.counts = {}
        for row, begin, end, count in (*held, *rows):
            if end > until:
                key = row, max(begin, until), end
                self.counts[key] = self.counts.get(key, 0) + count


class JoinedParts:
    """Pairs of rows that are valid together, when the later one comes."""

    def __init__(self, plan: EpochJoin, sides: tuple[EpochSide, EpochSide], passes: Passes) -> None:
        self.plan, self.sides, self.passes = plan, sides, passes

    def arriving(self, epoch: Epoch) -> list[Fragment]:
        """The pairs of which a row comes in an epoch."""
        (new, held), (others, other_held) = (side.rows(epoch) for side in self.sides)
        found = self._joined(new, [*other_held, *others]) + self._joined(held, others)
        if not any(isinstance(side, StaticSide) for side in self.sides):  # else nothing comes that could meet them
            for side, rows in zip(self.sides, (new, others), strict=True):
                side.keep(rows, epoch.until)
        return found

    def _joined(self, left: Sequence[Fragment], right: Sequence[Fragment]) -> list[Fragment]:
        found = pairs_of(self.plan, left, right, self.passes)
        return [((*left[i][0], *right[j][0]), b, e, left[i][3] * right[j][3]) for i, j, b, e in found]

    def entries(self) -> int:
        """Those of both sides."""
        return sum(len(side.counts) for side in self.sides if isinstance(side, ArrivingSide))

    def dump(self) -> list[Entry]:
        """The side's number, values, begin, end and number of each."""
        sides = [(n, side) for n, side in enumerate(self.sides) if isinstance(side, ArrivingSide)]
        return [[n, *row, begin, end, count] for n, s in sides for (row, begin, end), count in s.counts.items()]

    def load(self, entries: Sequence[Entry]) -> None:
        """Take over what `dump` returned."""
        for side in self.sides:
            if isinstance(side, ArrivingSide):
                side.counts = {}
        for number, *row, begin, end, count in entries:
            side = self.sides[integer(number)]
            assert isinstance(side, ArrivingSide), "of relations nothing is saved"
            side.counts[saved_row(row), integer(begin), integer(end)] = integer(count)
