"""The rows of a relation that changes: inserts, deletes, upserts by key, and the changes that mean nothing."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from streambound.recheck.oracle.relation_states import RowChange, states
from streambound_runtime.errors import JobError
from streambound_runtime.operators.by_tick import Ticks, rows_by_time
from streambound_runtime.operators.circuit_plan import ChangesNode
from streambound_runtime.operators.delta import delta_of
from streambound_runtime.operators.relations import ChangingRelation

BAG = ChangesNode("R", "R", ("k", "y"), "op", "insert", "delete", (), 3)
KEYED = ChangesNode("R", "R", ("k", "y"), "op", "insert", "delete", ("k",), 3)
Given = list[tuple[int, str | None, int | None, int | None]]


def closed(operator: ChangingRelation, given: Given) -> dict[int, dict[tuple[Any, ...], int]]:
    """The changes of the rows, by timestamp."""
    rows = [(time, 1, (op, k, y)) for time, op, k, y in sorted(given, key=lambda one: one[0])]
    times = np.array(sorted({time for time, _, _ in rows}), dtype=np.int64)
    found = operator.step_of({"R": delta_of(rows, ("op", "k", "y"))}, Ticks(times))
    return {time: dict(mine) for time, mine in rows_by_time(found).items()}


def refused(operator: ChangingRelation) -> list[tuple[str, int, Any]]:
    return [(one.reason, one.time, one.values["k"]) for one in operator.rejected for _ in range(one.copies)]


def test_the_changes_of_a_timestamp_are_summed_before_they_are_judged() -> None:
    operator = ChangingRelation(BAG)
    given: Given = [(1, "delete", 1, 2), (1, "insert", 1, 2), (2, None, 1, 2), (2, "insert", 1, 2), (3, "delete", 1, 2)]
    assert closed(operator, given) == {2: {(1, 2): 2}, 3: {(1, 2): -1}}
    assert refused(operator) == [] and operator.sizes.tolist() == [0, 1, 1]


def test_a_row_that_is_not_there_is_not_deleted() -> None:
    operator = ChangingRelation(BAG)
    assert closed(operator, [(1, "insert", 1, 2), (2, "delete", 1, 3), (3, "delete", None, None)]) == {1: {(1, 2): 1}}
    assert refused(operator) == [("absent-row", 2, 1), ("absent-row", 3, None)]
    assert operator.rejected[0].values == {"k": 1, "y": 3, "op": "delete"}


def test_with_a_key_an_insert_replaces_and_a_delete_needs_the_key_only() -> None:
    operator = ChangingRelation(KEYED)
    given: Given = [(1, "insert", 1, 2), (2, "insert", 1, 5), (3, "delete", 1, None), (4, "delete", 1, None)]
    assert closed(operator, given) == {1: {(1, 2): 1}, 2: {(1, 2): -1, (1, 5): 1}, 3: {(1, 5): -1}}
    assert refused(operator) == [("absent-row", 4, 1)]


def test_two_inserts_of_a_key_at_one_time_have_no_order() -> None:
    operator = ChangingRelation(KEYED)
    given: Given = [
        (1, "insert", 1, 2),
        (2, "insert", 1, 5),
        (2, "insert", 1, 6),
        (3, "insert", 1, 7),
        (3, "insert", 1, 7),
    ]
    assert closed(operator, given) == {1: {(1, 2): 1}, 3: {(1, 2): -1, (1, 7): 1}}
    assert refused(operator) == [("ambiguous-change", 2, 1)] * 2


def test_a_run_stops_at_more_rows_than_are_declared() -> None:
    with pytest.raises(JobError, match="R has 4 rows at timestamp 2, more than its declared rows = 3"):
        closed(ChangingRelation(BAG), [(1, "insert", 1, n) for n in range(3)] + [(2, "insert", 1, 9)])


@pytest.mark.parametrize("plan", [BAG, KEYED])
@pytest.mark.parametrize("seed", range(40))
def test_the_rows_are_those_that_the_definition_says_after_a_restart_too(plan: ChangesNode, seed: int) -> None:
    random = np.random.default_rng(seed)
    given: Given = []
    for time in range(1, 30):
        for _ in range(random.integers(0, 3)):
            op = ["insert", "delete"][random.integers(0, 2)]
            given.append((time, op, int(random.integers(0, 2)), int(random.integers(0, 2))))
    plan = ChangesNode(plan.name, plan.table, plan.columns, plan.op, plan.insert, plan.delete, plan.key)
    operator, rows, found = ChangingRelation(plan), Counter[tuple[Any, ...]](), []
    for time in sorted({one[0] for one in given}):
        state = operator.dump()
        operator = ChangingRelation(plan)
        operator.load(state)
        for change in closed(operator, [one for one in given if one[0] == time]).values():
            rows.update(change)
        assert min(rows.values(), default=0) >= 0
        found.append((time, sorted(rows.elements())))
    key = [0] if plan.key else []
    wanted = states([RowChange(time, op == "delete", (k, y)) for time, op, k, y in given], key)
    assert found == [(time, sorted(mine)) for time, mine in wanted]
    assert any(mine for _, mine in found)
