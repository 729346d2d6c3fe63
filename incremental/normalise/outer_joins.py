"""Outer joins of which a WHERE leaves less.

Filter(Join(left, S, T), T.b > 0)   ->  Filter(Join(inner, S, T), T.b > 0)
Filter(Join(full, S, T), T.b > 0)   ->  Filter(Join(right, S, T), T.b > 0)
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Filter, Join, JoinKind, Tree, named_inputs
from streambound.analyzer.algebra.schema import Schema, parsed, schema
from streambound.analyzer.catalog import Catalog
from streambound.incremental.normalise.conjunctions import conjuncts

_STRICT = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.Like)
"""Conditions that are not true where one of their operands is NULL."""
_PASSED_ON = (exp.Column, exp.Paren, exp.Add, exp.Sub, exp.Mul, exp.Neg)
"""What is NULL where a part of it is."""


def outer_to_inner(tree: Tree, catalog: Catalog) -> Tree:
    """The tree with an outer join for one that pads less where a condition above is never true of padded rows."""
    if isinstance(tree, Filter) and isinstance(tree.input, Join) and not tree.input.using:
        conditions = [one for one in conjuncts(parsed(tree.condition)) if not one.find(exp.Query)]
        tree = replace(tree, input=_narrowed(tree.input, conditions, catalog))
    changed = {name: outer_to_inner(under, catalog) for name, under in named_inputs(tree).items()}
    return replace(tree, **changed)  # type: ignore[arg-type]


def _narrowed(join: Join, conditions: list[exp.Expr], catalog: Catalog) -> Join:
    left, right = schema(join.left, catalog), schema(join.right, catalog)
    no_left = any(_rejects_null(condition, left, right) for condition in conditions)
    no_right = any(_rejects_null(condition, right, left) for condition in conditions)
    kind = join.kind
    if no_right and kind in (JoinKind.LEFT, JoinKind.FULL):
        kind = JoinKind.INNER if kind is JoinKind.LEFT else JoinKind.RIGHT
    if no_left and kind in (JoinKind.RIGHT, JoinKind.FULL):
        kind = JoinKind.INNER if kind is JoinKind.RIGHT else JoinKind.LEFT
    inner = join.left
    if kind in (JoinKind.INNER, JoinKind.LEFT) and isinstance(inner, Join) and not inner.using:
        inner = _narrowed(inner, conditions, catalog)
    return replace(join, kind=kind, left=inner)


def _rejects_null(condition: exp.Expr, side: Schema, other: Schema) -> bool:
    """Whether a condition is true of no row in which all columns of a side are NULL."""
    match condition:
        case exp.Not(this=exp.Is(this=operand, expression=exp.Null())):
            operands = [operand]
        case exp.In() if not condition.args.get("query"):
            operands = [condition.this]
        case exp.Between():
            operands = [condition.this]
        case _ if isinstance(condition, _STRICT):
            operands = [condition.this, condition.expression]
        case _:
            return False
    return any(_is_null_with(operand, side, other) for operand in operands)


def _is_null_with(node: exp.Expr, side: Schema, other: Schema) -> bool:
    """Whether an expression is NULL where all columns of a side are: a column of it is passed on."""
    if isinstance(node, exp.Column):
        mine = [one for one in side if one.called(node.name, node.table)]
        others = [one for one in other if one.called(node.name, node.table)]
        return len(node.parts) <= 2 and bool(mine) and not others
    return isinstance(node, _PASSED_ON) and any(_is_null_with(one, side, other) for one in node.iter_expressions())
