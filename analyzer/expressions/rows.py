"""Which columns in an expression are those of the row that it is about: its subqueries have columns of their own."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from streambound.analyzer.work import spend

ROW = "_row"
"""What the row is called in an expression's subqueries, which may have columns of the same names."""
_MARK = "of the row"
_STEPS = 5


def of_row(column: exp.Column) -> bool:
    """Whether a column of an expression is one of its row: it is in no subquery, or is marked as one."""
    spend(_STEPS)
    return bool(column.meta.get(_MARK)) or column.table == ROW or column.find_ancestor(exp.Query) is None


def columns_of_row(node: exp.Expr) -> Iterator[exp.Column]:
    """The columns of the row that an expression is about, in the order in which they are written."""
    return (column for column in node.find_all(exp.Column, bfs=False) if of_row(column))


def marked(node: exp.Expr) -> exp.Expr:
    """An expression over the row's columns, to stand in a subquery."""
    for column in node.find_all(exp.Column):
        column.meta[_MARK] = True
    return node


def outermost_queries(node: exp.Expr) -> list[exp.Query]:
    """The subqueries of an expression that are in no other one: SELECTs and unions, without their parentheses."""
    spend(_STEPS)
    found = (query for query in node.find_all(exp.Query) if not isinstance(query, exp.Subquery))
    return [query for query in found if _first_query(query, node)]


def _first_query(query: exp.Query, top: exp.Expr) -> bool:
    parent = query.parent if query is not top else None
    while parent is not None and parent is not top.parent:
        if isinstance(parent, exp.Query) and not isinstance(parent, exp.Subquery):
            return False
        parent = parent.parent
    return True
