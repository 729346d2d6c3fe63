"""Aggregates in another form, operator by operator: of aggregates (D3), of what subqueries compute (A1), with all keys.

    SUM(n) of (SELECT a, COUNT(*) AS n … GROUP BY a)  ->  SUM(1) …        MAX(m) of (… MAX(v) AS m …)  ->  MAX(v)

No condition stands between both, and the outer keys are inner ones, so that each inner group is in one outer group. SUM
of no rows is NULL where COUNT is 0: it is of 1 for each row that counts, of 0 for others; of one group it is the COUNT.

    SUM(q.x) of (SELECT S.v + T.v AS x FROM S ⋈ T) q  ->  SUM(S.v + T.v) of S ⋈ T
    MAX(n) of (SELECT COUNT(*) AS n … GROUP BY w)  ->  MAX(n) of (SELECT COUNT(*) AS n, w … GROUP BY w)
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
    Filter,
    Join,
    JoinKind,
    Named,
    Project,
    Scalar,
    Tree,
)
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import meant
from streambound.analyzer.algebra.syntax import column_of, scalar_of
from streambound.analyzer.algebra.verify import outer_columns
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.relation_queries import is_static
from streambound.recheck.derivation.conditions import substituted
from streambound.recheck.derivation.trees import PlanNode, listed


def flat_aggregates(tree: Tree, catalog: Catalog) -> Tree:
    """An aggregate of aggregates as one; any other operator as it is."""
    if not isinstance(tree, Aggregate):
        return tree
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
    """A join for a subquery that has one row at all times, the same for all rows around it (D5)."""
    if not isinstance(tree, Apply) or tree.kind is not ApplyKind.SCALAR or is_static(tree.subquery, catalog):
        return tree
    below = tree.subquery
    while isinstance(below, Alias | Project):
        below = below.input
    if not isinstance(below, Aggregate) or below.keys or outer_columns(tree.subquery, catalog):
        return tree
    value = Alias(tree.subquery, tree.name, (tree.name,), syntax=tree.syntax)
    return Join(JoinKind.INNER, tree.input, value, syntax=tree.syntax, at=tree.at)


def arguments_down(tree: Tree, catalog: Catalog) -> Tree:
    """Groups of a join for those of a subquery that computes, of several of its sides, what aggregates are of."""
    found = tree
    while isinstance(found, Aggregate) and isinstance(found.input, Alias | Project):
        below = _over_input(found, PlanNode(found.input, catalog))
        if below is None:
            return tree
        found = below
    if not isinstance(found, Aggregate) or not isinstance(found.input, Join):
        return tree
    given = schema(found.input, catalog)
    for argument in (parsed(one) for call in found.calls for one in call.arguments):
        places = [meant(one, given) for one in argument.find_all(exp.Column)]
        if len({"" if place is None else given[place].alias for place in places}) > 1:
            return found
    return tree


def _over_input(tree: Aggregate, above: PlanNode) -> Aggregate | None:
    """The same groups of the input of a select list, or of a subquery's name; None where it cannot be said of that."""
    given = above.input("input").schema
    values = listed(above) if isinstance(above.tree, Project) else [column_of(one) for one in given]
    refused = any(call.order for call in tree.calls)

    def over(scalar: Scalar) -> Scalar:
        nonlocal refused
        node = substituted(parsed(scalar), above.schema, values)
        refused = refused or node is None
        return scalar if node is None else scalar_of(node)

    keys = tuple(replace(key, value=over(key.value)) for key in tree.keys)
    calls = tuple(
        replace(
            call,
            arguments=tuple(map(over, call.arguments)),
            filter=None if call.filter is None else over(call.filter),
        )
        for call in tree.calls
    )
    return None if refused else replace(tree, input=above.input("input").tree, keys=keys, calls=calls)


def hidden_keys(tree: Tree, catalog: Catalog) -> Tree:
    """MIN and MAX of a select list that shows all keys of the groups below it."""
    if not isinstance(tree, Aggregate) or all(call.function not in ("MIN", "MAX") for call in tree.calls):
        return tree
    return replace(tree, input=_with_keys(tree.input, catalog))


def _with_keys(tree: Tree, catalog: Catalog) -> Tree:
    if isinstance(tree, Filter) or (isinstance(tree, Alias) and not tree.columns):
        return replace(tree, input=_with_keys(tree.input, catalog))
    groups = tree.input if isinstance(tree, Project) else None
    while isinstance(groups, Filter):
        groups = groups.input
    if not isinstance(tree, Project) or not isinstance(groups, Aggregate):
        return tree
    shown = {parsed(one.value).sql("spark") if isinstance(one, Named) else "*" for one in tree.items}
    keys = [column_of(one) for one in schema(tree.input, catalog)[: len(groups.keys)]]
    more = [
        Named(f"_hidden{n}", scalar_of(key), alias=True)
        for n, key in enumerate(keys)
        if key.sql("spark") not in shown and "*" not in shown
    ]
    return replace(tree, items=(*tree.items, *more))
