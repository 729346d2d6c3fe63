"""HAVING COUNT(*) >= k: where it is all that is asked of a group, it has k rows or it has not."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.whole_numbers import whole_number
from streambound_runtime.operators.period_plan import SliceAggregate, SliceGroup


def rows_asked_for(group: SliceGroup, condition: str, items: Sequence[str]) -> int:
    """How many rows a group must have at least, where its aggregates say nothing else; 0 where they do."""
    if group.aggregates != (SliceAggregate("count"),):
        return 0
    count = f"c{group.keys}"
    asked = [test for test in conjuncts(parsed(condition)) if _reads(test, count)]
    if len(asked) != 1 or any(_reads(parsed(item), count) for item in items):
        return 0
    return _least(asked[0], count)


def _reads(expression: exp.Expr, column: str) -> bool:
    return any(found.name == column for found in expression.find_all(exp.Column))


def _least(test: exp.Expr, count: str) -> int:
    """The least number of rows for which a comparison with a constant is true, if it is of all greater ones."""
    if isinstance(test, exp.GTE | exp.GT):
        column, limit = test.left.unnest(), test.right.unnest()
    elif isinstance(test, exp.LTE | exp.LT):
        column, limit = test.right.unnest(), test.left.unnest()
    else:
        return 0
    if not (isinstance(column, exp.Column) and column.name == count):
        return 0
    found = whole_number(limit)
    return 0 if found is None else max(0, found[0] + isinstance(test, exp.GT | exp.LT))
