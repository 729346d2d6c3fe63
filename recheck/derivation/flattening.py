"""Aggregates of aggregates as one (D3), and subqueries of one row as joins (D5): passes over a whole tree.

    SUM(n) of (SELECT a, COUNT(*) AS n … GROUP BY a)  ->  SUM(1) …        MAX(m) of (… MAX(v) AS m …)  ->  MAX(v)

No condition stands between both, and the outer keys are inner ones, so that each inner group is in one outer group. SUM
of no rows is NULL where COUNT is 0: it is of 1 for each row that counts, of 0 for others; of one group it is the COUNT.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Alias,
    Apply,
    ApplyKind,
    Join,
    JoinKind,
    Named,
    Project,
    Tree,
    named_inputs,
)
from streambound.analyzer.algebra.schema import parsed
from streambound.analyzer.algebra.syntax import scalar_of
from streambound.analyzer.algebra.verify import outer_columns
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.relation_queries import is_static
from streambound.recheck.derivation.conditions import over_inputs


def flat_aggregates(tree: Tree, catalog: Catalog) -> Tree:
    """A tree without aggregates of aggregates that are one."""
    tree = over_inputs(tree, {name: flat_aggregates(one, catalog) for name, one in named_inputs(tree).items()})
    return _flattened(tree) if isinstance(tree, Aggregate) else tree


def _flattened(tree: Aggregate) -> Aggregate:
    below = tree.input
    while isinstance(below, Alias) and not below.columns:
        below = below.input
    inner = below.input if isinstance(below, Project) else None
    if not isinstance(below, Project) or not isinstance(inner, Aggregate) or not tree.calls:
        return tree
    shown = {one.name.lower(): parsed(one.value) for one in below.items if isinstance(one, Named)}
    own = {_text(parsed(one.value)): one for one in inner.keys}
    meant = [
        shown.get(node.name.lower()) if isinstance(node := parsed(k.value), exp.Column) else None for k in tree.keys
    ]
    keys = [None if node is None else own.get(_text(node)) for node in meant]
    calls = [_flat(call, shown, inner) for call in tree.calls]
    if None in keys or None in calls:
        return tree
    named = tuple(Named(k.name, one.value, True) for k, one in zip(tree.keys, keys, strict=True) if one is not None)
    return replace(tree, input=inner.input, keys=named, calls=tuple(one for one in calls if one is not None))


def _flat(call: AggregateCall, shown: dict[str, exp.Expr], inner: Aggregate) -> AggregateCall | None:
    """An aggregate of an inner one as an aggregate of its rows; None where it is none."""
    argument = parsed(call.arguments[0]) if len(call.arguments) == 1 else None
    node = shown.get(argument.name.lower()) if isinstance(argument, exp.Column) else None
    plain = call.filter is None and not call.distinct and isinstance(node, exp.Column) and not node.table
    if not plain or node is None:
        return None
    found = next((one for one in inner.calls if one.name.lower() == node.name.lower()), None)
    if found is None or found.distinct:
        return None
    match call.function, found.function:
        case ("SUM", "SUM") | ("MIN", "MIN") | ("MAX", "MAX"):
            return replace(found, name=call.name)
        case "SUM", "COUNT" if not inner.keys:
            return replace(found, name=call.name)
        case "SUM", "COUNT":
            one = scalar_of(_counted(found))
            return replace(found, name=call.name, function="SUM", arguments=(one,), filter=None)
    return None


def _counted(count: AggregateCall) -> exp.Expr:
    """What a row adds to a count: 1 where its arguments are there, and its filter is true."""
    there: list[exp.Expr] = [
        exp.Not(this=exp.Is(this=exp.paren(parsed(one).copy()), expression=exp.Null())) for one in count.arguments
    ]
    there += [] if count.filter is None else [parsed(count.filter).copy()]
    one: exp.Expr = exp.Literal.number(1)
    return exp.Case(ifs=[exp.If(this=exp.and_(*there), true=one)], default=exp.Literal.number(0)) if there else one


def _text(node: exp.Expr) -> str:
    return node.unnest().sql("spark").lower()


def scalars_joined(tree: Tree, catalog: Catalog) -> Tree:
    """A tree with joins for subqueries that have one row at all times, the same for all rows around them."""
    tree = over_inputs(tree, {name: scalars_joined(one, catalog) for name, one in named_inputs(tree).items()})
    if not isinstance(tree, Apply) or tree.kind is not ApplyKind.SCALAR or is_static(tree.subquery, catalog):
        return tree
    below = tree.subquery
    while isinstance(below, Alias | Project):
        below = below.input
    if not isinstance(below, Aggregate) or below.keys or outer_columns(tree.subquery, catalog):
        return tree
    value = Alias(tree.subquery, tree.name, (tree.name,), syntax=tree.syntax)
    return Join(JoinKind.INNER, tree.input, value, syntax=tree.syntax, at=tree.at)
