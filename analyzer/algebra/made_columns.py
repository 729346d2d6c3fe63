"""Columns that operators below an expression compute, in the place of what the SQL says."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.schema_columns import ViewColumn
from streambound.analyzer.spans import Span

_MADE = "computed below"


def made_column(name: str, span: Span) -> exp.Column:
    """A column that an operator below computes, at a place of the SQL."""
    column = exp.column(exp.to_identifier(name))
    column.meta[_MADE] = True
    column.this.meta.update({"line": span.line, "col": span.column, "start": span.start, "end": span.end - 1})
    return column


def shown_column(column: ViewColumn, span: Span) -> exp.Column:
    """A column that a ``*`` stands for, with its alias, at the place of that."""
    node = made_column(column.name, span)
    if column.alias:
        node.set("table", exp.to_identifier(column.alias))
    return node


def is_made(column: exp.Expr) -> bool:
    """Whether a column is one that `made_column` has put in its place."""
    return bool(column.meta.get(_MADE))


def fresh_name(taken: set[str], prefix: str) -> str:
    """A name with that beginning that is not taken, and is from now on."""
    number = 1
    while f"{prefix}{number}" in taken:
        number += 1
    taken.add(f"{prefix}{number}")
    return f"{prefix}{number}"
