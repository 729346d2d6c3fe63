"""Which keys are known to be over, in bounded memory (K5): ranges of keys, joined where they touch.

A punctuation is a pattern: values of all attributes but the last, and a range of that one (Tucker, Maier, Sheard,
Fegaras, TKDE 15(3), 2003). Ranges are between *places*: NULL is below all values, and matches no range that begins with
them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from streambound_runtime.operators.by_tick import Row
from streambound_runtime.operators.entries import arrow_of_pairs, pairs_of_arrow
from streambound_runtime.operators.values import integer
from streambound_runtime.row_values import Value

if TYPE_CHECKING:
    import pyarrow as pa

Place = tuple[int, Value]
Range = tuple[Place, Place]
"""A first and a last place, which belong to it."""
Pattern = tuple[Row, Range]
"""The values of all attributes but the last, and a range of that one; of single keys those of all, and everything."""
EVERYTHING: Range = ((0, None), (3, None))
"""All values, and NULL."""


def place_of(value: Value) -> Place:
    """A value as a sort key; NULL comes first."""
    return (0, None) if value is None else (2, value)


def values_between(low: Value, high: Value) -> Range:
    """The values from one to another, of which NULL is no end; everything if both are.

    >>> values_between(None, 15)
    ((1, None), (2, 15))
    """
    if low is None and high is None:
        return EVERYTHING
    return (1, None) if low is None else (2, low), (3, None) if high is None else (2, high)


class EndedPattern(NamedTuple):
    """A punctuation of the keys of that name as a record has it, with the time from which on it holds."""

    keys: str
    time: int
    values: Row
    since: Value


def common(one: Range, ranges: Sequence[Range]) -> list[Range]:
    """What a range has in common with others.

    >>> common(values_between(5, 15), [values_between(None, 6), values_between(10, 20)])
    [((2, 5), (2, 6)), ((2, 10), (2, 15))]
    """
    both = [(max(one[0], other[0]), min(one[1], other[1])) for other in ranges]
    return [(low, high) for low, high in both if low <= high]


class EndedRanges:
    """The ``most`` ranges that have grown last, or all."""

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        self.by_others: dict[Row, list[Range]] = {}
        """In order, by the values of the other attributes; they do not touch."""
        self.by_age: dict[tuple[Row, Range], None] = {}

    def __len__(self) -> int:
        return len(self.by_age)

    def __contains__(self, key: tuple[Row, Value]) -> bool:
        others, value = key
        place, known = place_of(value), self.by_others.get(others, [])
        before = bisect_right(known, place, key=_first)
        return before > 0 and place <= known[before - 1][1]

    def add(self, others: Row, new: Range) -> None:
        """Take in a range; one that is known already is no newer."""
        known = self.by_others.setdefault(others, [])
        start = bisect_left(known, new[0], key=_beyond)
        end = bisect_right(known, _beyond(new), key=_first)
        near = known[start:end]
        joined = min(one[0] for one in (new, *near)), max(one[1] for one in (new, *near))
        if near == [joined]:
            return
        known[start:end] = [joined]
        for one in near:
            del self.by_age[others, one]
        self.by_age[others, joined] = None
        if self.most is not None and len(self.by_age) > self.most:
            self._forget(*next(iter(self.by_age)))

    def _forget(self, others: Row, oldest: Range) -> None:
        del self.by_age[others, oldest]
        self.by_others[others].remove(oldest)
        if not self.by_others[others]:
            del self.by_others[others]

    def dump(self) -> pa.Table:
        """The ranges by their age."""
        pairs = [((*others, *low, *high), age) for age, (others, (low, high)) in enumerate(self.by_age)]
        width = len(pairs[0][0]) if pairs else 0
        return arrow_of_pairs(pairs, tuple(map(str, range(width))))

    def load(self, state: pa.Table) -> None:
        """Take over what `dump` returned."""
        for (*others, low, least, high, most), _ in pairs_of_arrow(state):
            self.add(tuple(others), ((integer(low or 0), least), (integer(high or 0), most)))


def _first(one: Range) -> Place:
    return one[0]


def _beyond(one: Range) -> Place:
    """The last place, or the next one where values are numbered: nothing is between both."""
    kind, value = one[1]
    return (kind, value + 1) if isinstance(value, int) else one[1]
