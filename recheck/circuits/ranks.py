"""Conditions that leave the first rows of each partition: what the greatest rank is that is asked for."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Alias, Filter, Named, Over, Project, Star, Tree, WindowCall
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.expressions.whole_numbers import whole_number
from streambound.recheck.circuits.states import States
from streambound.recheck.circuits.trees import conjuncts

RANKS = ("ROW_NUMBER", "RANK", "DENSE_RANK")


def note_limits(tree: Filter, states: States) -> None:
    """Note the ranks that a condition limits."""
    for node in conjuncts(tree.condition):
        found = _limit(node)
        call = None if found is None else _call(tree.input, found[0])
        if found is not None and call is not None and call.function in RANKS:
            states.limits[id(call)] = min(found[1], states.limits.get(id(call), found[1]))


def _limit(node: exp.Expr) -> tuple[exp.Column, int] | None:
    """``column <= number`` in any of its forms."""
    match node:
        case exp.Between(this=exp.Column() as column):
            number, less = node.args["high"], 0
        case exp.LTE(this=exp.Column() as column) | exp.EQ(this=exp.Column() as column):
            number, less = node.expression, 0
        case exp.LT(this=exp.Column() as column):
            number, less = node.expression, 1
        case exp.GTE(expression=exp.Column() as column) | exp.EQ(expression=exp.Column() as column):
            number, less = node.this, 0
        case exp.GT(expression=exp.Column() as column):
            number, less = node.this, 1
        case _:
            return None
    most = whole_number(number)
    return None if most is None else (column, max(0, most[0] - less))


def _call(tree: Tree, column: exp.Column) -> WindowCall | None:
    """The function over a window that a column is."""
    name, table = column.name.lower(), column.table.lower()
    if isinstance(tree, Alias) and not tree.columns and table in ("", tree.alias.lower()):
        return _call(tree.input, exp.column(column.name))
    if isinstance(tree, Filter):
        return _call(tree.input, column)
    if isinstance(tree, Over):
        return next((call for call in tree.calls if not table and call.name.lower() == name), None)
    if isinstance(tree, Project):
        named = [item for item in tree.items if isinstance(item, Named) and item.name.lower() == name]
        if named:
            value = parsed(named[0].value).unnest()
            return _call(tree.input, value) if isinstance(value, exp.Column) else None
        return _call(tree.input, column) if any(isinstance(item, Star) for item in tree.items) else None
    return None
