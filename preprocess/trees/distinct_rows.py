"""Aggregates of distinct values as those of distinct rows (K2): of a value whose key ends nothing is kept but the sums.

COUNT(DISTINCT x), COUNT(*) of rows by k  ->  COUNT(x), SUM(n) of (SELECT k, x, COUNT(*) AS n … GROUP BY k, x) by k

Without keys there is a row for no rows, too, of which a SUM is NULL and no count is.
"""

from __future__ import annotations

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.made_columns import fresh_name
from streambound.analyzer.algebra.nodes import Aggregate, AggregateCall, Named, Scalar, Tree
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.catalog import Catalog
from streambound.preprocess.trees.with_inputs import with_inputs

_OF_VALUES = ("COUNT", "SUM", "AVG")


def distinct_rows(tree: Tree, catalog: Catalog) -> Tree:
    """A tree whose aggregates of the distinct values of one expression are of distinct rows."""
    tree = with_inputs(tree, lambda one: distinct_rows(one, catalog))
    return _first(tree, catalog) if isinstance(tree, Aggregate) else tree


def _first(tree: Aggregate, catalog: Catalog) -> Tree:
    of_values = [call for call in tree.calls if call.distinct]
    if len({call.arguments for call in of_values}) != 1 or not all(map(_is_plain, of_values)):
        return tree
    counts = [call for call in tree.calls if not call.distinct]
    if any(call.function != "COUNT" for call in counts) or (counts and not tree.keys):
        return tree
    taken = {column.name.lower() for column in (*schema(tree.input, catalog), *schema(tree, catalog))}
    value = Named(fresh_name(taken, "_v"), of_values[0].arguments[0], alias=True)
    below = Aggregate(tree.input, (*tree.keys, value), tuple(counts), syntax=tree.syntax, at=tree.at)
    calls = (
        replace(call, distinct=False, arguments=(_column(value.name),))
        if call.distinct
        else AggregateCall(call.name, "SUM", (_column(call.name),), syntax=call.syntax)
        for call in tree.calls
    )
    keys = tuple(replace(key, value=_column(key.name)) if key.alias else key for key in tree.keys)
    return replace(tree, input=below, keys=keys, calls=tuple(calls))


def _is_plain(call: AggregateCall) -> bool:
    return call.function in _OF_VALUES and len(call.arguments) == 1 and call.filter is None and not call.order


def _column(name: str) -> Scalar:
    return Scalar(exp.column(name, quoted=True))
