"""The order of the passes: what rules see is a tree that means the same, in the form that they speak of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from streambound.analyzer.algebra.nodes import Tree
from streambound.analyzer.catalog import Catalog
from streambound.criteria.dataflow.rewrites.conditions import conditions_down
from streambound.criteria.dataflow.rewrites.flatten import flat_aggregates
from streambound.criteria.dataflow.rewrites.not_in import anti_joins
from streambound.criteria.dataflow.rewrites.ranges import ranges_down
from streambound.criteria.dataflow.rewrites.scalars import scalars_joined
from streambound.criteria.dataflow.rewrites.sums import sums_down

Pass = Callable[[Tree, Catalog], Tree]
PASSES: tuple[Pass, ...] = (
    scalars_joined,
    anti_joins,
    flat_aggregates,
    conditions_down,
    ranges_down,
)


def normal_forms(tree: Tree, catalog: Catalog) -> Iterator[Tree]:
    """A tree after all passes; then with aggregates below joins with views, or with its aggregates of aggregates.

    Inner groups of these may go with ending keys (K3).
    """
    known = list[Tree]()
    pushed = tuple(one for each in PASSES for one in ((each, sums_down) if each is conditions_down else (each,)))
    for passes in (PASSES, pushed, tuple(one for one in PASSES if one is not flat_aggregates)):
        found = _after(tree, passes, catalog)
        if found not in known:
            known.append(found)
            yield found


def _after(tree: Tree, passes: Iterable[Pass], catalog: Catalog) -> Tree:
    for one in passes:
        tree = one(tree, catalog)
    return tree
