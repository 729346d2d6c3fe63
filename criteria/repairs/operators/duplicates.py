"""``DISTINCT`` removed, ``UNION  ->  UNION ALL``, ``EXCEPT  ->  EXCEPT ALL``: what is printed is not remembered."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from streambound.criteria.repairs.duplicates import REMOVED
from streambound.criteria.repairs.operators.rejected import RejectedTree
from streambound.criteria.repairs.operators.spots import Spot
from streambound.criteria.repairs.steps import Change, KeepDuplicates

_NOTES = {
    exp.Union: "every result comes as often as it is found",
    exp.Except: "a row of the right side takes away one equal row of the left side, not all",
    exp.Intersect: "every result comes as often as both sides have it",
}


def kept_duplicates(rejected: RejectedTree) -> Iterator[Change]:
    """Each place that eliminates duplicates, but for the UNION of a recursion, which ends by it."""
    for query in rejected.tree.find_all(exp.Select, exp.SetOperation):
        spot = Spot.of(query)
        if spot is None or not query.args.get("distinct") or _recursive(query):
            continue
        if isinstance(query, exp.SetOperation):
            word = type(query).__name__.upper()
            title, note = f"{word} ALL instead of {word}", _NOTES[type(query)]
        else:
            title, note = "keep duplicates", _NOTES[exp.Union]
        yield Change(("distinct",), (title,), REMOVED, (KeepDuplicates(spot),), (note,))


def _recursive(query: exp.Expr) -> bool:
    named = query.find_ancestor(exp.With)
    return named is not None and bool(named.args.get("recursive"))
