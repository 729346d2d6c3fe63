"""The smallest input that still shows a difference, as far as a number of trials goes.

Zeller and Hildebrandt, *Simplifying and Isolating Failure-Inducing Input*, TSE 28(2), 2002: delta debugging.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shrunk(Generic[T]):
    """What is left, after how many trials, and whether nothing more can go (else the trials ended)."""

    items: tuple[T, ...]
    trials: int
    minimal: bool


def shrink(items: Sequence[T], differs: Callable[[Sequence[T]], bool], most: int) -> Shrunk[T]:
    """Drop items, large parts first, while ``differs`` holds of the others; at most so many calls of it.

    >>> shrink(range(100), lambda some: {7, 42} <= set(some), 100).items
    (7, 42)
    """
    kept, parts, trials = list(items), 2, 0
    while len(kept) >= 2:
        size = -(-len(kept) // parts)
        for start in range(0, len(kept), size):
            if trials == most:
                return Shrunk(tuple(kept), trials, False)
            trials += 1
            rest = kept[:start] + kept[start + size :]
            if differs(rest):
                kept, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(len(kept), 2 * parts)
    return Shrunk(tuple(kept), trials, True)
