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
