"""Constants and their arithmetic, as Spark 4 has them in ANSI mode: each has a type, and what overflows fails.

Spark's `AstBuilder` (types of numerals), `AnsiTypeCoercion` and `DecimalPrecision` (types of results).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.types import NUMERIC, DataType, Family, parse_type
from streambound.analyzer.values import nearest, number

MOST_PLACES = 38
"""The digits that a decimal has at most."""
_SUFFIXES = {"Y": "tinyint", "S": "smallint", "L": "bigint", "F": "float", "D": "double"}
_SUFFIX = re.compile(r"(?:BD|[LSYDF])$", re.I)
Operation = Callable[[Fraction, Fraction], Fraction]
_WHOLE = re.compile(r"[+-]?\d+", re.A)


class ConstantError(ValueError):
    """A constant that Spark refuses; or, ``unsupported``, one that is not folded exactly."""

    def __init__(self, message: str, remedy: str = "", unsupported: bool = False) -> None:
        super().__init__(message)
        self.remedy, self.unsupported = remedy, unsupported


def kind_of(name: str) -> DataType:
    """The type of that name; the name must be one."""
    kind = parse_type(name)
    assert kind is not None, name
    return kind


VOID, STRING, BOOLEAN, DATE, TIMESTAMP, BIGINT, DOUBLE, INT = map(
    kind_of, ("void", "string", "boolean", "date", "timestamp", "bigint", "double", "int")
)
DAYS, INTERVAL = kind_of("interval day"), kind_of("interval day to second")
_WORDS = {
    Family.STRING: "a string",
    Family.BOOLEAN: "a boolean",
    Family.DATE: "a date",
    Family.TIMESTAMP: "a timestamp",
}


class Folded(Struct, frozen=True):
    """A constant: its value, None for NULL, and the type that Spark gives it.

    Numbers are exact; booleans are 0 or 1, dates days, timestamps and intervals microseconds. ``numeral`` says that it
    is written as one, so that its digits are those of its value.
    """

    value: Fraction | str | None
    kind: DataType
    numeral: bool = False

    @property
    def digits(self) -> tuple[int, int]:
        """How many digits a number has at most before and after its point, as Spark counts them.

        >>> Folded(Fraction(7), INT).digits, Folded(Fraction(7), INT, numeral=True).digits
        ((10, 0), (1, 0))
        """
        if self.kind.family is Family.INTEGER and self.numeral and isinstance(self.value, Fraction):
            return len(str(abs(self.value.numerator))), 0
        return self.kind.precision - (self.kind.scale or 0), self.kind.scale or 0

    @property
    def exact(self) -> Fraction:
        """The value of a number, or of a time; raises ConstantError for others, NaN and infinities among them."""
        if not isinstance(self.value, Fraction):
            raise ConstantError(f"{self.value!r} is no exact number", unsupported=True)
        return self.value

    @property
    def words(self) -> str:
        """The constant's kind, for messages.

        >>> Folded("x", STRING).words, Folded(Fraction(1), INT).words
        ('a string', 'a number')
        """
        if self.kind.family in NUMERIC:
            return "a number"
        return _WORDS.get(self.kind.family, "NULL" if self.kind == VOID else "an interval")


def is_interval(kind: DataType) -> bool:
    """Whether a type is that of distances in time."""
    return kind in (DAYS, INTERVAL)


def decimal(digits: int, places: int) -> DataType:
    """The decimal type with ``digits`` before and ``places`` after the point; raises ConstantError beyond Spark's."""
    if digits + places > MOST_PLACES:
        message = f"the result has {digits + places} digits, and Spark's decimals at most {MOST_PLACES}"
        raise ConstantError(message, "write the constant with fewer digits", unsupported=True)
    return kind_of(f"decimal({digits + places},{places})")


def numeral(written: str, sign: int = 1) -> Folded:
    """A numeral with its suffix, and with its sign, which belongs to it; raises ConstantError.

    >>> numeral("2147483648").kind.name, numeral("2147483648", sign=-1).kind.name, numeral("1.50").kind.name
    ('bigint', 'int', 'decimal(3,2)')
    """
    text = _SUFFIX.sub("", written)
    suffix = written[len(text) :].upper()
    try:
        value = sign * number(text)
    except ValueError as error:
        raise ConstantError(str(error)) from error
    if suffix in ("F", "D") or (not suffix and "e" in text.lower()):
        return _floating(value, kind_of(_SUFFIXES[suffix or "D"]))
    if suffix == "BD" or (not suffix and not _WHOLE.fullmatch(text)):
        return Folded(value, _decimal_of(text), numeral=True)
    if not _WHOLE.fullmatch(text):
        raise ConstantError(f"{written} is not a numeral: {suffix} follows whole numbers only")
    return _whole(value, suffix)


def _whole(value: Fraction, suffix: str) -> Folded:
    names = (_SUFFIXES[suffix],) if suffix else ("int", "bigint")
    fitting = next((kind_of(name) for name in names if fits(value, kind_of(name))), None)
    if fitting is not None:
        return Folded(value, fitting, numeral=True)
    if suffix:
        raise ConstantError(f"{value} is out of range for a {names[0]}")
    return Folded(value, decimal(len(str(abs(value.numerator))), 0), numeral=True)


def _floating(value: Fraction, kind: DataType) -> Folded:
    """A numeral of a floating-point type: beyond the greatest number also what would be rounded to it is an error."""
    if abs(value) > _greatest(kind):
        raise ConstantError(f"the number is out of range for {kind.with_article}")
    return Folded(_nearest(value, kind), kind, numeral=True)


def _greatest(kind: DataType) -> Fraction:
    return Fraction(2**128 - 2**104 if kind.bits == 32 else 2**1024 - 2**971)


def _decimal_of(text: str) -> DataType:
    """The type of a decimal numeral: all its places, and the digits before them without leading zeros."""
    digits, _, exponent = text.lower().partition("e")
    whole, _, fraction = digits.lstrip("+-").partition(".")
    shift = int(exponent or 0)
    places = len(fraction) - shift
    precision = max(len((whole + fraction).lstrip("0")), 1)
    return decimal(max(precision - places, 0), max(places, 0))


def fits(value: Fraction, kind: DataType) -> bool:
    """Whether a whole number is in the range of an integer type."""
    most = 1 << (kind.bits - 1)
    return -most <= value < most


def _nearest(value: Fraction, kind: DataType) -> Fraction:
    try:
        return nearest(value, kind)
    except ValueError as error:
        remedy = "leave the condition out, or compare with a number that the type has"
        raise ConstantError(str(error), remedy, unsupported=True) from error


def as_float(constant: Folded, kind: DataType = DOUBLE) -> Folded:
    """A number as one of a floating-point type."""
    if constant.value is None:
        return replace(constant, kind=kind)
    return Folded(_nearest(constant.exact, kind), kind)


def common_float(left: DataType, right: DataType) -> DataType | None:
    """The floating-point type in which Spark compares and adds two numbers; None where it does so exactly."""
    if Family.FLOAT not in (left.family, right.family):
        return None
    single = all(kind.family is Family.FLOAT and kind.bits == 32 for kind in (left, right))
    return left if single else DOUBLE


def sum_kind(left: Folded, right: Folded) -> DataType:
    """The type of a sum or difference of numbers; raises ConstantError where it would be rounded."""
    if floating := common_float(left.kind, right.kind):
        return floating
    if Family.DECIMAL in (left.kind.family, right.kind.family):
        (digits, places), (more, smaller) = left.digits, right.digits
        return decimal(max(digits, more) + 1, max(places, smaller))
    return max(left.kind, right.kind, key=lambda kind: kind.bits)


def add(left: Folded, right: Folded, sign: int) -> Folded:
    """``left ± right`` of numbers; raises ConstantError where Spark fails."""
    kind = sum_kind(left, right)
    return _result(left, right, kind, lambda a, b: a + sign * b)


def multiply(left: Folded, right: Folded) -> Folded:
    """``left * right`` of numbers; raises ConstantError where Spark fails."""
    if not common_float(left.kind, right.kind) and Family.DECIMAL in (left.kind.family, right.kind.family):
        (digits, places), (more, smaller) = left.digits, right.digits
        kind = decimal(digits + more + 1, places + smaller)
    else:
        kind = sum_kind(left, right)
    return _result(left, right, kind, lambda a, b: a * b)


def negate(constant: Folded) -> Folded:
    """``-constant`` of a number; raises ConstantError where Spark fails."""
    zero = Folded(Fraction(0), constant.kind)
    return _result(zero, constant, constant.kind, lambda a, b: a - b)


def _result(left: Folded, right: Folded, kind: DataType, operation: Operation) -> Folded:
    """The value of an operation in its result's type."""
    if left.value is None or right.value is None:
        return Folded(None, kind)
    if kind.family is Family.FLOAT:
        return Folded(_nearest(operation(as_float(left, kind).exact, as_float(right, kind).exact), kind), kind)
    value = operation(left.exact, right.exact)
    if kind.family is Family.INTEGER and not fits(value, kind):
        raise ConstantError(f"{value} is out of range for {kind.with_article}", "write one of the numbers with an L")
    return Folded(value, kind)
