"""Expressions of the tree as SQL's syntax: what rewrites of names need until columns are positions everywhere."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Scalar
from streambound.analyzer.algebra.schema_columns import ViewColumn
from streambound.analyzer.types import DataType


def conjuncts(condition: Scalar | exp.Expr | None) -> list[exp.Expr]:
    """The conjuncts of a condition; empty for none."""
    whole = condition.syntax if isinstance(condition, Scalar) else condition
    left, found = [whole] if whole is not None else [], list[exp.Expr]()  # not by recursion: there may be thousands
    while left:
        part = left.pop().unnest()
        if isinstance(part, exp.And):
            left += [part.expression, part.this]
        else:
            found.append(part)
    return found


def both_ends(part: exp.Expr) -> list[exp.Expr]:
    """``x BETWEEN a AND b`` as two comparisons; another condition as it is."""
    node = part.unnest()
    if not isinstance(node, exp.Between) or node.args.get("symmetric"):
        return [part]
    value, low, high = (node.args[name] for name in ("this", "low", "high"))
    return [
        exp.GTE(this=value.copy(), expression=low.copy()),
        exp.LTE(this=value.copy(), expression=high.copy()),
    ]


def conjunction(parts: Iterable[exp.Expr]) -> Scalar | None:
    """The conjunction of some conditions; None of none."""
    found = [exp.paren(part.copy()) if isinstance(part, exp.Or) else part.copy() for part in parts]
    return Scalar(exp.and_(*found, wrap=False)) if found else None


def column_of(view: ViewColumn) -> exp.Column:
    """A column by its name and alias."""
    return exp.column(view.name, table=view.alias or None, quoted=True)


def null_of(kind: DataType | None) -> exp.Expr:
    """NULL of a type, which is known."""
    assert kind is not None, "it has a type"
    return exp.cast(exp.Null(), kind.name, dialect="spark")


def scalar_of_column(view: ViewColumn) -> Scalar:
    """A column as an expression of the algebra."""
    return Scalar(column_of(view))


def is_placed(node: exp.Expr) -> bool:
    """Whether an expression has a place in the SQL: what passes made has none."""
    return any("start" in leaf.meta for leaf in node.walk())
