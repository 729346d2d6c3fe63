"""What a join's partners can be, as a condition of a view that is joined (D4, U10): of other rows it keeps nothing.

S ⋈ (SELECT b, COUNT(*) … GROUP BY b) W on S.a = W.b, S.a in 1..2
->  S ⋈ σ[b BETWEEN 1 AND 2](W), which goes below the groups
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard

from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Fixpoint, Join, JoinKind, Scan, Tree
from streambound.analyzer.algebra.recent_rows import asks_for_newest
from streambound.analyzer.algebra.syntax import column_of
from streambound.analyzer.algebra.value_sets import ValueSet
from streambound.analyzer.algebra.view_facts import ColumnFacts
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.relation_queries import is_static
from streambound.analyzer.types import Family
from streambound.criteria.dataflow.view import OperatorView
from streambound.criteria.dataflow.views import Views, statement_views
from streambound.preprocess.trees.conditions import filtered
from streambound.preprocess.trees.with_inputs import with_inputs

LEFT_MEETS = (JoinKind.INNER, JoinKind.RIGHT, JoinKind.SEMI)
RIGHT_MEETS = (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI, JoinKind.NOT_IN)


def ranges_down(tree: Tree, catalog: Catalog) -> Tree:
    """A tree whose views are limited to what joins above them can meet."""
    return _down(tree, statement_views(catalog))


def _down(tree: Tree, views: Views) -> Tree:
    if meets_others(tree, views.catalog):
        tree = _limited(tree, views)
    if isinstance(tree, Fixpoint):
        inside = views.inside(tree)
        return replace(tree, base=_down(tree.base, views), step=_down(tree.step, inside))
    return with_inputs(tree, lambda one: _down(one, views))


def meets_others(tree: Tree, catalog: Catalog) -> TypeGuard[Join]:
    """Whether a tree is a join whose sides are limited to what they can meet; the newest row is met by all."""
    is_join = isinstance(tree, Join) and not tree.using
    return is_join and not is_block(tree, catalog) and not asks_for_newest(tree)


def _limited(tree: Join, views: Views) -> Join:
    left, right = views.of(tree.left), views.of(tree.right)
    pair = views.of(replace(tree, kind=JoinKind.INNER, member=None))
    width = len(left.schema)
    if tree.kind in LEFT_MEETS:
        tree = replace(tree, left=_narrowed(tree.left, left, pair.columns[:width], views.catalog))
    if tree.kind in RIGHT_MEETS:
        tree = replace(tree, right=_narrowed(tree.right, right, pair.columns[width:], views.catalog))
    return tree


def _narrowed(side: Tree, own: OperatorView, met: Sequence[ColumnFacts], catalog: Catalog) -> Tree:
    """A side without rows whose values no partner has."""
    for _, part in limits(side, own, met, catalog):
        side = filtered(side, part, catalog)
    return side


def limits(
    side: Tree, own: OperatorView, met: Sequence[ColumnFacts], catalog: Catalog
) -> Iterator[tuple[int, exp.Expr]]:
    """What partners leave of a side's columns, by their places."""
    if is_static(side, catalog) or is_block(side, catalog) or isinstance(side, Scan):
        return
    for place, (before, after) in enumerate(zip(own.columns, met, strict=True)):
        kind = own.schema[place].type
        if kind is None or before.values == after.values:
            continue
        for part in _limits(column_of(own.schema[place]), before.values, after.values, kind.family):
            yield place, part


def _limits(column: exp.Column, before: ValueSet, after: ValueSet, family: Family) -> list[exp.Expr]:
    if family is Family.STRING and after.listed:
        values = [exp.Literal.string(str(value)) for value in sorted(map(str, after.listed))]
        return [exp.In(this=column, expressions=values)]
    if family is not Family.INTEGER or after.listed == frozenset():
        return []
    (low, high), known = after.ends, before.ends
    if (low, high) == known:
        return [exp.Not(this=exp.Is(this=column, expression=exp.Null()))] if before.null and not after.null else []
    found: list[exp.Expr] = []
    if low is not None and low != known[0]:
        found.append(exp.GTE(this=column.copy(), expression=_number(int(low))))
    if high is not None and high != known[1]:
        found.append(exp.LTE(this=column.copy(), expression=_number(int(high))))
    return found


def _number(value: int) -> exp.Expr:
    literal = exp.Literal.number(abs(value))
    return exp.Neg(this=literal) if value < 0 else literal
