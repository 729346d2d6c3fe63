"""The values that a column of a recursive relation can have: listed, or between ends (proposition F1, correction W9).

Between two ends there are finitely many values of discrete types only: others are bounded by lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.closure import Sort, in_order
from streambound.analyzer.query import Attribute, Comparison, Condition, OneOf, Op
from streambound.analyzer.values import Value

MOST_LISTED = 64
"""Values of a list that grows, after which it is a range."""


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The values ``listed``, or those from ``low`` to ``high`` where these are None.

    None for an end is no limit; ``null`` says that NULL is one more. Only ranges of ``discrete`` values have ends.
    """

    listed: frozenset[Value] | None = None
    low: int | None = None
    high: int | None = None
    null: bool = True
    discrete: bool = False

    @classmethod
    def of(cls, value: Value | None, discrete: bool) -> ValueRange:
        """One value."""
        return cls(frozenset() if value is None else frozenset((value,)), null=value is None, discrete=discrete)

    @property
    def size(self) -> int | None:
        """How many values there are, NULL among them; None for no end of them."""
        if self.listed is not None:
            return len(self.listed) + self.null
        if self.low is None or self.high is None:
            return None
        return max(0, self.high - self.low + 1) + self.null

    @property
    def ends(self) -> tuple[int | None, int | None]:
        """The least and the greatest value, if they are discrete."""
        if self.listed is None:
            return self.low, self.high
        numbers = [int(value) for value in self.listed] if self.discrete else []
        return min(numbers, default=None), max(numbers, default=None)

    def join(self, other: ValueRange) -> ValueRange:
        """What either can be."""
        null = self.null or other.null
        if other.listed == frozenset():
            return replace(self, null=null)
        if self.listed == frozenset():
            return replace(other, null=null)
        discrete = self.discrete and other.discrete
        if self.listed is not None and other.listed is not None:
            both = self.listed | other.listed
            if len(both) <= max(MOST_LISTED, len(self.listed), len(other.listed)):
                return ValueRange(both, null=null, discrete=discrete)
        return ValueRange(None, *(_hull(self.ends, other.ends) if discrete else (None, None)), null, discrete)

    def widened(self, newer: ValueRange) -> ValueRange:
        """As `join`, with what grew left open."""
        both = self.join(newer)
        if both == self or self.listed == frozenset():
            return both
        mine, found = self.ends, both.ends
        low, high = (one if one == before else None for one, before in zip(found, mine, strict=True))
        return ValueRange(None, low, high, both.null, both.discrete)

    def within(self, other: ValueRange) -> bool:
        """Whether all of its values are values of another one."""
        return other.join(self) == other

    def conditions(self, attribute: Attribute) -> Iterator[Condition]:
        """Of an attribute: that it has one of these values."""
        if self.listed is not None:
            if self.listed:
                yield OneOf(attribute, tuple(sorted(self.listed, key=in_order)))
            return
        if self.low is not None:
            yield Comparison(attribute, Op.GE, None, self.low)
        if self.high is not None:
            yield Comparison(attribute, Op.LE, None, self.high)


NO_VALUES = ValueRange(frozenset(), null=False, discrete=True)


def range_of(facts: Facts, attribute: Attribute, null: bool) -> ValueRange:
    """What the closure of a branch says of an attribute, which may be NULL if ``null``."""
    known = attribute in facts.closure.nodes
    discrete = known and facts.closure.sort(attribute) is Sort.DISCRETE
    if attribute in facts.closure.null:
        return ValueRange.of(None, discrete)
    listed = facts.listed(attribute)
    low, high = facts.closure.interval(attribute) if discrete else (None, None)
    if listed is None:
        return ValueRange(None, None if low is None else int(low), None if high is None else int(high), null, discrete)
    limits = [value for value in listed if not discrete or _between(low, Fraction(value), high)]
    return ValueRange(frozenset(limits), null=null, discrete=discrete)


def _between(low: Fraction | None, value: Fraction, high: Fraction | None) -> bool:
    return (low is None or low <= value) and (high is None or value <= high)


def _hull(one: tuple[int | None, int | None], other: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    (a, b), (c, d) = one, other
    return None if a is None or c is None else min(a, c), None if b is None or d is None else max(b, d)
