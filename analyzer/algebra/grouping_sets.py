"""ROLLUP, CUBE and GROUPING SETS: the groupings of one GROUP BY, each a list of its keys.

GROUP BY a, ROLLUP (b, c)  ->  (a, b, c), (a, b), (a)

Each grouping is a GROUP BY of its own, with NULL for the keys that it has not, and UNION ALL between them. As in Spark,
one without keys has no row where there are no rows.
"""

from __future__ import annotations

from itertools import chain, product

from sqlglot import exp

_SEVERAL = (exp.Rollup, exp.Cube, exp.GroupingSets)
_BY_CLAUSE = ("rollup", "cube")
MOST_GROUPINGS = 64
"""The most groupings that are written out."""

Grouping = list[exp.Expr]


def groupings(group: exp.Group) -> list[Grouping] | None:
    """The groupings of a clause, at most one more than are written out; None where it is a plain one."""
    found = list[list[Grouping]]()
    sets, given = group.args.get("grouping_sets"), group.expressions
    after = next((name for name in _BY_CLAUSE if group.args.get(name)), None)
    if sets:  # the keys before it are those that it names
        found.append(list(chain.from_iterable(map(_groupings, sets))))
    elif after is not None:  # GROUP BY a, b WITH ROLLUP
        (one,) = group.args[after]
        found.append(_groupings(type(one)(expressions=[key.copy() for key in one.expressions or given])))
        found += map(_groupings, given) if one.expressions else []
    elif any(isinstance(one, _SEVERAL) for one in given):
        found += map(_groupings, given)
    else:
        return None
    made = (list(chain.from_iterable(parts)) for parts in product(*found))
    return [one for one, _ in zip(made, range(MOST_GROUPINGS + 1), strict=False)]


def _groupings(node: exp.Expr) -> list[Grouping]:
    """The groupings of one part of the clause."""
    parts = [_keys(one) for one in node.expressions]
    match node:
        case exp.Rollup():
            return [list(chain.from_iterable(parts[:number])) for number in range(len(parts), -1, -1)]
        case exp.Cube():
            chosen = list(product((True, False), repeat=min(len(parts), MOST_GROUPINGS.bit_length())))
            return [[key for part, there in zip(parts, one, strict=False) if there for key in part] for one in chosen]
        case exp.GroupingSets():
            return list(chain.from_iterable(_groupings(one) for one in node.expressions))
    return [_keys(node)]


def _keys(node: exp.Expr) -> Grouping:
    """The keys of ``(a, b)``, or of a key without parentheses."""
    return list(node.expressions) if isinstance(node, exp.Tuple) else [without_parentheses(node)]


def without_parentheses(node: exp.Expr) -> exp.Expr:
    """A key without the parentheses around it; a subquery keeps its own."""
    return node if isinstance(node, exp.Subquery) else node.unnest()
