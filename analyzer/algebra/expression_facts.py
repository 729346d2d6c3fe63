"""What is known of an expression's values by the columns that it reads: its domain, and what it says of time.

Domains are those of `expressions.evident`; a non-decreasing function of time is one of a bucket: ``ts DIV 10``,
``date_trunc('HOUR', ts)``, ``to_date(ts)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec.structs import replace

from streambound.analyzer.algebra.date_patterns import unit_of_pattern
from streambound.analyzer.algebra.row_expressions import is_null, may_be_null
from streambound.analyzer.algebra.schema_columns import Schema
from streambound.analyzer.algebra.value_sets import ANYTHING, NOTHING, NULL, as_domain, between, of_domain
from streambound.analyzer.algebra.view_facts import NOW, ColumnFacts, TimePromise, Times, promises
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import Folded, is_interval
from streambound.analyzer.expressions.evident import domain, encoded
from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal, fields
from streambound.analyzer.expressions.function import ANY
from streambound.analyzer.rounded_times import RoundedTime, measured_distance
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.units_of_time import LENGTHS, TRUNCATED, UNIT_NAMES

_DIV, _SECOND, _DAY = "_t DIV ", LENGTHS["second"][0], LENGTHS["day"][0]
_ONE_APART = {"": 1, "to_date(_t)": _DAY}
_ADDS = {"+": 1, "-": -1, "date_add": 1, "dateadd": 1, "date_sub": -1}


def facts_of(expression: Expression, columns: Sequence[ColumnFacts], schema: Schema) -> ColumnFacts:
    """The facts of an expression over fields that are columns by their places."""
    if isinstance(expression, Field):
        return columns[int(expression.name)]
    times = times_of(expression, columns)
    read = {name: columns[int(name)].values for name in fields(expression)}
    null = may_be_null(expression, {int(name): values.null for name, values in read.items()})
    if isinstance(expression, Literal) and expression.constant.value is None:
        return ColumnFacts(NULL)
    if expression.kind == ANY or expression.kind.family is Family.OTHER:
        return ColumnFacts(replace(ANYTHING, null=null), times)
    if NOTHING in read.values():
        return ColumnFacts(NOTHING)
    empty = frozenset(name for name, values in read.items() if values.only_null)
    if is_null(expression, empty):
        return ColumnFacts(NULL)
    known = _without(expression, empty)
    declared = {name: Column(name, schema[int(name)].type or ANY, as_domain(values)) for name, values in read.items()}
    if isinstance(known, Literal):
        value = known.constant.value
        values = NULL if value is None else replace(NULL, listed=frozenset((encoded(value, known.kind),)))
        return ColumnFacts(replace(values, null=null), times)
    values = of_domain(domain(known, declared), expression.kind, null)
    if (measured := measured_distance(expression)) is not None and (
        near := near_one_row(measured, columns)
    ) is not None:
        values = values.meet(between(*measured.values(*apart(*near)), null=True))
    return ColumnFacts(values, times)


def near_one_row(measured: RoundedTime, columns: Sequence[ColumnFacts]) -> tuple[TimePromise, TimePromise] | None:
    """How far the columns of a distance are from the time of one source; None where there is no such one."""
    first, second = (columns[int(place)] for place in (*measured.plus, *measured.minus))
    for one in first.times:
        other = second.time(one.source)
        ends = (one.low, one.high) if other is None else (one.low, one.high, other.low, other.high)
        if other is not None and one.source != NOW and not one.function and None not in ends:
            return one, other
    return None


def apart(one: TimePromise, other: TimePromise) -> tuple[int, int]:
    """By how much a column is above another one at least, and at most."""
    assert one.low is not None and one.high is not None and other.low is not None and other.high is not None, "near"
    return one.low - other.high, one.high - other.low


def _without(expression: Expression, nulls: frozenset[str]) -> Expression:
    """The expression with NULL for the fields that have no other value."""
    match expression:
        case Field(name, kind) if name in nulls:
            return Literal(Folded(None, kind))
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(_without(argument, nulls) for argument in arguments))
    return expression


def times_of(expression: Expression, columns: Sequence[ColumnFacts]) -> Times:
    """The promises of an expression's values about time."""
    match expression:
        case Field(name):
            return columns[int(name)].times
        case Literal():
            return ()
    function, arguments = expression.function.name, expression.arguments
    if (found := moved(expression)) is not None:
        return _shifted(times_of(found[0], columns), found[1])
    match function, arguments:
        case "positive", (one,):
            return times_of(one, columns)
        case (("unix_timestamp" | "to_unix_timestamp"), (one,)) if one.kind.family is Family.TIMESTAMP:
            return _bucket(times_of(one, columns), f"{_DIV}{_SECOND}", 2 * _SECOND - 1)  # it cuts off towards 1970
        case "div", (one, Literal(constant)) if (more := distance(constant, one.kind)) is not None and more > 0:
            low = _least(one, columns)
            # DIV truncates: a bucket is as long as the divisor, and that of 0, of negative times too, twice as long.
            width = more if low is not None and low >= 0 else 2 * more - 1
            times = times_of(one, columns)
            return promises((*_bucket(times, f"_t DIV {more}", width), *_divided(times, more)))
        case "date_trunc", (Literal(Folded(value=str(unit))), one) if unit.lower() in TRUNCATED:
            return _truncated(times_of(one, columns), unit.lower())
        case "date_format", (one, Literal(Folded(value=str(pattern)))) if one.kind.family is Family.TIMESTAMP:
            period = unit_of_pattern(pattern)
            return _period(times_of(one, columns), f"date_format(_t, '{pattern}')", period) if period else ()
        case (("to_date" | "cast"), (one,)) if expression.kind.family is Family.DATE:
            of_time = one.kind.family is Family.TIMESTAMP
            return _period(times_of(one, columns), "to_date(_t)", "day") if of_time else ()
        case "cast", (one,) if one.kind.family is Family.DATE and expression.kind.name == "timestamp":
            return _truncated(times_of(one, columns), "day")
        case "cast", (one,) if _same_numbers(one.kind, expression.kind):
            return times_of(one, columns)
    return ()


def _least(expression: Expression, columns: Sequence[ColumnFacts]) -> int | Fraction | None:
    return columns[int(expression.name)].values.ends[0] if isinstance(expression, Field) else None


def moved(expression: Expression) -> tuple[Expression, int] | None:
    """The two parts of ``x + c``: x, and the `distance` that c moves it by; None for another expression."""
    match expression:
        case Call(function, (one, Literal(constant))) if function.name in _ADDS:
            sign = _ADDS[function.name]
        case Call(function, (Literal(constant), one)) if function.name == "+":
            sign = 1
        case _:
            return None
    more = distance(constant, one.kind) if expression.kind.family is one.kind.family else None
    return None if more is None else (one, sign * more)


def distance(constant: Folded, kind: DataType) -> int | None:
    """A constant to add to whole numbers, days to dates, microseconds to timestamps; None for another one."""
    if not isinstance(constant.value, Fraction):
        return None
    number = int(constant.value)
    if constant.kind.family is Family.INTEGER:
        return number if kind.family in (Family.INTEGER, Family.DATE) else None
    if not is_interval(constant.kind) or kind.family not in (Family.TIMESTAMP, Family.DATE):
        return None
    return number if kind.family is Family.TIMESTAMP else None if number % _DAY else number // _DAY


def _same_numbers(kind: DataType, target: DataType) -> bool:
    return kind.family is target.family is Family.INTEGER or kind.name == target.name == "timestamp"


def _shifted(times: Times, more: int) -> Times:
    """``u + c`` for u: the same time, shifted; ``u DIV a + c`` is that of another one, of the bucket c further."""
    lengths = [(one, moved_by(one.function, one.width)) for one in times]
    return promises(one.moved(more * length) for one, length in lengths if length is not None)


def moved_by(function: str, width: int) -> int | None:
    """How far a time moves by one value of a function of it; None where values are not all as far apart."""
    if function in _ONE_APART:
        return _ONE_APART[function]
    return width if function == f"{_DIV}{width}" else None


def _divided(times: Times, more: int) -> Times:
    """``(u DIV a) DIV b`` for ``u DIV a``: ``u DIV (a * b)``."""
    found = [(one, int(one.function.removeprefix(_DIV))) for one in times if one.function.startswith(_DIV)]
    return promises(
        replace(one, function=f"{_DIV}{size * more}", width=size * more if one.width == size else 2 * size * more - 1)
        for one, size in found
    )


def _bucket(times: Times, function: str, width: int) -> Times:
    """``f(u)`` for u."""
    return promises(TimePromise(one.source, one.low, one.high, function, width) for one in times if not one.function)


def _period(times: Times, function: str, unit: str) -> Times:
    """``f(u)`` for u, whose values are periods of a unit; and for ``g(u)``, of whose periods each is within one."""
    composed = [one for one in times if one.function and _is_within(_unit(one.function), unit)]
    plain = [one for one in times if not one.function]
    return promises(replace(one, function=function, width=TRUNCATED[unit][1]) for one in (*composed, *plain))


def _truncated(times: Times, unit: str) -> Times:
    """DATE_TRUNC of u, or of the begin of a period: it is that begin where that of the unit is within the period.

    It is a time itself, which is less than the period before u.
    """
    begun = (
        replace(one, function=f"date_trunc('{_unit(one.function)}', _t)")
        for one in times
        if _is_within(unit, _unit(one.function)) and not _is_within(_unit(one.function), unit)
    )
    longest = TRUNCATED[unit][1] - 1
    near = (replace(one, low=None if one.low is None else one.low - longest) for one in times if not one.function)
    return promises((*_period(times, f"date_trunc('{unit}', _t)", unit), *begun, *near))


_UNITS = ("second", "minute", "hour", "day", "month", "quarter", "year")
"""Units of the calendar, each of whose periods is within one of the next."""


def _is_within(inner: str, outer: str) -> bool:
    """Whether each period of one DATE_TRUNC unit lies within a period of the other; False if one is no such unit."""
    inner, outer = UNIT_NAMES.get(inner, inner), UNIT_NAMES.get(outer, outer)
    if "week" in (inner, outer):
        return outer == "week" and inner in (*_UNITS[: _UNITS.index("month")], "week")
    return inner in _UNITS and outer in _UNITS and _UNITS.index(inner) <= _UNITS.index(outer)


def _unit(function: str) -> str:
    """The unit to whose periods' begins a function of time leads; empty for another one."""
    if function == "to_date(_t)":
        return "day"
    return function.split("'")[1] if function.startswith("date_trunc(") else ""
