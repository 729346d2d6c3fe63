"""The order of the passes: what rules see is a tree that means the same, in the form that they speak of."""

from __future__ import annotations

from collections.abc import Callable

from streambound.analyzer.algebra.nodes import Tree
from streambound.analyzer.catalog import Catalog
from streambound.criteria.dataflow.rewrites.conditions import conditions_down
from streambound.criteria.dataflow.rewrites.extremes import extremes_down
from streambound.criteria.dataflow.rewrites.flatten import flat_aggregates
from streambound.criteria.dataflow.rewrites.not_in import anti_joins
from streambound.criteria.dataflow.rewrites.ranges import ranges_down
from streambound.criteria.dataflow.rewrites.scalars import scalars_joined

Pass = Callable[[Tree, Catalog], Tree]
PASSES: tuple[Pass, ...] = (
    scalars_joined,
    anti_joins,
    flat_aggregates,
    conditions_down,
    extremes_down,
    ranges_down,
)


def normalised(tree: Tree, catalog: Catalog) -> Tree:
    """A tree after all passes."""
    for one in PASSES:
        tree = one(tree, catalog)
    return tree
