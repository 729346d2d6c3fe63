"""What is known of an operator's rows: a lattice of upper ends, so that what is missing (no key, no number) is true."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.algebra.value_sets import ANYTHING, ValueSet


class ViewKind(IntEnum):
    """How the rows of a view change while its streams grow, from what is easiest to keep to what is hardest."""

    STATIC = 0
    """Not at all: they are read from relations that do not change."""
    APPEND_ONLY = 1
    """Rows are added; none is ever taken back."""
    CLOSING = 2
    """A row may be taken back until the time that it carries is over."""
    KEYED = 3
    """Rows may be taken back at any time; at any time there are at most as many as a number says."""
    CHANGING = 4
    """Rows may be taken back at any time."""

    def __str__(self) -> str:
        return self.name.lower().replace("_", "-")


Key = frozenset[str]
"""Columns, by ``alias.name`` in small letters, in which no two rows agree."""

NOW = ""
"""The `TimePromise.source` that is no stream: the time at which a row changes."""

ROW_BESIDE = "row beside "
"""What is in a `TimePromise.source` that is another row of a window, which LAG or LEAD asks for."""


class TimePromise(Struct, frozen=True):
    """A column's values, other than NULL, are ``function(u)`` of a time u with ``low <= u - t <= high``.

    t is the timestamp of the row of ``source`` that the row was made of, a scan by its alias, with those of the
    subqueries around it before it: ``q.S``. For `NOW` it is the closed timestamp at which the row is added or taken
    back: with a ``low`` of -5 no row changes once its time is over for more than 5. None is no limit. ``function`` is
    Spark SQL over ``_t``, non-decreasing, and empty for u itself; any two times with one value of it are less than
    ``width`` apart. Units are the encoded ones of the application time (microseconds of a TIMESTAMP).
    """

    source: str
    low: int | None
    high: int | None
    function: str = ""
    width: int = 1

    @property
    def name(self) -> tuple[str, str]:
        """The subject of the promise."""
        return self.source, self.function

    @property
    def says_nothing(self) -> bool:
        """Whether every value keeps it."""
        return self.low is None and self.high is None

    def moved(self, more: int) -> TimePromise:
        """The promise for u + more."""
        low, high = (None if end is None else end + more for end in (self.low, self.high))
        return replace(self, low=low, high=high)

    def within(self, other: TimePromise) -> bool:
        """Whether it says at least as much as another one about the same."""
        low = other.low is None or (self.low is not None and other.low <= self.low)
        high = other.high is None or (self.high is not None and other.high >= self.high)
        return self.name == other.name and low and high and self.width <= other.width

    def join(self, other: TimePromise) -> TimePromise:
        """The promise that holds where either does; both have the same subject."""
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return replace(self, low=low, high=high, width=max(self.width, other.width))

    def meet(self, other: TimePromise) -> TimePromise:
        """The promise that holds where both do; they have the same subject."""
        lows = [low for low in (self.low, other.low) if low is not None]
        return replace(self, low=max(lows, default=None), high=least(self.high, other.high),
                       width=min(self.width, other.width))  # fmt: skip

    def widened(self, newer: TimePromise) -> TimePromise:
        """As `join`, with ends that moved left open."""
        both = self.join(newer)
        low, high = (both.low if both.low == self.low else None), (both.high if both.high == self.high else None)
        return replace(both, low=low, high=high)


Times = tuple[TimePromise, ...]


class ColumnFacts(Struct, frozen=True):
    """The facts of one column: its values, and their promises about time; ``times`` has one promise a name."""

    values: ValueSet = ANYTHING
    times: Times = ()

    def time(self, source: str, function: str = "") -> TimePromise | None:
        """The promise about a source's time, or about `NOW`; None where there is none."""
        return next((one for one in self.times if one.name == (source, function)), None)

    @property
    def closing(self) -> TimePromise | None:
        """The promise by which rows with one value change no more after a while; None where they always may."""
        if self.values.null:
            return None
        return next((one for one in self.times if one.source == NOW and one.low is not None), None)

    @property
    def newest(self) -> bool:
        """Whether the value is the time itself at which the row comes."""
        return any(one.source == NOW and (one.low, one.high, one.function) == (0, 0, "") for one in self.times)

    def within(self, other: ColumnFacts) -> bool:
        """Whether this says at least as much: the order of the lattice."""
        said = all(any(mine.within(theirs) for mine in self.times) for theirs in other.times)
        return self.values.within(other.values) and (said or self.values.only_null)

    def join(self, other: ColumnFacts) -> ColumnFacts:
        """The facts of a value to which one or the other applies."""
        return ColumnFacts(self.values.join(other.values), _both(self, other, widen=False))

    def widened(self, newer: ColumnFacts) -> ColumnFacts:
        """As `join`, with ends that moved left open."""
        return ColumnFacts(self.values.widened(newer.values), _both(self, newer, widen=True))


def _both(one: ColumnFacts, other: ColumnFacts, widen: bool) -> Times:
    if one.values.only_null or other.values.only_null:  # promises are about values other than NULL
        return other.times if one.values.only_null else one.times
    pairs = [(mine, theirs) for mine in one.times for theirs in other.times if mine.name == theirs.name]
    return promises(mine.widened(theirs) if widen else mine.join(theirs) for mine, theirs in pairs)


def promises(found: Iterable[TimePromise]) -> Times:
    """Promises in their order, one a name, those that say nothing left out."""
    by_name: dict[tuple[str, str], TimePromise] = {}
    for one in found:
        if not one.says_nothing:
            by_name.setdefault(one.name, one)
    return tuple(by_name[name] for name in sorted(by_name))


class ViewFacts(Struct, frozen=True):
    """The facts of an operator's rows.

    ``rows`` is the most there can be at a time, duplicates counted. ``columns`` are the facts of its columns, in the
    order of its schema; none where nothing is known. ``state`` is the most entries that the operator itself must
    remember, whatever is known of the order of its input: rows of sides that it joins, groups, rows seen once; of a
    block the sum of what its operators need. None where any of these is open. ``latest`` are the sources of which the
    newest row's time is that at which a row changes; None where that is not so, or not known.
    """

    change: ViewKind = ViewKind.CHANGING
    keys: tuple[Key, ...] = ()
    rows: int | None = None
    columns: tuple[ColumnFacts, ...] = ()
    state: int | None = None
    latest: frozenset[str] | None = None

    @property
    def settled(self) -> ViewFacts:
        """The same, said with the least kind: a view with a most number of rows is keyed, and one without is not."""
        if self.change is ViewKind.CHANGING and self.rows is not None:
            return replace(self, change=ViewKind.KEYED)
        return replace(self, change=ViewKind.CHANGING) if self.change is ViewKind.KEYED and self.rows is None else self

    @property
    def different(self) -> int | None:
        """The most different rows that there can be at a time: as many as there are rows, or combinations of values."""
        combinations = product_of(column.values for column in self.columns) if self.columns else None
        return least(self.rows, combinations)

    @property
    def closing(self) -> tuple[int, ...]:
        """The places of columns by which rows are settled: those with one value change no more after a while."""
        return tuple(place for place, column in enumerate(self.columns) if column.closing is not None)

    def within(self, other: ViewFacts) -> bool:
        """Whether this says at least as much: the order of the lattice."""
        mine = (*self.columns, *(ColumnFacts() for _ in range(len(other.columns) - len(self.columns))))
        return (
            self.change <= other.change
            and all(any(key <= theirs for key in self.keys) for theirs in other.keys)
            and _no_more(self.rows, other.rows)
            and _no_more(self.state, other.state)
            and other.latest in (self.latest, None)
            and all(one.within(theirs) for one, theirs in zip(mine, other.columns, strict=False))
        )

    def join(self, other: ViewFacts, widen: bool = False) -> ViewFacts:
        """The facts of a view to which one or the other applies; ``widen`` drops limits that grew."""
        columns = [
            one.widened(another) if widen else one.join(another)
            for one, another in zip(self.columns, other.columns, strict=False)
        ]
        numbers = [
            None if a is None or b is None or (widen and b > a) else max(a, b)
            for a, b in ((self.rows, other.rows), (self.state, other.state))
        ]
        keys = smallest(one | another for one in self.keys for another in other.keys)
        latest = self.latest if self.latest == other.latest else None
        return ViewFacts(max(self.change, other.change), keys, numbers[0], tuple(columns), numbers[1], latest)


NOTHING_KNOWN = ViewFacts()


def smallest(keys: Iterable[Key]) -> tuple[Key, ...]:
    """Keys without those that hold another one."""
    found = sorted(set(keys), key=lambda key: (len(key), sorted(key)))
    return tuple(key for place, key in enumerate(found) if not any(other <= key for other in found[:place]))


def product_of(values: Iterable[ValueSet]) -> int | None:
    """How many combinations of values there are; None without a limit."""
    sizes = [one.size for one in values]
    return None if any(size is None for size in sizes) else prod(size for size in sizes if size is not None)


def least(*numbers: int | None) -> int | None:
    """The least of some numbers; those that are open do not count."""
    return min((number for number in numbers if number is not None), default=None)


def added(*numbers: int | None) -> int | None:
    """The sum of some numbers; open where one is."""
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _no_more(number: int | None, other: int | None) -> bool:
    return other is None or (number is not None and number <= other)
