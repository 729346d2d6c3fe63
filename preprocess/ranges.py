"""What comparisons with constants say about one value, or about the difference of two, as a union of ranges.

``a = 1 OR a = 2 OR a > 2  ->  a >= 1`` over integers; ``x < y OR x = y  ->  x <= y``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction

from msgspec import Struct

from streambound.analyzer.query import Attribute, Branch, Comparison, Op
from streambound.analyzer.values import Value

Subject = tuple[Attribute, Attribute | None]
"""What is compared: an attribute, or the difference of two."""

End = tuple[Value, bool]
"""A value, and whether it belongs to the range."""


class Range(Struct, frozen=True):
    """The values between two ends; None is no end. Over discrete types ends belong to the range."""

    low: End | None
    high: End | None


EVERYTHING = Range(None, None)

Cluster = tuple[Range, tuple[End, ...]]
"""A range, and the single values in it that do not belong to it."""


class Scale(Struct, frozen=True):
    """The values that a subject can have: whether they are discrete, and what the catalog declares of them."""

    discrete: bool
    least: Value | None = None
    greatest: Value | None = None
    listed: tuple[Value, ...] = ()

    @classmethod
    def of(cls, branch: Branch, subject: Subject) -> Scale:
        """The scale of a subject; only single attributes of discrete types have declared values here."""
        column = branch.column(subject[0])
        if not column.type.discrete or subject[1] is not None:
            return cls(column.type.discrete)
        if column.domain is not None and column.domain.values:
            return cls(True, min(column.domain.values), max(column.domain.values), column.domain.values)
        return cls(True, *column.ends)

    def ranges(self, comparison: Comparison) -> tuple[Range, ...]:
        """The values that satisfy a comparison."""
        value = comparison.offset
        at, below, above = (value, True), self._beside(value, -1), self._beside(value, 1)
        match comparison.op:
            case Op.LT:
                return (Range(None, below),)
            case Op.LE:
                return (Range(None, at),)
            case Op.EQ:
                return (Range(at, at),)
            case Op.GE:
                return (Range(at, None),)
            case Op.GT:
                return (Range(above, None),)
        return self.excluded((value,))

    def excluded(self, values: Collection[Value]) -> tuple[Range, ...]:
        """Everything but some values."""
        ordered = sorted(set(values), key=_key)
        lows = (None, *(self._beside(value, 1) for value in ordered))
        highs = (*(self._beside(value, -1) for value in ordered), None)
        found = (Range(low, high) for low, high in zip(lows, highs, strict=True))
        return tuple(each for each in found if not _is_empty(each))

    def listed_values(self, values: Iterable[Value]) -> tuple[Range, ...]:
        """A list's values."""
        return self.union(Range((value, True), (value, True)) for value in values)

    def members(self, found: Range, holes: tuple[End, ...], most: int) -> tuple[Value, ...]:
        """The values of a range with holes, least first; none where they are infinitely many, or more than ``most``."""
        low = self.least if found.low is None else found.low[0]
        high = self.greatest if found.high is None else found.high[0]
        if low is None or high is None:
            return ()
        if low == high:
            return (low,)
        if not self.discrete or isinstance(low, str) or isinstance(high, str):
            return ()
        missing = {value for value, _ in holes}
        if self.listed:
            within = tuple(value for value in self.listed if _key(low) <= _key(value) <= _key(high))
        else:
            within = tuple(range(int(low), int(high) + 1)) if high - low - len(missing) < most else ()
        values = tuple(value for value in within if value not in missing)
        return values if len(values) <= most else ()

    def _beside(self, value: Value, step: int) -> End:
        return (value + step, True) if self.discrete and not isinstance(value, str) else (value, False)

    def union(self, ranges: Iterable[Range]) -> tuple[Range, ...]:
        """The same values as ranges that neither overlap nor touch, in order, as far out as the domain allows."""
        merged: list[Range] = []
        for found in sorted((self._widened(r) for r in ranges if not self._is_outside(r)), key=_start):
            if merged and self._touch(merged[-1], found):
                merged[-1] = Range(merged[-1].low, _latest(merged[-1].high, found.high))
            else:
                merged.append(found)
        return tuple(merged)

    @staticmethod
    def hull(ranges: Iterable[Range]) -> Range:
        """The least range that holds all of some ranges, of which there is one at least."""
        first, *others = ranges
        low, high = first.low, first.high
        for found in others:
            low, high = _earliest(low, found.low), _latest(high, found.high)
        return Range(low, high)

    def _is_outside(self, found: Range) -> bool:
        low, high = found.low, found.high
        beyond = low is not None and self.greatest is not None and _key(low[0]) > _key(self.greatest)
        return beyond or (high is not None and self.least is not None and _key(high[0]) < _key(self.least))

    def _widened(self, found: Range) -> Range:
        """A range that reaches the end of the domain has no end there."""
        low, high = found.low, found.high
        if low is not None and self.least is not None and _key(low[0]) <= _key(self.least):
            low = None
        if high is not None and self.greatest is not None and _key(high[0]) >= _key(self.greatest):
            high = None
        return Range(low, high)

    def _touch(self, first: Range, second: Range) -> bool:
        """Whether no value lies between two ranges of which the second starts later."""
        if first.high is None or second.low is None:
            return True
        high, low = _key(first.high[0]), _key(second.low[0])
        if self.listed:
            return not any(high < _key(value) < low for value in self.listed)
        if self.discrete:
            return low[0] - high[0] <= 1
        return low < high or (low == high and (first.high[1] or second.low[1]))

    def clusters(self, ranges: tuple[Range, ...]) -> Iterator[Cluster]:
        """A union's ranges; those that only single values keep apart together, as one with holes.

        Single values among single values stay alone: ``1, 3, 5``.
        """
        together: list[Range] = []
        holes: list[End] = []
        for found in ranges:
            hole = self._only_between(together[-1].high, found.low) if together else None
            if together and hole is None:
                yield from _cluster(together, holes)
                together, holes = [], []
            together.append(found)
            holes += [hole] if hole is not None else []
        yield from _cluster(together, holes)

    def _only_between(self, high: End | None, low: End | None) -> End | None:
        """The one value between two ends; None where there are more."""
        if high is None or low is None:
            return None
        if not self.discrete:
            return (high[0], True) if _key(high[0]) == _key(low[0]) else None
        if self.listed:
            within = [value for value in self.listed if _key(high[0]) < _key(value) < _key(low[0])]
            return (within[0], True) if len(within) == 1 else None
        hole = self._beside(high[0], 1)
        return hole if self._beside(hole[0], 1) == low else None


def intersection(first: tuple[Range, ...], second: tuple[Range, ...]) -> tuple[Range, ...]:
    """The values in both of two unions, whose ranges are in order."""
    found: list[Range] = []
    x = y = 0
    while x < len(first) and y < len(second):
        both = Range(_later(first[x].low, second[y].low), _earlier(first[x].high, second[y].high))
        if not _is_empty(both):
            found.append(both)
        if both.high == first[x].high:
            x += 1
        else:
            y += 1
    return tuple(found)


def _is_empty(found: Range) -> bool:
    if found.low is None or found.high is None:
        return False
    low, high = _key(found.low[0]), _key(found.high[0])
    return low > high or (low == high and not (found.low[1] and found.high[1]))


def _cluster(ranges: list[Range], holes: list[End]) -> Iterator[Cluster]:
    if all(found.low is not None and found.low == found.high for found in ranges):
        yield from ((found, ()) for found in ranges)
    else:
        yield Range(ranges[0].low, ranges[-1].high), tuple(holes)


def _key(value: Value) -> tuple[int | Fraction, bytes]:
    """Where a value comes in the order of its type: strings are compared as Spark does, by their bytes."""
    return (0, value.encode()) if isinstance(value, str) else (value, b"")


def _start(found: Range) -> tuple[bool, tuple[int | Fraction, bytes], bool]:
    low = found.low or (0, True)
    return found.low is not None, _key(low[0]), not low[1]


def _later(x: End | None, y: End | None) -> End | None:
    """The stricter of two lower ends."""
    if x is None or y is None:
        return x or y
    return max(x, y, key=lambda end: (_key(end[0]), not end[1]))


def _earlier(x: End | None, y: End | None) -> End | None:
    """The stricter of two upper ends."""
    if x is None or y is None:
        return x or y
    return min(x, y, key=lambda end: (_key(end[0]), end[1]))


def _earliest(x: End | None, y: End | None) -> End | None:
    """The weaker of two lower ends."""
    return None if x is None or y is None else min(x, y, key=lambda end: (_key(end[0]), not end[1]))


def _latest(x: End | None, y: End | None) -> End | None:
    """The weaker of two upper ends."""
    return None if x is None or y is None else max(x, y, key=lambda end: (_key(end[0]), end[1]))
