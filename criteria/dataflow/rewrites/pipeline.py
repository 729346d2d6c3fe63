"""The order of the passes: what rules see is a tree that means the same, in the form that they speak of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from streambound.analyzer.algebra.nodes import Tree
from streambound.analyzer.catalog import Catalog
from streambound.criteria.dataflow.rewrites.not_in import anti_joins
from streambound.criteria.dataflow.rewrites.ranges import ranges_down
from streambound.criteria.dataflow.rewrites.sums import sums_down
from streambound.criteria.dataflow.rewrites.unions import disjoint_unions
from streambound.preprocess.trees.arguments import arguments_down
from streambound.preprocess.trees.conditions import conditions_down
from streambound.preprocess.trees.flatten import flat_aggregates
from streambound.preprocess.trees.hidden_keys import hidden_keys
from streambound.preprocess.trees.padding import padded_rows
from streambound.preprocess.trees.plain_conditions import plain_conditions
from streambound.preprocess.trees.scalars import scalars_joined
from streambound.preprocess.trees.streams_together import streams_together

Pass = Callable[[Tree, Catalog], Tree]
PASSES: tuple[Pass, ...] = (
    plain_conditions,
    disjoint_unions,
    padded_rows,
    scalars_joined,
    anti_joins,
    flat_aggregates,
    arguments_down,
    conditions_down,
    ranges_down,
)


FORMS: tuple[tuple[Pass, ...], ...] = (
    PASSES,
    tuple(one for each in PASSES for one in ((each, sums_down) if each is conditions_down else (each,))),
    tuple(one for one in PASSES if one is not flat_aggregates),
    (*PASSES, streams_together),
    (*PASSES, hidden_keys),
)
"""The passes of each normal form.

Aggregates may be of each key's below joins with views (A1, E4); inner groups of aggregates of aggregates may go with a
key that ends (K3); streams may be a block of their own; groups may show when they close.
"""


def normal_forms(tree: Tree, catalog: Catalog) -> Iterator[Tree]:
    """A tree after all passes, then in other forms that may have a bound where it has none."""
    known = list[Tree]()
    for passes in FORMS:
        found = _after(tree, passes, catalog)
        if found not in known:
            known.append(found)
            yield found


def _after(tree: Tree, passes: Iterable[Pass], catalog: Catalog) -> Tree:
    for one in passes:
        tree = one(tree, catalog)
    return tree
