"""``DISTINCT`` removed, ``UNION  ->  UNION ALL``, ``EXCEPT  ->  EXCEPT ALL``: what is printed is not remembered.

Where nothing tells a row that is there twice from one that is there once, no result changes:
``SELECT MAX(x.a) FROM (SELECT DISTINCT a, b FROM S) x  ->  SELECT MAX(x.a) FROM (SELECT a, b FROM S) x``.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from streambound.analyzer.diagnostics import FixKind
from streambound.criteria.repairs.duplicates import REMOVED
from streambound.criteria.repairs.operators.rejected import RejectedTree
from streambound.criteria.repairs.operators.spots import Spot
from streambound.criteria.repairs.steps import Change, KeepDuplicates

UNSEEN = 2
"""The weight of what changes no result, before all that does."""
_NOTES = {
    exp.Union: "every result comes as often as it is found",
    exp.Except: "a row of the right side takes away one equal row of the left side, not all",
    exp.Intersect: "every result comes as often as both sides have it",
}
_OF_SETS = (exp.Max, exp.Min, exp.LogicalAnd, exp.LogicalOr)
_JOINED_ONCE = ("limit", "offset", "qualify", "laterals", "pivots", "windows", "connect", "match")
"""Clauses whose results may depend on how often a row is there."""


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
        step = KeepDuplicates(spot)
        if not isinstance(query, exp.Except | exp.Intersect) and not _told(query, rejected.tree):
            title = title if isinstance(query, exp.SetOperation) else "leave out a DISTINCT"
            note = "nothing that reads these rows tells duplicates"
            yield Change(("distinct",), (title,), UNSEEN, (step,), (note,), FixKind.SAFE)
        else:
            yield Change(("distinct",), (title,), REMOVED, (step,), (note,))


def _recursive(query: exp.Expr) -> bool:
    named = query.find_ancestor(exp.With)
    return named is not None and bool(named.args.get("recursive"))


def _told(query: exp.Expr, tree: exp.Expr) -> bool:
    """Whether results may depend on how often each row of a query, or of what a FROM names, is there."""
    if any(query.args.get(name) for name in ("limit", "offset", "sample", "pivots")):
        return True
    match query.parent:
        case exp.Exists():
            return False
        case exp.In() if query.arg_key == "query":
            return False
        case exp.Subquery() as parent:
            return _told(parent, tree)
        case exp.Union() as parent:
            return not parent.args.get("distinct") and _told(parent, tree)
        case exp.Except() | exp.Intersect() as parent:
            return not parent.args.get("distinct")
        case exp.From(parent=exp.Select() as select):
            return _told_by(select, tree)
        case exp.Join(parent=exp.Select() as select) if query.arg_key == "this":
            return _told_by(select, tree)
        case exp.CTE() as named:
            ctes = [one for one in tree.find_all(exp.CTE) if one.alias.lower() == named.alias.lower()]
            reads = [one for one in tree.find_all(exp.Table) if one.name.lower() == named.alias.lower()]
            return len(ctes) > 1 or any(_told(one, tree) for one in reads)
    return True


def _told_by(select: exp.Select, tree: exp.Expr) -> bool:
    """Whether what a SELECT says depends on how often rows of its FROM are there."""
    if any(select.args.get(name) for name in _JOINED_ONCE) or any(j.method for j in select.args.get("joins") or ()):
        return True
    own = [*select.walk(prune=lambda node: isinstance(node, exp.Query) and node is not select)]
    calls = [node for node in own if isinstance(node, exp.AggFunc | exp.Window | exp.Anonymous)]
    if not all(isinstance(call, _OF_SETS) or isinstance(call.this, exp.Distinct) for call in calls):
        return True
    if calls or select.args.get("group"):
        return False
    return not select.args.get("distinct") and _told(select, tree)
