"""JSON values as Spark reads them into a column, encoded.

Spark 4.x, `JacksonParser`, `SparkDateTimeUtils.stringToDate` and `stringToTimestamp`, with ANSI mode and UTC.
But a time without a date, which Spark takes for one of today, is none.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import ROUND_HALF_UP, Context, Decimal
from math import inf, isfinite, isnan
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from streambound_runtime.decoding.sql_types import FIRST_DAY, FIRST_MOMENT, LAST_DAY, LAST_MOMENT, SqlType
from streambound_runtime.row_values import JsonValue

_NUMERAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.A)
_DAY = re.compile(r"([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.S | re.A)
_MOMENT = re.compile(
    r"([+-]?\d{4,6})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d*+))?)?\s*+(\S+)?)?)?)?",
    re.A,
)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?)?", re.A)
_SPECIAL = {
    "NaN": float("nan"),
    "Infinity": inf,
    "+Infinity": inf,
    "-Infinity": -inf,
    "+INF": inf,
    "-INF": -inf,
}
_TRIMMED = "".join(map(chr, (*range(33), 127)))
_LARGEST_EXPONENT, _MOST_PLACES = 100_000, 400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class JsonNumber(str):
    """A JSON number that is no integer, as it is written."""


def encode(value: JsonValue, kind: SqlType) -> int | float | str | None:
    """A JSON value, not null, as an encoded one; None where it cannot be read as the type.

    Integers are Python's, other numbers `JsonNumber` or Python's floats: as they are written they matter to texts and
    decimals alone.
    """
    return _ENCODERS[kind.family](value, kind)


def parsed_bits(kind: SqlType) -> int:
    """As how many bits an integer is parsed: a TINYINT as 32, so that its range is checked rather than cut."""
    return 32 if kind.bits == 8 else kind.bits


def _integer(value: JsonValue, kind: SqlType) -> int | None:
    most = 2 ** (parsed_bits(kind) - 1)
    return value if type(value) is int and -most <= value < most else None


def _boolean(value: JsonValue, kind: SqlType) -> int | None:
    return int(value) if isinstance(value, bool) else None


def _float(value: JsonValue, kind: SqlType) -> float | None:
    if type(value) is str:
        number = _SPECIAL.get(value)
    elif isinstance(value, int | float | JsonNumber) and not isinstance(value, bool):
        number = _nearest(value)
    else:
        number = None
    return number if number is None or kind.bits == 64 else _single(number)


def _nearest(value: float | str) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer
        return inf if value > 0 else -inf  # type: ignore[operator]


def _single(number: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return inf if number > 0 else -inf


def _decimal(value: JsonValue, kind: SqlType) -> int | None:
    """Unscaled digits, rounded half up, as Spark rounds what has more places than the type."""
    if type(value) is int:
        unscaled = value * 10**kind.scale
        return unscaled if abs(unscaled) < 10**kind.digits else None
    text = value.replace(",", "") if type(value) is str else value
    if not isinstance(text, str) or not _NUMERAL.fullmatch(text):
        return None
    exponent = re.split("[eE]", text)[1:]
    if exponent and abs(int(exponent[0][:9])) > _LARGEST_EXPONENT:
        return None
    number = Decimal(text)
    if abs(number.adjusted()) > _MOST_PLACES:
        return None if number.adjusted() > 0 and number else 0
    shifted = number.scaleb(kind.scale, Context(prec=2000))
    unscaled = int(shifted.to_integral_value(ROUND_HALF_UP))
    return unscaled if abs(unscaled) < 10**kind.digits else None


def _text(value: JsonValue, kind: SqlType) -> str:
    """Any value: text as it is, other values as compact JSON."""
    if type(value) is str:
        return value.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair is "?"
    return _compact(value)


def _compact(value: JsonValue) -> str:
    match value:
        case JsonNumber():
            return numeral(value)
        case float():
            return '"NaN"' if isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
        case dict():
            return "{" + ",".join(f"{json.dumps(k, ensure_ascii=False)}:{_compact(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_compact, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def numeral(text: str) -> str:
    """A floating-point number as Java prints it: 1.50 is 1.5, and 1e2 is 100.0."""
    nearest = float(text)
    if not isfinite(nearest):
        return text
    number = Decimal(repr(nearest))
    sign, digits, _ = number.as_tuple()
    shown = "".join(map(str, digits)).rstrip("0") or "0"
    power = number.adjusted() if number else 0
    if number == 0 or -3 <= power < 7:
        return str(nearest)
    return f"{'-' if sign else ''}{shown[0]}.{shown[1:] or '0'}E{power}"


def _date(value: JsonValue, kind: SqlType) -> int | None:
    found = _DAY.fullmatch(value.strip(_TRIMMED)) if type(value) is str else None
    if found is None:
        return None
    year, month, day = (int(part or 1) for part in found.groups())
    return _calendar(year, (FIRST_DAY, LAST_DAY), lambda y: (date(y, month, day) - _EPOCH.date()).days)


def _timestamp(value: JsonValue, kind: SqlType) -> int | None:
    """Microseconds; a whole number is seconds, as Spark has it, but not for TIMESTAMP_NTZ."""
    if type(value) is int and not kind.local:
        return _wrapped(value * 1_000_000) if -(2**63) <= value < 2**63 else None
    found = _MOMENT.fullmatch(value.strip(_TRIMMED)) if type(value) is str else None
    if found is None or (kind.local and found.group(8)):
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


def _present(value: JsonValue, kind: SqlType) -> int:
    return 1


def _nested(value: JsonValue, kind: SqlType) -> str:
    """Any value as JSON, numbers as they are written: what is wrong with it Spark says.

    >>> _nested([JsonNumber("1.50"), {"a": None}], SqlType("nested array<int>", "nested"))
    '{"v":[1.50,{"a":null}]}'
    """
    return f'{{"v":{_json(value)}}}'


def element_lines(text: str) -> list[str]:
    """The elements of an array as `_nested` has it, each as a line of the same kind."""
    elements: list[JsonValue] = json.loads(text, parse_float=JsonNumber)["v"]
    return [f'{{"v":{_json(one)}}}' for one in elements]


def _json(value: JsonValue) -> str:
    match value:
        case JsonNumber():
            return str(value)
        case dict():
            return "{" + ",".join(f"{json.dumps(name)}:{_json(one)}" for name, one in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_json, value)) + "]"
    return json.dumps(value)


_ENCODERS: dict[str, Callable[[JsonValue, SqlType], int | float | str | None]] = {
    "integer": _integer,
    "decimal": _decimal,
    "boolean": _boolean,
    "date": _date,
    "timestamp": _timestamp,
    "float": _float,
    "string": _text,
    "other": _present,
    "nested": _nested,
}
