"""Buckets of time of what is one already: days of hours, `h DIV 24` of `ts DIV 3600`, windows of a window's start."""

from __future__ import annotations

from dataclasses import replace

from streambound.analyzer.columns import Column
from streambound.analyzer.units_of_time import LENGTHS
from streambound.criteria.operators.buckets import TimeFunction, function_of_time
from streambound.criteria.operators.parts import Closing

_UNITS = ("second", "minute", "hour", "day", "month", "quarter", "year")
"""Units of the calendar, each of which is in one of the next."""


def bucket_of(one: Closing, column: Column, text: str) -> TimeFunction | None:
    """The bucket of time that an expression makes of a closing column; None where it is none."""
    function = function_of_time(text, column)
    if function is None or one.how == "session":
        return None
    if one.how == "div":  # a number of buckets, each of so many timestamps
        return replace(function, shortest=function.shortest * one.size, longest=function.longest * one.size)
    return function


def _after_value(one: Closing) -> int:
    """How much later than a closing column's value, which is a time, its last timestamp is at most."""
    return {"last": 0, "end": -1}.get(one.how, one.size - 1)


def waits(one: Closing) -> tuple[int, int]:
    """How long after its end a bucket of a closing column's values, which are times, may change; and how much longer
    before the bucket's length a row of it may have been open.
    """
    until = one.delay + _after_value(one)
    delay = max(0, until)
    return delay, one.size - shortest(one) + delay - until


def ahead(one: Closing) -> int:
    """How much later than the newest row a closing column's value may be, which is a time: that of an end is."""
    return {"end": one.size, "last": one.size - 1}.get(one.how, 0)


def shortest(one: Closing) -> int:
    """The fewest timestamps of a closing column's bucket."""
    return LENGTHS[one.how][0] if one.how in LENGTHS else one.size


def is_within(one: Closing, function: TimeFunction) -> bool:
    """Whether each bucket of a closing column is in one of the function's as a whole."""
    inner, outer = (("day" if how == "date" else how) for how in (one.how, function.how))
    if inner not in _UNITS:
        return one.how == "div"
    limit = "day" if outer == "week" else outer
    return limit in _UNITS and _UNITS.index(inner) <= _UNITS.index(limit)
