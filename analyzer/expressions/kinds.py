"""The types of results: Spark 4's `AnsiTypeCoercion` and `DecimalPrecision`, with decimals that lose digits."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor

from streambound.analyzer.constants import MOST_PLACES, TIMESTAMP, VOID, Folded, common_float, kind_of
from streambound.analyzer.expressions.function import ANY, Fails
from streambound.analyzer.types import NUMERIC, DataType, Family

_LEAST_PLACES = 6
_NAMES = {
    "integer": "int",
    "byte": "tinyint",
    "short": "smallint",
    "long": "bigint",
    "real": "float",
    "numeric": "decimal",
}


def plain(kind: DataType) -> DataType:
    """A type by the name that Spark shows.

    >>> from streambound.analyzer.constants import kind_of
    >>> plain(kind_of("long")).name, plain(kind_of("decimal")).name, plain(kind_of("dec(9)")).name
    ('bigint', 'decimal(10,0)', 'decimal(9,0)')
    """
    if kind.family is Family.DECIMAL:
        return kind_of(f"decimal({kind.precision},{kind.scale or 0})")
    if kind.family is Family.STRING:
        return kind_of("string")
    return kind_of(_NAMES[kind.name]) if kind.name in _NAMES else kind


def decimal_of(digits: int, places: int) -> DataType:
    """The decimal type of a result with ``digits`` in all; beyond 38 it loses decimal places, down to six."""
    if digits > MOST_PLACES:
        before = digits - places
        digits, places = MOST_PLACES, max(MOST_PLACES - before, min(places, _LEAST_PLACES))
    return kind_of(f"decimal({digits},{places})")


def sum_kind(left: Folded, right: Folded) -> DataType:
    """``left + right`` and ``left - right`` of numbers."""
    if (other := not_decimal(left, right)) is not None:
        return other
    (before, places), (more, fewer) = left.digits, right.digits
    return decimal_of(max(before, more) + max(places, fewer) + 1, max(places, fewer))


def product_kind(left: Folded, right: Folded) -> DataType:
    """``left * right``."""
    if (other := not_decimal(left, right)) is not None:
        return other
    (before, places), (more, fewer) = left.digits, right.digits
    return decimal_of(before + places + more + fewer + 1, places + fewer)


def quotient_kind(left: Folded, right: Folded) -> DataType:
    """``left / right``: of whole numbers a double."""
    other = not_decimal(left, right)
    if other is not None:
        return kind_of("double") if other.family in NUMERIC and other.name != "float" else other
    (before, places), (more, fewer) = left.digits, right.digits
    scale = max(_LEAST_PLACES, places + more + fewer + 1)
    return decimal_of(before + fewer + scale, scale)


def remainder_kind(left: Folded, right: Folded) -> DataType:
    """``left % right``."""
    if (other := not_decimal(left, right)) is not None:
        return other
    (before, places), (more, fewer) = left.digits, right.digits
    return decimal_of(min(before, more) + max(places, fewer), max(places, fewer))


def not_decimal(left: Folded, right: Folded) -> DataType | None:
    """The common type of numbers of which none is a decimal, or one is floating; ANY for others; None for decimals."""
    kinds = left.kind, right.kind
    if VOID in kinds and any(kind.family in NUMERIC for kind in kinds):
        return kinds[0] if kinds[1] == VOID else kinds[1]
    if not all(kind.family in NUMERIC for kind in kinds):
        return ANY
    if (floating := common_float(*kinds)) is not None:
        return floating
    if Family.DECIMAL in (kinds[0].family, kinds[1].family):
        return None
    return max(kinds, key=lambda kind: kind.bits)


def common(arguments: Sequence[Folded]) -> DataType:
    """The type of what is one of several values; ANY where they have none, or texts would be read."""
    kinds = list(dict.fromkeys(one.kind for one in arguments if one.kind != VOID))
    if len(kinds) <= 1:
        return kinds[0] if kinds else VOID
    families = {kind.family for kind in kinds}
    if families <= {Family.DATE, Family.TIMESTAMP}:
        return TIMESTAMP if all(kind.name in ("date", "timestamp") for kind in kinds) else ANY
    if families == {Family.STRING}:  # of different lengths
        return kind_of("string")
    if not families <= NUMERIC:
        return ANY
    if Family.FLOAT in families:
        return kinds[0] if len(kinds) == 1 else kind_of("double")
    if Family.DECIMAL not in families:
        return max(kinds, key=lambda kind: kind.bits)
    digits = [Folded(None, kind).digits for kind in kinds]
    before, places = max(d[0] for d in digits), max(d[1] for d in digits)
    return kind_of(f"decimal({before + places},{places})") if before + places <= MOST_PLACES else ANY


def rounded(value: Fraction, kind: DataType) -> Fraction:
    """A number as a decimal of a type, half up; raises Fails for one with too many digits."""
    unscaled = floor(abs(value) * 10 ** (kind.scale or 0) + Fraction(1, 2))
    if unscaled >= 10**kind.precision:
        raise Fails(f"{float(value)} is out of range for {kind.with_article}")
    return Fraction(unscaled if value > 0 else -unscaled, 10 ** (kind.scale or 0))
