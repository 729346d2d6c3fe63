"""The scan that finds pairs of rows that overlap, against all pairs, whatever the batches; aggregates that go back."""

from __future__ import annotations

import math
import random
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest

from streambound_runtime.periods.aggregating import (
    ExtremeOf,
    OncePerValue,
    SumOf,
    SumOfDoubles,
    decimal_mean,
    decimal_sum,
    digits,
    integer_sum,
    ordered,
)
from streambound_runtime.periods.overlapping import PairScan
from support.profiles import MORE


@pytest.mark.parametrize("seed", range(100 * MORE))
def test_the_pairs_are_those_that_overlap(seed: int) -> None:
    choices = random.Random(seed)
    rows = []
    for number in range(choices.randint(0, 60)):
        begin = choices.randint(-10, 20)
        key = choices.choice([0.0, 1.5, float("nan")])
        rows.append((key, begin, begin + choices.randint(1, 12), choices.randint(0, 1), number))
    rows.sort(key=lambda row: (math.isnan(row[0]), 0.0 if math.isnan(row[0]) else row[0], row[1]))
    columns = zip(*rows, strict=True) if rows else [()] * 5
    key, begin, end, side, number = (list(column) for column in columns)
    table = pa.table({
        "_k0": pa.array(key, pa.float64()), "_b": pa.array(begin, pa.int64()), "_e": pa.array(end, pa.int64()),
        "side": pa.array(side, pa.int32()), "l": pa.array(number, pa.int64()), "r": pa.array(number, pa.int64()),
    })  # fmt: skip
    found = Counter[tuple[int, int]]()
    for batch in PairScan(("_k0",), ("l",), ("r",)).pairs(iter(table.to_batches(choices.choice([1, 2, 7, 100])))):
        found.update(zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True))
    same = lambda one, two: one == two or (math.isnan(one) and math.isnan(two))  # noqa: E731
    assert found == Counter(
        (left[4], right[4])
        for left in rows
        for right in rows
        if (left[3], right[3]) == (0, 1) and same(left[0], right[0]) and left[1] < right[2] and right[1] < left[2]
    )


@pytest.mark.parametrize("seed", range(50))
def test_a_sum_of_doubles_is_the_rounded_sum_of_what_is_there(seed: int) -> None:
    choices, running, there = random.Random(seed), SumOfDoubles(mean=False), list[float]()
    for _ in range(100):
        if there and choices.random() < 0.4:
            running.add(there.pop(choices.randrange(len(there))), -1)
        else:
            value = choices.choice([1e16, -1e16, 0.1, 5e-324, 1e308, -1e308, choices.uniform(-1, 1)])
            there.append(value)
            running.add(value, 1)
        exact = sum(map(Fraction, there), Fraction(0))
        if abs(exact) < Fraction(1.7e308):
            assert running.value == (float(exact) if there else None)


def test_infinities_go_as_they_came() -> None:
    running = SumOfDoubles(mean=True)
    running.add(math.inf, 1)
    running.add(3.0, 2)
    assert running.value == math.inf
    running.add(-math.inf, 1)
    assert running.value is not None and math.isnan(running.value)
    running.add(-math.inf, -1)
    running.add(math.inf, -1)
    assert running.value == 3.0
    running.add(math.nan, 1)
    assert running.value is not None and math.isnan(running.value)


def test_extremes_of_what_is_there() -> None:
    least, greatest = ExtremeOf(ordered(True, False)), ExtremeOf(ordered(True, True))
    for value, wanted in ((2.0, (2.0, 2.0)), (math.nan, (2.0, None)), (1.0, (1.0, None))):
        for running, one in zip((least, greatest), wanted, strict=True):
            running.add(value, 1)
            assert math.isnan(running.value) if one is None else running.value == one
    for running in (least, greatest):
        running.add(math.nan, -1)
        running.add(1.0, -1)
        assert running.value == 2.0
        running.add(2.0, -1)
        assert running.value is None


def test_distinct_values_count_once() -> None:
    running = OncePerValue(SumOf(int, integer_sum))
    for value, copies, wanted in ((5, 2, 5), (3, 1, 8), (5, -1, 8), (5, -1, 3), (3, -1, None)):
        running.add(value, copies)
        assert running.value == wanted


def test_decimals_have_the_types_of_spark() -> None:
    total, mean = SumOf(digits(2), decimal_sum(2, 12)), SumOf(digits(2), decimal_mean(2, 6, 9))
    for value in (Decimal("1.00"), Decimal("1.01"), Decimal("-0.01")):
        total.add(value, 1)
        mean.add(value, 1)
    assert (total.value, mean.value) == (Decimal("2.00"), Decimal("0.666667"))


def test_an_overflow_is_an_error() -> None:
    running = SumOf(int, integer_sum)
    running.add(2**63 - 1, 1)
    running.add(1, 1)
    with pytest.raises(OverflowError, match="beyond a bigint"):
        assert running.value
    running.add(1, -1)
    assert running.value == 2**63 - 1


def test_nested_values_are_in_the_order_of_their_parts() -> None:
    rising = [[], [None], [None, 1], [1.0], [1.0, None], [2.0], [float("nan")]]
    order, falling = ordered(floating=False, greatest=False), ordered(floating=False, greatest=True)
    for place, one in enumerate(rising):
        for other in rising[place + 1 :]:
            assert order(one) < order(other) and not order(other) < order(one)
            assert falling(other) < falling(one) and not falling(one) < falling(other)
    assert order({"x": 1, "y": None}) < order({"x": 1, "y": [0]}) < order({"x": 2, "y": None})
    running = ExtremeOf(order)
    for value, copies in (([2.0], 1), ([1.0], 1), ([1.0], -1)):
        running.add(value, copies)
    assert running.value == [2.0]
