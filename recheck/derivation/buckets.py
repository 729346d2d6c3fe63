"""Functions of time that are buckets of it: what a column says of the time that it is computed of.

A function of time is non-decreasing, and two times with one value of it are less than its width apart; its buckets have
``shortest`` timestamps at least.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.algebra.date_patterns import unit_of_pattern
from streambound.analyzer.algebra.nodes import Bucket, BucketKind
from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal
from streambound.analyzer.types import Family
from streambound.recheck.derivation.atoms import DAY, EARLIER, LATER, added

_SECOND = 1_000_000
_UNITS = {
    "second": (_SECOND, _SECOND), "minute": (60 * _SECOND, 60 * _SECOND), "hour": (3_600 * _SECOND, 3_600 * _SECOND),
    "day": (DAY, DAY), "dd": (DAY, DAY), "week": (7 * DAY, 7 * DAY),
    "month": (28 * DAY, 31 * DAY), "mm": (28 * DAY, 31 * DAY), "mon": (28 * DAY, 31 * DAY),
    "quarter": (90 * DAY, 92 * DAY), "year": (365 * DAY, 366 * DAY), "yyyy": (365 * DAY, 366 * DAY),
    "yy": (365 * DAY, 366 * DAY),
}  # fmt: skip
"""The shortest and the longest that a unit of the calendar may be, in microseconds."""
_ENDS = ("start", "end", "last")


class FunctionOfTime(Struct, frozen=True):
    """A function of time by its name, of a time that is ``later`` than it; that without a name is the time itself."""

    name: str = ""
    width: int = 1
    shortest: int = 1
    division: int | None = None
    """What the time is divided by, of DIV."""
    unit: str | None = None
    """The unit to whose period's begin it leads."""
    later: int = 0

    @property
    def apart(self) -> int | None:
        """How far apart the times of two values are of which one is the next; None where that differs."""
        if self.name == "to_date(_t)":
            return DAY
        return 1 if not self.name else self.width if self.division == self.width else None


THE_TIME = FunctionOfTime()


def computed(
    expression: Expression, column: int, below: FunctionOfTime, least: int | Fraction | None
) -> FunctionOfTime | None:
    """The function of time that an expression over a column is; None for none.

    ``least`` is the least value of the column, where that is known.
    """
    if isinstance(expression, Field):
        return below if int(expression.name) == column else None
    arguments = expression.arguments if isinstance(expression, Call) else ()
    values = [one for one in arguments if not isinstance(one, Literal)]
    inner = computed(values[0], column, below, least) if len(values) == 1 else None
    if inner is None or not isinstance(expression, Call):
        return None
    value, constant = values[0], next((one.constant for one in arguments if isinstance(one, Literal)), None)
    same = value.kind.family is expression.kind.family
    more = None if constant is None or not same else added(constant, value.kind)
    text = constant.value if constant is not None and isinstance(constant.value, str) else ""
    families = value.kind.family, expression.kind.family
    match expression.function.name, len(arguments), value is arguments[0]:
        case "positive", 1, _:
            return inner
        case name, 2, first if name in LATER and (first or name == "+") and more is not None:
            return _shifted(inner, more)
        case name, 2, True if name in EARLIER and more is not None:
            return _shifted(inner, -more)
        case "div", 2, True if more is not None and more > 0:
            positive = isinstance(value, Field) and least is not None and least >= 0
            return _divided(inner, more, positive)
        case (("unix_timestamp" | "to_unix_timestamp"), 1, _) if families[0] is Family.TIMESTAMP:
            return _divided(inner, _SECOND, positive=False)
        case "date_trunc", 2, False if text.lower() in _UNITS:
            return _truncated(inner, text.lower())
        case "date_format", 2, True if families[0] is Family.TIMESTAMP and (unit := unit_of_pattern(text)):
            return _bucket(inner, f"date_format(_t, '{text}')", unit)
        case (("to_date" | "cast"), 1, _) if families == (Family.TIMESTAMP, Family.DATE):
            return _bucket(inner, "to_date(_t)", "day", "day")
        case "cast", 1, _ if families[0] is Family.DATE and expression.kind.name == "timestamp":
            return _truncated(inner, "day")
        case "cast", 1, _ if families == (Family.INTEGER, Family.INTEGER):
            return inner
        case "cast", 1, _ if value.kind.name == expression.kind.name == "timestamp":
            return inner
    return None


def _shifted(found: FunctionOfTime, more: int) -> FunctionOfTime | None:
    """The same time, so many later values of it."""
    return None if found.apart is None else replace(found, later=found.later + more * found.apart)


def _divided(found: FunctionOfTime, by: int, positive: bool) -> FunctionOfTime | None:
    """``u DIV by``: it truncates, so that the bucket of 0 is nearly twice as long where times may be negative."""
    if found.name and found.division is None:
        return None
    size, even = (found.division or 1) * by, found.width == found.division if found.name else positive
    return FunctionOfTime(f"_t DIV {size}", size if even else 2 * size - 1, size, size, later=found.later)


def _bucket(found: FunctionOfTime, name: str, unit: str, begin: str | None = None) -> FunctionOfTime | None:
    """The periods of a unit, of a time or of the begins of periods that are each within one."""
    shortest, longest = _UNITS[unit]
    fine = not found.name or _within(found.unit, unit)
    return FunctionOfTime(name, longest, shortest, unit=begin, later=found.later) if fine else None


def _truncated(found: FunctionOfTime, unit: str) -> FunctionOfTime | None:
    """The begin of a period; of a time that is the begin of a longer one, it is that."""
    longer = found.unit
    if longer is not None and _within(unit, longer) and not _within(longer, unit):
        return replace(found, name=f"date_trunc('{longer}', _t)")
    return _bucket(found, f"date_trunc('{unit}', _t)", unit, unit)


def _within(inner: str | None, outer: str) -> bool:
    """Whether each period of a unit is within one of another one: all lengths are multiples, but those of weeks."""
    if inner is None:
        return False
    (shortest, longest), limit = _UNITS[inner], _UNITS["day" if outer == "week" else outer]
    return inner == outer or (inner != "week" and shortest <= limit[0] and longest <= limit[1])


def window_end(tree: Bucket, which: int, exact: bool) -> tuple[int, int, FunctionOfTime]:
    """How far an end of a bucket is from a time in it at least and at most.

    ``exact``: of a tumbling one, as the function of time that it is.
    """
    if exact and tree.kind is BucketKind.TUMBLING:
        name = f"window(_t, {tree.size}, {tree.offset}).{_ENDS[which]}"
        return 0, 0, FunctionOfTime(name, tree.size, tree.size)
    more = (0, tree.size, tree.size - 1)[which]
    return more - tree.size + 1, more, THE_TIME


def end_values(
    tree: Bucket, which: int, low: int | Fraction | None, high: int | Fraction | None
) -> tuple[int | None, int | None]:
    """The least and the greatest end of the buckets ``[offset + k·slide, offset + k·slide + size)`` of some times.

    The first one begins after ``low - size``, the last one at ``high`` at the latest.
    """
    more, every = tree.offset + (0, tree.size, tree.size - 1)[which], tree.slide
    first = None if low is None else ((floor(low) - tree.size - tree.offset) // every + 1) * every + more
    return first, None if high is None else (floor(high) - tree.offset) // every * every + more
