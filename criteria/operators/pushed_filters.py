"""Conditions above a join, moved to where they say more: an exact rewriting, so that closures below know of them.

σ_{p(S) ∧ q}(S ⟕ W)  =  σ_q(σ_p(S) ⟕ W),    σ_q(S ⋈ W)  =  S ⋈_q W,
σ_{v > w}(Apply_w(S, (SELECT agg …)))  =  S ⋈_{v > w} (SELECT agg …), which has one row at all times.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import (
    Aggregate,
    Alias,
    Apply,
    ApplyKind,
    Filter,
    Join,
    JoinKind,
    Project,
    Scalar,
    Tree,
)
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.algebra.verify import outer_columns
from streambound.analyzer.catalog import Catalog
from streambound.criteria.operators.relations import relation_of


def pushed(tree: Tree, where: Scalar | None, catalog: Catalog) -> tuple[Tree, Scalar | None]:
    """A join with a view, and what is left of the condition above it; another operator as it is."""
    if isinstance(tree, Apply) and (one := _as_join(tree, catalog)) is not None:
        tree = one
    if not isinstance(tree, Join) or tree.using or where is None:
        return tree, where
    if tree.kind is JoinKind.INNER and relation_of(tree.left) is not None and is_block(tree.right, catalog):
        parts = [
            *([] if tree.condition is None else conjuncts_of(parsed(tree.condition))),
            *conjuncts_of(parsed(where)),
        ]
        return (tree, where) if parsed(where).find(exp.Query) else (replace(tree, condition=all_of(parts)), None)
    if is_block(tree.right, catalog):
        return tree, where
    if not is_block(tree.left, catalog) and not isinstance(tree.left, Join):
        return tree, where
    if tree.kind not in (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI):
        return tree, where
    parts = conjuncts_of(parsed(where))
    if any(part.find(exp.Query) for part in parts):
        return tree, where
    given = schema(tree.left, catalog)
    own = [part for part in parts if all(is_of(node, given) for node in part.find_all(exp.Column))]
    rest = [part for part in parts if part not in own]
    left = tree.left
    if own and not is_block(left, catalog):  # a join again: all of it goes below that, or nothing
        left, over = pushed(left, all_of(own), catalog)
        left, rest = (left, rest) if over is None else (tree.left, [*own, *rest])
    elif own:
        more = [parsed(left.condition).copy()] if isinstance(left, Filter) else []
        below = left.input if isinstance(left, Filter) else left
        left = Filter(below, all_of([*more, *own]), syntax=tree.syntax)
    if tree.kind is JoinKind.INNER and rest:
        known = [parsed(tree.condition).copy()] if tree.condition is not None else []
        return replace(tree, left=left, condition=all_of([*known, *rest])), None
    return replace(tree, left=left), all_of(rest) if rest else None


def turned(tree: Join, catalog: Catalog) -> Join:
    """An inner join of a view with a block on its right the other way round, conditions where they say most."""
    around = replace(tree, left=tree.right, right=tree.left, condition=None)
    made, left = pushed(around, tree.condition, catalog)
    assert isinstance(made, Join), "a join stays one"
    return made if left is None else replace(made, condition=left)


def _as_join(tree: Apply, catalog: Catalog) -> Join | None:
    """A scalar subquery that has one row at all times, the same for all, as a join with it; None for another one."""
    below = tree.subquery
    while isinstance(below, Alias | Project):
        below = below.input
    if tree.kind is not ApplyKind.SCALAR or not isinstance(below, Aggregate) or below.keys:
        return None
    if outer_columns(tree.subquery, catalog):
        return None
    return Join(
        JoinKind.INNER,
        tree.input,
        Alias(tree.subquery, tree.name, (tree.name,), syntax=tree.syntax),
        syntax=tree.syntax,
    )


def is_of(node: exp.Column, given: Schema) -> bool:
    """Whether a column is one of a side's."""
    return any(column.called(node.name, node.table) for column in given)


def all_of(parts: Iterable[exp.Expr]) -> Scalar:
    """The conjunction of some parts, of which there is one at least."""
    condition = exp.and_(*parts)
    return Scalar(condition.sql("spark"), condition)


def conjuncts_of(condition: exp.Expr) -> list[exp.Expr]:
    """The parts of a conjunction, as copies."""
    inner = condition.unnest()
    if isinstance(inner, exp.And):
        return [*conjuncts_of(inner.left), *conjuncts_of(inner.right)]
    return [inner.copy()]
