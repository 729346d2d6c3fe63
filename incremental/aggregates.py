"""Aggregate functions over the weighted rows of a group: those that are linear, as sums, and all others."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction

from msgspec import Struct

from streambound.analyzer.expressions.function import Fails
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.work import spend
from streambound.incremental.row_expression import RowExpression
from streambound.incremental.zset import Row, Value, ZSet

_LONGEST = 2**63
_STEPS_A_ROW = 5
Vector = tuple[Fraction, ...]


class AggregateOf(Struct, frozen=True):
    """An aggregate function with its arguments, which are NULL where its FILTER leaves a row out.

    ``parameter``: which part of the rows a percentile leaves before it, from 0 to 1, in falling order if
    ``descending``.
    """

    name: str
    arguments: tuple[RowExpression, ...]
    kind: DataType
    parameter: Fraction | None = None
    descending: bool = False

    @property
    def linear(self) -> bool:
        """Whether it is a function of sums over the rows."""
        return self.name in _LINEAR

    @property
    def width(self) -> int:
        """How many sums it needs."""
        return _LINEAR[self.name].width

    def contribution(self, row: Row) -> Vector:
        """What one row adds to the sums of a linear aggregate."""
        values = [argument(row) for argument in self.arguments]
        if any(value is None for value in values):
            return (Fraction(0),) * self.width
        return _LINEAR[self.name].contribution(values)

    def result(self, sums: Vector) -> Value:
        """The value of a linear aggregate, of its sums; raises Fails where a whole number's sum overflows."""
        return _checked(_LINEAR[self.name].result(sums), self.kind)

    def of(self, rows: ZSet) -> Value:
        """The value of any aggregate of a bag of rows."""
        spend(_STEPS_A_ROW * len(rows))
        if self.linear:
            sums: Vector = (Fraction(0),) * self.width
            for row, weight in rows.items():
                sums = tuple(a + weight * b for a, b in zip(sums, self.contribution(row), strict=True))
            return self.result(sums)
        if self.name == "array_agg":
            return self._array(rows)
        if len(self.arguments) > 1:
            return self._best_by(rows)
        values = sorted(self._weighted(rows), key=lambda one: _ordered(one[0]), reverse=self.descending)
        return _GENERAL[self.name](values, self.parameter) if values else None

    def _best_by(self, rows: ZSet) -> Value:
        """The first argument where the second one is the greatest, or least: of several the same; NULL is the least."""
        shown, by = self.arguments
        found = [(_ordered(best), shown(row)) for row in rows if (best := by(row)) is not None]
        ranked = [(best, (0,) if value is None else (1, *_ordered(value)), value) for best, value in found]
        which = max if self.name == "max_by" else min
        return which(ranked, key=lambda one: one[:2])[2] if ranked else None

    def _array(self, rows: ZSet) -> Value:
        """The first argument's values in the order of the second one, NULL first, or of their own."""
        value, by = self.arguments[0], self.arguments[-1]
        found = [(by(row), one, weight) for row, weight in rows.items() if (one := value(row)) is not None]
        found.sort(key=lambda each: _ordered(each[1]))
        found.sort(key=lambda each: (1, *_ordered(each[0])) if each[0] is not None else (0,), reverse=self.descending)
        return array_text([one for _, one, weight in found for _ in range(weight)])

    def _weighted(self, rows: ZSet) -> Iterable[tuple[Fraction | str, int]]:
        for row, weight in rows.items():
            value = self.arguments[0](row)
            if value is not None:
                yield value, weight

    @property
    def text(self) -> str:
        """The call as readers see it."""
        inner = ", ".join(argument.text for argument in self.arguments) or "*"
        after = "" if self.parameter is None else f", {float(self.parameter):g}"
        after += " DESC" if self.descending else ""
        return f"{self.name.upper()}({inner}{after})"


def array_text(values: Iterable[Value]) -> str:
    """An array as a value, which is a text.

    >>> array_text([Fraction(1), Fraction(3, 2), "a"])
    '[1,3/2,"a"]'
    """
    return f"[{','.join(json.dumps(one) if isinstance(one, str) else str(one) for one in values)}]"


def _checked(value: Value, kind: DataType) -> Value:
    if isinstance(value, Fraction) and kind.family is Family.INTEGER and not -_LONGEST <= value < _LONGEST:
        raise Fails("the sum is out of range for a bigint")
    return value


# --- linear ----------------------------------------------------------------------------------------------------------


class LinearFunction(Struct, frozen=True):
    """An aggregate that is a function of sums of what each row contributes (DBSP, section 7.2)."""

    width: int
    contribution: Callable[[list[Value]], Vector]
    result: Callable[[Vector], Value]


def _number(values: list[Value]) -> Fraction:
    (value,) = values
    assert isinstance(value, Fraction), value
    return value


def _counted(values: list[Value]) -> Vector:
    return (Fraction(1),)


def _summed(values: list[Value]) -> Vector:
    return _number(values), Fraction(1)


def _squared(values: list[Value]) -> Vector:
    value = _number(values)
    return value * value, value, Fraction(1)


def _double(value: Fraction | float) -> Fraction:
    """The nearest number of 64 bits."""
    return Fraction(float(value))


def _sum(sums: Vector) -> Value:
    return sums[0] if sums[1] else None


def _average(sums: Vector) -> Value:
    return _double(sums[0] / sums[1]) if sums[1] else None


def _spread(less: int, root: bool) -> Callable[[Vector], Value]:
    """Variances: the mean square deviation, with ``less`` rows in its denominator."""

    def result(sums: Vector) -> Value:
        squares, total, number = sums
        if number <= less:
            return None
        value = (squares - total * total / number) / (number - less)
        return _double(math.sqrt(value)) if root else _double(value)

    return result


_LINEAR: dict[str, LinearFunction] = {
    "count": LinearFunction(1, _counted, lambda sums: sums[0]),
    "sum": LinearFunction(2, _summed, _sum),
    "avg": LinearFunction(2, _summed, _average),
    "var_pop": LinearFunction(3, _squared, _spread(0, root=False)),
    "var_samp": LinearFunction(3, _squared, _spread(1, root=False)),
    "stddev_pop": LinearFunction(3, _squared, _spread(0, root=True)),
    "stddev_samp": LinearFunction(3, _squared, _spread(1, root=True)),
}

# --- all others ------------------------------------------------------------------------------------------------------

Weighted = list[tuple[Fraction | str, int]]
"""Values in their order, least first, with how often each is there."""


def _ordered(value: Fraction | str) -> tuple[Fraction, bytes]:
    """A number or a text, to be sorted; texts by their bytes in UTF-8, as Spark has them."""
    return (Fraction(0), value.encode()) if isinstance(value, str) else (value, b"")


def _least(values: Weighted, parameter: Fraction | None) -> Value:
    return values[0][0]


def _greatest(values: Weighted, parameter: Fraction | None) -> Value:
    return values[-1][0]


def _at(values: Weighted, index: int) -> Fraction | str:
    for value, weight in values:
        index -= weight
        if index < 0:
            return value
    raise IndexError(index)


def _continuous(values: Weighted, parameter: Fraction | None) -> Value:
    """The percentile between the two rows that it lies between."""
    place = (sum(weight for _, weight in values) - 1) * (Fraction(1, 2) if parameter is None else parameter)
    low, high = math.floor(place), math.ceil(place)
    below, above = _number([_at(values, low)]), _number([_at(values, high)])
    return _double(below + (above - below) * (place - low))


def _discrete(values: Weighted, parameter: Fraction | None) -> Value:
    """The first value that at least that part of the rows does not exceed."""
    number = sum(weight for _, weight in values)
    return _at(values, max(math.ceil(number * (parameter or 0)) - 1, 0))


def _most_frequent(values: Weighted, parameter: Fraction | None) -> Value:
    """The first, in order, of the values that are there most often."""
    found = Counter[Fraction | str]()
    for value, weight in values:
        found[value] += weight
    return max(found, key=found.__getitem__)


_GENERAL: dict[str, Callable[[Weighted, Fraction | None], Value]] = {
    "min": _least,
    "max": _greatest,
    "min_by": _least,
    "max_by": _greatest,
    "median": _continuous,
    "mode": _most_frequent,
    "percentile": _continuous,
    "percentile_cont": _continuous,
    "percentile_disc": _discrete,
}

NAMES = (*_LINEAR, *_GENERAL, "array_agg")
"""The aggregates that are known."""
