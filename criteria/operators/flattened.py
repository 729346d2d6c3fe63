"""Aggregates of aggregates as one (proposition D3): SUM of COUNT, SUM of SUM, MIN of MIN, MAX of MAX.

They need no bound on the inner keys. SUM of no rows is NULL and COUNT is 0, so SUM of COUNT(p) is the SUM of 1 for each
p that is not NULL, and of 0 for the others, which make groups, too; without inner keys it is the COUNT, as there is one
group. No HAVING may stand between, and the outer keys read inner keys only.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Aggregate, AggregateCall, Alias, Named, Project, Scalar, Tree
from streambound.analyzer.algebra.schema import parsed

_SAME = ("SUM", "MIN", "MAX")


def flattened(tree: Aggregate) -> Aggregate | None:
    """One aggregate that is the same; None where there is none."""
    below: Tree = tree.input
    while isinstance(below, Alias) and not below.columns:
        below = below.input
    if not isinstance(below, Project) or not isinstance(below.input, Aggregate):
        return None
    inner = below.input
    shown = {item.name.lower(): parsed(item.value) for item in below.items if isinstance(item, Named)}
    keys = [_key(key, shown, inner) for key in tree.keys]
    calls = [_call(call, shown, inner) for call in tree.calls]
    if any(key is None for key in keys) or any(call is None for call in calls) or not calls:
        return None
    return replace(
        tree,
        input=inner.input,
        keys=tuple(key for key in keys if key is not None),
        calls=tuple(call for call in calls if call is not None),
    )


def _key(key: Named, shown: dict[str, exp.Expr], inner: Aggregate) -> Named | None:
    """An outer key as the inner one that it is."""
    node = _stands_for(parsed(key.value), shown)
    found = next((one for one in inner.keys if node is not None and _same(parsed(one.value), node)), None)
    return None if found is None else Named(key.name, found.value, key.alias)


def _call(call: AggregateCall, shown: dict[str, exp.Expr], inner: Aggregate) -> AggregateCall | None:
    """An aggregate of an inner one as an aggregate of its rows."""
    if call.filter is not None or call.distinct or len(call.arguments) != 1 or call.function not in _SAME:
        return None
    node = _stands_for(parsed(call.arguments[0]), shown)
    if not isinstance(node, exp.Column):
        return None
    found = next((one for one in inner.calls if one.name.lower() == node.name.lower()), None)
    if found is None or found.distinct:
        return None
    counts = (call.function, found.function) == ("SUM", "COUNT")
    if found.function == call.function or (counts and not inner.keys):
        return replace(found, name=call.name)
    if not counts:
        return None
    return replace(found, name=call.name, function="SUM", arguments=(_one_if_there(found),), filter=None)


def _one_if_there(count: AggregateCall) -> Scalar:
    """What each row adds to a count: 1, or 0 where an argument is NULL, or a FILTER does not let it in."""
    one: exp.Expr = exp.Literal.number(1)
    there: list[exp.Expr] = [
        exp.Not(this=exp.Is(this=parsed(a).copy(), expression=exp.Null())) for a in count.arguments
    ]
    if count.filter is not None:
        there.append(parsed(count.filter).copy())
    if there:
        one = exp.Case(ifs=[exp.If(this=exp.and_(*there), true=one)], default=exp.Literal.number(0))
    return Scalar(one.sql("spark"), one)


def _stands_for(node: exp.Expr, shown: dict[str, exp.Expr]) -> exp.Expr | None:
    return shown.get(node.name.lower()) if isinstance(node, exp.Column) else None


def _same(one: exp.Expr, other: exp.Expr) -> bool:
    return one.unnest().sql("spark").lower() == other.unnest().sql("spark").lower()
