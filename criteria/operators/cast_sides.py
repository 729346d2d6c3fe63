"""Comparisons of numbers of two types, such as a price and an average: as Spark does, by a cast of the left side's.

The cast is a column of the left side, ``SELECT …, CAST(v AS DOUBLE)``, so that the join compares two columns of a type.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Alias, Join, Named, Project, Scalar
from streambound.analyzer.algebra.schema import parsed, schema
from streambound.analyzer.algebra.schema_columns import Schema, ViewColumn
from streambound.analyzer.types import DataType, Family
from streambound.criteria.operators.judge import Context

_COMPARISONS = (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def with_casts(tree: Join, context: Context) -> Join:
    """A join whose condition compares columns of one type where that takes a cast of the left side's numbers.

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
            if number is not None and double is not None and double.type is not None and _is_cast(number, double.type):
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


def _is_cast(column: ViewColumn, to: DataType) -> bool:
    """Whether a comparison casts a column to a type: whole numbers to DOUBLE, decimals to ones that have them all."""
    match column.type, to:
        case DataType(family=Family.INTEGER), DataType(family=Family.FLOAT):
            return True
        case DataType(family=Family.DECIMAL) as mine, DataType(family=Family.DECIMAL) if mine != to:
            places, finer = mine.scale or 0, to.scale or 0
            return finer >= places and to.precision - finer >= mine.precision - places
    return False


def _scalar(node: exp.Expr) -> Scalar:
    return Scalar(node.sql("spark"), node)
