"""When a bucket of time is over, as SQL over its encoded value: a number, its first or last timestamp, or a text."""

from __future__ import annotations

from streambound_runtime.operators.circuit_plan import TimeBucket

_DAY = 86_400_000_000
_LENGTHS = {"second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000, "day": _DAY, "week": 7 * _DAY}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_FIELDS = ("year", "month", "day", "hour", "minute", "second")
"""The periods whose texts are of one field more, each."""


def last_of(bucket: TimeBucket, value: str, text: bool = False) -> str:
    """The last timestamp of a bucket, as SQL; ``text`` says that the bucket's value is one.

    >>> last_of(TimeBucket(0, 4, "div"), "c0"), last_of(TimeBucket(0, 10, "start"), "c0")
    ('CASE WHEN c0 < 0 THEN c0 * 4 ELSE (c0 + 1) * 4 - 1 END', '(c0 + 9)')
    """
    match bucket.how:
        case "div":
            return f"CASE WHEN {value} < 0 THEN {value} * {bucket.size} ELSE ({value} + 1) * {bucket.size} - 1 END"
        case "start":
            return f"({value} + {bucket.size - 1})"
        case "end":
            return f"({value} - 1)"
        case "last" | "session":
            return f"({value})"
        case "date":
            return f"(({value} + 1) * {_DAY} - 1)"
    start = _start(bucket.how, value) if text else f"make_timestamp({value})"
    if bucket.how in _LENGTHS:
        return f"(epoch_us({start}) + {_LENGTHS[bucket.how] - 1})"
    return f"(epoch_us({start} + INTERVAL {_MONTHS[bucket.how]} MONTH) - 1)"


def shown_at(bucket: TimeBucket, value: str, text: bool = False) -> str:
    """The timestamp of a bucket's final results: its last one; of a session that of its last row and the gap."""
    last = last_of(bucket, value, text)
    return f"({last} - 1)" if bucket.how == "session" else last


def expired(bucket: TimeBucket | None, value: str, frontier: str, text: bool = False) -> str:
    """Whether no row of a bucket can come or change any more; empty where there is no bucket."""
    return "" if bucket is None else f"{last_of(bucket, value, text)} + {bucket.delay} <= {frontier}"


def _start(unit: str, text: str) -> str:
    """The first timestamp of a period whose text has the year, and as many more fields as the unit needs."""
    digits = f"regexp_replace({text}, '[^0-9]', '', 'g')"
    fields = [f"CAST(substr({digits}, 1, 4) AS BIGINT)"]
    count = _FIELDS.index(unit)
    fields += [f"CAST(substr({digits}, {3 + 2 * place}, 2) AS BIGINT)" for place in range(1, count + 1)]
    fields += ["1", "1", "0", "0", "0"][count:]
    wrong = f"error('a text of a {unit} has other digits: ' || {text})"
    start = f"make_timestamp({', '.join(fields)})"
    return f"CASE WHEN length({digits}) = {2 * count + 4} THEN {start} ELSE CAST({wrong} AS TIMESTAMP) END"
