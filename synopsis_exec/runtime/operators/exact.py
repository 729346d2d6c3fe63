"""Integers in arrays, exactly. What would exceed 64 bits becomes an array of Python's integers."""

from __future__ import annotations

import numpy as np

from streambound_runtime.arrays import Numbers, Values

LARGEST = 2**63 - 1


def greatest(values: Values) -> int:
    """The greatest absolute value; 0 for none."""
    return max(abs(int(values.max())), abs(int(values.min()))) if len(values) else 0


def integers(values: list[int]) -> Numbers:
    """Python's integers as an array, of 64 bits where they fit."""
    fits = all(-LARGEST <= value <= LARGEST for value in values)
    return np.array(values, dtype=np.int64 if fits else object)
