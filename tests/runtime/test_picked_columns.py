"""Select lists that are columns of what is below: nothing computes them."""

from __future__ import annotations

import pytest

from streambound_runtime.operators.circuit_plan import MapNode

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
