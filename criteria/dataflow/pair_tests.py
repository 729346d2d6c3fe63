"""Conditions of a join that its job tests of pairs: comparisons of both sides' values, and conditions of one side.

An inner join may test others of its rows; of an outer, semi or anti join they would decide which rows have partners.
"""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.nodes import Scalar
from streambound.analyzer.algebra.row_expressions import row_expression, type_of
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.expressions.whole_numbers import added_number
from streambound.analyzer.types import DataType, Family
from streambound.criteria.dataflow.view import OperatorView

_COMPARISONS = (exp.LT, exp.LTE, exp.EQ, exp.NullSafeEQ, exp.GTE, exp.GT, exp.NEQ)
_NUMBERS = (Family.INTEGER, Family.DECIMAL, Family.FLOAT)


def untested(
    condition: Scalar | None, pair: OperatorView, width: int, joined: frozenset[int] = frozenset()
) -> exp.Expr | None:
    """The first part of a condition of pairs, of which so many columns are the left side's, that no job tests.

    Nothing is computed of rows of the sides (0 and 1) that are ``joined`` in each tick.
    """
    return next((part for part in conjuncts(condition) if not _is_condition(part, pair, width, joined)), None)


def _is_condition(node: exp.Expr, pair: OperatorView, width: int, joined: frozenset[int]) -> bool:
    """Whether a condition is tested, or alternatives of such."""
    node = node.unnest()
    if isinstance(node, exp.And):
        return all(_is_condition(part, pair, width, joined) for part in node.flatten())
    if not isinstance(node, exp.Or) or _side(node, pair, width) is not None:
        return _is_test(node, pair, width, joined)
    return all(_is_test(one, pair, width, joined) for part in node.flatten() for one in conjuncts(part))


def _is_test(node: exp.Expr, pair: OperatorView, width: int, joined: frozenset[int]) -> bool:
    node = node.unnest()
    if isinstance(node, exp.Boolean):
        return bool(node.this) or not joined
    if isinstance(node, exp.Between):
        ends = (
            exp.GTE(this=node.this, expression=node.args["low"]),
            exp.LTE(this=node.this, expression=node.args["high"]),
        )
        return all(_is_test(one, pair, width, joined) for one in ends)
    if row_expression(node, pair.schema) is None:
        return False
    if isinstance(node, _COMPARISONS):
        sides = {_side(node.left, pair, width), _side(node.right, pair, width)}
        if sides == {0, 1}:
            types = [type_of(one, pair.schema)[0] for one in (node.left, node.right)]
            again = [one for one in (node.left, node.right) if _side(one, pair, width) in joined]
            plain = not again or (_are_alike(*types) and all(_is_column(one, pair) for one in again))
            return plain and _is_compared(*types)
    side = _side(node, pair, width)
    return side is not None and side not in joined


def _is_column(node: exp.Expr, pair: OperatorView) -> bool:
    """Whether an expression is a column, or one to which a number is added."""
    node = node.unnest()
    if isinstance(node, exp.Add | exp.Sub):
        kind = type_of(node.this, pair.schema)[0]
        node = node.this.unnest() if kind is not None and added_number(node.expression, kind) is not None else node
    return isinstance(node, exp.Column)


def _is_compared(one: DataType | None, other: DataType | None) -> bool:
    """Whether values of two types are compared as they are, or as doubles."""
    if one is None or other is None:
        return False
    if _are_alike(one, other):
        return True
    return Family.FLOAT in (one.family, other.family) and one.family in _NUMBERS and other.family in _NUMBERS


def _are_alike(one: DataType | None, other: DataType | None) -> bool:
    """Whether values of two types are compared as they are."""
    return one is not None and other is not None and one.family is other.family and one.scale == other.scale


def _side(node: exp.Expr, pair: OperatorView, width: int) -> int | None:
    """The side whose columns an expression reads; None for both, or none."""
    sides = {int(place >= width) for place in pair.read_by(node)}
    return sides.pop() if len(sides) == 1 else None
