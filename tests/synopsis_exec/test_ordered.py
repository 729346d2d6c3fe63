"""Integers put in order by their digits: the same as by comparisons."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streambound_runtime.operators import ordered
from streambound_runtime.operators.ordered import order_of

NUMBERS = st.one_of(
    st.integers(-5, 5), st.integers(-(2**17), 2**17), st.integers(0, 2**40), st.integers(-(2**63), 2**63 - 1)
)


@given(st.lists(NUMBERS, min_size=1, max_size=40))
def test_integers_by_digits(numbers: list[int]) -> None:
    values = np.array(numbers, dtype=np.int64)
    with patch.object(ordered, "FEW", 0):
        assert order_of(values).tolist() == np.argsort(values, kind="stable").tolist()


def test_many_integers_and_what_is_none() -> None:
    dice = np.random.default_rng(3)
    for most in (9, 2**16, 2**16 + 1, 2**33, 2**62):
        values = dice.integers(-most, most, 5000)
        assert (order_of(values) == np.argsort(values, kind="stable")).all()
        assert (order_of(np.sort(values)) == np.arange(5000)).all()
    floats = dice.random(5000)
    assert (order_of(floats) == np.argsort(floats, kind="stable")).all()
    objects = np.array([2**70 - n % 7 for n in range(2000)], dtype=object)
    assert order_of(objects).tolist() == sorted(range(2000), key=lambda n: objects[n])
