"""Conditions that ask for the first rows of each partition: ``rank <= n`` above a function over a window."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Alias, Filter, Named, Over, Project, Star, Tree, WindowCall
from streambound.analyzer.expressions.whole_numbers import whole_number
from streambound.analyzer.flatten import written
from streambound.criteria.operators.judge import Context

_RANKS = ("ROW_NUMBER", "RANK", "DENSE_RANK")
_FLIPPED: dict[type[exp.Expr], type[exp.Expr]] = {exp.GTE: exp.LTE, exp.GT: exp.LT, exp.EQ: exp.EQ}


def note_limits(tree: Filter, context: Context) -> None:
    """Note, of each rank that a condition limits, the greatest one that it leaves."""
    condition = written(tree.condition)
    for one in condition.flatten() if isinstance(condition, exp.And) else [condition]:
        found = _limit(one.unnest())
        call = None if found is None else _call(tree.input, found[0].name, found[0].table)
        if found is not None and call is not None and call.function in _RANKS:
            context.limits[id(call)] = min(found[1], context.limits.get(id(call), found[1]))


def _limit(node: exp.Expr) -> tuple[exp.Column, int] | None:
    """The column that a comparison with a whole number limits, and the greatest value that it leaves."""
    if isinstance(node, exp.Between):
        high = node.args["high"]
        most = whole_number(high)
        return (node.this, most[0]) if isinstance(node.this, exp.Column) and most is not None else None
    left, right = node.args.get("this"), node.args.get("expression")
    for kind, column, number in ((type(node), left, right), (_FLIPPED.get(type(node)), right, left)):
        if kind in (exp.LTE, exp.LT, exp.EQ) and isinstance(column, exp.Column) and isinstance(number, exp.Expr):
            most = whole_number(number)
            return None if most is None else (column, max(0, most[0] - (kind is exp.LT)))
    return None


def _call(tree: Tree, name: str, alias: str) -> WindowCall | None:
    """The function that a column of a tree is, through subqueries that only name it."""
    match tree:
        case Alias(input, called, columns) if not columns and alias.lower() in ("", called.lower()):
            return _call(input, name, "")
        case Project(input, items):
            for item in items:
                if isinstance(item, Named) and item.name.lower() == name.lower():
                    value = written(item.value).unnest()
                    return _call(input, value.name, value.table) if isinstance(value, exp.Column) else None
            return _call(input, name, alias) if any(isinstance(item, Star) for item in items) else None
        case Filter(input):
            return _call(input, name, alias)
        case Over(_, calls):
            return next((call for call in calls if not alias and call.name.lower() == name.lower()), None)
    return None
