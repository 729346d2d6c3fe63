"""Unions of selections that no row satisfies both of, as one selection."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Tree
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.relation_queries import is_static
from streambound.criteria.dataflow.views import statement_views
from streambound.preprocess.trees.unions import in_both, one_selection
from streambound.preprocess.trees.with_inputs import with_inputs


def disjoint_unions(tree: Tree, catalog: Catalog) -> Tree:
    """A tree without such unions."""
    tree = with_inputs(tree, lambda one: disjoint_unions(one, catalog))
    return one_selection(tree) if is_disjoint(tree, catalog) else tree


def is_disjoint(tree: Tree, catalog: Catalog) -> bool:
    """Whether a tree is a union of selections of the same rows, of which no row is in both."""
    both = None if is_static(tree, catalog) else in_both(tree)
    if both is None or both.condition.syntax.find(exp.Query):
        return False
    return any(column.values.size == 0 for column in statement_views(catalog).of(both).columns)
