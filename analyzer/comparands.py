"""What a constant means where it is compared: Spark 4 casts one side, or both, to a common type.

Spark's `AnsiTypeCoercion`. Where the common type rounds the attribute, so that several of its values would be one, the
comparison is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor

from msgspec.structs import replace

from streambound.analyzer.casts import DAY, cast
from streambound.analyzer.constants import (
    BIGINT,
    DOUBLE,
    MOST_PLACES,
    STRING,
    VOID,
    ConstantError,
    Folded,
    as_float,
    common_float,
    fits,
    is_interval,
)
from streambound.analyzer.types import NUMERIC, DataType, Family

_TIMES = (Family.DATE, Family.TIMESTAMP)
_EXACT_DIGITS, _EXACT_DOUBLES = 15, 2**53
"""Up to this number of digits decimals, and below the second whole numbers, are distinct as doubles."""
_SMALL = 32


def comparable(left: DataType, right: DataType) -> bool:
    """Whether Spark compares values of two types, of which none is a text unless both are."""
    if VOID in (left, right):
        return True
    groups = (NUMERIC, _TIMES, (Family.STRING,), (Family.BOOLEAN,))
    return any(left.family in group and right.family in group for group in groups) or all(
        map(is_interval, (left, right))
    )


def read_as(text: DataType, kind: DataType) -> DataType | None:
    """The type that Spark casts a text to beside a value of another type; None where it is no text, or stays one."""
    if text.family is not Family.STRING or kind.family in (Family.STRING, Family.OTHER) or is_interval(kind):
        return None
    return {Family.INTEGER: BIGINT, Family.DECIMAL: DOUBLE, Family.FLOAT: DOUBLE}.get(kind.family, kind)


def mixes_texts(kinds: Sequence[DataType]) -> bool:
    """Whether an IN of values of these types casts texts to a type that depends on several of the others."""
    first, *items = (kind.family is Family.STRING for kind in kinds)
    others = {read_as(STRING, kind) for kind in kinds if kind != VOID} - {None}
    return (first or any(items)) and (len(others) > 1 or (bool(others) and first and any(items)))


def from_text(constant: Folded, kind: DataType) -> Folded:
    """A text as a constant that a value of another type is compared with; raises ConstantError where it is none."""
    target = read_as(constant.kind, kind)
    return constant if target is None else cast(constant, target)


def meeting(constant: Folded, other: Folded) -> Folded:
    """The number that an expression's exact values compare with as Spark compares them with a constant.

    ``k < 1.5D  ->  k < 1.5``, and for a DECIMAL(9,2) ``d = 1.24D  ->  d = 1.24``. Raises ConstantError.
    """
    kind = other.kind
    if constant.value is None or kind.family not in NUMERIC or constant.kind.family not in NUMERIC:
        return constant
    if kind.family is Family.FLOAT:
        return as_float(constant)
    if constant.kind.family is not Family.FLOAT:
        _check_range(constant, kind)
        _check_digits((constant,) if constant.numeral and kind.family is Family.INTEGER else (constant, other))
        return constant
    return replace(
        constant, value=_whole(constant, kind) if kind.family is Family.INTEGER else _decimal(constant, kind)
    )


def _whole(constant: Folded, kind: DataType) -> Fraction:
    if kind.bits > _SMALL and abs(constant.exact) >= _EXACT_DOUBLES:
        raise _inexact(constant, kind, "L")
    return constant.exact


def _decimal(constant: Folded, kind: DataType) -> Fraction:
    """The decimal that is this floating-point number; where there is none, what is between the same two decimals."""
    if kind.precision > _EXACT_DIGITS:
        raise _inexact(constant, kind, "BD")
    one = 10 ** (kind.scale or 0)
    nearest = Fraction(floor(constant.exact * one + Fraction(1, 2)), one)
    between = Fraction(2 * floor(constant.exact * one) + 1, 2 * one)
    return nearest if Fraction(float(nearest)) == constant.exact else between


def _inexact(constant: Folded, kind: DataType, suffix: str) -> ConstantError:
    message = f"Spark rounds the {kind.name} to a double here, so that other values would be equal to the constant, too"
    return ConstantError(message, f"write the constant with {suffix}, as in 12{suffix}", unsupported=True)


def _check_digits(numbers: Sequence[Folded]) -> None:
    """Whether numbers have a common decimal type."""
    digits, places = (max(part.digits[place] for part in numbers) for place in (0, 1))
    if digits + places > MOST_PLACES:
        message = f"Spark rounds one side here: the two have {digits + places} digits, and its decimals {MOST_PLACES}"
        raise ConstantError(message, "write the constant with fewer digits, or cast it to the column's type", True)


def _check_range(constant: Folded, kind: DataType) -> None:
    """Of a decimal numeral beyond BIGINT Spark says the same of all whole numbers, NULL included."""
    numeral = constant.numeral and constant.kind.family is Family.DECIMAL
    if numeral and kind.family is Family.INTEGER and not fits(constant.exact, BIGINT):
        message = "a number beyond 64 bits is beyond every whole number, and Spark says so of NULL, too"
        raise ConstantError(message, "leave the comparison out, or write IS NOT NULL", unsupported=True)


def folded(left: Folded, right: Folded) -> tuple[Fraction | str | None, Fraction | str | None]:
    """Two constants as values to compare; raises ConstantError where Spark refuses to compare them."""
    left, right = from_text(left, right.kind), from_text(right, left.kind)
    if not comparable(left.kind, right.kind):
        raise ConstantError(f"{left.words} cannot be compared with {right.words}")
    _check_range(left, right.kind)
    _check_range(right, left.kind)
    if left.value is None or right.value is None:
        return None, None
    if kind := common_float(left.kind, right.kind):
        return as_float(left, kind).value, as_float(right, kind).value
    if left.kind.family in NUMERIC:
        _check_digits((left, right))
    return tuple(side.exact * DAY if side.kind.family is Family.DATE else side.value for side in (left, right))  # type: ignore[return-value]


def in_units_of(constant: Folded, kind: DataType) -> Fraction:
    """A constant or offset in the unit of an attribute's type: days beside dates."""
    if kind.family is Family.DATE and constant.kind.family is not Family.DATE:
        return constant.exact / DAY
    if kind.family is Family.TIMESTAMP and constant.kind.family is Family.DATE:
        return constant.exact * DAY
    return constant.exact


def common(value: Folded, items: Sequence[Folded]) -> list[Folded]:
    """The items of an IN list as constants of the type that all of it is cast to; raises ConstantError.

    ``k IN (1, 2.5D)  ->  k IN (1D, 2.5D)``
    """
    kind = value.kind
    kinds = {item.kind for item in items}
    texts = any(one.family is Family.STRING for one in kinds)
    if kind.family not in NUMERIC or not any(one.family in NUMERIC for one in kinds):
        return list(items)
    if any(one.family is Family.FLOAT for one in kinds) or (texts and kind.family is Family.DECIMAL):
        return [as_float(item) if item.kind.family in NUMERIC else item for item in items]
    if Family.DECIMAL in (kind.family, *(one.family for one in kinds)) and kind.family is not Family.FLOAT:
        numbers = (replace(item, numeral=False) for item in items if item.kind.family in NUMERIC)
        _check_digits((value, *numbers))
    return list(items)
