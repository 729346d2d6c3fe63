"""Part of a job: which timestamps the parts of a batch close, in few bytes, so that the driver can count them."""

from __future__ import annotations

from math import gcd
from typing import Any, NamedTuple

import numpy as np

BYTES_OF_TIMES = 1 << 23
"""What the timestamps of all parts may take, a bit each; the driver needs eight times that to count them.

Spark counts them where they are more."""


class Closed(NamedTuple):
    """Some timestamps: the first, the last, a step that divides what is between them, and a bit per step.

    ``bits`` is None where these would be too many.
    """

    first: int
    last: int
    step: int
    bits: bytes | None


def closed(times: Any, most: int) -> Closed:
    """Different timestamps in order, at least one, in no more than so many bytes.

    >>> closed(np.array([60, 120, 240]), 1)[:3]
    (60, 240, 60)
    """
    first, last = int(times[0]), int(times[-1])
    step = int(np.gcd.reduce(np.diff(times))) or 1
    places = (times - first) // step
    if places[-1] >= 8 * most:
        return Closed(first, last, step, None)
    there = np.zeros(int(places[-1]) + 1, dtype=bool)
    there[places] = True
    return Closed(first, last, step, np.packbits(there).tobytes())


def how_many(parts: list[Closed]) -> int | None:
    """How many different timestamps the parts have; None where that takes too many bytes.

    >>> how_many([closed(np.array([60, 120, 240]), 1), closed(np.array([90, 120]), 1)])
    4
    """
    first = min(part.first for part in parts)
    step = gcd(*(part.step for part in parts if part.last > part.first), *(part.first - first for part in parts)) or 1
    size = (max(part.last for part in parts) - first) // step + 1
    if size > 8 * BYTES_OF_TIMES:
        return None
    there = np.zeros(size, dtype=bool)
    for part in parts:
        if part.bits is None:
            return None
        places = np.flatnonzero(np.unpackbits(np.frombuffer(part.bits, np.uint8)))
        there[(part.first - first) // step + places * (part.step // step)] = True
    return int(np.count_nonzero(there))
