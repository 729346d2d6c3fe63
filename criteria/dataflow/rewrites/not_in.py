"""NOT IN of what may be NULL as anti joins (B5), by which sides may be NULL."""

from __future__ import annotations

from streambound.analyzer.algebra.nodes import Tree
from streambound.analyzer.catalog import Catalog
from streambound.criteria.dataflow.views import statement_views
from streambound.preprocess.trees.not_in import compared, split
from streambound.preprocess.trees.with_inputs import with_inputs


def anti_joins(tree: Tree, catalog: Catalog) -> Tree:
    """A tree without NOT IN."""
    return without_not_in(with_inputs(tree, lambda one: anti_joins(one, catalog)), catalog)


def without_not_in(tree: Tree, catalog: Catalog) -> Tree:
    """A NOT IN as anti joins; another operator as it is."""
    sides = compared(tree)
    if sides is None:
        return tree
    views = [statement_views(catalog).of(one) for one in sides]
    members, values = ([column.values.null for column in view.columns] for view in views)
    return split(tree, members, values, catalog)
