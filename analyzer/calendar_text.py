"""Dates and timestamps in texts, as Spark 4 reads them in literals, casts and data.

Spark's `SparkDateTimeUtils.stringToDate` and `parseTimestampString`, with UTC as the session's time zone. Not read are
its words that stand for other days (`epoch`, `now`), times without a date, and hours without minutes.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo

MICROSECONDS = 1_000_000
BLANKS = "".join(map(chr, range(0x21))) + "\x7f"
"""What Spark takes off both ends of a text before it reads a value there."""
_DAY_LENGTH = 86_400 * MICROSECONDS
_EPOCH = date(1970, 1, 1).toordinal()
_CYCLE_YEARS, _CYCLE_DAYS = 400, 146_097
_MOST_DAYS, _MOST_MICROSECONDS = 2**31, 2**63
_DATE = re.compile(r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.S | re.A)
_TIMESTAMP = re.compile(
    r"([+-]?\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?\s*(\S+)?)?)?)?)?",
    re.A,
)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?)?", re.A)
_MOST_OFFSET = timedelta(hours=18)


def parse_date(text: str) -> int:
    """Days since 1970-01-01; what follows the day is not read. Raises ValueError.

    >>> parse_date("1970-01-03"), parse_date("1970"), parse_date("10000-1-1 noon")
    (2, 0, 2932897)
    """
    found = _DATE.fullmatch(text.strip(BLANKS))
    if found is None:
        raise ValueError(f"{text!r} is not a date: write it as 2026-01-31")
    try:
        days = _days(*(int(part or 1) for part in found.groups()))
    except ValueError as error:
        raise ValueError(f"{text!r} is not a date: {error}") from error
    if abs(days) >= _MOST_DAYS:
        raise ValueError(f"{text!r} is beyond the dates that Spark has")
    return days


def parse_timestamp(text: str, local: bool = False) -> int:
    """Microseconds since 1970-01-01 00:00 UTC; a text without a zone is read as UTC. Raises ValueError.

    As Spark reads a TIMESTAMP_NTZ, a ``local`` one is what clocks show: its zone, if any, changes nothing.

    >>> parse_timestamp("1970-01-01 00:00:01.5"), parse_timestamp("1970-01-01 02:00:00+02:00")
    (1500000, 0)
    >>> parse_timestamp("1970-01-01 02:00:00+02:00", local=True) == 2 * 3600 * MICROSECONDS
    True
    """
    found = _TIMESTAMP.fullmatch(text.strip(BLANKS))
    if found is None:
        raise ValueError(f"{text!r} is not a timestamp: write it as 2026-01-31 12:00:00")
    year, month, day = (int(part or 1) for part in found.groups()[:3])
    hour, minute, second = (int(part or 0) for part in found.groups()[3:6])
    fraction = int(((found.group(7) or "") + "000000")[:6])
    try:
        clock = timedelta(hours=hour, minutes=minute, seconds=second)
        if hour > 23 or minute > 59 or second > 59:
            raise ValueError("there is no such time of day")
        zone = zone_of(found.group(8))
        micros = _days(year, month, day) * _DAY_LENGTH + clock // timedelta(microseconds=1) + fraction
        micros -= 0 if local else _offset(zone, year, month, day, clock)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a timestamp: {error}") from error
    if not -_MOST_MICROSECONDS <= micros < _MOST_MICROSECONDS:
        raise ValueError(f"{text!r} is beyond the timestamps that Spark has")
    return micros


def zone_of(text: str | None) -> tzinfo:
    """A time zone; UTC where none is written. Raises ValueError where there is none of that name."""
    if text in (None, "Z", "UTC", "GMT", "UT"):
        return UTC
    assert text is not None
    if found := _OFFSET.fullmatch(text):
        hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:])
        distance = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        if distance <= _MOST_OFFSET and minutes < 60 and seconds < 60:
            return timezone(-distance if found.group(1) == "-" else distance)
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"there is no time zone {text!r}") from error


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the calendar that repeats every 400 years, also where Python has no such year."""
    cycles, shifted = divmod(year - 1, _CYCLE_YEARS)
    return date(shifted + 1, month, day).toordinal() - _EPOCH + cycles * _CYCLE_DAYS


def _offset(zone: tzinfo, year: int, month: int, day: int, clock: timedelta) -> int:
    """How many microseconds clocks of a zone are ahead of UTC."""
    if not 1 <= year <= 9999 and not isinstance(zone, timezone):
        raise ValueError("no one knows the time zone's offset in that year")
    known = year if 1 <= year <= 9999 else 2000 + year % _CYCLE_YEARS
    offset = (datetime(known, month, day, tzinfo=zone) + clock).utcoffset()
    return (offset or timedelta()) // timedelta(microseconds=1)
