"""Buckets of time in whole columns against the same row by row: every row in every bucket, at its own timestamp."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streambound_runtime.operators.buckets import Buckets
from streambound_runtime.operators.by_tick import Ticks
from streambound_runtime.operators.circuit_plan import BucketNode
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import column_of

MANY = 10**18
ROWS = st.lists(
    st.tuples(st.integers(-20, 20), st.sampled_from([-1, 1, 2]), st.sampled_from(["a", "b", None]),
              st.one_of(st.none(), st.integers(-20, 20)), st.integers(0, 3)),
    min_size=1, max_size=20,
)  # fmt: skip


def found(buckets: Buckets, rows: Delta) -> Counter[tuple[int, tuple[object, ...]]]:
    times = np.unique(rows.time)
    result = buckets.step([rows], Ticks(times))
    assert (np.diff(result.time) >= 0).all()
    assert len(buckets.sizes) == len(times) and not buckets.sizes.any()
    assert list(result.columns) == ["start", "k", "last", "v"]
    total: Counter[tuple[int, tuple[object, ...]]] = Counter()
    for now, weight, row in zip(result.time.tolist(), result.weights().tolist(), result.rows(), strict=True):
        total[now, row] += weight
    return Counter({row: n for row, n in total.items() if n})


@given(ROWS, st.integers(1, 9), st.integers(0, 9), st.integers(-3, 3), st.booleans())
def test_columns_give_what_rows_give(
    made: list[tuple[int, int, str | None, int | None, int]], size: int, slide: int, offset: int, far: bool
) -> None:
    made = sorted(made, key=lambda row: row[0])
    now, weight, key, at, value = map(list, zip(*made, strict=True))
    texts = ["a", "b"]
    moment, absent = column_of([None if each is None else each + (MANY if far else 0) for each in at])
    columns = {"k": np.array([texts.index(k) if k else 0 for k in key]), "at": moment, "v": np.array(value)}
    nulls = {"k": np.array([k is None for k in key])} | ({} if absent is None else {"at": absent})
    rows = Delta(np.array(now), np.array(weight), columns, nulls, {"k": texts})
    plan = BucketNode("b", "rows", 1, size, slide, offset, ("start", 0, "last"), ("start", "k", "last"))
    one = found(Buckets(plan), rows)
    assert one == found(Buckets(plan, printed=True), rows)
    in_one = all(each is None or (slide and (each - offset) % slide >= size) for each in at)
    assert bool(one) or in_one or sum(abs(n) for n in weight) > abs(sum(weight)) or far


def test_times_near_the_end_of_64_bits() -> None:
    """There the buckets' ends do not fit, and Python's integers serve."""
    plan = BucketNode("b", "rows", 1, 60, 60, 0, ("start", 0, "last"), ("start", "k", "last"))
    rows = Delta(np.array([1]), None, {"k": np.array([7]), "at": np.array([2**63 - 2]), "v": np.array([0])})
    start = (2**63 - 2) // 60 * 60
    assert found(Buckets(plan), rows) == {(1, (start, 7, start + 59, 0)): 1}
