"""Operators that are outside the query language: what each is called, why, and what to do instead."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.nodes import (
    Aggregate,
    AggregateCall,
    Apply,
    AsOf,
    Bucket,
    Distinct,
    Except,
    Filter,
    FirstRows,
    Fixpoint,
    Intersect,
    Join,
    JoinKind,
    OrderBy,
    Over,
    Project,
    Recur,
    Tree,
    Union,
)
from streambound.analyzer.codes import Code
from streambound.analyzer.expressions.registry import refusal
from streambound.analyzer.findings import Finding, Positions

_AGGREGATE = "aggregate the job's output downstream: its _mult column already counts duplicates"
_USING = "write the equality in ON"
_ONE_SELECT = (OrderBy, FirstRows, Distinct, Project, Filter, Over, Aggregate, Bucket, Apply)
"""What one SELECT is lowered to, over the items of its FROM."""
_INNERMOST = "move DISTINCT to the outermost SELECT"


def refused(tree: Tree, positions: Positions, distinct: bool) -> Finding:
    """The finding for an operator that no select-project-join block can hold, of one SELECT's the one written first.

    ``distinct``: the statement's result is a set.
    """
    found = [_refusal(operator, distinct) for operator in _clauses(tree)]
    placed = [(one.at or positions.of(one.syntax or exp.Null()), text, help) for one, text, help in found]
    at, text, help = min(placed, key=lambda one: one[0])
    message = f"{text} outside the query language"
    if text.endswith("over streams is"):
        message += ": of relations alone it is decided when a row arrives"
    return positions.finding(Code.UNSUPPORTED, message, at, help)


def aggregate_refused(call: AggregateCall, positions: Positions) -> Finding:
    """The finding for an aggregate of all rows."""
    text, help = refusal("sum", call.function) or ("", "")
    return positions.finding(Code.UNSUPPORTED, text, call.syntax or exp.Null(), help)


def _clauses(tree: Tree) -> list[Tree]:
    """The operators of one SELECT, from its last clause on, that are outside the language."""
    found, below = list[Tree](), tree
    while isinstance(below, _ONE_SELECT):
        grouped = isinstance(below, Aggregate) and below.at is not None
        if grouped or isinstance(below, OrderBy | FirstRows | Over):
            found.append(below)
        below = below.input
    return found or [tree]


def _refusal(tree: Tree, distinct: bool) -> tuple[Tree, str, str]:
    """An operator with what it is called and what to do instead."""
    match tree:
        case Aggregate(keys=()):
            return tree, "HAVING is", _AGGREGATE
        case Aggregate():
            return tree, "GROUP BY is", _AGGREGATE
        case Over(syntax=exp.Select() as select) if select.args.get("qualify"):
            return tree, "QUALIFY is", ""
        case Over():
            return tree, "a window function is", ""
        case Bucket():
            return tree, "a window of time is", ""
        case Apply() | Join(syntax=exp.In() | exp.Exists()):
            return tree, f"{_asked(tree.syntax)} over streams is", ""
        case OrderBy():
            return tree, "ORDER BY is", ""
        case FirstRows(count=None):
            return tree, "OFFSET is", ""
        case FirstRows():
            return tree, "LIMIT is", ""
        case Except():
            return tree, "EXCEPT is", ""
        case Intersect():
            return tree, "INTERSECT is", ""
        case AsOf():
            return tree, "a version of a table (… AS OF) is", ""
        case Fixpoint(distinct=False):
            return (
                tree,
                "recursion by UNION ALL is",
                "write UNION: UNION ALL counts paths, and a cycle has no end of them",
            )
        case Fixpoint() | Recur():
            return tree, "RECURSIVE is", ""
        case Join():
            return tree, f"{_name_of(tree)} is", _instead(tree, distinct)
        case Distinct() | Union(distinct=True):
            return tree, "duplicate elimination inside a subquery of a bag query is", _INNERMOST
    return tree, "this is", ""


def _asked(place: exp.Expr | None) -> str:
    """What a subquery is called."""
    words = {exp.In: "IN with a subquery", exp.Exists: "EXISTS"}
    return next((word for kind, word in words.items() if isinstance(place, kind)), "a subquery in an expression")


def _name_of(join: Join) -> str:
    """The join as SQL calls it: ``LEFT SEMI JOIN``."""
    syntax = join.syntax
    written = (syntax.side, syntax.kind) if isinstance(syntax, exp.Join) else (join.kind.upper(),)
    return " ".join(filter(None, (*written, "JOIN")))


def _instead(join: Join, distinct: bool) -> str:
    """What to do instead of a join that is no inner one; ``distinct``: the statement's result is a set."""
    if join.using and join.kind is JoinKind.RIGHT:
        return _USING
    if join.kind is JoinKind.SEMI:
        if distinct:
            return "write JOIN: under DISTINCT it gives the same"
        return "JOIN gives the same where no row has several partners, and always under SELECT DISTINCT"
    anti = join.kind is JoinKind.ANTI
    result = "its result" if anti else "its result with NULLs"
    waits = f"a row without a partner may still get one, so {result} would have to wait, or to be taken back"
    return waits if anti else f"{waits}; JOIN leaves such rows out"
