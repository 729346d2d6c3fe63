"""What the values of a column add up to, as integers that can be taken back: COUNT, SUM and AVG are made of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, isnan, nan

from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.row_values import Value

_PLACES = 1074
_UNIT = 1 << _PLACES
_MOST_DIGITS = 38
"""The digits of the widest decimal."""
AMOUNT = 5
"""How many integers an amount is: values that are not NULL, their sum, NaNs, and the infinities."""
NOTHING = (0,) * AMOUNT


def amount(value: Value, copies: int) -> Sequence[int]:
    """A value times its ``copies``, as integers; a double as a multiple of 2^-1074.

    >>> amount(7, 2), amount(None, 2)
    ((2, 14, 0, 0, 0), (0, 0, 0, 0, 0))
    """
    if value is None:
        return NOTHING
    if isinstance(value, str):
        return (copies, 0, 0, 0, 0)
    assert isinstance(value, int | float), "only numbers are added up"
    if not isinstance(value, float):
        return (copies, value * copies, 0, 0, 0)
    if isfinite(value):
        numerator, denominator = value.as_integer_ratio()
        return (copies, (numerator << (_PLACES + 1 - denominator.bit_length())) * copies, 0, 0, 0)
    special = 2 if isnan(value) else 3 if value > 0 else 4
    return (copies, 0, *(copies if place == special else 0 for place in (2, 3, 4)))


def made(function: str, kind: str, found: Sequence[int]) -> Value:
    """The value of COUNT, SUM or AVG of values of a type; raises OverflowError where the type has no such value."""
    count, total, nans, plus, minus = found
    if function == "count":
        return count
    if not count:
        return None
    family = sql_type(kind).family
    if family == "float":
        return _double(function, count, total, nans, plus, minus)
    if family == "integer":
        return _bigint(total) if function == "sum" else total / count
    precision, scale = map(int, kind[len("decimal(") : -1].split(","))
    if function == "sum":
        return _fitting(total, min(_MOST_DIGITS, precision + 10))
    more = min(_MOST_DIGITS, scale + 4) - scale
    quotient, rest = divmod(abs(total) * 10**more, count)
    quotient += 2 * rest >= count
    return _fitting(quotient if total >= 0 else -quotient, min(_MOST_DIGITS, precision + 4))


def _double(function: str, count: int, total: int, nans: int, plus: int, minus: int) -> float:
    if nans or (plus and minus):
        return nan
    if plus or minus:
        return inf if plus else -inf
    try:
        return total / (_UNIT * (count if function == "avg" else 1))
    except OverflowError:
        return inf if total > 0 else -inf


def _bigint(total: int) -> int:
    if not -(2**63) <= total < 2**63:
        raise OverflowError(f"SUM is {total}, which is beyond a bigint")
    return total


def _fitting(digits: int, precision: int) -> int:
    if abs(digits) >= 10**precision:
        raise OverflowError(f"a sum of decimals has more than {precision} digits")
    return digits
