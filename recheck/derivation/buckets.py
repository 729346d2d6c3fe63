"""Functions of time that are buckets of it: what a column says of the time that it is computed of.

A function of time is non-decreasing, and two times with one value of it are less than its width apart; its buckets have
``shortest`` timestamps at least.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

from streambound.analyzer.algebra.date_patterns import unit_of_pattern
from streambound.analyzer.algebra.nodes import Bucket, BucketKind
from streambound.analyzer.constants import Folded
from streambound.analyzer.expressions.expression import Expression, Field, Literal
from streambound.analyzer.types import Family
from streambound.recheck.derivation.atoms import added

_SECOND, _DAY = 1_000_000, 86_400_000_000
_UNITS = {
    "second": (_SECOND, _SECOND), "minute": (60 * _SECOND, 60 * _SECOND), "hour": (3_600 * _SECOND, 3_600 * _SECOND),
    "day": (_DAY, _DAY), "dd": (_DAY, _DAY), "week": (7 * _DAY, 7 * _DAY),
    "month": (28 * _DAY, 31 * _DAY), "mm": (28 * _DAY, 31 * _DAY), "mon": (28 * _DAY, 31 * _DAY),
    "quarter": (90 * _DAY, 92 * _DAY), "year": (365 * _DAY, 366 * _DAY), "yyyy": (365 * _DAY, 366 * _DAY),
    "yy": (365 * _DAY, 366 * _DAY),
}  # fmt: skip
"""The shortest and the longest that a unit of the calendar may be, in microseconds."""
_ENDS = ("start", "end", "last")


@dataclass(frozen=True, slots=True)
class FunctionOfTime:
    """A function of time by its name; that without a name is the time itself."""

    name: str = ""
    width: int = 1
    shortest: int = 1
    division: int | None = None
    """What the time is divided by, of DIV."""
    unit: str | None = None
    """The unit to whose period's begin it leads."""


def computed(
    expression: Expression, column: int, below: FunctionOfTime, least: int | Fraction | None
) -> tuple[FunctionOfTime, int] | None:
    """The function of time that an expression over a column is, and what is added to the time; None for none.

    ``least`` is the least value of the column, where that is known.
    """
    match expression:
        case Field(name):
            return (below, 0) if int(name) == column else None
        case Literal():
            return None
    function, arguments = expression.function.name, expression.arguments
    match function, arguments:
        case "positive", (one,):
            return computed(one, column, below, least)
        case (("+" | "-"), (one, Literal(constant))) if (more := added(constant, one.kind)) is not None:
            return _shifted(computed(one, column, below, least), more if function == "+" else -more)
        case "div", (one, Literal(constant)) if (by := added(constant, one.kind)) is not None and by > 0:
            known = least if isinstance(one, Field) else None
            return _divided(computed(one, column, below, least), by, known is not None and known >= 0)
        case "date_trunc", (Literal(Folded(value=str(unit))), one) if unit.lower() in _UNITS:
            return _truncated(computed(one, column, below, least), unit.lower())
        case "date_format", (one, Literal(Folded(value=str(pattern)))) if one.kind.family is Family.TIMESTAMP:
            unit_name = unit_of_pattern(pattern)
            found = computed(one, column, below, least)
            return _bucket(found, f"date_format(_t, '{pattern}')", unit_name) if unit_name else None
        case (("to_date" | "cast"), (one,)) if expression.kind.family is Family.DATE:
            found = computed(one, column, below, least) if one.kind.family is Family.TIMESTAMP else None
            return _of_unit(_bucket(found, "to_date(_t)", "day"), "day")
        case "cast", (one,) if one.kind.family is expression.kind.family is Family.INTEGER:
            return computed(one, column, below, least)
    return None


def _shifted(found: tuple[FunctionOfTime, int] | None, more: int) -> tuple[FunctionOfTime, int] | None:
    """The same time, so much later; of a bucket of DIV so many buckets, if all are of one length."""
    if found is None:
        return None
    function, already = found
    if not function.name:
        return function, already + more
    if function.division is not None and function.width == function.division:
        return function, already + more * function.division
    return None


def _divided(found: tuple[FunctionOfTime, int] | None, by: int, positive: bool) -> tuple[FunctionOfTime, int] | None:
    """``u DIV by``: it truncates, so that the bucket of 0 is nearly twice as long where times may be negative."""
    if found is None:
        return None
    function, more = found
    if not function.name:
        width = by if positive else 2 * by - 1
        return FunctionOfTime(f"_t DIV {by}", width, by, by), more
    if function.division is not None:
        size = function.division * by
        width = size if function.width == function.division else 2 * size - 1
        return FunctionOfTime(f"_t DIV {size}", width, size, size), more
    return None


def _bucket(found: tuple[FunctionOfTime, int] | None, name: str, unit: str) -> tuple[FunctionOfTime, int] | None:
    """The periods of a unit, of a time or of the begins of periods that are each within one."""
    if found is None or (found[0].name and not _within(found[0].unit, unit)):
        return None
    shortest, longest = _UNITS[unit]
    return FunctionOfTime(name, longest, shortest), found[1]


def _truncated(found: tuple[FunctionOfTime, int] | None, unit: str) -> tuple[FunctionOfTime, int] | None:
    """The begin of a period; of a time that is the begin of a longer one, it is that."""
    longer = None if found is None else found[0].unit
    if found is not None and longer is not None and _within(unit, longer) and not _within(longer, unit):
        return replace(found[0], name=f"date_trunc('{longer}', _t)"), found[1]
    return _of_unit(_bucket(found, f"date_trunc('{unit}', _t)", unit), unit)


def _of_unit(found: tuple[FunctionOfTime, int] | None, unit: str) -> tuple[FunctionOfTime, int] | None:
    return None if found is None else (replace(found[0], unit=unit), found[1])


def _within(inner: str | None, outer: str) -> bool:
    """Whether each period of a unit is within one of another one: all lengths are multiples, but those of weeks."""
    if inner is None:
        return False
    (shortest, longest), limit = _UNITS[inner], _UNITS["day" if outer == "week" else outer]
    return inner == outer or (inner != "week" and shortest <= limit[0] and longest <= limit[1])


def begun(function: FunctionOfTime, low: int | None) -> int | None:
    """How far the begin of a period is from a time at least, if a time in it is ``low`` from that."""
    return None if low is None else low - function.width + 1


def window_end(
    tree: Bucket, which: int, low: int | None, high: int | None, exact: bool
) -> tuple[int | None, int | None, FunctionOfTime]:
    """An end of a bucket of a time from ``low`` to ``high`` after another one.

    ``exact``: of a tumbling one, as the function of time that it is; else as a time that is near.
    """
    if exact and tree.kind is BucketKind.TUMBLING:
        name = f"window(_t, {tree.size}, {tree.offset}).{_ENDS[which]}"
        return low, high, FunctionOfTime(name, tree.size, tree.size)
    more = (0, tree.size, tree.size - 1)[which]
    first = None if low is None else low + more - tree.size + 1
    return first, None if high is None else high + more, FunctionOfTime()


def end_values(
    tree: Bucket, which: int, low: int | Fraction | None, high: int | Fraction | None
) -> tuple[int | None, int | None]:
    """The least and the greatest end of the buckets ``[offset + k·slide, offset + k·slide + size)`` of some times.

    The first one begins after ``low - size``, the last one at ``high`` at the latest.
    """
    more, every = (0, tree.size, tree.size - 1)[which], tree.slide
    first = None if low is None else (floor(low) - tree.size - tree.offset) // every + 1
    last = None if high is None else (floor(high) - tree.offset) // every
    ends = [None if one is None else one * every + tree.offset + more for one in (first, last)]
    return ends[0], ends[1]
