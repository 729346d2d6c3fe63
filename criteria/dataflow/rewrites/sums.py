"""Aggregates below joins with views (A1, E4), of the side whose rows only come."""

from __future__ import annotations

from streambound.analyzer.algebra.nodes import Filter, Project, Tree
from streambound.analyzer.algebra.view_facts import ViewKind
from streambound.analyzer.catalog import Catalog
from streambound.criteria.dataflow.views import statement_views
from streambound.preprocess.trees.sums import groups_of_pairs, sums_below
from streambound.preprocess.trees.with_inputs import with_inputs


def sums_down(tree: Tree, catalog: Catalog) -> Tree:
    """A tree whose aggregates over joins with views are of each key's sums and best values."""
    pushed = above_groups(tree, catalog)
    return with_inputs(pushed[1] if pushed is not None else tree, lambda one: sums_down(one, catalog))


def above_groups(tree: Tree, catalog: Catalog) -> tuple[bool, Project] | None:
    """Whether the sums are of the left side, and a select list of such aggregates as one of these; None of others."""
    below = tree.input if isinstance(tree, Project) else None
    while isinstance(below, Filter):
        below = below.input
    join = None if below is None else groups_of_pairs(below, catalog)
    if join is None:
        return None
    views = statement_views(catalog)
    left, right = (views.of(side).change for side in (join.left, join.right))
    for own, other, is_left in ((left, right, True), (right, left, False)):
        if own is ViewKind.APPEND_ONLY and other > ViewKind.APPEND_ONLY:
            made = sums_below(tree, is_left, catalog)
            return None if made is None else (is_left, made)
    return None
