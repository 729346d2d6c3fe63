"""Groups of pairs by the newer row, as running aggregates of the older rows, of which none is kept.

SELECT S.v, MAX(T.x) AS m FROM S JOIN T ON T.k = S.k AND T.ts <= S.ts GROUP BY S.v, S.ts
->  SELECT v, MAX(m) AS m FROM (S, with MAX(x) AS m and COUNT(*) AS n of the earlier rows of T of its k) WHERE n > 0
    GROUP BY v, ts

Of a LEFT JOIN all rows of S stay. What a row of S has of T is one value for each k (`running_subqueries`).
"""

from __future__ import annotations

from functools import partial

from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.algebra.made_columns import fresh_name
from streambound.analyzer.algebra.row_expressions import type_of
from streambound.analyzer.algebra.running_subqueries import RunningSubquery
from streambound.analyzer.algebra.schema import schema
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.spans import Span
from streambound.analyzer.types import Family
from streambound.preprocess.trees.with_inputs import with_inputs

_AGAIN = {"MAX": "MAX", "MIN": "MIN", "COUNT": "SUM", "SUM": "SUM"}
"""The aggregate of aggregates of parts."""
_PLACE = Span(0, 0, 1, 1, 1, 1)


def running_groups(tree: nodes.Tree, catalog: Catalog) -> nodes.Tree:
    """A tree with running aggregates for such groups."""
    tree = with_inputs(tree, lambda one: running_groups(one, catalog))
    if not isinstance(tree, nodes.Aggregate) or not tree.keys:
        return tree
    below, where = tree.input, list[exp.Expr]()
    while isinstance(below, nodes.Filter):
        where += conjuncts(below.condition.syntax)
        below = below.input
    if not isinstance(below, nodes.Join) or below.using or (where and below.kind is not nodes.JoinKind.INNER):
        return tree
    pairs = [(below.left, below.right)] if below.kind in (nodes.JoinKind.INNER, nodes.JoinKind.LEFT) else []
    pairs += [(below.right, below.left)] if below.kind in (nodes.JoinKind.INNER, nodes.JoinKind.RIGHT) else []
    parts = [*(conjuncts(below.condition.syntax) if below.condition is not None else []), *where]
    found = (_made(tree, below, newer, older, parts, catalog) for newer, older in pairs)
    return next((one for one in found if one is not None), tree)


def _made(
    tree: nodes.Aggregate,
    join: nodes.Join,
    newer: nodes.Tree,
    older: nodes.Tree,
    parts: list[exp.Expr],
    catalog: Catalog,
) -> nodes.Aggregate | None:
    """The groups of the rows of the newer side; None where they are of more than that."""
    outer, inner = schema(newer, catalog), schema(older, catalog)
    kept, is_inner = [part for part in parts if _is_of(part, outer, inner)], join.kind is nodes.JoinKind.INNER
    calls = [_call(call, inner, outer, is_inner) for call in tree.calls]
    of_newer = all(_is_of(key.value.syntax, outer, inner) for key in tree.keys)
    if not of_newer or None in calls or (kept and not is_inner) or len(kept) == len(parts):
        return None
    rows = newer
    if kept:
        rows = nodes.Filter(newer, nodes.Scalar(exp.and_(*(one.copy() for one in kept))), syntax=tree.syntax)
    fresh = partial(fresh_name, {column.name.lower() for column in (*outer, *inner)})
    named = [nodes.AggregateCall(fresh("_c"), c.function, c.arguments, filter=c.filter) for c in calls if c is not None]
    named.append(nodes.AggregateCall(fresh("_c"), "COUNT", ()))
    condition = nodes.Scalar(exp.and_(*(part.copy() for part in parts if part not in kept)))
    values = exp.Tuple(expressions=[exp.column(one.name, quoted=True) for one in named])
    asked = nodes.Project(
        nodes.Aggregate(nodes.Filter(older, condition), (), tuple(named)), (nodes.Named("_", nodes.Scalar(values)),)
    )
    place = tree.syntax or exp.Null()
    found = RunningSubquery(catalog, nodes.Scalar, fresh, place, tree.at or _PLACE).beside(rows, asked)
    if found is None:
        return None
    running, value = found
    *columns, number = value.unnest().expressions
    if is_inner:
        there = exp.GT(this=number, expression=exp.Literal.number(0))
        running = nodes.Filter(running, nodes.Scalar(there), syntax=tree.syntax)
    again = (
        nodes.AggregateCall(call.name, _AGAIN[call.function], (nodes.Scalar(column),), syntax=call.syntax)
        for call, column in zip(tree.calls, columns, strict=True)
    )
    return nodes.Aggregate(running, tree.keys, tuple(again), syntax=tree.syntax, at=tree.at)


def _call(call: nodes.AggregateCall, inner: Schema, outer: Schema, is_inner: bool) -> nodes.AggregateCall | None:
    """A call over the older rows alone, which is the aggregate of its parts; None for another one."""
    plain = call.function in _AGAIN and not call.distinct and not call.order and len(call.arguments) < 2
    value = call.arguments[0].syntax if call.arguments else None
    read = [one.syntax for one in (*call.arguments, *([call.filter] if call.filter is not None else []))]
    if not plain or not all(_is_of(one, inner, outer) for one in read):
        return None
    if not is_inner and not isinstance(value, exp.Column):  # it is NULL where there is no partner
        return None
    kind = None if value is None else type_of(value, inner)[0]
    exact = kind is not None and kind.family is Family.INTEGER and kind.name != "bigint"
    return call if call.function != "SUM" or exact else None


def _is_of(node: exp.Expr, mine: Schema, theirs: Schema) -> bool:
    """Whether an expression reads columns of one side alone, and no subquery."""
    columns = list(node.find_all(exp.Column))
    return node.find(exp.Query) is None and all(
        any(one.called(column.name, column.table) for one in mine)
        and not any(one.called(column.name, column.table) for one in theirs)
        for column in columns
    )
