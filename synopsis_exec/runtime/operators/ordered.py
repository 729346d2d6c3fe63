"""The order of rows: of integers, and of the values of several columns."""

from __future__ import annotations

import numpy as np

from streambound_runtime.arrays import Integers, Mask, Values, are_integers
from streambound_runtime.operators.exact import LARGEST

DENSE = 1 << 12
"""Integers within a span like this are their own codes."""
FEW = 1 << 10
"""Up to this number of integers, sorting by digits is not worth it."""
DIGIT = 16
"""Bits of a digit that integers are sorted by: NumPy sorts no more of them without comparisons."""


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


def coded(columns: list[tuple[Values, Mask | None]], length: int) -> tuple[Integers, int]:
    """A number per row, in the order of the columns' values, NULL first, and a number above all of them."""
    codes, size = np.zeros(length, dtype=np.int64), 1
    for values, null in columns:
        column, width = _column_codes(values, null)
        if size * width > 2**62:
            found, codes = np.unique(codes, return_inverse=True)
            size = len(found)
        if size * width > 2**62:
            found, column = np.unique(column, return_inverse=True)
            width = len(found)
        codes, size = (codes * width + column, size * width) if size > 1 else (column, width)
    return codes, size


def _column_codes(values: Values, null: Mask | None) -> tuple[Integers, int]:
    if not len(values):
        return np.zeros(0, dtype=np.int64), 1
    codes: Integers
    low, high = (int(values.min()), int(values.max())) if are_integers(values) else (0, LARGEST)
    if are_integers(values) and high - low < max(DENSE, 8 * len(values)):
        codes, width = values - low if low else values, high - low + 1
    else:
        found, codes = np.unique(values, return_inverse=True)
        width = len(found)
    return (codes, width) if null is None else (np.where(null, 0, codes + 1), width + 1)
