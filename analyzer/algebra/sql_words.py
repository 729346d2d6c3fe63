"""What SQL calls the operators of the algebra, for messages."""

from __future__ import annotations

from streambound.analyzer.algebra import nodes

_WORDS: dict[type[nodes.Tree], str] = {
    nodes.Aggregate: "GROUP BY",
    nodes.Apply: "a subquery in an expression",
    nodes.AsOf: "FOR SYSTEM_TIME AS OF",
    nodes.Bucket: "a window of time",
    nodes.Distinct: "DISTINCT",
    nodes.Except: "EXCEPT",
    nodes.Filter: "WHERE",
    nodes.FirstRows: "LIMIT",
    nodes.Fixpoint: "WITH RECURSIVE",
    nodes.Intersect: "INTERSECT",
    nodes.OrderBy: "ORDER BY",
    nodes.Over: "a function with OVER",
    nodes.Recur: "WITH RECURSIVE",
}


def sql_words(tree: nodes.Tree) -> str:
    """``Aggregate(…)  ->  GROUP BY``; an aggregate without keys is named by what it is."""
    match tree:
        case nodes.Aggregate(keys=()):
            return "an aggregate without GROUP BY"
        case nodes.Union(distinct=each_once):
            return "UNION" if each_once else "UNION ALL"
        case nodes.FirstRows(count=None):
            return "OFFSET"
        case nodes.Join(kind=kind):
            return f"{kind.upper()} JOIN"
    return _WORDS.get(type(tree), "SELECT")
