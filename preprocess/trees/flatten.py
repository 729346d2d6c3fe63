"""Aggregates of aggregates as one (D3): they need no bound on the inner keys.

    SUM(n) of (SELECT a, COUNT(*) AS n … GROUP BY a)  ->  SUM(1) …        MAX(m) of (… MAX(v) AS m …)  ->  MAX(v)

SUM of no rows is NULL and COUNT is 0, so SUM of COUNT(p) is the SUM of 1 for each p that is not NULL, and of 0 for
others; without inner keys, of which there is one group, it is the COUNT. No HAVING may stand between, and the outer
keys read inner keys only.
"""

from __future__ import annotations

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.nodes import Aggregate, AggregateCall, Alias, Named, Project, Scalar, Tree
from streambound.analyzer.catalog import Catalog
from streambound.preprocess.trees.with_inputs import with_inputs

_SAME = ("SUM", "MIN", "MAX")


def flat_aggregates(tree: Tree, catalog: Catalog) -> Tree:
    """A tree without aggregates of aggregates that are one."""
    tree = with_inputs(tree, lambda one: flat_aggregates(one, catalog))
    return (_flattened(tree) or tree) if isinstance(tree, Aggregate) else tree


def _flattened(tree: Aggregate) -> Aggregate | None:
    below: Tree = tree.input
    while isinstance(below, Alias) and not below.columns:
        below = below.input
    if not isinstance(below, Project) or not isinstance(below.input, Aggregate):
        return None
    inner = below.input
    shown = {item.name.lower(): item.value.syntax for item in below.items if isinstance(item, Named)}
    keys = [_key(key, shown, inner) for key in tree.keys]
    calls = [_call(call, shown, inner) for call in tree.calls]
    known_keys, known = [one for one in keys if one is not None], [one for one in calls if one is not None]
    if not calls or len(known_keys) < len(keys) or len(known) < len(calls):
        return None
    return replace(tree, input=inner.input, keys=tuple(known_keys), calls=tuple(known))


def _key(key: Named, shown: dict[str, exp.Expr], inner: Aggregate) -> Named | None:
    """An outer key as the inner one that it is."""
    node = _stands_for(key.value.syntax, shown)
    same = (one for one in inner.keys if node is not None and _text(one.value.syntax) == _text(node))
    found = next(same, None)
    return None if found is None else Named(key.name, found.value, True)


def _call(call: AggregateCall, shown: dict[str, exp.Expr], inner: Aggregate) -> AggregateCall | None:
    """An aggregate of an inner one as an aggregate of its rows."""
    if call.filter is not None or call.distinct or len(call.arguments) != 1 or call.function not in _SAME:
        return None
    node = _stands_for(call.arguments[0].syntax, shown)
    if not isinstance(node, exp.Column) or node.table:
        return None
    found = next((one for one in inner.calls if one.name.lower() == node.name.lower()), None)
    if found is None or found.distinct:
        return None
    counts = (call.function, found.function) == ("SUM", "COUNT")
    if found.function == call.function or (counts and not inner.keys):
        return replace(found, name=call.name)
    return (
        replace(found, name=call.name, function="SUM", arguments=(Scalar(_one(found)),), filter=None)
        if counts
        else None
    )


def _one(count: AggregateCall) -> exp.Expr:
    """The summand of a row in a count."""
    one: exp.Expr = exp.Literal.number(1)
    there: list[exp.Expr] = [
        exp.Not(this=exp.Is(this=exp.paren(a.syntax.copy()), expression=exp.Null())) for a in count.arguments
    ]
    there += [] if count.filter is None else [count.filter.syntax.copy()]
    return exp.Case(ifs=[exp.If(this=exp.and_(*there), true=one)], default=exp.Literal.number(0)) if there else one


def _stands_for(node: exp.Expr, shown: dict[str, exp.Expr]) -> exp.Expr | None:
    return shown.get(node.name.lower()) if isinstance(node, exp.Column) else None


def _text(node: exp.Expr) -> str:
    return node.unnest().sql("spark").lower()
