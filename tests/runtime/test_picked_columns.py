"""Select lists that are columns of what is below: no Spark computes them, and equal rows are one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from streambound_runtime.operators.by_tick import Ticks
from streambound_runtime.operators.circuit import MapOperator
from streambound_runtime.operators.circuit_plan import MapNode
from streambound_runtime.operators.delta import Delta, delta_of

GIVEN = (("_k", "bigint"), ("a `b", "string"), ("_n", "bigint"))


def node(*expressions: str, kinds: tuple[str, ...] = ("bigint", "bigint"), where: str = "") -> MapNode:
    columns = tuple((f"c{number}", kind) for number, kind in enumerate(kinds[: len(expressions)]))
    return MapNode("map", "below", GIVEN, columns, expressions, where)


@pytest.mark.parametrize(
    ("plan", "places"),
    [
        (node("`_n`", "`_k`"), (2, 0)),
        (node("`_k`"), (0,)),
        (node("`_k`", "`_k`"), (0, 0)),
        (node("`_k`", "`_n` + 1"), None),
        (node("1", "`_n`"), None),
        (node("`_k`", "`_n`", where="`_n` > 1"), None),
        (node("`_k`", "`_n`", kinds=("bigint", "string")), None),
        (node("`_nothing`"), None),
    ],
)
def test_what_is_picked(plan: MapNode, places: tuple[int, ...] | None) -> None:
    assert plan.picks == places


def test_equal_rows_are_one_and_in_order() -> None:
    def no_spark(*given: Any) -> Delta:
        raise AssertionError("only columns are picked")

    below = delta_of(
        [(1, 1, (7, "x", 1)), (1, 2, (7, "y", 1)), (1, 1, (5, None, None)), (2, 1, (7, "x", 1)), (2, -1, (7, "y", 1))],
        ("_k", "a `b", "_n"),
    )
    found = MapOperator(node("`_n`", "`_k`"), no_spark).step([below], Ticks(np.array([1, 2])))
    rows = list(zip(found.time.tolist(), found.weights().tolist(), found.rows(), strict=True))
    assert rows == [(1, 1, (None, 5)), (1, 3, (1, 7))]
    assert list(found.columns) == ["c0", "c1"]
