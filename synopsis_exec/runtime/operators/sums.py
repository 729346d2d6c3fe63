"""Weights with sums: how often a match is there, and the sums of some factors of its rows.

Joins are bilinear and sums linear, so a sum over matches is pushed below the join (Budiu et al., *DBSP*, §7.2): an
entry holds, for each monomial, the sum of the factors that its rows contribute, and joining two entries multiplies
these one by one.
"""

from __future__ import annotations

from fractions import Fraction
from math import isfinite

Number = int | Fraction


class Sums(tuple[Number, ...]):
    """Numbers that are added and multiplied one by one; the first is how often the match is there.

    >>> Sums((2, 5)) * Sums((1, 3)) + Sums((1, 1)), 2 * Sums((1, 4))
    ((3, 16), (2, 8))
    """

    __slots__ = ()

    def __add__(self, other: Weight) -> Sums:  # type: ignore[override]
        if isinstance(other, int):  # the empty sum
            return self
        return Sums([one + more for one, more in zip(self, other, strict=True)])

    __radd__ = __add__

    def __mul__(self, other: Weight) -> Sums:  # type: ignore[override]
        if isinstance(other, int):
            return Sums([one * other for one in self])
        return Sums([one * more for one, more in zip(self, other, strict=True)])

    __rmul__ = __mul__  # type: ignore[assignment]


Weight = int | Sums
"""How often something is there, or that with sums."""


def times(weight: Weight) -> int:
    """How often something is there."""
    return int(weight[0]) if isinstance(weight, Sums) else weight


def exact(value: int | float | Fraction) -> Number:
    """A factor as an exact number: a double is a fraction.

    Raises OverflowError for one that is not finite, which no sum gives back when it is taken back.
    """
    if isinstance(value, int | Fraction):
        return value
    if not isfinite(value):
        way = "leave it out in WHERE, or declare a domain of its column, outside of which rows are quarantined"
        raise OverflowError(f"a number that is added up is {value}, and sums are of finite numbers: {way}")
    return Fraction(value)


def as_text(number: Number) -> str:
    """A number of any size as the state has it."""
    return str(number)


def of_text(text: str) -> Number:
    """The number that `as_text` wrote.

    >>> of_text(as_text(Fraction(1, 3))), of_text(as_text(10**80)) == 10**80
    (Fraction(1, 3), True)
    """
    return Fraction(text) if "/" in text else int(text)
