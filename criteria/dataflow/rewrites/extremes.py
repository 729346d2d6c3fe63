"""MIN and MAX below a join with rows that come and go (E4): of each key of the rows that only come, the best value.

    MIN(S.v) of S ⋈ R on S.a = R.k  ->  MIN(q.m) of (SELECT a, MIN(v) AS m FROM S GROUP BY a) q ⋈ R on q.a = R.k

What R takes back are whole keys, so that only these need be bounded.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Aggregate, AggregateCall, Alias, Join, JoinKind, Named, Project, Tree
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.algebra.view_facts import ViewKind
from streambound.analyzer.catalog import Catalog
from streambound.criteria.dataflow.rewrites.conditions import substituted
from streambound.criteria.dataflow.rewrites.trees import with_inputs
from streambound.criteria.dataflow.syntax import column_of, conjuncts, scalar_of
from streambound.criteria.dataflow.view import OperatorView
from streambound.criteria.dataflow.views import Views

_SIDE = "_best"


def extremes_down(tree: Tree, catalog: Catalog) -> Tree:
    """A tree whose MIN and MAX over joins are of each key's best values."""
    tree = with_inputs(tree, lambda one: extremes_down(one, catalog))
    if not isinstance(tree, Aggregate) or not isinstance(tree.input, Join):
        return tree
    join = tree.input
    best = all(call.function in ("MIN", "MAX") and call.filter is None and not call.distinct for call in tree.calls)
    if join.kind is not JoinKind.INNER or join.using or not best or not tree.calls:
        return tree
    views = Views(catalog)
    left, right = views.of(join.left), views.of(join.right)
    if left.change is ViewKind.APPEND_ONLY and right.change > ViewKind.APPEND_ONLY:
        return _grouped(tree, join, left, right, True)
    if right.change is ViewKind.APPEND_ONLY and left.change > ViewKind.APPEND_ONLY:
        return _grouped(tree, join, right, left, False)
    return tree


def _grouped(tree: Aggregate, join: Join, own: OperatorView, other: OperatorView, is_left: bool) -> Tree:
    """The side whose rows only come as its groups, by the columns that the join and the keys read."""
    arguments = [parsed(call.arguments[0]) for call in tree.calls]
    if any(other.read_by(one) or not own.read_by(one) for one in arguments):
        return tree
    outside = [*(parsed(key.value) for key in tree.keys), *conjuncts(join.condition)]
    if any(node.find(exp.Query) for node in (*outside, *arguments)):
        return tree
    places = sorted(own.read_by(*outside))
    keys = tuple(Named(f"c{n}", scalar_of(column_of(own.schema[p])), alias=True) for n, p in enumerate(places))
    calls = tuple(replace(call, name=f"m{n}") for n, call in enumerate(tree.calls))
    names = [*(key.name for key in keys), *(call.name for call in calls)]
    groups = Aggregate(own.tree, keys, calls, syntax=tree.syntax)
    shown = tuple(Named(name, scalar_of(exp.column(name)), alias=True) for name in names)
    side = Alias(Project(groups, shown, syntax=tree.syntax), _SIDE, syntax=tree.syntax)
    columns = tuple(own.schema[p] for p in places) + other.schema
    values = [exp.column(f"c{n}", table=_SIDE) for n in range(len(places))] + list(map(column_of, other.schema))
    made = [substituted(node, columns, values) for node in outside]
    if any(node is None for node in made):
        return tree
    nodes = [node for node in made if node is not None]
    condition = exp.and_(*nodes[len(tree.keys) :]) if nodes[len(tree.keys) :] else None
    sides = (side, join.right) if is_left else (join.left, side)
    below = replace(join, left=sides[0], right=sides[1], condition=None if condition is None else scalar_of(condition))
    above = tuple(replace(key, value=scalar_of(node)) for key, node in zip(tree.keys, nodes, strict=False))
    return replace(tree, input=below, keys=above, calls=tuple(map(_above, tree.calls, calls)))


def _above(call: AggregateCall, below: AggregateCall) -> AggregateCall:
    return replace(call, arguments=(scalar_of(exp.column(below.name, table=_SIDE)),))
