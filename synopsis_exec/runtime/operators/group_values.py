"""The values of aggregates: of sums and of the values that a group has, encoded, as batch SQL gives them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor, isnan, sqrt

from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.operators.circuit_plan import GroupValue
from streambound_runtime.operators.sums import Number
from streambound_runtime.operators.values import COMPARISONS, factor, greatest, least
from streambound_runtime.row_values import Value

_PERCENTILES = ("median", "percentile", "percentile_cont", "percentile_disc")


@dataclass
class HeldValues:
    """Values of a group: only the best one, or each once with its weight. NULL is none."""

    greatest: bool | None
    weights: dict[Value, int] = field(default_factory=dict)
    _ordered: list[Value] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def size(self) -> int:
        """How many entries they take beside the group's."""
        return len(self.weights) if self.greatest is None else 0

    @property
    def ordered(self) -> list[Value]:
        """The values in Spark's order of numbers; it is kept from one timestamp to the next."""
        if self._ordered is None:
            self._ordered = sorted(self.weights, key=_place)
        return self._ordered

    def add(self, value: Value, weight: int) -> int:
        """Add a value; returns by how many entries there are more."""
        if value is None:
            return 0
        if self.greatest is not None:
            if not self.weights or COMPARISONS[">" if self.greatest else "<"](value, self.best):
                self.weights = {value: 1}
            return 0
        before = len(self.weights)
        self.weights[value] = self.weights.get(value, 0) + weight
        if not self.weights[value]:
            del self.weights[value]
        more = len(self.weights) - before
        if more and self._ordered is not None:
            self._reorder(value, more)
        return more

    def _reorder(self, value: Value, more: int) -> None:
        """Put a value that has come, or none in the place of one that has gone, where it is in the order."""
        assert self._ordered is not None
        if isinstance(value, float) and isnan(value):  # several may be there, of which each is another key
            self._ordered = None
        elif more > 0:
            insort(self._ordered, value, key=_place)
        else:
            del self._ordered[bisect_left(self._ordered, _place(value), key=_place)]

    @property
    def best(self) -> Value:
        """The best value; None where there is none."""
        return next(iter(self.weights), None)


@dataclass
class ClosingValues:
    """Values of a group: those of open buckets with their weights, and the ``best`` one of closed buckets.

    Rows of a closed bucket are taken back no more (proposition D2).
    """

    greatest: bool
    best: Value = None
    open: dict[Value, dict[Value, int]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many entries they take beside the group's."""
        return sum(map(len, self.open.values()))

    def add(self, value: Value, weight: int, bucket: Value) -> int:
        """Add a value of a bucket; returns by how many entries there are more."""
        if value is None:
            return 0
        weights = self.open.setdefault(bucket, {})
        before = len(weights)
        weights[value] = weights.get(value, 0) + weight
        if not weights[value]:
            del weights[value]
        return len(weights) - before

    def close(self, bucket: Value) -> int:
        """Keep the best value of a bucket only; returns by how many entries there are more."""
        weights = self.open.pop(bucket, {})
        self.best = self._best([*weights, self.best])
        return -len(weights)

    def value(self) -> Value:
        """The best value of all; None where there is none."""
        return self._best([self.best, *(value for weights in self.open.values() for value in weights)])

    def _best(self, values: Sequence[Value]) -> Value:
        there = [value for value in values if value is not None]
        return (greatest if self.greatest else least)(there) if there else None


def value_of(value: GroupValue, sums: Sequence[Number], values: Sequence[HeldValues | ClosingValues]) -> Value:
    """An aggregate's value, encoded; raises OverflowError where it does not fit its type."""
    total: Number
    squares: Number
    if value.values is not None:
        held = values[value.values]
        if isinstance(held, ClosingValues):
            return held.value()
        if held.greatest is not None:
            return held.best
        if value.function in ("min", "max"):
            return (least if value.function == "min" else greatest)(held.weights) if held.weights else None
        if value.function == "count":
            return len(held.weights)
        if value.function in _PERCENTILES:
            return _percentile(value, held) if held.weights else None
        n, total, squares = len(held.weights), sum(map(factor, held.weights)), 0
    else:
        n = int(sums[value.sums[0] + 1])
        if value.function == "count":
            return n
        total = sum(sums[place + 1] for place in value.sums[1:])
        squares = sum(sums[place + 1] for place in value.squares)
    return None if not n else _of_total(value, n, total, squares)


def _percentile(value: GroupValue, held: HeldValues) -> float:
    """The value that is at a place in their order, or what is between the two at both sides of it.

    In doubles, as Spark computes it (`Percentile.getPercentile`, `PercentileDisc.getPercentile`).
    """
    ordered, weights = held.ordered[::-1] if value.descending else held.ordered, held.weights
    ends = list(accumulate(1 if value.distinct else weights[one] for one in ordered))
    if value.function == "percentile_disc":
        return _double(ordered[bisect_left(ends, ends[-1] * value.part)], value)
    place = (ends[-1] - 1) * value.part
    low = floor(place)
    below, above = (ordered[bisect_right(ends, at)] for at in (low, ceil(place)))
    if below == above:
        return _double(below, value)
    start = _double(below, value)
    return start + (_double(above, value) - start) * (place - low)


def _place(value: Value) -> tuple[bool, int | float | Fraction]:
    """Where a number is in Spark's order, in which NaN is the greatest."""
    assert isinstance(value, int | float | Fraction), "percentiles are of numbers"
    return (True, 0) if isinstance(value, float) and isnan(value) else (False, value)


def _double(number: Value, value: GroupValue) -> float:
    assert isinstance(number, int | float | Fraction), "percentiles are of numbers"
    return number if isinstance(number, float) else float(Fraction(number) / 10**value.places)


def _of_total(value: GroupValue, n: int, total: Number, squares: Number) -> Value:
    kind = sql_type(value.type)
    match value.function:
        case "sum":
            return float(total) if kind.family == "float" else _fitting(int(total), value)
        case "avg" if kind.family == "decimal":
            return _rounded(Fraction(total) * 10 ** (kind.scale - value.places) / n)
        case "avg":
            return float(Fraction(total) / n / 10**value.places)
    sample = value.function.endswith("samp")
    if sample and n == 1:
        return None
    spread = (Fraction(squares) - Fraction(total) ** 2 / n) / (n - 1 if sample else n) / 100**value.places
    return sqrt(spread) if value.function.startswith("stddev") else float(spread)


def _fitting(total: int, value: GroupValue) -> int:
    kind = sql_type(value.type)
    most = 10**kind.digits - 1 if kind.family == "decimal" else 2 ** (kind.bits - 1) - 1
    if not -most - (kind.family != "decimal") <= total <= most:
        raise OverflowError(f"{value.name}: the sum {total} does not fit {value.type}")
    return total


def _rounded(number: Fraction) -> int:
    """The nearest integer, halves away from zero (HALF_UP).

    >>> _rounded(Fraction(5, 2)), _rounded(Fraction(-5, 2)), _rounded(Fraction(7, 3))
    (3, -3, 2)
    """
    whole, rest = divmod(abs(number.numerator) * 2 + number.denominator, number.denominator * 2)
    del rest
    return int(whole if number >= 0 else -whole)
