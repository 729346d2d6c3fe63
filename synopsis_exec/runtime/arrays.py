"""What columns are in memory, by the types that a reader should expect of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.signedinteger[Any]]
"""Integers of 64 bits: timestamps, places, codes."""
Numbers = NDArray[Any]
"""Integers of 64 bits, or Python's where one may exceed these (`operators.exact`): weights, sums."""
Values = NDArray[Any]
"""Encoded values of a column (`spec`): integers as `Numbers`, float64, or texts."""
Mask = NDArray[np.bool_]
"""Which rows are meant; of a column, which are NULL."""
