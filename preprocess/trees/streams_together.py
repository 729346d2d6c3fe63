"""Streams that are joined with each other before they are joined with a view, as one block that the criterion decides.

    (W ⋈ S) ⋈ T  ->  W ⋈ (S ⋈ T)

Only sides that stand beside each other are joined, so that columns stay in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.blocks import is_block
from streambound.analyzer.algebra.nodes import Join, JoinKind, Tree
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import meant
from streambound.analyzer.algebra.syntax import conjunction, conjuncts
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.relation_queries import is_static
from streambound.preprocess.trees.conditions import filtered
from streambound.preprocess.trees.with_inputs import with_inputs


def streams_together(tree: Tree, catalog: Catalog) -> Tree:
    """A tree whose inner joins join neighbouring streams first."""
    if is_block(tree, catalog):
        return tree
    if _is_inner(tree):
        sides, conditions = _flattened(tree, catalog)
        sides = [streams_together(side, catalog) for side in sides]
        runs = [list(run) for _, run in groupby(sides, lambda side: _reads_streams(side, catalog))]
        if any(len(run) > 1 and _reads_streams(run[0], catalog) for run in runs):
            first = [
                part
                for run in runs
                for part in ([_block(run, conditions, catalog)] if _reads_streams(run[0], catalog) else run)
            ]
            return _with_rest(_joined(first, conditions, catalog), conditions)
    return with_inputs(tree, lambda one: streams_together(one, catalog))


def _with_rest(tree: Tree, conditions: Sequence[exp.Expr]) -> Tree:
    """A join with the conditions that read other columns, those of a recursion's relation, too."""
    if not isinstance(tree, Join) or not conditions:
        return tree
    return replace(tree, condition=conjunction([*conjuncts(tree.condition), *conditions]))


def _is_inner(tree: Tree) -> bool:
    return isinstance(tree, Join) and tree.kind is JoinKind.INNER and not tree.using


def _reads_streams(tree: Tree, catalog: Catalog) -> bool:
    return is_block(tree, catalog) and not is_static(tree, catalog)


def _flattened(tree: Tree, catalog: Catalog) -> tuple[list[Tree], list[exp.Expr]]:
    """The sides of inner joins of inner joins, and all of their conditions."""
    if not isinstance(tree, Join) or not _is_inner(tree) or is_block(tree, catalog):
        return [tree], []
    (left, mine), (right, theirs) = _flattened(tree.left, catalog), _flattened(tree.right, catalog)
    return [*left, *right], [*mine, *theirs, *conjuncts(tree.condition)]


def _block(streams: Sequence[Tree], conditions: list[exp.Expr], catalog: Catalog) -> Tree:
    """Streams that are joined, without rows in which a column is NULL that must equal one of another side."""
    found = _joined(streams, conditions, catalog)
    columns = schema(found, catalog)
    for side in (side for one in conditions if isinstance(one, exp.EQ) for side in (one.left, one.right)):
        if isinstance(side, exp.Column) and meant(side, columns) is not None:
            found = filtered(found, exp.Not(this=exp.Is(this=side.copy(), expression=exp.Null())), catalog)
    return found


def _joined(sides: Sequence[Tree], conditions: list[exp.Expr], catalog: Catalog) -> Tree:
    """Inner joins from left to right; each condition, which is taken out of the list, where its columns are there."""
    found = sides[0]
    for side in sides[1:]:
        joined = Join(JoinKind.INNER, found, side, syntax=found.syntax, at=found.at)
        columns = schema(joined, catalog)
        here = [one for one in conditions if all(meant(c, columns) is not None for c in one.find_all(exp.Column))]
        conditions[:] = [one for one in conditions if one not in here]
        found = Join(JoinKind.INNER, found, side, conjunction(here), syntax=found.syntax, at=found.at)
    return found
