"""Comparisons of a whole number with a view's DOUBLE, such as an average: as Spark does, by a cast of the number.

The cast is a column of the left side, ``SELECT …, CAST(v AS DOUBLE)``, so that the join compares two columns of a type.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Alias, Join, Named, Project, Scalar
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.types import Family
from streambound.criteria.operators.judge import Context

_COMPARISONS = (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def with_casts(tree: Join, context: Context) -> Join:
    """A join whose condition compares columns of one type where that takes a cast of the left side's whole numbers.

    The left side is to be of one alias.
    """
    if tree.condition is None:
        return tree
    left, right = schema(tree.left, context.catalog), schema(tree.right, context.catalog)
    aliases = {column.alias for column in left}
    condition = parsed(tree.condition).copy()
    casts: dict[exp.Expr, str] = {}
    for node in condition.find_all(*_COMPARISONS):
        for mine, other in ((node.this, node.expression), (node.expression, node.this)):
            number, double = _column(mine, left), _column(other, right)
            if number is None or double is None or _family(number) is not Family.INTEGER:
                continue
            if _family(double) is Family.FLOAT and double.type is not None:
                cast = exp.cast(mine.copy(), double.type.name)
                mine.replace(exp.column(casts.setdefault(cast, f"_cast{len(casts) + 1}"), table=number.alias))
    if not casts or len(aliases) != 1 or not (alias := aliases.pop()):
        return tree
    items = [Named(c.name, _scalar(exp.column(c.name, table=alias, quoted=True)), alias=True) for c in left]
    items += [Named(name, _scalar(cast), alias=True) for cast, name in casts.items()]
    side = Alias(Project(tree.left, tuple(items), syntax=tree.left.syntax), alias, syntax=tree.left.syntax)
    return replace(tree, left=side, condition=_scalar(condition))


def _column(node: exp.Expr, side: Schema) -> ViewColumn | None:
    if not isinstance(node, exp.Column):
        return None
    return next((column for column in side if column.called(node.name, node.table)), None)


def _family(column: ViewColumn) -> Family | None:
    return None if column.type is None else column.type.family


def _scalar(node: exp.Expr) -> Scalar:
    return Scalar(node.sql("spark"), node)
