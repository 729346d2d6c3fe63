"""Lengths of time: in the units of an integer timestamp, or as text such as `"10 seconds"`."""

from __future__ import annotations

import re

from streambound.analyzer.calendar_text import MICROSECONDS
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import number

UNITS = {"MICROSECOND": 1, "MILLISECOND": 1000, "SECOND": MICROSECONDS, "MINUTE": 60 * MICROSECONDS}
UNITS |= {"HOUR": 3600 * MICROSECONDS, "DAY": 86_400 * MICROSECONDS, "WEEK": 7 * 86_400 * MICROSECONDS}
"""The units of fixed length, in microseconds."""
_TEXT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*")


def parse_duration(value: object, kind: DataType) -> int:
    """A length of time in the encoding of timestamps of some type; raises ValueError with what to write instead.

    >>> parse_duration("1.5 seconds", DataType("timestamp", Family.TIMESTAMP))
    1500000
    """
    if kind.family is Family.INTEGER:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"write an integer of at least 0, in the units of the {kind.name} timestamp")
        return value
    found = _TEXT.fullmatch(value) if isinstance(value, str) else None
    unit = found.group(2).upper().removesuffix("S") if found else ""
    if found is None or unit not in UNITS:
        raise ValueError('write a number and one unit from microseconds to weeks, as in "10 seconds"')
    length = number(found.group(1)) * UNITS[unit]
    if length.denominator != 1:
        raise ValueError("timestamps have no parts of a microsecond")
    return length.numerator
