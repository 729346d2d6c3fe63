"""Lengths of time: in the units of an integer timestamp, in days, or as text such as `"10 seconds"`."""

from __future__ import annotations

import re

from streambound.analyzer.calendar_text import MICROSECONDS
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import number

UNITS = {"MICROSECOND": 1, "MILLISECOND": 1000, "SECOND": MICROSECONDS, "MINUTE": 60 * MICROSECONDS}
UNITS |= {"HOUR": 3600 * MICROSECONDS, "DAY": 86_400 * MICROSECONDS, "WEEK": 7 * 86_400 * MICROSECONDS}
"""The units of fixed length, in microseconds."""
_DAYS = 'a number of days, or whole days as in "2 days": the times are dates'
_TEXT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*")


def parse_duration(value: object, kind: DataType) -> int:
    """A length of time in the encoding of timestamps of some type; raises ValueError with what to write instead.

    >>> parse_duration("1.5 seconds", DataType("timestamp", Family.TIMESTAMP))
    1500000
    >>> parse_duration("2 weeks", DataType("date", Family.DATE))
    14
    """
    dates = kind.family is Family.DATE
    if kind.family is Family.INTEGER or (dates and not isinstance(value, str)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            known = f"an integer of at least 0, in the units of the {kind.name} timestamp"
            raise ValueError(f"write {_DAYS if dates else known}")
        return value
    found = _TEXT.fullmatch(value) if isinstance(value, str) else None
    unit = found.group(2).upper().removesuffix("S") if found else ""
    if found is None or unit not in UNITS:
        known = 'a number and one unit from microseconds to weeks, as in "10 seconds"'
        raise ValueError(f"write {_DAYS if dates else known}")
    length = number(found.group(1)) * UNITS[unit] / (UNITS["DAY"] if dates else 1)
    if length.denominator != 1:
        raise ValueError(f"write {_DAYS}" if dates else "timestamps have no parts of a microsecond")
    return length.numerator


def length_text(microseconds: int) -> str:
    """A length of time in its largest whole unit.

    >>> length_text(3_600_000_000), length_text(-61_000_000)
    ('1 hour', '-61 seconds')
    """
    size = abs(microseconds)
    units = ("DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")
    unit = next((one for one in units if size % UNITS[one] == 0), "MICROSECOND") if size else "SECOND"
    number = microseconds // UNITS[unit]
    return f"{number} {unit.lower()}{'' if abs(number) == 1 else 's'}"
