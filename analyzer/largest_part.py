"""What a statement has most of, in the order in which its parts make work: what to say where it is too much."""

from __future__ import annotations

from msgspec import Struct
from sqlglot import exp

_PARTS: tuple[tuple[str, type[exp.Expr] | tuple[type[exp.Expr], ...], int], ...] = (
    ("joins", exp.Join, 20),
    ("set operations", exp.SetOperation, 20),
    ("subqueries", (exp.Subquery, exp.Exists), 20),
    ("functions over windows", exp.Window, 5),
    ("aggregates", exp.AggFunc, 5),
    ("alternatives", exp.Or, 2),
    ("conditions", exp.Predicate, 1),
)
"""The kinds of part, and about how much work one makes beside the others."""


class LargestPart(Struct, frozen=True):
    """The number of a statement's parts of one kind, by its ``name``, and the ``first`` of them."""

    name: str
    number: int
    first: exp.Expr


def largest_part(tree: exp.Expr) -> LargestPart | None:
    """The parts that make the most work; None where there are none."""
    found: list[tuple[int, LargestPart]] = []
    nodes = list(tree.walk())
    for name, kind, weight in _PARTS:
        own = [node for node in nodes if isinstance(node, kind)]
        if own:
            found.append((weight * len(own), LargestPart(name, len(own), own[0])))
    lists = [node for node in nodes if isinstance(node, exp.In)]
    if values := sum(len(node.expressions) for node in lists):
        found.append((values, LargestPart("values of IN", values, lists[0])))
    return max(found, key=lambda one: one[0])[1] if found else None
