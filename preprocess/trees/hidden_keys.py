"""Keys of groups that a select list above does not show, for aggregates of these: their time says when groups close.

    MAX(n) of (SELECT COUNT(*) AS n … GROUP BY w)  ->  MAX(n) of (SELECT COUNT(*) AS n, w … GROUP BY w)

An aggregate reads the columns that it names, whatever others there are.
"""

from __future__ import annotations

from msgspec.structs import replace

from streambound.analyzer.algebra.nodes import Aggregate, Alias, Filter, Named, Project, Scalar, Tree
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.syntax import column_of
from streambound.analyzer.catalog import Catalog
from streambound.preprocess.trees.with_inputs import with_inputs


def hidden_keys(tree: Tree, catalog: Catalog) -> Tree:
    """A tree in which select lists below MIN and MAX show all keys of groups."""
    tree = with_inputs(tree, lambda one: hidden_keys(one, catalog))
    if isinstance(tree, Aggregate) and any(call.function in ("MIN", "MAX") for call in tree.calls):
        return replace(tree, input=_with_keys(tree.input, catalog))
    return tree


def _with_keys(tree: Tree, catalog: Catalog) -> Tree:
    match tree:
        case Filter(input) | Alias(input, columns=()):
            below = _with_keys(input, catalog)
            return tree if below is input else replace(tree, input=below)
        case Project(input, items) if all(isinstance(one, Named) for one in items):
            groups = input
            while isinstance(groups, Filter):
                groups = groups.input
            if isinstance(groups, Aggregate):
                known = schema(input, catalog)[: len(groups.keys)]
                shown = {one.value.syntax.sql("spark") for one in items if isinstance(one, Named)}
                keys = [column_of(one) for one in known]
                more = [
                    Named(f"_hidden{n}", Scalar(key), alias=True)
                    for n, key in enumerate(keys)
                    if key.sql("spark") not in shown
                ]
                return replace(tree, items=(*items, *more)) if more else tree
    return tree
