"""Operators that are outside the query language: what each is called, why, and what to do instead."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.facts import ViewKind, facts
from streambound.analyzer.algebra.nodes import (
    Aggregate,
    AsOf,
    Distinct,
    Except,
    FirstRows,
    Fixpoint,
    Intersect,
    Join,
    JoinKind,
    OrderBy,
    Over,
    Recur,
    Tree,
    Union,
)
from streambound.analyzer.catalog import Catalog
from streambound.analyzer.codes import Code
from streambound.analyzer.findings import Finding, Positions

_DOWNSTREAM = "downstream (select what ON compares)"
_AGGREGATE = "aggregate the job's output downstream: its _mult column already counts duplicates"
_USING = "write the equality in ON"
_INNERMOST = "move DISTINCT to the outermost SELECT"


def refused(tree: Tree, positions: Positions, catalog: Catalog, distinct: bool) -> Finding:
    """The finding for an operator that no select-project-join block can hold, of one SELECT's the one written first.

    ``distinct``: the statement's result is a set.
    """
    found = [_refusal(operator, catalog, distinct) for operator in _clauses(tree)]
    placed = [(one.at or positions.of(one.syntax or exp.Null()), text, help) for one, text, help in found]
    at, text, help = min(placed, key=lambda one: one[0])
    return positions.finding(Code.UNSUPPORTED, f"{text} outside the query language", at, help)


def _clauses(tree: Tree) -> list[Tree]:
    """The operators of one SELECT, from its last clause on, that are outside the language."""
    found, below = list[Tree](), tree
    while isinstance(below, OrderBy | FirstRows | Distinct):
        found += [] if isinstance(below, Distinct) else [below]
        below = below.input
    if isinstance(below, Over) or (isinstance(below, Aggregate) and (below.keys or below.having)):
        found.append(below)
    return found or [tree]


def _refusal(tree: Tree, catalog: Catalog, distinct: bool) -> tuple[Tree, str, str]:
    """An operator with what it is called and what to do instead."""
    match tree:
        case Aggregate(keys=()):
            return tree, "HAVING is", _AGGREGATE
        case Aggregate():
            return tree, "GROUP BY is", _AGGREGATE
        case Over(qualify=None):
            return tree, "a window function is", ""
        case Over():
            return tree, "QUALIFY is", ""
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
        case Fixpoint() | Recur():
            return tree, "RECURSIVE is", ""
        case Join(JoinKind.INNER):
            return tree, "JOIN … USING is", _USING
        case Join():
            return tree, f"{_name_of(tree)} is", _instead(tree, catalog, distinct)
        case Distinct() | Union(distinct=True):
            return tree, "duplicate elimination inside a subquery of a bag query is", _INNERMOST
    return tree, "this is", ""


def _name_of(join: Join) -> str:
    """The join as SQL calls it: ``LEFT SEMI JOIN``."""
    syntax = join.syntax
    written = (syntax.side, syntax.kind) if isinstance(syntax, exp.Join) else (join.kind.upper(),)
    return " ".join(filter(None, (*written, "JOIN")))


def _instead(join: Join, catalog: Catalog, distinct: bool) -> str:
    """What to do instead of a join that is no inner one; ``distinct``: the statement's result is a set."""
    if join.kind is JoinKind.SEMI:
        if distinct:
            return "write JOIN: under DISTINCT it gives the same"
        return "JOIN gives the same where no row has several partners, and always under SELECT DISTINCT"
    missing = {JoinKind.RIGHT: (join.left,), JoinKind.FULL: (join.left, join.right)}.get(join.kind, (join.right,))
    static = all(facts(side, catalog).change is ViewKind.STATIC for side in missing)
    anti = join.kind is JoinKind.ANTI
    if anti and static:
        return f"a relation does not change: leave out rows with a partner from the job's output, {_DOWNSTREAM}"
    if static:
        leaves_out = "or write JOIN, which leaves out rows without a partner"
        return f"a relation does not change: join the job's output with it {_DOWNSTREAM}, {leaves_out}"
    result = "its result" if anti else "its result with NULLs"
    waits = f"a row without a partner may still get one, so {result} would have to wait, or to be taken back"
    return waits if anti else f"{waits}; JOIN leaves such rows out"
