"""What Spark 4 takes a sum or difference to be, of numbers and of points and distances in time.

The operands are constants, or offsets of attributes of that type.
"""

from __future__ import annotations

from fractions import Fraction

from streambound.analyzer.casts import DAY
from streambound.analyzer.constants import (
    DAYS,
    INTERVAL,
    TIMESTAMP,
    VOID,
    ConstantError,
    Folded,
    add,
    is_interval,
    sum_kind,
)
from streambound.analyzer.types import NUMERIC, DataType, Family

_MOST_DAYS, _MOST_MICROSECONDS = 2**31, 2**63
_TIMES = (Family.DATE, Family.TIMESTAMP)


def total(left: Folded, right: Folded, sign: int, constants: bool) -> Folded:
    """``left ± right``; raises ConstantError where Spark has no such sum. ``constants``: no attribute is in it.

    >>> from streambound.analyzer.constants import DATE, numeral
    >>> total(Folded(Fraction(0), DATE), numeral("3"), 1, constants=True).value
    Fraction(3, 1)
    """
    kind = _kind(left, right, sign)
    if left.value is None or right.value is None:
        return Folded(None, kind)
    if kind.family not in NUMERIC:
        return _in_time(_scaled(left, kind) + sign * _scaled(right, kind), kind)
    if constants:
        return add(left, right, sign)
    if kind.family is Family.FLOAT:
        message = "arithmetic on floating-point attributes is not exact, so it is outside the query language"
        raise ConstantError(message, "use a decimal type, or move the constant to a filter", unsupported=True)
    return Folded(left.exact + sign * right.exact, kind)


def _kind(left: Folded, right: Folded, sign: int) -> DataType:
    kinds = left.kind, right.kind
    if VOID in kinds and all(kind == VOID or kind.family in NUMERIC for kind in kinds):
        return kinds[0] if kinds[1] == VOID else kinds[1]
    if all(kind.family in NUMERIC for kind in kinds):
        return sum_kind(left, right)
    if sign < 0 and all(kind.family in _TIMES for kind in kinds):
        return DAYS if all(kind.family is Family.DATE for kind in kinds) else INTERVAL
    if all(map(is_interval, kinds)):
        return DAYS if kinds == (DAYS, DAYS) else INTERVAL
    if kinds[0].family in _TIMES:
        return _moved(kinds[0], kinds[1])
    if sign > 0 and kinds[1].family in _TIMES:
        return _moved(kinds[1], kinds[0])
    if VOID in kinds:
        raise ConstantError(
            "NULL has no type here", "write CAST(NULL AS INT), or the type that is meant", unsupported=True
        )
    raise ConstantError("arithmetic on a value that is not a number")


def _moved(time: DataType, distance: DataType) -> DataType:
    """A point in time some distance away."""
    if is_interval(distance):
        return time if distance == DAYS or time.family is Family.TIMESTAMP else TIMESTAMP
    if time.family is Family.DATE and distance.family is Family.INTEGER and distance.bits <= 32:
        return time
    what = "an int of days or an interval" if time.family is Family.DATE else "an interval"
    raise ConstantError(f"only {what} can be added to a {time.name}", "as in INTERVAL 5 DAYS")


def _scaled(part: Folded, kind: DataType) -> Fraction:
    """A part of a sum in the sum's unit: dates and numbers beside them are days, all else microseconds."""
    in_days = part.kind.family in (Family.DATE, *NUMERIC)
    if kind.family is Family.DATE:
        return part.exact if in_days else part.exact / DAY
    return part.exact * DAY if in_days else part.exact


def _in_time(value: Fraction, kind: DataType) -> Folded:
    if abs(value) >= (_MOST_DAYS if kind.family is Family.DATE else _MOST_MICROSECONDS):
        raise ConstantError(f"the result is beyond the {kind.name}s that Spark has")
    return Folded(value, kind)
