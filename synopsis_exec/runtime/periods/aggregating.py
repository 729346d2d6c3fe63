"""Aggregates of the values that are valid at a time: each is told of values that come and go, and says what they make.

Sums are exact: of doubles as whole multiples of 2^-1074, which every double is, so that they can be taken back; they
are rounded once, when asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from decimal import Context, Decimal
from heapq import heappop, heappush
from math import inf, isfinite, isnan, nan
from typing import Generic, Protocol, TypeVar

from streambound_runtime.row_values import ArrowValue, Comparable

_PLACES = 1074
_UNIT = 1 << _PLACES
_WIDE = Context(prec=120)
_LEAST, _GREATEST = -(2**63), 2**63 - 1
V = TypeVar("V")


class Running(Protocol):
    """An aggregate over values that come and go, each in so many copies; NULLs are left out."""

    def add(self, value: ArrowValue, copies: int) -> None:
        """Values come; with negative ``copies`` they go."""
        ...

    @property
    def value(self) -> ArrowValue:
        """What the aggregate is now."""
        ...


class CountOf:
    """COUNT."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, value: object, copies: int) -> None:
        """Count values."""
        self.count += copies

    @property
    def value(self) -> int:
        """How many there are."""
        return self.count


class SumOf:
    """SUM and AVG; ``read`` makes an integer of a value, ``made`` the result of an integer and a count."""

    def __init__(self, read: Callable[[ArrowValue], int], made: Callable[[int, int], ArrowValue]) -> None:
        self.read, self.made = read, made
        self.total = self.count = 0

    def add(self, value: ArrowValue, copies: int) -> None:
        """Add values up."""
        self.total += self.read(value) * copies
        self.count += copies

    @property
    def value(self) -> ArrowValue:
        """The result; NULL of nothing."""
        return self.made(self.total, self.count) if self.count else None


class SumOfDoubles:
    """SUM and AVG of doubles: infinities and NaNs are counted apart."""

    def __init__(self, mean: bool) -> None:
        self.mean = mean
        self.total = self.count = 0
        self.special: Counter[str] = Counter()

    def add(self, value: ArrowValue, copies: int) -> None:
        """Add values up."""
        assert isinstance(value, float), "sums of doubles are of doubles"
        self.count += copies
        if isfinite(value):
            numerator, denominator = value.as_integer_ratio()
            self.total += (numerator << (_PLACES + 1 - denominator.bit_length())) * copies
        else:
            self.special["nan" if isnan(value) else "+" if value > 0 else "-"] += copies

    @property
    def value(self) -> float | None:
        """The exactly rounded result; NULL of nothing."""
        if not self.count:
            return None
        plus, minus = self.special["+"] > 0, self.special["-"] > 0
        if self.special["nan"] > 0 or (plus and minus):
            return nan
        if plus or minus:
            return inf if plus else -inf
        try:
            return self.total / (_UNIT * (self.count if self.mean else 1))
        except OverflowError:
            return inf if self.total > 0 else -inf


class ExtremeOf(Generic[V]):
    """MIN, or MAX: a heap of the values, of which those that are gone are dropped when they come to its top."""

    def __init__(self, ordered: Callable[[V], Comparable]) -> None:
        self.ordered = ordered
        self.heap: list[tuple[Comparable, _Carried[V]]] = []
        self.copies: dict[Comparable, int] = {}

    def add(self, value: V, copies: int) -> None:
        """Values come or go."""
        key = self.ordered(value)
        before = self.copies.pop(key, 0)
        if copies > 0 and not before:
            heappush(self.heap, (key, _Carried(value)))
        if before + copies:
            self.copies[key] = before + copies

    @property
    def value(self) -> V | None:
        """The first value of the order; NULL of nothing."""
        while self.heap and self.heap[0][0] not in self.copies:
            heappop(self.heap)
        return self.heap[0][1].value if self.heap else None


class _Carried(Generic[V]):
    """A value that takes no part in the order."""

    __slots__ = ("value",)

    def __init__(self, value: V) -> None:
        self.value = value

    def __lt__(self, other: object) -> bool:
        return False


class Reversed:
    """A value in the opposite order."""

    __slots__ = ("value",)

    def __init__(self, value: Comparable) -> None:
        self.value = value

    def __lt__(self, other: Reversed) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reversed) and bool(other.value == self.value)

    def __hash__(self) -> int:
        return hash(self.value)


class OncePerValue:
    """An aggregate of each value once."""

    def __init__(self, inner: Running) -> None:
        self.inner = inner
        self.copies: Counter[Hashable] = Counter()

    def add(self, value: ArrowValue, copies: int) -> None:
        """Tell the aggregate of values that are new, or gone."""
        key = _hashable(value)
        before = self.copies[key]
        self.copies[key] += copies
        if not self.copies[key]:
            del self.copies[key]
        if (before > 0) != (before + copies > 0):
            self.inner.add(value, 1 if copies > 0 else -1)

    @property
    def value(self) -> ArrowValue:
        """What the aggregate is now."""
        return self.inner.value


def _hashable(value: ArrowValue) -> Hashable:
    """What is equal for equal values: NaNs are, too."""
    if isinstance(value, list | tuple | dict):
        return tuple(map(_hashable, value.values() if isinstance(value, dict) else value))
    return "nan" if isinstance(value, float) and isnan(value) else value


def ordered(floating: bool, greatest: bool) -> Callable[[ArrowValue], Comparable]:
    """The key by which the least value, or the greatest, comes first; NaN is greater than all others."""
    if floating:
        sign = -1 if greatest else 1
        return lambda value: _among_doubles(value, sign)
    return _in_falling_order if greatest else _in_order


def _among_doubles(value: ArrowValue, sign: int) -> tuple[int, float]:
    assert isinstance(value, int | float), "a column of doubles has doubles"
    return (sign, 0.0) if isnan(value) else (0, sign * value)


def _in_order(value: ArrowValue) -> Comparable:
    """A value, or what Spark compares of a nested one: part by part, a NULL before all others."""
    assert value is not None, "NULLs are left out"
    if isinstance(value, list | tuple | dict):
        parts = value.values() if isinstance(value, dict) else value
        return tuple(() if part is None else (_in_order(part),) for part in parts)
    return _among_doubles(value, 1) if isinstance(value, float) else value


def _in_falling_order(value: ArrowValue) -> Comparable:
    return -value if isinstance(value, int) else Reversed(_in_order(value))


def integer_sum(total: int, count: int) -> int:
    """The sum of integers; raises OverflowError for one that is no bigint."""
    if not _LEAST <= total <= _GREATEST:
        raise OverflowError(f"SUM is {total}, which is beyond a bigint")
    return total


def mean_of_integers(total: int, count: int) -> float:
    """The mean of integers."""
    return total / count


def whole(value: ArrowValue) -> int:
    """An integer as it is."""
    assert isinstance(value, int), "sums of integers are of integers"
    return value


def digits(scale: int) -> Callable[[ArrowValue], int]:
    """A decimal as the integer of its digits."""

    def read(value: ArrowValue) -> int:
        assert isinstance(value, Decimal), "sums of decimals are of decimals"
        return int(value.scaleb(scale, context=_WIDE))

    return read


def decimal_sum(scale: int, precision: int) -> Callable[[int, int], Decimal]:
    """The sum of decimals; raises OverflowError for one that has more digits than its type."""

    def made(total: int, count: int) -> Decimal:
        return _fitting(Decimal(total).scaleb(-scale, context=_WIDE), precision)

    return made


def decimal_mean(scale: int, places: int, precision: int) -> Callable[[int, int], Decimal]:
    """The mean of decimals, rounded half up to so many places."""

    def made(total: int, count: int) -> Decimal:
        numerator = abs(total) * 10 ** (places - scale) if places >= scale else abs(total)
        quotient, rest = divmod(numerator, count)
        quotient += 2 * rest >= count
        return _fitting(Decimal(quotient if total >= 0 else -quotient).scaleb(-places, context=_WIDE), precision)

    return made


def _fitting(value: Decimal, precision: int) -> Decimal:
    if len(value.as_tuple().digits) > precision:
        raise OverflowError(f"{value} has more digits than a decimal of {precision}")
    return value
