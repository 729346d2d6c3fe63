"""Places of many integers in an ordered array."""

from __future__ import annotations

import numpy as np

from streambound_runtime.arrays import Integers, Values, are_integers
from streambound_runtime.operators.exact import LARGEST

DENSE = 1 << 12
"""Codes below this are always worth an array that they index."""
FEW = 1 << 10
"""So many searches are not worth being put in order."""
DIGIT = 16
"""Bits of a digit that integers are sorted by: NumPy sorts no more of them without comparisons."""


def few(codes: int, rows: int) -> bool:
    """Whether there are so few codes that an array that they index is worth it, beside so many rows."""
    return codes <= max(DENSE, 8 * rows)


def sums_below(codes: Integers, size: int) -> Integers:
    """How many codes are below 0, 1, … ``size``."""
    sums = np.zeros(size + 1, dtype=np.int64)
    np.add.accumulate(np.bincount(codes, minlength=size), out=sums[1:])
    return sums


def order_of(values: Values) -> Integers:
    """The places of some values in their order, and equal ones in their own; of integers a digit after the other.

    >>> order_of(np.array([5, -3, 70000, 5])).tolist()
    [1, 0, 3, 2]
    """
    if len(values) <= FEW or not are_integers(values):
        return np.argsort(values, kind="stable")
    if (values[1:] >= values[:-1]).all():
        return np.arange(len(values))
    low, high = int(values.min()), int(values.max())
    if high - low > LARGEST:
        return np.argsort(values, kind="stable")
    digits = max(1, -(-(high - low).bit_length() // DIGIT))
    above: Integers = values - low if low else values
    order = above.astype(np.uint16).argsort(kind="stable")
    for digit in range(1, digits):
        order = order[(above >> DIGIT * digit).astype(np.uint16)[order].argsort(kind="stable")]
    return order


def searched(ordered: Values, wanted: Values) -> Integers:
    """As `np.searchsorted`, whose searches are faster one after the other in order: more of memory is near then."""
    if len(wanted) <= FEW or (wanted[1:] >= wanted[:-1]).all():
        return np.searchsorted(ordered, wanted)
    order = order_of(wanted)
    found = np.empty(len(wanted), dtype=np.int64)
    found[order] = np.searchsorted(ordered, wanted[order])
    return found


class Ordered:
    """Integers in order that many are looked up in: with an array that says where each begins, if that is short."""

    def __init__(self, values: Integers) -> None:
        self.values, self.low, self.width = values, 0, 0
        self.starts: Integers | None = None
        if len(values):
            self.low = int(values[0])
            self.width = int(values[-1]) - self.low + 1

    def places(self, wanted: Values) -> Integers:
        """How many of the integers are below each of some."""
        if len(wanted) <= FEW or not are_integers(wanted) or not 0 < self.width <= max(FEW, 2 * len(self.values)):
            return searched(self.values, wanted)
        if self.starts is None:
            self.starts = sums_below(self.values - self.low, self.width)
        within: Integers = np.clip(wanted, self.low, min(self.low + self.width, LARGEST))
        return self.starts[within - self.low]
