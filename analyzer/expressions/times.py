"""Functions of dates and timestamps; timestamps are in UTC."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from fractions import Fraction
from math import floor, trunc

from streambound.analyzer.casts import DAY, cast
from streambound.analyzer.constants import BIGINT, DATE, DOUBLE, INT, STRING, TIMESTAMP, Folded, kind_of
from streambound.analyzer.durations import UNITS
from streambound.analyzer.expressions.function import ANY, Fails, Function, NotKnown, Scalar, always, exactly, whole
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.units_of_time import MONTHS

_SECOND = 1_000_000
FIXED_UNITS = {**{name.lower(): length for name, length in UNITS.items()}, "dayofyear": DAY}
"""The units of time that have a fixed length, in microseconds."""
TIME_UNITS = (*FIXED_UNITS, *MONTHS)
"""The units that TIMESTAMPADD takes."""
_UNIX = date(1970, 1, 1)
_DAY_ENDS = (date(1, 1, 1) - _UNIX).days, (date(9999, 12, 31) - _UNIX).days


def _moment(argument: Folded) -> Fraction:
    """The microseconds since 1970 of a date or timestamp; raises NotKnown for texts, and Fails beyond Spark's."""
    if argument.kind.family not in (Family.DATE, Family.TIMESTAMP):
        raise NotKnown("a text that is read as a timestamp")
    moment = exactly(lambda: cast(argument, TIMESTAMP))
    assert isinstance(moment, Fraction)
    return moment


def _day(argument: Folded) -> date:
    """The day of a date or timestamp; raises NotKnown for texts, which Spark reads in ways of its own."""
    if argument.kind.family not in (Family.DATE, Family.TIMESTAMP):
        raise NotKnown("a text that is read as a date")
    days = exactly(lambda: cast(argument, DATE))
    assert isinstance(days, Fraction)
    if not _DAY_ENDS[0] <= days <= _DAY_ENDS[1]:
        raise NotKnown("a date beyond the years 1 to 9999")
    return _UNIX + timedelta(int(days))


def _of_day(name: str, part: Callable[[date], int], *ends: int) -> Function:
    """A part of a date, which lies between two ends, if it does."""
    within = (ends[0], ends[1]) if ends else None
    return Function(name, always(INT), lambda kind, one: Fraction(part(_day(one[0]))), within=within)


def _of_time(name: str, part: int, most: int) -> Function:
    """A part of the time of day, in units of ``part`` microseconds, from 0 to ``most``."""

    def value(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
        return Fraction(floor(_moment(arguments[0]) % DAY) // part % (most + 1))

    return Function(name, always(INT), value, within=(0, most))


def _moved(sign: int) -> Callable[[DataType, tuple[Folded, ...]], Scalar]:
    """A date moved by a number of days, later or earlier; with three arguments by a number of the unit named first."""

    def value(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
        if len(arguments) == 3:
            return _units_later(str(arguments[0].value).lower(), whole(arguments[1]), arguments[2])
        days = (_day(arguments[0]) - _UNIX).days + sign * whole(arguments[1])
        if abs(days) >= 2**31:
            raise NotKnown("a date beyond those that Spark has")
        return Fraction(days)

    return value


def _units_later(unit: str, count: int, argument: Folded) -> Scalar:
    """TIMESTAMPADD: months keep the day, or end on their last one."""
    moment = _moment(argument)
    if unit in FIXED_UNITS:
        moment += count * FIXED_UNITS[unit]
    else:
        day = _day(argument)
        year, month = divmod(day.year * 12 + day.month - 1 + count * MONTHS[unit], 12)
        if not 1 <= year <= 9999:
            raise NotKnown("a date beyond the years 1 to 9999")
        there = date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
        moment += (there - day).days * DAY
    if abs(moment) >= 2**63:
        raise Fails("a timestamp beyond those that Spark has")
    return moment


def _between(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    """DATEDIFF: days from the second to the first; of three arguments, the first a unit, whole units to the last."""
    if len(arguments) == 2:
        return Fraction((_day(arguments[0]) - _day(arguments[1])).days)
    unit, start, end = str(arguments[0].value).lower(), _moment(arguments[1]), _moment(arguments[2])
    if unit in FIXED_UNITS:
        return Fraction(trunc((end - start) / FIXED_UNITS[unit]))
    return Fraction(trunc(Fraction(_months_between(arguments[1], arguments[2]), MONTHS[unit])))


def _months_between(start: Folded, end: Folded) -> int:
    """Whole months from one time to another, as Java's LocalDateTime.until counts them."""
    (first, began), (last, ended) = ((_day(one), _moment(one) % DAY) for one in (start, end))
    part = (last < first and ended > began) - (last > first and ended < began)  # of a day, which is not over
    days = (last - _UNIX).days + part
    if not _DAY_ENDS[0] <= days <= _DAY_ENDS[1]:
        raise NotKnown("a date beyond the years 1 to 9999")
    last = _UNIX + timedelta(days)
    months = 12 * (last.year - first.year) + last.month - first.month
    return trunc(Fraction(32 * months + last.day - first.day, 32))


def _difference(arguments: tuple[Folded, ...]) -> DataType:
    """DATEDIFF of two dates; of three arguments, the first a unit, another number."""
    return INT if len(arguments) == 2 else BIGINT


def _later_kind(arguments: tuple[Folded, ...]) -> DataType:
    """DATE_ADD of two arguments; of three, the first a unit, a timestamp."""
    if len(arguments) == 2:
        return DATE
    return arguments[2].kind if arguments[2].kind.family is Family.TIMESTAMP else TIMESTAMP


def _days(arguments: tuple[Folded, ...]) -> DataType:
    return DATE if arguments[0].kind.family in (Family.DATE, Family.TIMESTAMP, Family.STRING) else ANY


def _moments(arguments: tuple[Folded, ...]) -> DataType:
    return TIMESTAMP


def _to(target: DataType) -> Callable[[DataType, tuple[Folded, ...]], Scalar]:
    def value(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
        if len(arguments) > 1:
            raise NotKnown("a text in a format")
        return exactly(lambda: cast(arguments[0], target))

    return value


def _month_end(day: date) -> int:
    first = date(day.year + day.month // 12, day.month % 12 + 1, 1) if day.year < 9999 else None
    if first is None:
        raise NotKnown("a date beyond the years 1 to 9999")
    return (first - _UNIX).days - 1


_CUTS = {"second": _SECOND, "minute": 60 * _SECOND, "hour": 3600 * _SECOND, "day": DAY, "dd": DAY}


def _truncated(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    """DATE_TRUNC."""
    unit = str(arguments[0].value).lower()
    moment = _moment(arguments[1])
    if unit in _CUTS:
        return moment - moment % _CUTS[unit]
    return Fraction((_first_of(unit, _day(arguments[1])) - _UNIX).days * DAY)


def _truncated_day(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    """TRUNC of a date."""
    return Fraction((_first_of(str(arguments[1].value).lower(), _day(arguments[0])) - _UNIX).days)


def _first_of(unit: str, day: date) -> date:
    match unit:
        case "year" | "yyyy" | "yy":
            return day.replace(month=1, day=1)
        case "quarter":
            return day.replace(month=day.month - (day.month - 1) % 3, day=1)
        case "month" | "mm" | "mon":
            return day.replace(day=1)
        case "week":
            return day - timedelta(day.weekday())
    raise NotKnown("a unit that is not known")


def _since(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    """Seconds since 1970, parts of a second cut off: towards 1970 before it."""
    if len(arguments) > 1:
        raise NotKnown("a text in a format")
    return Fraction(trunc(_moment(arguments[0]) / _SECOND))


def _counted(name: str, unit: int) -> Function:
    """How many units have passed since 1970 at a timestamp."""
    return Function(name, always(BIGINT), lambda kind, one: Fraction(floor(one[0].exact / unit)))


def _after(unit: int) -> Callable[[DataType, tuple[Folded, ...]], Scalar]:
    def value(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
        moment = arguments[0].exact * unit
        if moment.denominator != 1 or abs(moment) >= 2**63:
            raise Fails("a timestamp beyond those that Spark has")
        return moment

    return value


def _since_kind(arguments: tuple[Folded, ...]) -> DataType:
    return BIGINT if arguments else ANY


def _part_kind(arguments: tuple[Folded, ...]) -> DataType:
    """EXTRACT: of seconds a decimal."""
    return (
        kind_of("decimal(8,6)") if str(arguments[0].value).lower() in ("second", "seconds", "s", "sec", "secs") else INT
    )


_PARTS = (
    _of_day("year", lambda day: day.year),
    _of_day("quarter", lambda day: (day.month + 2) // 3, 1, 4),
    _of_day("month", lambda day: day.month, 1, 12),
    _of_day("day", lambda day: day.day, 1, 31),
    _of_day("dayofmonth", lambda day: day.day, 1, 31),
    _of_day("dayofyear", lambda day: day.timetuple().tm_yday, 1, 366),
    _of_day("weekofyear", lambda day: day.isocalendar().week, 1, 53),
    _of_day("dayofweek", lambda day: (day.weekday() + 1) % 7 + 1, 1, 7),
    _of_day("weekday", lambda day: day.weekday(), 0, 6),
    _of_time("hour", 3600 * _SECOND, 23),
    _of_time("minute", 60 * _SECOND, 59),
    _of_time("second", _SECOND, 59),
)

TIMES = (
    *_PARTS,
    Function("date_add", _later_kind, _moved(1), arguments=(2, 3)),
    Function("dateadd", _later_kind, _moved(1), arguments=(2, 3)),
    Function("timestampadd", _later_kind, _moved(1), arguments=(3, 3)),
    Function("date_sub", always(DATE), _moved(-1), arguments=(2, 2)),
    Function("datediff", _difference, _between, arguments=(2, 3)),
    Function("date_diff", _difference, _between, arguments=(2, 3)),
    Function("timestampdiff", _difference, _between, arguments=(3, 3)),
    Function("timediff", _difference, _between, arguments=(3, 3)),
    Function("to_date", _days, _to(DATE), arguments=(1, 2)),
    Function("to_timestamp", _moments, _to(TIMESTAMP), arguments=(1, 2)),
    Function("last_day", always(DATE), lambda kind, one: Fraction(_month_end(_day(one[0])))),
    Function("trunc", always(DATE), _truncated_day, arguments=(2, 2)),
    Function("date_trunc", always(TIMESTAMP), _truncated, arguments=(2, 2)),
    Function("unix_timestamp", _since_kind, _since, arguments=(0, 2)),
    Function("to_unix_timestamp", _since_kind, _since, arguments=(1, 2)),
    _counted("unix_seconds", _SECOND),
    _counted("unix_millis", 1_000),
    _counted("unix_micros", 1),
    Function("timestamp_seconds", always(TIMESTAMP), _after(_SECOND)),
    Function("timestamp_millis", always(TIMESTAMP), _after(1_000)),
    Function("timestamp_micros", always(TIMESTAMP), _after(1)),
    Function("unix_date", always(INT), lambda kind, one: one[0].value),
    Function("date_from_unix_date", always(DATE), lambda kind, one: one[0].value),
    Function("extract", _part_kind, arguments=(2, 2)),
    Function("date_format", always(STRING), arguments=(2, 2)),
    Function("from_unixtime", always(STRING), arguments=(1, 2)),
    Function("months_between", always(DOUBLE), arguments=(2, 3)),
    Function("add_months", always(DATE), arguments=(2, 2)),
    Function("next_day", always(DATE), arguments=(2, 2)),
    Function("make_date", always(DATE), arguments=(3, 3)),
    Function("make_timestamp", always(TIMESTAMP), arguments=(6, 7)),
    Function("from_utc_timestamp", always(TIMESTAMP), arguments=(2, 2)),
    Function("to_utc_timestamp", always(TIMESTAMP), arguments=(2, 2)),
    Function("dayname", always(STRING)),
    Function("monthname", always(STRING)),
)
"""Functions of dates and timestamps."""
