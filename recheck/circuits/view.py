"""What an operator gives: how many rows there are at a time, and which of its columns say that one changes no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
class JoinedSide:
    """The places of columns that a join has of one row of a side, and the most such rows that could still change."""

    places: frozenset[int]
    open: Callable[[int], Quantity]

    @classmethod
    def at_a_time(cls, columns: Iterable[object], shown: Sequence[object], rows: Quantity) -> JoinedSide:
        """So many rows of a side with these columns, of a join that shows those."""
        own = list(columns)
        return cls(frozenset(place for place, one in enumerate(shown) if one in own), lambda _: rows)

    def before(self, timestamps: int) -> JoinedSide:
        """Those that could so much earlier."""
        return replace(self, open=lambda more: self.open(more + timestamps))

    def at(self, places: Callable[[int], Sequence[int]]) -> JoinedSide:
        """The same rows, whose columns are at other places, at several, or are no more."""
        return replace(self, places=frozenset(new for place in self.places for new in places(place)))


@dataclass(frozen=True, slots=True)
class ClosesBy:
    """Columns that say the same; ``open(more)`` are the most rows that could still change so much earlier.

    ``buckets`` are the most different values of these columns that rows have which may change; None for so many rows.
    ``sides`` are those that a join is of, each after the ones that it is of itself.
    """

    columns: tuple[ClosingColumn, ...]
    open: Callable[[int], Quantity]
    buckets: int | None = None
    sides: tuple[JoinedSide, ...] = ()

    def open_values(self, places: frozenset[int], more: int) -> Quantity:
        """The most different values that rows which may change have in some columns: of the first side with all."""
        for side in self.sides:
            if not places - side.places:
                return side.open(more)
        return self.open(more)

    def at(self, places: Callable[[int], Sequence[int]]) -> ClosesBy:
        """The same rows, whose columns are at other places, at several, or are no more."""
        columns = tuple(replace(one, place=place) for one in self.columns for place in places(one.place))
        return replace(self, columns=columns, sides=tuple(side.at(places) for side in self.sides))


@dataclass(frozen=True, slots=True)
class View:
    """The rows of an operator: the most at a time, None where there is no number; of a join also those of its sides."""

    rows: Quantity | None = None
    closing: tuple[ClosesBy, ...] = ()
    sides: tuple[JoinedSide, ...] = ()

    def values(self, places: frozenset[int]) -> Quantity | None:
        """The most different values of some columns at a time: of the first side with all of them."""
        return next((side.open(0) for side in self.sides if not places - side.places), self.rows)

    def at(self, places: Callable[[int], Sequence[int]]) -> View:
        """The same rows, whose columns are at other places, at several, or are no more."""
        found = (one.at(places) for one in self.closing)
        sides = (side.at(places) for side in self.sides)
        return View(self.rows, tuple(one for one in found if one.columns), tuple(sides))

    def turned(self, left: int, right: int) -> View:
        """The rows of a join of so many columns on each side, which was of the right side with the left one."""
        return self.at(lambda place: [place + left if place < right else place - right])


NOTHING_KNOWN = View()
"""Rows without a number, of which any may change."""
