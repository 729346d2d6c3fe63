"""Integers in arrays, exactly. What would exceed 64 bits becomes an array of Python's integers."""

from __future__ import annotations

import numpy as np

from streambound_runtime.arrays import Integers, Numbers, Values, are_integers

LARGEST = 2**63 - 1


def greatest(values: Values) -> int:
    """The greatest absolute value; 0 for none."""
    return max(abs(int(values.max())), abs(int(values.min()))) if len(values) else 0


def integers(values: list[int]) -> Numbers:
    """Python's integers as an array, of 64 bits where they fit."""
    fits = all(-LARGEST <= value <= LARGEST for value in values)
    return np.array(values, dtype=np.int64 if fits else object)


def plus(values: Values, offset: float | Integers | None) -> Values:
    """``values + offset``."""
    if not offset:
        return values
    if values.dtype == np.int64 and isinstance(offset, int) and greatest(values) + abs(offset) > LARGEST:
        values = values.astype(object)
    found: Values = np.add(values, offset)
    return found


def product(left: Numbers | None, right: Numbers | None) -> Numbers | None:
    """``left * right`` of two arrays of numbers that are not negative; None stands for ones."""
    if left is None or right is None:
        return right if left is None else left
    if left.dtype == right.dtype == np.int64 and greatest(left) * greatest(right) > LARGEST:
        left = left.astype(object)
    return left * right


def summable(counts: Numbers) -> Numbers:
    """Numbers that are not negative, in a type that holds the sum of any of them."""
    if counts.dtype == np.int64 and greatest(counts) * len(counts) > LARGEST and sum(counts.tolist()) > LARGEST:
        return counts.astype(object)
    return counts


def running(counts: Numbers) -> Numbers:
    """The sums of the first 0, 1, 2 … counts."""
    counts = summable(counts)
    sums = _zeros_like(counts, len(counts) + 1)
    np.add.accumulate(counts, out=sums[1:])
    return sums


def totals(counts: Numbers | None, codes: Integers, size: int) -> Numbers:
    """The sum of the counts of each code below ``size``; None stands for ones."""
    if counts is None:
        return np.bincount(codes, minlength=size)
    counts = summable(counts)
    if counts.dtype == np.int64 and greatest(counts) * len(counts) < 2**53:
        return np.bincount(codes, weights=counts, minlength=size).astype(np.int64)
    sums = _zeros_like(counts, size)
    np.add.at(sums, codes, counts)
    return sums


def _zeros_like(counts: Numbers, size: int) -> Numbers:
    return np.zeros(size, dtype=np.int64) if are_integers(counts) else np.zeros(size, dtype=object)


def added(left: Numbers, right: Numbers) -> Numbers:
    """``left + right`` of two arrays of numbers that are not negative."""
    if left.dtype == right.dtype == np.int64 and greatest(left) + greatest(right) > LARGEST:
        left = left.astype(object)
    return left + right


def narrowed(counts: Numbers) -> Numbers:
    """The counts in 64 bits, where they all fit."""
    return counts.astype(np.int64) if counts.dtype == object and greatest(counts) <= LARGEST else counts
