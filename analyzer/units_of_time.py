"""How long the units of the calendar are."""

from __future__ import annotations

DAY = 86_400_000_000
LENGTHS = {
    "second": (1_000_000, 1_000_000),
    "minute": (60_000_000, 60_000_000),
    "hour": (3_600_000_000, 3_600_000_000),
    "day": (DAY, DAY),
    "date": (DAY, DAY),
    "week": (7 * DAY, 7 * DAY),
    "month": (28 * DAY, 31 * DAY),
    "quarter": (90 * DAY, 92 * DAY),
    "year": (365 * DAY, 366 * DAY),
}
"""The shortest and the longest period of each unit of the calendar, in microseconds."""
MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""The units of time that are multiples of a month, in months."""
UNIT_NAMES = {"dd": "day", "mm": "month", "mon": "month", "yyyy": "year", "yy": "year"}
"""Other names of units, where rows' times are truncated."""
TRUNCATED = {
    name: LENGTHS[UNIT_NAMES.get(name, name)]
    for name in ("second", "minute", "hour", "day", "week", "month", "quarter", "year", *UNIT_NAMES)
}
"""Of each unit that DATE_TRUNC takes its shortest and its longest period."""
