"""Linear aggregates in whole columns against the same row by row: rows, their order, entries and state."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streambound_runtime.operators.by_tick import Ticks
from streambound_runtime.operators.circuit_plan import GroupNode, GroupValue, TimeBucket
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import column_of
from streambound_runtime.operators.group import GroupBy

VALUES = (
    GroupValue("n", "count", "bigint", (-1,)),
    GroupValue("c", "count", "bigint", (0,)),
    GroupValue("s", "sum", "bigint", (0, 1)),
    GroupValue("d", "sum", "decimal(9,2)", (0, 1), places=2),
    GroupValue("a", "avg", "double", (0, 1), places=1),
)
BUCKET = 5
Row = tuple[object, int, int, int]
"""A key, whether there is a value, the value, and the weight."""


SPREAD = GroupValue("x", "var_pop", "double", (0, 1), (1,))
"""Of exact sums only, and so in columns only where one row of each group is asked for."""


def node(bucket: TimeBucket | None, weighted: bool, values: tuple[GroupValue, ...] = VALUES) -> GroupNode:
    return GroupNode("g", "rows", ("k", "w"), ("there", "v"), weighted, values, (), bucket)


def delta(rows: dict[int, list[Row]], text: bool, dictionary: bool, weighted: bool) -> Delta:
    found = [(now, *row) for now, mine in sorted(rows.items()) for row in mine]
    times = np.array([row[0] for row in found], dtype=np.int64)
    keys, null = column_of([row[1] for row in found], text)
    texts = {}
    if dictionary and text:
        texts["k"] = sorted(set(keys.tolist()))
        keys = np.array([texts["k"].index(key) for key in keys], dtype=np.int64)
    columns = {"k": keys, "w": times // BUCKET}
    columns |= {
        name: np.array([row[place] * (row[4] if weighted else 1) for row in found], dtype=np.int64)
        for name, place in (("there", 2), ("v", 3))
    }
    weights = np.array([row[4] for row in found], dtype=object)
    return Delta(times, weights, columns, {"k": null} if null is not None else {}, texts)


@st.composite
def steps(draw: st.DrawFn) -> tuple[bool, list[dict[int, list[Row]]]]:
    """Steps of increasing time; rows are taken back within their bucket only."""
    text = draw(st.booleans())
    keys = st.sampled_from([None, "a", "b"] if text else [None, 0, 1])
    found, now = [], 0
    for _ in range(draw(st.integers(1, 4))):
        step: dict[int, list[Row]] = {}
        for _ in range(draw(st.integers(1, 5))):
            now += draw(st.integers(1, 4))
            rows = []
            for key, there, value in draw(st.lists(st.tuples(keys, st.integers(0, 1), st.integers(-9, 9)), max_size=5)):
                rows.append((key, there, value * there, draw(st.sampled_from([1, 1, 2]))))
            there_before = [row for time, mine in (*((t, m) for s in found for t, m in s.items()), *step.items())
                            if time // BUCKET == now // BUCKET for row in mine if row[3] > 0]  # fmt: skip
            if there_before and draw(st.booleans()):
                key, there, value, weight = draw(st.sampled_from(there_before))
                taken = sum(-row[3] for s in (*found, step) for t, m in s.items() if t // BUCKET == now // BUCKET
                            for row in m if row[3] < 0 and row[:3] == (key, there, value))  # fmt: skip
                if not taken:
                    rows.append((key, there, value, -weight))
            step[now] = rows
        found.append(step)
    return text, found


@settings(max_examples=300, deadline=None)
@given(steps(), st.booleans(), st.sampled_from([None, 0, 3]), st.booleans(), st.booleans(), st.booleans())
def test_columns_give_what_rows_give(
    made: tuple[bool, list[dict[int, list[Row]]]],
    dictionary: bool,
    delay: int | None,
    restart: bool,
    final: bool,
    weighted: bool,
) -> None:
    text, sent = made
    final = final and delay is not None
    values = (*VALUES, SPREAD) if final and not weighted else VALUES
    plan = node(None if delay is None else TimeBucket(1, BUCKET, "div", delay), weighted, values)
    columns, rows = GroupBy(plan, final), GroupBy(plan, final)
    assert columns.linear
    assert GroupBy(node(None, weighted, (SPREAD,)), False).linear is False
    rows.linear = False
    for number, step in enumerate(sent):
        ticks = Ticks(np.array(sorted(step), dtype=np.int64), None, number == len(sent) - 1)
        mine = delta(step, text, dictionary, weighted)
        one, other = columns.step([mine], ticks), rows.step([mine], ticks)
        assert list(zip(one.time.tolist(), one.weights().tolist(), one.rows(), strict=True)) == list(
            zip(other.time.tolist(), other.weights().tolist(), other.rows(), strict=True)
        )
        assert columns.sizes.tolist() == rows.sizes.tolist()
        assert columns.entries() == rows.entries()
        state = columns.dump()
        assert {n: sorted(map(str, t.to_pylist())) for n, t in state.items()} == {
            n: sorted(map(str, t.to_pylist())) for n, t in rows.dump().items()
        }
        if restart:
            columns = GroupBy(plan, final)
            columns.load(state)


@pytest.mark.parametrize("columns", [True, False])
def test_a_sum_at_its_edge(columns: bool) -> None:
    plan = GroupNode("g", "rows", ("k",), ("there", "v"), False, (GroupValue("s", "sum", "bigint", (0, 1)),))
    group = GroupBy(plan, False)
    group.linear = columns

    def step(now: int, value: int) -> list[tuple[int, object]]:
        ones = np.ones(1, dtype=np.int64)
        rows = Delta(ones * now, None, {"k": ones, "there": ones, "v": ones * value})
        found = group.step([rows], Ticks(ones * now))
        return list(zip(found.weights().tolist(), found.rows(), strict=True))

    assert step(1, 2**63 - 2) == [(1, (1, 2**63 - 2))]
    assert step(2, 1) == [(-1, (1, 2**63 - 2)), (1, (1, 2**63 - 1))]
    with pytest.raises(OverflowError, match="s: the sum 9223372036854775808 does not fit bigint"):
        step(3, 1)
