"""What SQL calls the operators of the algebra, for messages."""

from __future__ import annotations

from streambound.analyzer.algebra.nodes import (
    Aggregate,
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
    OrderBy,
    Over,
    Recur,
    Tree,
    Union,
)

_WORDS: dict[type[Tree], str] = {
    Aggregate: "GROUP BY",
    Apply: "a subquery in an expression",
    AsOf: "FOR SYSTEM_TIME AS OF",
    Bucket: "a window of time",
    Distinct: "DISTINCT",
    Except: "EXCEPT",
    Filter: "WHERE",
    FirstRows: "LIMIT",
    Fixpoint: "WITH RECURSIVE",
    Intersect: "INTERSECT",
    OrderBy: "ORDER BY",
    Over: "a function with OVER",
    Recur: "WITH RECURSIVE",
}


def sql_words(tree: Tree) -> str:
    """``Aggregate(…)  ->  GROUP BY``; an aggregate without keys is named by what it is."""
    match tree:
        case Aggregate(keys=()):
            return "an aggregate without GROUP BY"
        case Union(distinct=each_once):
            return "UNION" if each_once else "UNION ALL"
        case FirstRows(count=None):
            return "OFFSET"
        case Join(kind=kind):
            return f"{kind.upper()} JOIN"
    return _WORDS.get(type(tree), "SELECT")
