"""What a punctuation says of one attribute: wildcard, constant, range, list or empty.

(Tucker, "Punctuated Data Streams", Schemes; Maier and Tucker, "Punctuations".) A range has two ends, of which each may
be absent or excluded. Ends are compared as *cuts*, places between values: just below or just above a value, or beyond
all values. NULL is None; it matches a wildcard, and a constant or list that names it, but no range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Cut = tuple[Any, ...]
FIRST: Cut = (-1,)
"""Below all values."""
LAST: Cut = (1,)
"""Above all values."""


def below(value: Any) -> Cut:
    """The place just below a value."""
    return (0, value, 0)


def above(value: Any) -> Cut:
    """The place just above a value."""
    return (0, value, 1)


@dataclass(frozen=True, slots=True)
class Wildcard:
    """Every value: ``*``."""


@dataclass(frozen=True, slots=True)
class ConstantPattern:
    """One value."""

    value: Any


@dataclass(frozen=True, slots=True)
class RangePattern:
    """The values between two ends, which belong to it unless open: ``[low, high]``; None is no end."""

    low: Any = None
    high: Any = None
    open_low: bool = False
    open_high: bool = False

    @property
    def start(self) -> Cut:
        """The cut below its values."""
        if self.low is None:
            return FIRST
        return above(self.low) if self.open_low else below(self.low)

    @property
    def end(self) -> Cut:
        """The cut above its values."""
        if self.high is None:
            return LAST
        return below(self.high) if self.open_high else above(self.high)


@dataclass(frozen=True, slots=True)
class Listed:
    """Some values: ``{a, b}``."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Empty:
    """No value at all."""


Pattern = Wildcard | ConstantPattern | RangePattern | Listed | Empty


def match_pattern(value: Any, pattern: Pattern) -> bool:
    """Whether a value is one of the pattern's.

    >>> match_pattern(7, RangePattern(5, 15)), match_pattern(15, RangePattern(5, 15, open_high=True))
    (True, False)
    >>> match_pattern(None, RangePattern())
    False
    """
    match pattern:
        case Wildcard():
            return True
        case ConstantPattern(constant):
            return bool(value == constant)
        case Listed(values):
            return value in values
        case RangePattern():
            return value is not None and pattern.start <= below(value) and above(value) <= pattern.end
    return False


def is_empty_pattern(pattern: Pattern) -> bool:
    """Whether no value matches."""
    match pattern:
        case RangePattern():
            return pattern.start >= pattern.end
        case Listed(values):
            return not values
    return isinstance(pattern, Empty)


def combine_pattern(one: Pattern, other: Pattern) -> Pattern:
    """The pattern of the values that match both, in its simplest form.

    >>> combine_pattern(RangePattern(5, 15), RangePattern(10, 20))
    RangePattern(low=10, high=15, open_low=False, open_high=False)
    >>> combine_pattern(RangePattern(5, 15), RangePattern(20, 25))
    Empty()
    """
    if isinstance(one, Wildcard):
        return other
    if isinstance(other, Wildcard):
        return one
    if isinstance(one, RangePattern) and isinstance(other, RangePattern):
        return between(max(one.start, other.start), min(one.end, other.end))
    if isinstance(one, RangePattern | Empty):
        one, other = other, one
    values = one.values if isinstance(one, Listed) else (one.value,) if isinstance(one, ConstantPattern) else ()
    return one_of(tuple(value for value in values if match_pattern(value, other)))


def between(start: Cut, end: Cut) -> Pattern:
    """The pattern of the values between two cuts."""
    if start >= end:
        return Empty()
    if start[:2] == end[:2]:
        return ConstantPattern(start[1])
    low, open_low = (None, False) if start == FIRST else (start[1], start[2] == 1)
    high, open_high = (None, False) if end == LAST else (end[1], end[2] == 0)
    return RangePattern(low, high, open_low, open_high)


def one_of(values: tuple[Any, ...]) -> Pattern:
    """The pattern of some values."""
    distinct = tuple(dict.fromkeys(values))
    return Listed(distinct) if distinct[1:] else ConstantPattern(distinct[0]) if distinct else Empty()
