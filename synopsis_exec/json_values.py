"""JSON values as Spark reads them into a column, encoded: what a replay without Spark takes for the same row.

Spark 4.x, `JacksonParser`, `SparkDateTimeUtils.stringToDate` and `stringToTimestamp`, with ANSI mode and UTC.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from analyzer.types import DataType, Family
from synopsis_exec.reasons import FIRST_DAY, FIRST_MOMENT, LAST_DAY, LAST_MOMENT

_BITS = {"tinyint": 32, "byte": 32, "smallint": 16, "short": 16, "int": 32, "integer": 32}
"""A TINYINT is parsed as 32 bits, so that its range is checked rather than cut; other names mean 64."""
_NUMERAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_INTEGER = re.compile(r"-?\d+")
_DAY = re.compile(r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.S)
_MOMENT = re.compile(
    r"([+-]?\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?\s*(\S+)?)?)?)?"
)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?)?")
_SPECIAL = {"NaN", "Infinity", "-Infinity", "+Infinity", "+INF", "-INF"}
_LARGEST_EXPONENT, _MOST_PLACES = 100_000, 400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Number(str):
    """A JSON number (or NaN, Infinity, -Infinity) as it is written."""


def parse_object(line: str) -> dict[str, Any] | None:
    """One JSON object, its numbers as they are written; None for anything else."""
    try:
        found = json.loads(line, parse_int=Number, parse_float=Number, parse_constant=Number)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def encode(value: Any, kind: DataType) -> Any:
    """A JSON value as the kernel takes it; raises ValueError when it cannot be read as the column's type."""
    if value is None:
        return None
    encoded = _ENCODERS[kind.family](value, kind)
    if encoded is None:
        raise ValueError(f"{value!r} is not of the type {kind.name}")
    return encoded


def _integer(value: Any, kind: DataType) -> int | None:
    if not isinstance(value, Number) or not _INTEGER.fullmatch(value) or len(value) > 20:
        return None
    most = 2 ** (_BITS.get(kind.name, 64) - 1)
    return int(value) if -most <= int(value) < most else None


def _boolean(value: Any, kind: DataType) -> int | None:
    return int(value) if isinstance(value, bool) else None


def _float(value: Any, kind: DataType) -> float | None:
    if not isinstance(value, str) or not (isinstance(value, Number) or value in _SPECIAL):
        return None
    number = float(value.replace("INF", "Infinity"))
    return number if kind.name == "double" else _single(number)


def _single(number: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _decimal(value: Any, kind: DataType) -> int | None:
    """Unscaled digits, rounded half up, as Spark rounds what has more places than the type."""
    text = value.replace(",", "") if isinstance(value, str) and not isinstance(value, Number) else value
    if not isinstance(text, str) or not _NUMERAL.fullmatch(text):
        return None
    exponent = re.split("[eE]", text)[1:]
    if exponent and abs(int(exponent[0][:9])) > _LARGEST_EXPONENT:
        return None
    number = Decimal(text)
    if abs(number.adjusted()) > _MOST_PLACES:
        return None if number.adjusted() > 0 and number else 0
    shifted = number.scaleb(kind.scale or 0, Context(prec=2000))
    unscaled = int(shifted.to_integral_value(ROUND_HALF_UP))
    return unscaled if abs(unscaled) < 10 ** _precision(kind) else None


def _precision(kind: DataType) -> int:
    match = re.search(r"\((\d+)", kind.name)
    return int(match.group(1)) if match else 10


def _text(value: Any, kind: DataType) -> str:
    """Any value: text as it is, other values as compact JSON."""
    if isinstance(value, str) and not isinstance(value, Number):
        return value.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair is "?"
    return _compact(value)


def _compact(value: Any) -> str:
    match value:
        case Number():
            return _numeral(value)
        case dict():
            return "{" + ",".join(f"{json.dumps(k, ensure_ascii=False)}:{_compact(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_compact, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _numeral(text: str) -> str:
    """A number as Java prints it: 1.50 is 1.5, and 1e2 is 100.0."""
    if _INTEGER.fullmatch(text):
        return str(int(text))
    number = Decimal(repr(float(text)))
    if not number.is_finite():
        return text
    sign, digits, _ = number.as_tuple()
    shown = "".join(map(str, digits)).rstrip("0") or "0"
    power = number.adjusted() if number else 0
    if number == 0 or -3 <= power < 7:
        return str(float(text))
    return f"{'-' if sign else ''}{shown[0]}.{shown[1:] or '0'}E{power}"


def _date(value: Any, kind: DataType) -> int | None:
    found = _DAY.fullmatch(value.strip()) if _is_text(value) else None
    if found is None:
        return None
    year, month, day = (int(part or 1) for part in found.groups())
    return _calendar(year, (FIRST_DAY, LAST_DAY), lambda y: (date(y, month, day) - _EPOCH.date()).days)


def _timestamp(value: Any, kind: DataType) -> int | None:
    """Microseconds; a whole number is seconds, as Spark has it, but not for TIMESTAMP_NTZ."""
    local = kind.name == "timestamp_ntz"
    if isinstance(value, Number):
        seconds = _integer(value, kind)
        return None if local or seconds is None else _wrapped(seconds * 1_000_000)
    found = _MOMENT.fullmatch(value.strip()) if _is_text(value) else None
    if found is None or (local and found.group(8)):
        return None
    year, month, day = (int(part or 1) for part in found.groups()[:3])
    hour, minute, second = (int(part or 0) for part in found.groups()[3:6])
    micros = int(((found.group(7) or "") + "000000")[:6])
    zone = _zone(found.group(8))
    if zone is None:
        return None

    def microseconds(y: int) -> int:
        moment = datetime(y, month, day, hour, minute, second, micros, zone) - _EPOCH
        return (moment.days * 86_400 + moment.seconds) * 1_000_000 + moment.microseconds

    return _calendar(year, (FIRST_MOMENT, LAST_MOMENT), microseconds)


def _wrapped(number: int) -> int:
    """A number cut to 64 bits, as Java multiplies."""
    return (number + 2**63) % 2**64 - 2**63


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not isinstance(value, Number)


def _zone(text: str | None) -> tzinfo | None:
    """A time zone; UTC where none is written."""
    if text in (None, "Z", "UTC", "GMT", "UT"):
        return UTC
    assert text is not None
    if found := _OFFSET.fullmatch(text):
        hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:])
        distance = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return timezone(-distance if found.group(1) == "-" else distance) if distance <= timedelta(hours=18) else None
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _calendar(year: int, ends: tuple[int, int], encoded: Callable[[int], int]) -> int | None:
    """The encoded value; beyond the ends for a year that Python's calendar does not have."""
    try:
        if 1 <= year <= 9999:
            return encoded(year)
        encoded(2000 + year % 400)  # the same month and day, in a year of the same length
    except ValueError:
        return None
    return ends[0] - 1 if year < 1 else ends[1] + 1


def _present(value: Any, kind: DataType) -> int:
    return 1


_ENCODERS: dict[Family, Callable[[Any, DataType], Any]] = {
    Family.INTEGER: _integer,
    Family.DECIMAL: _decimal,
    Family.BOOLEAN: _boolean,
    Family.DATE: _date,
    Family.TIMESTAMP: _timestamp,
    Family.FLOAT: _float,
    Family.STRING: _text,
    Family.OTHER: _present,
}
