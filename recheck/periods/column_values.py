"""The values that a column can have: a list of them, or those between two ends, of which NULL may be one more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from streambound.analyzer.query import Attribute, Comparison, Condition, OneOf, Op
from streambound.analyzer.values import Value
from streambound.recheck.certificates.conditions import Conditions

_LISTED = 64
"""A list that grows beyond so many values is a range."""


@dataclass(frozen=True, slots=True)
class Values:
    """The ``listed`` ones, or where these are None all from ``low`` to ``high``; only integers have ends."""

    listed: frozenset[Value] | None
    low: int | None
    high: int | None
    null: bool
    integers: bool

    @classmethod
    def of(cls, value: Value | None, integers: bool) -> Values:
        """One value."""
        return cls(frozenset([] if value is None else [value]), None, None, value is None, integers)

    @property
    def size(self) -> int | None:
        """How many there are; None for no end of them."""
        if self.listed is not None:
            return len(self.listed) + self.null
        return None if self.low is None or self.high is None else max(0, self.high - self.low + 1) + self.null

    @property
    def _ends(self) -> tuple[int | None, int | None]:
        if self.listed is None:
            return self.low, self.high
        numbers = sorted(int(one) for one in self.listed) if self.integers else []
        return (numbers[0], numbers[-1]) if numbers else (None, None)

    def joined(self, other: Values) -> Values:
        """All of both."""
        null = self.null or other.null
        for empty, one in ((self, other), (other, self)):
            if empty.listed == frozenset():
                return Values(one.listed, one.low, one.high, null, one.integers)
        integers = self.integers and other.integers
        if self.listed is not None and other.listed is not None:
            both = self.listed | other.listed
            if len(both) <= max(_LISTED, len(self.listed), len(other.listed)):
                return Values(both, None, None, null, integers)
        if not integers:
            return Values(None, None, None, null, False)
        (a, b), (c, d) = self._ends, other._ends
        low = None if a is None or c is None else min(a, c)
        return Values(None, low, None if b is None or d is None else max(b, d), null, True)

    def widened(self, new: Values) -> Values:
        """All of both, without the ends that grew."""
        both = self.joined(new)
        if both == self or self.listed == frozenset():
            return both
        pairs = zip(self._ends, both._ends, strict=True)
        low, high = (after if before == after else None for before, after in pairs)
        return Values(None, low, high, both.null, both.integers)

    def within(self, other: Values) -> bool:
        """Whether all of them are among others."""
        return other.joined(self) == other

    def conditions(self, attribute: Attribute) -> Iterator[Condition]:
        """That an attribute has one of them."""
        if self.listed:
            texts = any(isinstance(one, str) for one in self.listed)
            inside = sorted(self.listed, key=(lambda one: str(one).encode()) if texts else None)
            yield OneOf(attribute, tuple(inside))
        if self.listed is None and self.low is not None:
            yield Comparison(attribute, Op.GE, None, self.low)
        if self.listed is None and self.high is not None:
            yield Comparison(attribute, Op.LE, None, self.high)


NONE = Values(frozenset(), None, None, False, True)


def values_of(conditions: Conditions, attribute: Attribute, null: bool) -> Values:
    """What the conditions of a branch leave of an attribute, which may be NULL if ``null``."""
    integers = conditions.is_integer(attribute)
    if attribute in conditions.null:
        return Values.of(None, integers)
    same = [other for other in conditions.attributes if conditions.equal(attribute, other) == 0] or [attribute]
    lists = [list[Value](_listed(conditions, one)) for one in same if conditions.listed(one)]
    if lists:
        return Values(frozenset(sorted(lists, key=len)[0]), None, None, null, integers)
    if not integers:
        return Values(None, None, None, null, False)
    zero = conditions.zero(attribute)
    below, above = conditions.follows.bound(zero, attribute), conditions.follows.bound(attribute, zero)
    low, high = None if below is None else -int(below[0]), None if above is None else int(above[0])
    return Values(None, low, high, null, True)


def _listed(conditions: Conditions, attribute: Attribute) -> Sequence[Value]:
    if conditions.is_integer(attribute):
        return conditions.possible(attribute, conditions.follows)
    return conditions.values(attribute)
