"""What an operator gives: how many rows there are at a time, and which of its columns say that one changes no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from streambound.recheck.certificates.quantity import Quantity


@dataclass(frozen=True, slots=True)
class ClosingColumn:
    """A column, by its place, that is or says the bucket of time of a row, which changes until ``delay`` after it.

    ``how`` is what its value says of a bucket of so many timestamps: "div", "start", "end", "last", "session" (the end
    of one), or a unit of the calendar.
    """

    place: int
    how: str
    size: int
    delay: int


@dataclass(frozen=True, slots=True)
class ClosesBy:
    """Columns that say the same; ``open(more)`` are the most rows that could still change so much earlier.

    ``buckets`` are the most different values of these columns that rows have which may change; None for so many rows.
    """

    columns: tuple[ClosingColumn, ...]
    open: Callable[[int], Quantity]
    buckets: int | None = None


@dataclass(frozen=True, slots=True)
class View:
    """The rows of an operator: the most at a time, None where there is no number."""

    rows: Quantity | None = None
    closing: tuple[ClosesBy, ...] = ()

    def at(self, places: Callable[[int], Sequence[int]]) -> View:
        """The same rows, whose columns are at other places, at several, or are no more."""
        found = [
            replace(one, columns=tuple(replace(c, place=p) for c in one.columns for p in places(c.place)))
            for one in self.closing
        ]
        return View(self.rows, tuple(one for one in found if one.columns))


NOTHING_KNOWN = View()
"""Rows without a number, of which any may change."""
