"""What columns are in memory, by the types that a reader should expect of them."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
"""Integers of 64 bits: timestamps, places, codes."""
Numbers = NDArray[np.int64] | NDArray[np.object_]
"""Integers of 64 bits, or Python's where one may exceed these (`operators.exact`): weights, sums."""
Doubles = NDArray[np.float64]
Values = NDArray[np.int64] | NDArray[np.float64] | NDArray[np.object_]
"""Encoded values of a column (`spec`): integers as `Numbers`, float64, or texts."""
Mask = NDArray[np.bool_]
"""Which rows are meant; of a column, which are NULL."""


def are_integers(values: Values) -> TypeGuard[Integers]:
    """Whether values are integers of 64 bits."""
    return values.dtype == np.int64
