"""What is said of each operator of a circuit: when its rows close, and how it is executed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from streambound.criteria.judged import Judged
from streambound.criteria.operators.parts import Closing, Part
from streambound.criteria.size import Size

CLOSED = "when its window has closed"
"""When what is kept for a window goes."""


def numbered(name: str, number: int) -> str:
    """The name of one of several states of an operator, which differ by their names: ``values``, ``values 2``, …."""
    return name if number == 1 else f"{name} {number}"


@dataclass(frozen=True, slots=True)
class RowsOfSide:
    """The columns of a join, by their places, that one row of a side has: rows that are open have so many of these."""

    columns: frozenset[int]
    open: Callable[[int], Size] = field(repr=False, compare=False)

    @classmethod
    def at_a_time(cls, side: str, shown: Sequence[str], rows: Size) -> RowsOfSide:
        """So many rows of a side, ``l`` or ``r``, of a join whose columns are called so in its pairs."""
        return cls(frozenset(n for n, name in enumerate(shown) if name.startswith(side)), lambda _: rows)

    def earlier(self, before: int) -> RowsOfSide:
        """The rows that were open so much earlier already."""
        return replace(self, open=lambda more: self.open(more + before))


@dataclass(frozen=True, slots=True)
class ClosingRows:
    """When a row of a view does not change any more: each of these columns says so, all the same.

    ``open(more)`` is the most different rows that were not closed ``more`` before the last closed timestamp, in units
    of the time; ``open(0)`` those that may still change. It raises NoRule where there is no number. ``buckets`` is the
    most different values of these columns that such rows have; None where only the rows have a number. Of a join the
    rows of a ``side`` are fewer, those of its own sides first.
    """

    columns: tuple[Closing, ...]
    open: Callable[[int], Size] = field(repr=False, compare=False)
    buckets: int | None = None
    sides: tuple[RowsOfSide, ...] = ()

    def different(self, places: Iterable[int]) -> Callable[[int], Size]:
        """The most open rows that differ in the columns at these places."""
        read = set(places)
        return next((side.open for side in self.sides if read <= side.columns), self.open)


@dataclass(frozen=True, slots=True)
class JudgedPart(Judged):
    """What the propositions say of an operator and all below, with how it is executed.

    ``rows`` is the most rows of the view at a time, None where there is no number; ``closes`` are the columns that say
    when it does not take rows back any more. Without a ``part`` there are ``violations``. Of a join there are so many
    rows of a ``side`` at a time.
    """

    part: Part | None = None
    rows: Size | None = None
    closes: tuple[ClosingRows, ...] = ()
    sides: tuple[RowsOfSide, ...] = ()
