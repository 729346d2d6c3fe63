"""The values that a column can have, as a lattice: a short list, or the ends of a range; and whether it may be NULL."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.columns import Column
from streambound.analyzer.expressions.evident import MOST_VALUES
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value
from streambound.analyzer.work import cached
from streambound_runtime.promises import Domain

Number = int | Fraction


class ValueSet(Struct, frozen=True):
    """At most these values, encoded by their type: those ``listed``; else from ``low`` to ``high``, None without end.

    Ends that are ``int`` are those of a type with finitely many values between two others; a range of few such values
    is listed, so that equal sets are equal. Texts have no ends. ``null``: NULL may be among them.
    """

    low: Number | None = None
    high: Number | None = None
    listed: frozenset[Value] | None = None
    null: bool = True

    @property
    def size(self) -> int | None:
        """How many different values there can be, NULL among them; None without a limit."""
        if self.listed is not None:
            return len(self.listed) + self.null
        if isinstance(self.low, int) and isinstance(self.high, int):
            return self.high - self.low + 1 + self.null
        return None

    @property
    def ends(self) -> tuple[Number | None, Number | None]:
        """The least and the greatest value other than NULL; None where there is none, or it is a text."""
        if self.listed is None:
            return self.low, self.high
        return _ends(self.listed)

    @property
    def only_null(self) -> bool:
        """Whether there is no value but NULL."""
        return self.listed == frozenset()

    def has(self, value: Value | None) -> bool:
        """Whether a value is among them."""
        if value is None:
            return self.null
        if self.listed is not None:
            return value in self.listed
        if isinstance(value, str):
            return self.low is None and self.high is None
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)

    def within(self, other: ValueSet) -> bool:
        """Whether this set is a subset of the other: the order of the lattice."""
        if self.null and not other.null:
            return False
        if self.listed is not None:
            return all(map(other.has, self.listed))
        if other.listed is not None:
            return False
        return _at_most(other.low, self.low) and _at_least(other.high, self.high)

    def join(self, other: ValueSet) -> ValueSet:
        """The least set with the values of both; of more than `MOST_VALUES` values in two lists, their range."""
        null = self.null or other.null
        if self.only_null or other.only_null:
            return replace(other if self.only_null else self, null=null)
        if self.listed is not None and other.listed is not None and len(self.listed | other.listed) <= MOST_VALUES:
            return ValueSet(listed=self.listed | other.listed, null=null)
        (a, b), (c, d) = self.ends, other.ends
        low = None if a is None or c is None else min(a, c)
        high = None if b is None or d is None else max(b, d)
        return between(low, high, null)

    def meet(self, other: ValueSet) -> ValueSet:
        """The values that are in both."""
        null = self.null and other.null
        for one, another in ((self, other), (other, self)):
            if one.listed is not None:
                return ValueSet(listed=frozenset(filter(another.has, one.listed)), null=null)
        lows = [low for low in (self.low, other.low) if low is not None]
        highs = [high for high in (self.high, other.high) if high is not None]
        return between(max(lows, default=None), min(highs, default=None), null)

    def widened(self, newer: ValueSet) -> ValueSet:
        """A set that holds both, and of which an end that moved is open: chains of such sets are short."""
        both = self.join(newer)
        if both == self or self.only_null:
            return both
        (a, b), (c, d) = self.ends, both.ends
        return between(a if a == c else None, b if b == d else None, both.null)

    def not_null(self) -> ValueSet:
        """The same without NULL."""
        return replace(self, null=False)

    def or_null(self) -> ValueSet:
        """The same with NULL."""
        return replace(self, null=True)


ANYTHING = ValueSet()
NOTHING = ValueSet(listed=frozenset(), null=False)
NULL = ValueSet(listed=frozenset())


def between(low: Number | None, high: Number | None, null: bool = True) -> ValueSet:
    """The values of a range, its ends included.

    >>> between(1, 3).size, between(0, None).size, between(3, 1, null=False) == NOTHING
    (4, None, True)
    """
    if low is None or high is None:
        return ValueSet(low, high, None, null)
    if low > high:
        return ValueSet(listed=frozenset(), null=null)
    if low == high:
        return ValueSet(listed=frozenset((low,)), null=null)
    if isinstance(low, int) and isinstance(high, int) and high - low < MOST_VALUES:
        return ValueSet(listed=frozenset(range(low, high + 1)), null=null)
    return ValueSet(low, high, None, null)


@cached(4096)
def _ends(listed: frozenset[Value]) -> tuple[Number | None, Number | None]:
    """The least and the greatest of some numbers; None where one is a text, or there is none."""
    numbers = [value for value in listed if not isinstance(value, str)]
    return (min(numbers), max(numbers)) if numbers and len(numbers) == len(listed) else (None, None)


def of_values(values: Iterable[Value], null: bool) -> ValueSet:
    """Some values; as a range where they are too many to be listed."""
    found = frozenset(values)
    if len(found) <= MOST_VALUES:
        return ValueSet(listed=found, null=null)
    numbers = [value for value in found if not isinstance(value, str)]
    return between(min(numbers), max(numbers), null) if len(numbers) == len(found) else replace(ANYTHING, null=null)


def of_domain(domain: Domain[Value] | None, kind: DataType, null: bool) -> ValueSet:
    """The values of a declared or evident domain, or of the type where that has few."""
    if domain is not None and domain.values:
        return of_values(domain.values, null)
    low, high = Column("", kind, domain).ends
    if isinstance(low, str) or isinstance(high, str):
        return replace(ANYTHING, null=null)
    return between(low, high, null)


def in_type(values: ValueSet, own: DataType | None, kind: DataType | None) -> ValueSet:
    """Values of a type as those of another one that they are cast to, in its units; any where these are no numbers.

    >>> from streambound.analyzer.types import parse_type
    >>> tenths, hundredths = parse_type("decimal(3,1)"), parse_type("decimal(5,2)")
    >>> in_type(of_values((15, 95), null=False), tenths, hundredths).ends
    (150, 950)
    """
    if own == kind or values.only_null or (own is not None and kind is not None and own.comparable(kind)):
        return values
    unknown = replace(ANYTHING, null=values.null)
    if own is None or kind is None or own.family not in (Family.INTEGER, Family.DECIMAL):
        return unknown
    low, high = values.ends
    few = low is not None and high is not None and max(-low, high) <= 2**53  # which doubles have
    if kind.family is Family.FLOAT and not own.scale and few:
        return values
    more = (kind.scale or 0) - (own.scale or 0)
    if kind.family is not Family.DECIMAL or more < 0:
        return unknown
    if values.listed is not None:
        return of_values((one * 10**more for one in values.listed if not isinstance(one, str)), values.null)
    first, last = (None if end is None else end * 10**more for end in (low, high))
    return between(first, last, values.null)


def as_domain(values: ValueSet) -> Domain[Value] | None:
    """The same as a domain of the catalog, which has two ends, or a list with a value, or is none."""
    if values.listed:
        return Domain(values=tuple(values.listed))
    return Domain(values.low, values.high) if values.low is not None and values.high is not None else None


def _at_most(low: Number | None, other: Number | None) -> bool:
    return low is None or (other is not None and low <= other)


def _at_least(high: Number | None, other: Number | None) -> bool:
    return high is None or (other is not None and high >= other)
