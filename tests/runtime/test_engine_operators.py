"""Operators of the engine one by one: rows that come and go by weights, with a restart between any two ticks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streambound_runtime.engine.join import SqlJoin
from streambound_runtime.engine.linear import SqlBucket
from streambound_runtime.engine.tables import BIGINT, VARCHAR
from streambound_runtime.operators.circuit_plan import TimeBucket
from streambound_runtime.operators.plan import Test as Compared
from support.engine_operators import OneOperator

ROWS = st.lists(
    st.tuples(st.integers(-20, 20), st.sampled_from([-1, 1, 2]), st.sampled_from(["a", "b", None]),
              st.one_of(st.none(), st.integers(-20, 20)), st.integers(0, 3)),
    min_size=1, max_size=20,
)  # fmt: skip


@settings(max_examples=30)
@given(ROWS, st.integers(1, 9), st.integers(0, 9), st.integers(-3, 3))
def test_a_row_is_in_every_bucket_of_its_time(
    made: list[tuple[int, int, str | None, int | None, int]], size: int, slide: int, offset: int
) -> None:
    types = (BIGINT, VARCHAR, BIGINT, BIGINT)
    buckets = SqlBucket("b", "rows", 1, size, slide, offset, ("start", 0, "last", 2), types, True)
    rows = [(now, n, (key, at, value)) for now, n, key, at, value in sorted(made, key=lambda row: row[0])]
    wanted: Counter[Any] = Counter()
    for now, n, (key, at, value) in rows:
        if at is None:
            continue
        starts = [at] if not slide else [s for s in range(at - size + 1, at + 1) if (s - offset) % slide == 0]
        for start in starts:
            wanted[now, (start, key, start + size - 1, value)] += n
    found = {(now, row): n for now, n, row in OneOperator(buckets, (VARCHAR, BIGINT, BIGINT)).tick(rows)}
    assert found == {row: n for row, n in wanted.items() if n}


@pytest.mark.parametrize("kind", ["left", "semi", "anti"])
def test_a_left_row_keeps_a_partner_that_no_other_row_can_meet(kind: str) -> None:
    """Right rows go at once: the second partner of a row is not its first, whether or not the job was restarted."""
    near = tuple(Compared("r0", op, "l0", offset) for op, offset in ((">=", 0), ("<=", 2)))
    buckets = TimeBucket(0, 1, "last", 2), TimeBucket(0, 1, "last")
    shown = ("l0", "r0") if kind == "left" else ("l0",)
    types = (BIGINT,) * len(shown)
    join = OneOperator(
        SqlJoin("j", ("x", "y"), kind, (BIGINT,), (BIGINT,), near, ((),), shown, types, buckets), (BIGINT,), (BIGINT,)
    )
    found = []
    for now in (1, 2, 3, 4):
        found += join.tick([(1, 1, (1,))] if now == 1 else [], [] if now == 1 else [(now, 1, (now,))])
        assert join.engine.entries() == (now < 3)
    alone = {"left": [(1, 1, (1, None)), (2, -1, (1, None))], "semi": [(2, 1, (1,))]}
    pairs = [(2, 1, (1, 2)), (3, 1, (1, 3))] if kind == "left" else []
    assert sorted(found, key=str) == sorted([*alone.get(kind, [(1, 1, (1,)), (2, -1, (1,))]), *pairs], key=str)
