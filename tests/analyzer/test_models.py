"""Models of which some fields say where they come from."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Distinct, Filter, Scalar, Scan


def test_where_a_model_comes_from_is_not_compared() -> None:
    one, other = (Filter(Scan("S", "s", syntax=exp.to_table(name)), Scalar(exp.column("a"))) for name in ("S", "T"))
    assert one == other and (one != other) is False and {one: 1}[other] == 1
    assert one != Filter(Scan("S", "t"), one.condition) and one != Distinct(one.input)
