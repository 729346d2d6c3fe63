"""Conditions of a join that its job tests of pairs: comparisons of both sides' values, and conditions of one side.

An inner join may test others of its rows; of an outer, semi or anti join they would decide which rows have partners.
"""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Scalar
from streambound.analyzer.algebra.row_expressions import row_expression, type_of
from streambound.analyzer.types import DataType, Family
from streambound.criteria.dataflow.syntax import conjuncts
from streambound.criteria.dataflow.view import OperatorView

_COMPARISONS = (exp.LT, exp.LTE, exp.EQ, exp.GTE, exp.GT, exp.NEQ)
_NUMBERS = (Family.INTEGER, Family.DECIMAL, Family.FLOAT)


def untested(condition: Scalar | None, pair: OperatorView, width: int) -> exp.Expr | None:
    """The first part of a condition of pairs, of which so many columns are the left side's, that no job tests."""
    return next((part for part in conjuncts(condition) if not _is_condition(part, pair, width)), None)


def _is_condition(node: exp.Expr, pair: OperatorView, width: int) -> bool:
    """Whether a condition is tested, or alternatives of such."""
    node = node.unnest()
    if isinstance(node, exp.And):
        return all(_is_condition(part, pair, width) for part in node.flatten())
    if not isinstance(node, exp.Or) or _side(node, pair, width) is not None:
        return _is_test(node, pair, width)
    return all(_is_test(one, pair, width) for part in node.flatten() for one in conjuncts(part))


def _is_test(node: exp.Expr, pair: OperatorView, width: int) -> bool:
    node = node.unnest()
    if isinstance(node, exp.Boolean):
        return True
    if isinstance(node, exp.Between):
        ends = (
            exp.GTE(this=node.this, expression=node.args["low"]),
            exp.LTE(this=node.this, expression=node.args["high"]),
        )
        return all(_is_test(one, pair, width) for one in ends)
    if row_expression(node, pair.schema) is None:
        return False
    if isinstance(node, _COMPARISONS):
        sides = {_side(node.left, pair, width), _side(node.right, pair, width)}
        if sides == {0, 1}:
            return _is_compared(type_of(node.left, pair.schema)[0], type_of(node.right, pair.schema)[0])
    return _side(node, pair, width) is not None


def _is_compared(one: DataType | None, other: DataType | None) -> bool:
    """Whether values of two types are compared as they are, or as doubles."""
    if one is None or other is None:
        return False
    if one.family is other.family and one.scale == other.scale:
        return True
    return Family.FLOAT in (one.family, other.family) and one.family in _NUMBERS and other.family in _NUMBERS


def _side(node: exp.Expr, pair: OperatorView, width: int) -> int | None:
    """The side whose columns an expression reads; None for both, or none."""
    sides = {int(place >= width) for place in pair.read_by(node)}
    return sides.pop() if len(sides) == 1 else None
