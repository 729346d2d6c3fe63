"""Random decisions from a seed (fast, for fixed samples) or from hypothesis (shrinks): generators take either."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Choices:
    """Decisions; the least of each is the simplest."""

    def __init__(self, integer: Callable[[int, int], int]) -> None:
        self.integer = integer

    @classmethod
    def seeded(cls, seed: int) -> Choices:
        """Decisions that a seed fixes."""
        return cls(random.Random(seed).randint)

    def chance(self, percent: int) -> bool:
        """True that often."""
        return self.integer(0, 99) >= 100 - percent

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, the first being the simplest."""
        return options[self.integer(0, len(options) - 1)]

    def weighted(self, options: Sequence[tuple[int, T]]) -> T:
        """One of the options by weight."""
        number = self.integer(0, sum(weight for weight, _ in options) - 1)
        for weight, option in options:
            number -= weight
            if number < 0:
                return option
        raise AssertionError("unreachable")


def drawn(build: Callable[[Choices], Any]) -> st.SearchStrategy[Any]:
    """A hypothesis strategy from a generator."""

    @st.composite
    def strategy(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Any:
        return build(Choices(lambda low, high: draw(st.integers(low, high))))

    return strategy()
