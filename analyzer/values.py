"""Encoding of literals: dates as days, timestamps as microseconds since 1970 UTC, decimals unscaled."""

from __future__ import annotations

import re
import struct
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

from streambound.analyzer.calendar_text import parse_date, parse_timestamp
from streambound.analyzer.types import DataType, Family

Value = int | Fraction | str

MOST_DIGITS = 400
"""Numbers with more digits than any Spark type holds are refused, before they take memory."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INFINITE = 0x7F80_0000
"""The bits of an infinite number of 32 bits; all others of its sign have less."""
_NUMERAL = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?", re.A)


def encode_text(text: str, kind: DataType) -> Value:
    """A string literal as a value of ``kind``; raises ValueError when the text is not one."""
    match kind.family:
        case Family.STRING:
            return text
        case Family.DATE:
            return parse_date(text)
        case Family.TIMESTAMP:
            return parse_timestamp(text, local=kind.name == "timestamp_ntz")
    raise ValueError(f"{text!r} is not {kind.with_article}")


def encode_number(number: Fraction, kind: DataType) -> Value:
    """A numeric literal in the units of ``kind``; not integral where the type cannot hold it.

    >>> encode_number(Fraction(5, 2), DataType("decimal(9,2)", Family.DECIMAL, 2))
    Fraction(250, 1)
    """
    match kind.family:
        case Family.INTEGER:
            return number
        case Family.DECIMAL:
            return number * Fraction(10) ** (kind.scale or 0)
        case Family.FLOAT:
            return nearest(number, kind)
    raise ValueError(f"{number} is not {kind.with_article}")


def nearest(number: Fraction, kind: DataType) -> Fraction:
    """The floating-point number of a type that is nearest, of two the even one; raises ValueError beyond them.

    >>> nearest(Fraction(1, 10), DataType("float", Family.FLOAT)) == Fraction(0.10000000149011612)
    True
    """
    try:
        double = float(number)
        if kind.bits == 64:
            return Fraction(double)
        single = struct.unpack("<i", struct.pack("<f", double))[0]
    except OverflowError as error:
        raise ValueError(f"the number is out of range for {kind.with_article}") from error
    # What is nearest to the nearest number of 64 bits may be the one beside it: compare with both neighbours.
    places = [place for place in (single - 1, single, single + 1) if place % 2**31 < _INFINITE and place + 2**31 >= 0]
    numbers = {place: Fraction(struct.unpack("<f", struct.pack("<i", place))[0]) for place in places}
    return min(numbers.items(), key=lambda item: (abs(item[1] - number), item[0] % 2))[1]


def number(text: str) -> Fraction:
    """A numeral's exact value; raises ValueError."""
    found = _NUMERAL.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a number")
    if (
        max(map(len, (found.group(1), found.group(2) or ""))) > MOST_DIGITS
        or abs(int(found.group(2) or 0)) > MOST_DIGITS
    ):
        raise ValueError(f"{text!r} is out of range")
    return Fraction(text)


def encode_toml(value: object, kind: DataType) -> Value:
    """A TOML value (of a ``domain``) as a value of ``kind``; raises ValueError when it does not fit."""
    if isinstance(value, bool):
        if kind.family is not Family.BOOLEAN:
            raise ValueError(f"{str(value).lower()} is not {kind.with_article}")
        return int(value)
    if isinstance(value, int | float):
        encoded = encode_number(number(str(value)), kind)
        if kind.discrete and isinstance(encoded, Fraction) and encoded.denominator != 1:
            raise ValueError(f"{value} is not {kind.with_article}")
        return int(encoded) if kind.discrete else encoded
    if isinstance(value, datetime) and kind.family is not Family.DATE:
        return encode_text(value.isoformat(), kind)
    if isinstance(value, date) and not isinstance(value, datetime):
        return encode_text(value.isoformat(), kind)
    if isinstance(value, str):
        return encode_text(value, kind)
    raise ValueError(f"{value} is not {kind.with_article}")


def decode(value: Value, kind: DataType) -> str:
    """An encoded value as a SQL literal of its type."""
    match kind.family:
        case Family.STRING:
            return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"
        case Family.BOOLEAN:
            return "TRUE" if value else "FALSE"
        case Family.DATE:
            return _decode_date(int(value))
        case Family.TIMESTAMP:
            return _decode_timestamp(int(value))
        case Family.DECIMAL:
            return _decode_decimal(Fraction(value) / 10 ** (kind.scale or 0), kind.scale or 0)
        case Family.FLOAT:
            return repr(float(value)) + "D" if not isinstance(value, str) else value
    return str(value)


def _decode_decimal(value: Fraction, scale: int) -> str:
    """An exact decimal numeral with at least ``scale`` places; its denominator divides a power of ten."""
    while (value * 10**scale).denominator != 1:
        scale += 1
    digits = str(abs(value * 10**scale).numerator).rjust(scale + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}" if scale else f"{sign}{digits}"


def _decode_date(days: int) -> str:
    low, high = ((day - _EPOCH.date()).days for day in (date.min, date.max))
    within = min(max(days, low), high)
    return f"DATE '{_EPOCH.date() + timedelta(within)}'" + _beyond(days - within, "DAYS")


def _decode_timestamp(microseconds: int) -> str:
    low, high = parse_timestamp(str(datetime.min)), parse_timestamp(str(datetime.max))
    within = min(max(microseconds, low), high)
    moment = _EPOCH.replace(tzinfo=None) + timedelta(microseconds=within)
    return f"TIMESTAMP '{moment.isoformat(' ')}'" + _beyond(microseconds - within, "MICROSECONDS")


def _beyond(distance: int, unit: str) -> str:
    """The message for a point outside the years 1 to 9999."""
    return f" {'-' if distance < 0 else '+'} INTERVAL {abs(distance)} {unit}" if distance else ""


def to_json(value: Value | None, kind: DataType) -> object:
    """An encoded value as the JSON value that a recorded stream has for it.

    >>> to_json(5, DataType("date", Family.DATE)), to_json(250, DataType("decimal(9,2)", Family.DECIMAL, 2))
    ('1970-01-06', 2.5)
    """
    if value is None or isinstance(value, str):
        return value
    match kind.family:
        case Family.BOOLEAN:
            return bool(value)
        case Family.DATE:
            return str(_EPOCH.date() + timedelta(int(value)))
        case Family.TIMESTAMP:
            return (_EPOCH.replace(tzinfo=None) + timedelta(microseconds=int(value))).isoformat(" ")
        case Family.DECIMAL if kind.scale:
            return float(Fraction(value) / 10**kind.scale)
        case Family.FLOAT:
            return float(value)
    return int(value)
