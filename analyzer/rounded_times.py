"""How far an expression is from a time: seconds since 1970, days, hours, buckets, months later, and their differences.

``unix_timestamp(b) - unix_timestamp(a)`` of seconds, cut off towards 1970, is b - a to within two seconds.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.algebra.date_patterns import unit_of_pattern
from streambound.analyzer.constants import is_interval
from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal
from streambound.analyzer.expressions.times import FIXED_UNITS
from streambound.analyzer.types import Family
from streambound.analyzer.units_of_time import DAY, MONTHS, TRUNCATED

_SECOND = 1_000_000
_CUT_OFF = {"unix_timestamp": _SECOND, "to_unix_timestamp": _SECOND}
"""Functions that count units since 1970, parts cut off towards it."""
_COUNTED = {"unix_seconds": _SECOND, "unix_millis": 1_000, "unix_micros": 1}
_DAYS = ("to_date", "date")
_TO_WHOLE = {"floor": (-1, 0), "ceil": (0, 1), "ceiling": (0, 1), "round": (-1, 1), "bround": (-1, 1)}


class RoundedTime(Struct, frozen=True):
    """``value * unit`` is the sum of some columns, less others, and between ``low`` and ``high`` more.

    Columns are called by their places, and are whole numbers or the microseconds of timestamps. Of what reads none
    ``unit`` is 0, and the value itself is between the ends. ``whole``: the value is a whole number; ``positive``: it
    is not below 0.
    """

    plus: tuple[str, ...] = ()
    minus: tuple[str, ...] = ()
    unit: int = 0
    low: int = 0
    high: int = 0
    whole: bool = True
    positive: bool = False

    def around(self, low: int, high: int) -> RoundedTime:
        """The same, less exactly: with ends that are moved by a number of the value's units."""
        unit = self.unit or 1
        return replace(self, low=self.low + low * unit, high=self.high + high * unit)

    @property
    def negative(self) -> RoundedTime:
        """Its negation."""
        return replace(self, plus=self.minus, minus=self.plus, low=-self.high, high=-self.low, positive=False)

    def values(self, low: int, high: int) -> tuple[int, int]:
        """The least and the greatest value where the columns' sum is between two numbers."""
        return -((-low - self.low) // self.unit), (high + self.high) // self.unit

    def add(self, other: RoundedTime) -> RoundedTime | None:
        """The sum of two values; None where they have different units."""
        unit = self.unit or other.unit
        one, two = self._of(unit), other._of(unit)
        if one is None or two is None:
            return None
        plus, minus = [*one.plus, *two.plus], [*one.minus, *two.minus]
        for name in [name for name in plus if name in minus]:
            if name in minus:
                plus.remove(name)
                minus.remove(name)
        ends = one.low + two.low, one.high + two.high
        return RoundedTime(tuple(plus), tuple(minus), unit, *ends, one.whole and two.whole)

    def _of(self, unit: int) -> RoundedTime | None:
        if self.unit or not unit:
            return self if self.unit == unit else None
        return replace(self, unit=unit, low=self.low * unit, high=self.high * unit)


Limits = dict[tuple[str, str], int]
"""The most that one column is above another one."""


def limits(left: Expression | None, op: str, right: Expression | None, positive: Collection[str] = ()) -> Limits:
    """The limits of the distance of two columns by ``left op right``; ``positive`` columns are not below 0."""
    if left is None or right is None:
        return {}
    texts = [_text(left, positive), _text(right, positive)]
    one, other = rounded(left, positive), rounded(right, positive)
    if op == "=" and texts[0] is not None and texts[1] is not None and texts[0][0] == texts[1][0]:
        one, other = texts[0][1], texts[1][1]
    found = None if one is None or other is None else one.add(other.negative)
    if found is None or len(found.plus) != 1 or len(found.minus) != 1:
        return {}
    (x,), (y,) = found.plus, found.minus
    strict = found.unit if op in ("<", ">") and found.whole else 0
    made = Limits()
    if op in ("<", "<=", "="):
        made[x, y] = -found.low - strict
    if op in (">", ">=", "="):
        made[y, x] = found.high - strict
    return made


def measured_distance(expression: Expression) -> RoundedTime | None:
    """A distance of two columns in whole units; None for another expression."""
    found = rounded(expression, ())
    is_one = found is not None and found.whole and len(found.plus) == len(found.minus) == 1
    return found if is_one else None


def is_sum(expression: Expression | None) -> bool:
    """Whether an expression is a sum of columns and constants, or is not read."""
    if not isinstance(expression, Call):
        return True
    return expression.function.name in ("+", "-") and all(map(is_sum, expression.arguments))


def _text(expression: Expression, positive: Collection[str]) -> tuple[str, RoundedTime] | None:
    """A text that stands for a period: its pattern, and the begin of the period."""
    match expression:
        case Call(function, (one, Literal(constant))) if function.name == "date_format":
            unit, time = unit_of_pattern(str(constant.value)), _timestamp(one, positive)
            if unit is not None and time is not None:
                return str(constant.value), time.around(1 - TRUNCATED[unit][1], 0)
    return None


def _timestamp(expression: Expression, positive: Collection[str]) -> RoundedTime | None:
    return rounded(expression, positive) if expression.kind.family is Family.TIMESTAMP else None


def rounded(expression: Expression, positive: Collection[str]) -> RoundedTime | None:
    """The time to which an expression is close; None if there is none."""
    match expression:
        case Field(name, kind):
            known = kind.family in (Family.INTEGER, Family.TIMESTAMP)
            return RoundedTime((name,), unit=1, positive=name in positive) if known else None
        case Literal(constant):
            value, interval = constant.value, is_interval(constant.kind)
            if not isinstance(value, Fraction) or not (interval or constant.kind.family is Family.INTEGER):
                return None
            return RoundedTime(unit=int(interval), low=int(value), high=int(value))
    return _called(expression, positive)


def _called(call: Call, positive: Collection[str]) -> RoundedTime | None:
    name, arguments = call.function.name, call.arguments
    match name, arguments:
        case "positive" | "negative", (one,):
            found = rounded(one, positive)
            return found and (found if name == "positive" else found.negative)
        case "+" | "-", (one, two):
            if call.kind.family not in (Family.INTEGER, Family.TIMESTAMP) and not is_interval(call.kind):
                return None
            first, second = rounded(one, positive), rounded(two, positive)
            return first and second and first.add(second if name == "+" else second.negative)
        case "pmod" | "%" | "mod", (_, Literal() as two) if call.kind.family is Family.INTEGER:
            if (most := _positive(two)) is None:
                return None
            return RoundedTime(low=0 if name == "pmod" else 1 - most, high=most - 1)
        case "div" | "/", (one, Literal() as two) if (by := _positive(two)) is not None:
            return _quotient(rounded(one, positive), by, name == "div")
        case "cast", (one,) if call.kind.family is Family.INTEGER and one.kind.family is not Family.TIMESTAMP:
            found = rounded(one, positive)
            return found and (found if found.whole else replace(found.around(-1, 1), whole=True))
        case _, (one,) if name in _TO_WHOLE and (found := rounded(one, positive)) is not None:
            return found if found.whole else replace(found.around(*_TO_WHOLE[name]), whole=True)
        case "date_add" | "dateadd" | "date_sub", (one, two) if (days := rounded(two, positive)) is not None:
            found = _day(one, positive)
            return found and found.add(days.negative if name == "date_sub" else days)
        case "datediff" | "date_diff", (one, two):
            first, second = _day(one, positive), _day(two, positive)
            return first and second and first.add(second.negative)
        case "timestampadd" | "dateadd" | "date_add", (Literal(unit), two, one):
            return _later(str(unit.value).lower(), rounded(two, positive), _timestamp(one, positive))
        case _, (Literal(unit), one, two) if name in ("timestampdiff", "datediff", "date_diff", "timediff"):
            first, second = _timestamp(one, positive), _timestamp(two, positive)
            length = FIXED_UNITS.get(str(unit.value).lower())
            return None if length is None else _quotient(first and second and second.add(first.negative), length, True)
        case "date_trunc", (Literal(unit), one) if str(unit.value).lower() in TRUNCATED:
            found = _timestamp(one, positive)
            return found and found.around(1 - TRUNCATED[str(unit.value).lower()][1], 0)
        case _, (one,):
            return _since_1970(name, call, one, positive)
    return None


def _since_1970(name: str, call: Call, one: Expression, positive: Collection[str]) -> RoundedTime | None:
    """Whole units since 1970."""
    found = _timestamp(one, positive)
    if found is None:
        return None
    if name in _CUT_OFF:
        return _quotient(found, _CUT_OFF[name], True)
    unit = _COUNTED.get(name)
    if name == "cast" and call.kind.family is Family.INTEGER:
        unit = _SECOND
    if name in _DAYS or (name == "cast" and call.kind.family is Family.DATE):
        unit = DAY
    if unit is None or found.unit != 1:
        return None
    return replace(found.around(1 - unit, 0), unit=unit)


def _day(expression: Expression, positive: Collection[str]) -> RoundedTime | None:
    """The day of a time."""
    if expression.kind.family is Family.DATE:
        return rounded(expression, positive)
    found = _timestamp(expression, positive)
    return found and replace(found.around(1 - DAY, 0), unit=DAY)


def _quotient(found: RoundedTime | None, by: int, cut_off: bool) -> RoundedTime | None:
    """A value divided by a number; of one that is not cut off a unit's part is lost in rounding, of seconds or longer.

    A double has 53 bits, so that no quotient of that number of seconds since 1970 is as much as a second off.
    """
    if found is None or not found.unit or (not cut_off and found.unit < _SECOND) or (cut_off and not found.whole):
        return None
    near = found.around(1 - by, 0 if found.positive else by - 1) if cut_off else found.around(-1, 1)
    return replace(near, unit=near.unit * by, whole=cut_off)


def _later(unit: str, count: RoundedTime | None, time: RoundedTime | None) -> RoundedTime | None:
    """A number of units later: a month has 28 to 31 days, a year 365 or 366."""
    if time is None or count is None or count.unit or count.low != count.high:
        return None
    if unit in FIXED_UNITS:
        return time.around(count.low * FIXED_UNITS[unit], count.low * FIXED_UNITS[unit])
    years, months = divmod(abs(count.low) * MONTHS[unit], 12)
    ends = (365 * years + 28 * months) * DAY, (366 * years + 31 * months) * DAY
    return time.around(*ends) if count.low >= 0 else time.around(-ends[1], -ends[0])


def _positive(constant: Literal) -> int | None:
    """A whole number above 0."""
    value, family = constant.constant.value, constant.kind.family
    whole = isinstance(value, Fraction) and value.denominator == 1 and value > 0
    return int(value) if whole and family in (Family.INTEGER, Family.DECIMAL) else None  # type: ignore[arg-type]
