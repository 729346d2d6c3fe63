"""Quantities: formulas are the same if they are one function where sizes are not negative, and not else."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streambound.recheck.certificates.formula import quantity
from streambound.recheck.certificates.quantity import _PRIME, Quantity, _fraction, greatest, least

SYMBOLS = {name: Quantity.symbol(name) for name in ("c_S", "rows_r", "min_r_a", "max_r_a")}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("min(257*rows_r, 3*rows_r)", "3*rows_r", True),
        ("min(257*rows_r, 3*rows_r)", "257*rows_r", False),
        ("min(257*rows_r, 3*rows_r, c_S)", "min(c_S, 3*rows_r)", True),
        ("min(3*(rows_r + 1), 3*rows_r + 5, rows_r + 1)", "min(rows_r + 1, 3*rows_r + 5)", True),
        ("min(257*rows_r, 3*c_S)", "3*c_S", False),
        ("min(3*rows_r + 1, 6*rows_r + 5)", "3*rows_r + 1", False),
        (f"min({3 * 2**64}*rows_r, {2**65}*rows_r)", f"{2**65}*rows_r", True),
        ("min(2*max_r_a, max_r_a)", "max_r_a", False),
        ("min(6*max(0, max_r_a - min_r_a + 1), 3*max(0, max_r_a - min_r_a + 1))",
         "3*max(0, max_r_a - min_r_a + 1)", True),
        ("max(257*rows_r, 3*rows_r)", "257*rows_r", False),
        ("min(0, rows_r)", "0", False),
    ],
)  # fmt: skip
def test_two_formulas(one: str, other: str, same: bool) -> None:
    assert quantity(one, SYMBOLS).same(quantity(other, SYMBOLS)) == same


@settings(deadline=None, max_examples=200, derandomize=True)
@given(st.fractions(0, 2**80, max_denominator=2**80).filter(bool))
def test_a_fraction_is_found_by_its_residue(fraction: Fraction) -> None:
    assert _fraction(fraction.numerator * pow(fraction.denominator, -1, _PRIME) % _PRIME) == fraction
    assert _fraction(-fraction.numerator * pow(fraction.denominator, -1, _PRIME) % _PRIME) is None


@settings(deadline=None, max_examples=100, derandomize=True)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=5))
def test_the_least_and_the_greatest_of_numbers_that_may_be_negative(numbers: list[int]) -> None:
    """Ends of ranges are such: of -5 and -2 the multiple is the lesser one."""
    quantities = [Quantity.number(number) for number in numbers]
    assert least(quantities).same(Quantity.number(min(numbers)))
    assert greatest(quantities).same(Quantity.number(max(numbers)))
