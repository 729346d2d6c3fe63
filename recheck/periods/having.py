"""Groups that are shown without their number of rows, if that is great enough."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.whole_numbers import whole_number
from streambound_runtime.operators.period_plan import SliceFilter, SliceGroup, SliceProject


def enough_rows(plan: SliceProject) -> int | None:
    """From how many rows on a group of COUNT(*) passes, whatever else it has; None where more of it is asked, or 0."""
    kept = plan.input
    if not isinstance(kept, SliceFilter) or not isinstance(kept.input, SliceGroup):
        return None
    group = kept.input
    if [(one.function, one.column, one.distinct) for one in group.aggregates] != [("count", None, False)]:
        return None
    number = f"c{group.keys}"
    if any(number in _columns(parsed(item)) for item in plan.items):
        return None
    limits = [_limit(test, number) for test in _tests(parsed(kept.condition)) if number in _columns(test)]
    return limits[0] if len(limits) == 1 else None


def _columns(expression: exp.Expr) -> set[str]:
    return {column.name for column in expression.find_all(exp.Column)}


def _tests(condition: exp.Expr) -> Iterator[exp.Expr]:
    while isinstance(condition, exp.Paren):
        condition = condition.this
    if isinstance(condition, exp.And):
        yield from _tests(condition.this)
        yield from _tests(condition.expression)
    else:
        yield condition


_AT_LEAST = {exp.GTE: (False, 0), exp.GT: (False, 1), exp.LTE: (True, 0), exp.LT: (True, 1)}
"""Whether a comparison has the number on its right, and by how much the number exceeds the other side at least."""


def _limit(test: exp.Expr, number: str) -> int | None:
    if not isinstance(test, exp.Binary) or type(test) not in _AT_LEAST:
        return None
    turned, more = _AT_LEAST[type(test)]
    sides = [side.unnest() for side in (test.this, test.expression)]
    column, limit = reversed(sides) if turned else sides
    if not isinstance(column, exp.Column) or column.name != number:
        return None
    found = whole_number(limit)
    return None if found is None else max(0, found[0] + more) or None
