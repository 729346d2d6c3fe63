"""TIMESTAMPADD and TIMESTAMPDIFF in units of fixed length, as sums and differences of times.

timestampadd(MINUTE, 30, a)           ->  a + INTERVAL 30 MINUTES
timestampdiff(MINUTE, a, b) <= 30     ->  b - a < INTERVAL 31 MINUTES
timestampdiff(MINUTE, a, b) >= 0      ->  b - a > INTERVAL -1 MINUTE

TIMESTAMPDIFF counts whole units, and cuts off towards 0. Other units and other types remain functions.
"""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.expressions.dialect import DIFFERENCE, LATER
from streambound.analyzer.expressions.times import FIXED_UNITS
from streambound.analyzer.expressions.whole_numbers import whole_number
from streambound.analyzer.query import Op

_MOST = 2**62
"""Microseconds of an interval that is certainly one."""


def moved(node: exp.Expr) -> exp.Add | None:
    """A TIMESTAMPADD of a constant number of units as a sum with a timestamp; None for any other expression."""
    parts = _parts(node, LATER)
    count = None if parts is None else _whole(parts[1])
    if parts is None or count is None or abs(count * parts[0]) >= _MOST:
        return None
    return exp.Add(this=parts[2].copy(), expression=_interval(count * parts[0]))


def difference(left: exp.Expr, op: Op, right: exp.Expr) -> tuple[exp.Sub, tuple[tuple[Op, exp.Interval], ...]] | None:
    """The difference of two timestamps that a TIMESTAMPDIFF compares with a constant, and its comparisons.

    They hold together where the comparison holds; of ``<>``, which is not read, where it does not: None.
    """
    if _parts(left, DIFFERENCE) is None:
        left, op, right = right, op.flipped, left
    parts, count = _parts(left, DIFFERENCE), _whole(right)
    if parts is None or count is None or op is Op.NE or (abs(count) + 2) * parts[0] >= _MOST:
        return None
    unit, start, end = parts
    compared = tuple(_cut_off(one, count) for one in ((Op.LE, Op.GE) if op is Op.EQ else (op,)))
    sides = exp.Sub(this=end.copy(), expression=start.copy())
    return sides, tuple((one, _interval(length * unit)) for one, length in compared)


def _cut_off(op: Op, count: int) -> tuple[Op, int]:
    """``trunc(x) <= 3  ->  x < 4``, ``trunc(x) <= -3  ->  x <= -3``; the same of ``>=`` with the signs changed."""
    if op in (Op.GT, Op.GE):
        mirrored, length = _cut_off(op.flipped, -count)
        return mirrored.flipped, -length
    count -= op is Op.LT
    return (Op.LT, count + 1) if count >= 0 else (Op.LE, count)


def _parts(node: exp.Expr, names: tuple[str, ...]) -> tuple[int, exp.Expr, exp.Expr] | None:
    """The length of a call's unit, and its other arguments; None for another call, and beside subqueries."""
    node = node.unnest()
    if not isinstance(node, exp.Anonymous) or node.name.lower() not in names or node.find(exp.Query):
        return None
    match node.expressions:
        case [exp.Var() as unit, first, second] if unit.name.lower() in FIXED_UNITS:
            return FIXED_UNITS[unit.name.lower()], first, second
    return None


def _whole(node: exp.Expr) -> int | None:
    """A constant whole number; None for another expression."""
    found = whole_number(node)
    return None if found is None else found[0]


def _interval(length: int) -> exp.Interval:
    """A number of microseconds."""
    return exp.Interval(this=exp.Literal.string(str(length)), unit=exp.Var(this="MICROSECOND"))
