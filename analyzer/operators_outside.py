"""Operators that are outside the query language: what each is called, why, and what to do instead."""

from __future__ import annotations

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra import nodes
from streambound.analyzer.codes import Code
from streambound.analyzer.expressions.registry import is_aggregate, refusal
from streambound.analyzer.findings import Finding, Positions

_AGGREGATE = "aggregate the job's output downstream: its _mult column already counts duplicates"
_ONE_SELECT = (
    nodes.OrderBy,
    nodes.FirstRows,
    nodes.Distinct,
    nodes.Project,
    nodes.Filter,
    nodes.Over,
    nodes.Aggregate,
    nodes.Bucket,
    nodes.Apply,
)
"""What one SELECT is lowered to, over the items of its FROM."""
_INNERMOST = "move DISTINCT to the outermost SELECT"
UNDECIDED = (nodes.OrderBy, nodes.FirstRows, nodes.AsOf)
"""Operators that no rule decides over streams: they are to blame, whatever stands beside them."""
IN_WINDOW = (
    "ask for an aggregate of rows in a window of time around the row's: (SELECT MAX(T.y) FROM T WHERE T.k = S.k "
    "AND T.ts BETWEEN S.ts - INTERVAL 1 HOUR AND S.ts)"
)
IN_EXPRESSION = (
    "write it in WHERE, or EXISTS with a window of time, which may be a value: EXISTS (SELECT 1 FROM T WHERE T.y = S.x "
    "AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 HOUR)"
)
NOT_EXISTS = "write NOT EXISTS (SELECT 1 FROM T WHERE T.y = S.x …), which is the same where neither is NULL"
_VERSION = (
    "leave it out: a stream has one version; that of a relation is beside JOIN, as JOIN R FOR SYSTEM_TIME AS OF S.ts"
)
_GROUPED = "group by it: GROUP BY window(ts, '1 hour')"


def refused(tree: nodes.Tree, positions: Positions, distinct: bool) -> Finding:
    """The finding for an operator that no select-project-join block can hold, of one SELECT's the one written first.

    ``distinct``: the statement's result is a set.
    """
    operators = _clauses(tree)
    operators = [one for one in operators if isinstance(one, UNDECIDED)] or operators
    found = [_refusal(operator, distinct) for operator in operators]
    placed = [(one.at or positions.of(one.syntax or exp.Null()), text, help) for one, text, help in found]
    at, text, help = min(placed, key=lambda one: one[0])
    message = f"{text} outside the query language"
    return positions.finding(Code.UNSUPPORTED, message, at, help)


def aggregate_refused(call: nodes.AggregateCall, positions: Positions) -> Finding:
    """The finding for an aggregate of all rows."""
    written = positions.text(positions.of(call.syntax)) if call.syntax is not None else call.function
    name = written.partition("(")[0].strip()
    text, help = refusal(name.lower() if is_aggregate(name.lower()) else "sum", name.upper()) or ("", "")
    return positions.finding(Code.UNSUPPORTED, text, call.syntax or exp.Null(), help)


def _clauses(tree: nodes.Tree) -> list[nodes.Tree]:
    """The operators of one SELECT, from its last clause on, that are outside the language."""
    found, below = list[nodes.Tree](), tree
    while isinstance(below, _ONE_SELECT):
        grouped = isinstance(below, nodes.Aggregate) and below.at is not None
        if grouped or isinstance(below, nodes.OrderBy | nodes.FirstRows | nodes.Over):
            found.append(below)
        below = below.input
    return found or [tree]


_ORDERED = (
    "order rows of one stream by their time, a column of the list: ORDER BY ts; a stream has no last row by which "
    "another order could begin; or keep the first rows by LIMIT 10"
)


def _refusal(tree: nodes.Tree, distinct: bool) -> tuple[nodes.Tree, str, str]:
    """An operator with what it is called and what to do instead."""
    match tree:
        case nodes.Aggregate(keys=()):
            return tree, "HAVING is", _AGGREGATE
        case nodes.Aggregate():
            return tree, "GROUP BY is", _AGGREGATE
        case nodes.Over(syntax=exp.Select() as select) if select.args.get("qualify"):
            return tree, "QUALIFY is", "write the rank in a subquery, and its limit in WHERE: WHERE n <= 3"
        case nodes.Over(calls=calls):
            called = f"the window function {calls[0].function} is" if calls else "a window function is"
            return tree, called, "limit ranks in WHERE, as n <= 3, or take them over a window of time"
        case nodes.Bucket():
            return tree, "a window of time is", _GROUPED
        case nodes.Apply(kind=nodes.ApplyKind.SCALAR):
            return tree, f"{subquery_word(tree.syntax)} over streams is", IN_WINDOW
        case nodes.Apply() | nodes.Join(syntax=exp.In() | exp.Exists()):
            return tree, f"{subquery_word(tree.syntax)} over streams is", IN_EXPRESSION
        case nodes.FirstRows(input=nodes.OrderBy() as order):
            tree = replace(tree, at=order.at, syntax=order.syntax)
            return tree, "ORDER BY … LIMIT of another number is", "write the number of rows, as LIMIT 10"
        case nodes.OrderBy():
            return tree, "ORDER BY is", _ORDERED
        case nodes.FirstRows():
            word = "FETCH" if isinstance(tree.syntax, exp.Fetch) else "LIMIT" if tree.count is not None else "OFFSET"
            return tree, f"{word} alone is", "say which rows are the first: ORDER BY v DESC LIMIT 10"
        case nodes.Except():
            return tree, "EXCEPT is", "write NOT EXISTS with a window of time"
        case nodes.Intersect():
            return tree, "INTERSECT is", "write EXISTS with a window of time"
        case nodes.AsOf():
            return tree, "AS OF elsewhere than beside JOIN is", _VERSION
        case nodes.Fixpoint(distinct=False):
            return (
                tree,
                "recursion by UNION ALL is",
                "write UNION: UNION ALL counts paths, and a cycle has no end of them",
            )
        case nodes.Fixpoint() | nodes.Recur():
            return tree, "RECURSIVE is", ""
        case nodes.Join():
            return tree, f"{_name_of(tree)} is", _instead(tree, distinct)
        case nodes.Distinct() | nodes.Union(distinct=True):
            return tree, "duplicate elimination inside a subquery of a bag query is", _INNERMOST
    return tree, "this is", ""


def subquery_word(place: exp.Expr | None) -> str:
    """The name of a subquery, in messages."""
    words = {exp.In: "IN with a subquery", exp.Exists: "EXISTS"}
    return next((word for kind, word in words.items() if isinstance(place, kind)), "a subquery in an expression")


def _name_of(join: nodes.Join) -> str:
    """The join as SQL calls it: ``LEFT SEMI JOIN``."""
    syntax = join.syntax
    written = (syntax.side, syntax.kind) if isinstance(syntax, exp.Join) else (join.kind.upper(),)
    return " ".join(filter(None, (*written, "JOIN")))


def _instead(join: nodes.Join, distinct: bool) -> str:
    """Advice for a join that is no inner one; ``distinct``: the statement's result is a set."""
    if join.kind is nodes.JoinKind.SEMI:
        if distinct:
            return "write JOIN: under DISTINCT it gives the same"
        return "JOIN gives the same where no row has several partners, and always under SELECT DISTINCT"
    anti = join.kind is nodes.JoinKind.ANTI
    result = "its result" if anti else "its result with NULLs"
    waits = f"a row without a partner may still get one, so {result} would have to wait, or to be taken back"
    return waits if anti else f"{waits}; JOIN leaves such rows out"
