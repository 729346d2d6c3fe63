"""Casts of constants, as Spark 4 makes them with ANSI mode: `CAST` fails where `TRY_CAST` gives NULL.

Spark's `Cast`; what it writes as text or reads from text in ways of Java's own is not folded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from math import floor, trunc

from streambound.analyzer.calendar_text import BLANKS, MICROSECONDS, parse_date, parse_timestamp
from streambound.analyzer.constants import (
    DATE,
    MOST_PLACES,
    STRING,
    VOID,
    ConstantError,
    Folded,
    as_float,
    fits,
)
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import decode, number

DAY = 86_400 * MICROSECONDS
_TRUE, _FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")
_WHOLE = re.compile(r"[+-]?\d+", re.A)
_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.A)
_FLOAT = re.compile(rf"({_DECIMAL.pattern})[dDfF]?", re.A)
_NOT_FINITE = re.compile(r"[+-]?inf(inity)?|nan", re.I)
_EXACT_DOUBLES = 2**53
"""Whole numbers up to this are numbers of 64 bits, floating."""


class CastError(ConstantError):
    """A cast that fails in Spark, and of which TRY_CAST makes NULL."""


def cast(constant: Folded, kind: DataType, safe: bool = False) -> Folded:
    """A constant as one of another type; raises ConstantError where Spark fails, or where only Spark knows.

    >>> from streambound.analyzer.constants import numeral, kind_of
    >>> cast(numeral("1.239"), kind_of("decimal(9,2)")).value
    Fraction(31, 25)
    """
    _check(kind)
    source = constant.kind
    if source == VOID:
        return Folded(None, kind)
    convert = _CASTS.get((source.family, kind.family))
    if convert is None:
        message = f"a cast of {constant.words} to {kind.name} is not folded"
        raise ConstantError(message, f"write the {kind.name} that it gives", unsupported=True)
    if constant.value is None:
        return Folded(None, kind)
    try:
        return Folded(convert(constant, kind), kind)
    except CastError:
        if safe:
            return Folded(None, kind)
        raise


def _check(kind: DataType) -> None:
    if kind.family is Family.DECIMAL and not (kind.scale or 0) <= kind.precision <= MOST_PLACES:
        message = f"there is no type {kind.name}"
        raise ConstantError(message, f"a decimal has at most {MOST_PLACES} digits, and no more places than digits")


def _same(constant: Folded, kind: DataType) -> Fraction | str | None:
    return constant.value


# --- to numbers ------------------------------------------------------------------------------------------------------


def _number_to_whole(constant: Folded, kind: DataType) -> Fraction:
    """Cut towards zero."""
    whole = Fraction(trunc(constant.exact))
    if constant.kind.family is Family.FLOAT and kind.bits == 64 and whole == 2**63:
        return whole - 1  # Spark compares with the greatest number as a floating-point one, which is 2⁶³
    return _whole(whole, kind)


def _whole(value: Fraction, kind: DataType) -> Fraction:
    if not fits(value, kind):
        raise CastError(
            f"{value} is out of range for {kind.with_article}", f"write a number that {kind.with_article} has"
        )
    return value


def _number_to_decimal(constant: Folded, kind: DataType) -> Fraction:
    """Rounded half up; a floating-point number only where Java prints all of its digits."""
    unscaled = constant.exact * 10 ** (kind.scale or 0)
    if constant.kind.family is Family.FLOAT and (unscaled.denominator != 1 or abs(unscaled) > _EXACT_DOUBLES):
        message = f"a cast of the {constant.kind.name} {float(constant.exact)!r} to {kind.name} is not folded"
        raise ConstantError(message, "write the number as a decimal, without D, F or an exponent", unsupported=True)
    return _rounded(constant.exact, kind)


def _rounded(value: Fraction, kind: DataType) -> Fraction:
    unscaled = abs(value) * 10 ** (kind.scale or 0)
    digits = floor(unscaled + Fraction(1, 2))
    if digits >= 10**kind.precision:
        shown = float(value) if abs(value) < 10 ** (2 * MOST_PLACES) else "the number"
        raise CastError(f"{shown} is out of range for {kind.with_article}", "cast it to a decimal of more digits")
    return Fraction(digits if value > 0 else -digits, 10 ** (kind.scale or 0))


def _number_to_float(constant: Folded, kind: DataType) -> Fraction:
    return as_float(constant, kind).exact


def _text_to_whole(constant: Folded, kind: DataType) -> Fraction:
    text = _trimmed(constant)
    if not _WHOLE.fullmatch(text):
        remedy = "write its digits only, with a sign in front if it is negative"
        raise CastError(f"{text!r} is not a whole number, as {kind.with_article} must be", remedy)
    return _whole(_read(text), kind)


def _text_to_decimal(constant: Folded, kind: DataType) -> Fraction:
    text = _trimmed(constant)
    if not _DECIMAL.fullmatch(text):
        _check_ascii(text, kind)
        raise CastError(f"{text!r} is not a number, as {kind.with_article} must be", "write digits and a point only")
    value = _read(text)
    if abs(value) >= 10**MOST_PLACES:
        raise ConstantError(f"{text!r} is out of range for {kind.with_article}")
    return _rounded(value, kind)


def _text_to_float(constant: Folded, kind: DataType) -> Fraction:
    text = _trimmed(constant)
    found = _FLOAT.fullmatch(text)
    if found is None:
        _check_ascii(text, kind)
        if _NOT_FINITE.fullmatch(text) or "0x" in text.lower():
            raise ConstantError(f"the {kind.name} {text!r} is not folded", "write a decimal number", unsupported=True)
        raise CastError(f"{text!r} is not a number, as {kind.with_article} must be", "write digits and a point only")
    return as_float(Folded(_read(found.group(1)), STRING), kind).exact


def _read(text: str) -> Fraction:
    try:
        return number(text)
    except ValueError as error:
        raise ConstantError(str(error), unsupported=True) from error


def _check_ascii(text: str, kind: DataType) -> None:
    if not text.isascii():
        remedy = "write it with the digits 0 to 9"
        raise ConstantError(f"{text!r} as {kind.with_article} is not folded", remedy, unsupported=True)


def _trimmed(constant: Folded) -> str:
    return str(constant.value).strip(BLANKS)


# --- to other types --------------------------------------------------------------------------------------------------


def _number_to_boolean(constant: Folded, kind: DataType) -> Fraction:
    return Fraction(constant.value != 0)


def _text_to_boolean(constant: Folded, kind: DataType) -> Fraction:
    text = _trimmed(constant).lower()
    if text not in (*_TRUE, *_FALSE):
        raise CastError(f"{text!r} is not a boolean", "write TRUE or FALSE")
    return Fraction(text in _TRUE)


def _text_to_date(constant: Folded, kind: DataType) -> Fraction:
    return _moment(parse_date, str(constant.value))


def _text_to_timestamp(constant: Folded, kind: DataType) -> Fraction:
    local = kind.name == "timestamp_ntz"
    return _moment(lambda text: parse_timestamp(text, local), str(constant.value))


def _moment(parse: Callable[[str], int], text: str) -> Fraction:
    """A string as a time; raises ConstantError for others, as Spark reads more strings than `parse` does."""
    try:
        return Fraction(parse(text))
    except ValueError as error:
        raise ConstantError(str(error)) from error


def _date_to_timestamp(constant: Folded, kind: DataType) -> Fraction:
    if abs(constant.exact * DAY) >= 2**63:
        raise ConstantError("the date is beyond the timestamps that Spark has")
    return constant.exact * DAY


def _timestamp_to_date(constant: Folded, kind: DataType) -> Fraction:
    return Fraction(floor(constant.exact / DAY))


def _whole_to_text(constant: Folded, kind: DataType) -> str:
    return str(constant.value)


def _decimal_to_text(constant: Folded, kind: DataType) -> str:
    return decode(constant.exact * 10 ** (constant.kind.scale or 0), constant.kind)


def _boolean_to_text(constant: Folded, kind: DataType) -> str:
    return "true" if constant.value else "false"


def _date_to_text(constant: Folded, kind: DataType) -> str:
    text = decode(int(constant.exact), DATE).removeprefix("DATE '").removesuffix("'")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        raise ConstantError("a date outside the years 1 to 9999 is not written as text", unsupported=True)
    return text


_CASTS: dict[tuple[Family, Family], Callable[[Folded, DataType], Fraction | str | None]] = {
    (Family.INTEGER, Family.INTEGER): _number_to_whole,
    (Family.INTEGER, Family.DECIMAL): _number_to_decimal,
    (Family.INTEGER, Family.FLOAT): _number_to_float,
    (Family.INTEGER, Family.BOOLEAN): _number_to_boolean,
    (Family.INTEGER, Family.STRING): _whole_to_text,
    (Family.DECIMAL, Family.INTEGER): _number_to_whole,
    (Family.DECIMAL, Family.DECIMAL): _number_to_decimal,
    (Family.DECIMAL, Family.FLOAT): _number_to_float,
    (Family.DECIMAL, Family.BOOLEAN): _number_to_boolean,
    (Family.DECIMAL, Family.STRING): _decimal_to_text,
    (Family.FLOAT, Family.INTEGER): _number_to_whole,
    (Family.FLOAT, Family.DECIMAL): _number_to_decimal,
    (Family.FLOAT, Family.FLOAT): _number_to_float,
    (Family.FLOAT, Family.BOOLEAN): _number_to_boolean,
    (Family.BOOLEAN, Family.INTEGER): _number_to_whole,
    (Family.BOOLEAN, Family.DECIMAL): _number_to_decimal,
    (Family.BOOLEAN, Family.FLOAT): _number_to_float,
    (Family.BOOLEAN, Family.BOOLEAN): _same,
    (Family.BOOLEAN, Family.STRING): _boolean_to_text,
    (Family.STRING, Family.INTEGER): _text_to_whole,
    (Family.STRING, Family.DECIMAL): _text_to_decimal,
    (Family.STRING, Family.FLOAT): _text_to_float,
    (Family.STRING, Family.BOOLEAN): _text_to_boolean,
    (Family.STRING, Family.DATE): _text_to_date,
    (Family.STRING, Family.TIMESTAMP): _text_to_timestamp,
    (Family.STRING, Family.STRING): _same,
    (Family.DATE, Family.DATE): _same,
    (Family.DATE, Family.TIMESTAMP): _date_to_timestamp,
    (Family.DATE, Family.STRING): _date_to_text,
    (Family.TIMESTAMP, Family.TIMESTAMP): _same,
    (Family.TIMESTAMP, Family.DATE): _timestamp_to_date,
}
"""What becomes of a value; in UTC, a TIMESTAMP and a TIMESTAMP_NTZ are the same number."""
