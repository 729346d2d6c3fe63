"""Delta debugging: what is left still differs, nothing of it can go, and the trials end."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from streambound.synopsis_exec.verify import shrink
from support.profiles import MORE


@pytest.mark.parametrize("seed", range(25 * MORE))
def test_what_is_left_is_a_smallest_culprit(seed: int) -> None:
    random = Random(seed)
    items = list(range(random.randint(1, 60)))
    culprits = [set(random.sample(items, random.randint(1, min(4, len(items))))) for _ in range(random.randint(1, 3))]
    calls = []

    def differs(some: Sequence[int]) -> bool:
        calls.append(some)
        return any(culprit <= set(some) for culprit in culprits)

    found = shrink(items, differs, 10_000)
    assert found.minimal
    assert found.trials == len(calls)
    assert set(found.items) in culprits or (len(found.items) == 1 and differs(found.items))
    assert list(found.items) == sorted(found.items)


def test_the_trials_are_limited() -> None:
    found = shrink(range(1000), lambda some: {1, 500, 999} <= set(some), 5)
    assert (found.trials, found.minimal) == (5, False)
    assert {1, 500, 999} <= set(found.items)


def test_nothing_can_go() -> None:
    assert shrink("abc", lambda some: len(some) == 3, 100).items == ("a", "b", "c")
