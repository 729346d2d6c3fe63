"""A subquery that is a value, of one row at all times and the same for all, as a join with it (D5).

S.v > (SELECT AVG(v) FROM T)  ->  S ⋈ (SELECT AVG(v) AS q FROM T) on S.v > q
"""

from __future__ import annotations

from streambound.analyzer.algebra.nodes import Aggregate, Alias, Apply, ApplyKind, Join, JoinKind, Project, Tree
from streambound.analyzer.algebra.verify import outer_columns
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.relation_queries import is_static
from streambound.preprocess.trees.with_inputs import with_inputs


def scalars_joined(tree: Tree, catalog: Catalog) -> Tree:
    """A tree with joins for such subqueries."""
    tree = with_inputs(tree, lambda one: scalars_joined(one, catalog))
    if not isinstance(tree, Apply) or tree.kind is not ApplyKind.SCALAR or is_static(tree.subquery, catalog):
        return tree
    below = tree.subquery
    while isinstance(below, Alias | Project):
        below = below.input
    if not isinstance(below, Aggregate) or below.keys or outer_columns(tree.subquery, catalog):
        return tree
    value = Alias(tree.subquery, tree.name, (tree.name,), syntax=tree.syntax)
    return Join(JoinKind.INNER, tree.input, value, syntax=tree.syntax, at=tree.at)
