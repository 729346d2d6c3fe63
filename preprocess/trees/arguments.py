"""Aggregates of what a subquery computes of several rows as aggregates of its parts, which are sums of products (A1).

SUM(q.x) of (SELECT S.v + T.v AS x FROM S ⋈ T) q  ->  SUM(S.v + T.v) of S ⋈ T
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.nodes import Aggregate, AggregateCall, Alias, Join, Project, Scalar, Tree
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema, meant
from streambound.analyzer.algebra.substitution import substituted, values_of
from streambound.analyzer.algebra.syntax import column_of
from streambound.analyzer.catalog import Catalog
from streambound.preprocess.trees.with_inputs import with_inputs


def arguments_down(tree: Tree, catalog: Catalog) -> Tree:
    """A tree whose aggregates are of joins, where a subquery above these computes what they are of."""
    tree = with_inputs(tree, lambda one: arguments_down(one, catalog))
    if not isinstance(tree, Aggregate):
        return tree
    found = tree
    while isinstance(found.input, Alias | Project):
        made = _below(found, found.input, catalog)
        if made is None:
            return tree
        found = made
    of_several = isinstance(found.input, Join) and any(
        len({_alias(c, schema(found.input, catalog)) for c in argument.syntax.find_all(exp.Column)}) > 1
        for call in found.calls
        for argument in call.arguments
    )
    return found if of_several else tree


def _alias(column: exp.Column, given: Schema) -> str:
    place = meant(column, given)
    return "" if place is None else given[place].alias


def _below(tree: Aggregate, above: Alias | Project, catalog: Catalog) -> Aggregate | None:
    """The same groups of the input of a select list, or of a subquery's name; None where it cannot be said of that."""
    outer, inner = schema(above, catalog), schema(above.input, catalog)
    values = [column_of(one) for one in inner] if isinstance(above, Alias) else values_of(above.items, inner)
    if any(call.order for call in tree.calls):
        return None
    keys = [_over(key.value, outer, values) for key in tree.keys]
    calls = [_call_over(call, outer, values) for call in tree.calls]
    known_keys, known = [one for one in keys if one is not None], [one for one in calls if one is not None]
    if len(known_keys) < len(keys) or len(known) < len(calls):
        return None
    shown = tuple(replace(key, value=value) for key, value in zip(tree.keys, known_keys, strict=True))
    return replace(tree, input=above.input, keys=shown, calls=tuple(known))


def _call_over(call: AggregateCall, outer: Schema, values: Sequence[exp.Expr]) -> AggregateCall | None:
    arguments = [_over(one, outer, values) for one in call.arguments]
    known = tuple(one for one in arguments if one is not None)
    where = None if call.filter is None else _over(call.filter, outer, values)
    if len(known) < len(arguments) or (where is None) is not (call.filter is None):
        return None
    return replace(call, arguments=known, filter=where)


def _over(scalar: Scalar, outer: Schema, values: Sequence[exp.Expr]) -> Scalar | None:
    node = substituted(scalar.syntax, outer, values)
    return None if node is None else Scalar(node)
