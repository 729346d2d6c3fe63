"""Rows of a left join that have no partner, as an anti join.

    σ[T.k IS NULL](S ⟕ T)  ->  (S ▷ T) ⟕ σ[FALSE](T) on FALSE, if T.k is never NULL

The left join, in which no row has a partner, keeps the columns as they are.
"""

from __future__ import annotations

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.nodes import Filter, Join, JoinKind, Scalar, Tree
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema, meant
from streambound.analyzer.algebra.syntax import conjunction, conjuncts
from streambound.analyzer.catalog import Catalog
from streambound.preprocess.trees.with_inputs import with_inputs


def padded_rows(tree: Tree, catalog: Catalog) -> Tree:
    """A tree with anti joins for such left joins."""
    tree = with_inputs(tree, lambda one: padded_rows(one, catalog))
    if not isinstance(tree, Filter) or not isinstance(tree.input, Join):
        return tree
    join = tree.input
    if join.kind is not JoinKind.LEFT or join.using:
        return tree
    left, right = schema(join.left, catalog), schema(join.right, catalog)
    parts = conjuncts(tree.condition)
    rest = [part for part in parts if not _asks_for_padding(part, left, right)]
    if len(rest) == len(parts):
        return tree
    never = Scalar(exp.false())
    none = Filter(join.right, never, syntax=join.syntax, at=join.at)
    found: Tree = replace(join, left=replace(join, kind=JoinKind.ANTI), right=none, condition=never)
    condition = conjunction(rest)
    return found if condition is None else replace(tree, input=found, condition=condition)


def _asks_for_padding(part: exp.Expr, left: Schema, right: Schema) -> bool:
    """Whether a condition is that a column of the right side is NULL, which it is in no row of that side."""
    if not isinstance(part, exp.Is) or not isinstance(part.expression, exp.Null):
        return False
    column = part.this.unnest()
    if not isinstance(column, exp.Column) or meant(column, left) is not None:
        return False
    place = meant(column, right)
    return place is not None and not right[place].nullable
