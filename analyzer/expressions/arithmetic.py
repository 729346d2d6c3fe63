"""Arithmetic as in Spark 4's ANSI mode: overflows and divisions by zero fail."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import partial
from math import ceil, floor, sqrt, trunc

from streambound.analyzer.constants import BIGINT, DOUBLE, INT, STRING, Folded, as_float, fits, kind_of
from streambound.analyzer.expressions.function import (
    ANY,
    Fails,
    Function,
    Kind,
    NotKnown,
    Scalar,
    Value,
    always,
    exactly,
    whole,
)
from streambound.analyzer.expressions.kinds import (
    decimal_of,
    not_decimal,
    product_kind,
    quotient_kind,
    remainder_kind,
    rounded,
    sum_kind,
)
from streambound.analyzer.sums import total
from streambound.analyzer.types import NUMERIC, DataType, Family

Operation = Callable[[Fraction, Fraction], Fraction]
_EXACT_PLACES = 38


def _binary(rule: Callable[[Folded, Folded], DataType]) -> Kind:
    return lambda arguments: rule(*arguments)


def _sum_kind(sign: int, arguments: tuple[Folded, ...]) -> DataType:
    """Of numbers; or of points and distances in time."""
    left, right = arguments
    if all(one.kind.family in NUMERIC for one in arguments):
        return sum_kind(left, right)
    found = sum_kind(left, right)
    if found is not ANY:
        return found
    try:
        return total(Folded(Fraction(0), left.kind), Folded(Fraction(0), right.kind), sign, constants=False).kind
    except ValueError:
        return ANY


def _sum(sign: int, kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    left, right = arguments
    if kind.family not in NUMERIC:
        return exactly(lambda: total(left, right, sign, constants=True))
    return _result(kind, arguments, lambda a, b: a + sign * b)


def _result(kind: DataType, arguments: tuple[Folded, ...], operation: Operation) -> Fraction:
    """The value of an operation on two numbers in its result's type."""
    left, right = arguments
    if kind.family is Family.FLOAT:
        a, b = (_floating(one, kind) for one in (left, right))
        return _floating(Folded(operation(a, b), DOUBLE), kind)
    value = operation(left.exact, right.exact)
    return rounded(value, kind) if kind.family is Family.DECIMAL else _whole(value, kind)


def _floating(one: Folded, kind: DataType) -> Fraction:
    value = exactly(lambda: as_float(one, kind))
    assert isinstance(value, Fraction)
    return value


def _whole(value: Fraction, kind: DataType) -> Fraction:
    if value.denominator != 1:
        raise NotKnown("not a whole number")
    if not fits(value, kind):
        raise Fails(f"{value} is out of range for {kind.with_article}")
    return value


def _product(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    return _result(kind, arguments, lambda a, b: a * b)


def _divisible(arguments: tuple[Folded, ...]) -> None:
    if arguments[1].exact == 0:
        raise Fails("division by zero")


def _quotient(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    _divisible(arguments)
    if kind.family is Family.DECIMAL:
        return rounded(_half_up(arguments[0].exact / arguments[1].exact, _EXACT_PLACES), kind)
    return _result(kind, arguments, lambda a, b: a / b)


def _half_up(value: Fraction, places: int) -> Fraction:
    """Rounded to a number of decimal places, half away from zero."""
    unscaled = floor(abs(value) * Fraction(10) ** places + Fraction(1, 2))
    return (unscaled if value > 0 else -unscaled) / Fraction(10) ** places


def _remainder(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    """With the dividend's sign."""
    _divisible(arguments)
    return _result(kind, arguments, lambda a, b: a - b * trunc(a / b))


def _positive_remainder(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    _divisible(arguments)

    def positive(a: Fraction, b: Fraction) -> Fraction:
        rest = a - b * trunc(a / b)
        return rest + b - b * trunc((rest + b) / b) if rest < 0 else rest

    return _result(kind, arguments, positive)


def _whole_kind(arguments: tuple[Folded, ...]) -> DataType:
    exact = all(one.kind.family in (Family.INTEGER, Family.DECIMAL) for one in arguments)
    return BIGINT if exact else ANY


def _whole_quotient(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    _divisible(arguments)
    return _whole(Fraction(trunc(arguments[0].exact / arguments[1].exact)), kind)


def _number(arguments: tuple[Folded, ...]) -> DataType:
    return arguments[0].kind if arguments[0].kind.family in NUMERIC else ANY


def _negative(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    return _in_range(-arguments[0].exact, kind)


def _in_range(value: Fraction, kind: DataType) -> Fraction:
    return _whole(value, kind) if kind.family is Family.INTEGER else value


def _absolute(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    return _in_range(abs(arguments[0].exact), kind)


def _sign(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    value = arguments[0].exact
    return Fraction((value > 0) - (value < 0))


def _level_kind(arguments: tuple[Folded, ...]) -> DataType:
    """FLOOR and CEIL."""
    kind = arguments[0].kind
    if len(arguments) > 1 or kind.family not in NUMERIC:
        return ANY
    if kind.family is Family.DECIMAL:
        places = kind.scale or 0
        return decimal_of(min(kind.precision - places + 1, 38), 0) if places else kind
    return BIGINT


def _level(cut: Callable[[Fraction], int], kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    value = Fraction(cut(arguments[0].exact))
    return _whole(value, kind) if kind.family is Family.INTEGER else rounded(value, kind)


def _round_kind(arguments: tuple[Folded, ...]) -> DataType:
    """Of a decimal, with the places that are left, and a digit more in front of the point."""
    kind = arguments[0].kind
    if kind.family not in NUMERIC:
        return ANY
    if kind.family is not Family.DECIMAL:
        return kind
    if len(arguments) > 1 and arguments[1].value is None:
        return ANY
    places, before = whole(arguments[1]) if len(arguments) > 1 else 0, kind.precision - (kind.scale or 0) + 1
    if places < 0:
        return decimal_of(min(max(before, 1 - places), 38), 0)
    kept = min(kind.scale or 0, places)
    return kind_of(f"decimal({min(before + kept, 38)},{kept})")


def _round(mode: str, kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    """Of a floating-point number the decimal that Java shows of it is rounded."""
    value, places = arguments[0].exact, whole(arguments[1]) if len(arguments) > 1 else 0
    if arguments[0].kind.family is Family.FLOAT:
        if kind != DOUBLE or abs(places) > _EXACT_PLACES or abs(value) > 10**15:
            raise NotKnown("rounding of a floating-point number")
        value = Fraction(Decimal(repr(float(value))))
    scaled = value * Fraction(10) ** places
    below = floor(abs(scaled))
    rest = abs(scaled) - below
    up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and (mode == ROUND_HALF_UP or below % 2 == 1))
    found = Fraction(below + up) / Fraction(10) ** places * (-1 if value < 0 else 1)
    if kind.family is Family.FLOAT:
        return _floating(Folded(found, DOUBLE), kind)
    return _whole(found, kind) if kind.family is Family.INTEGER else rounded(found, kind)


def _root(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    value = _floating(arguments[0], DOUBLE)
    if value < 0:
        raise NotKnown("the root of a negative number is no number")
    return Fraction(sqrt(value))


def _bits(operation: Callable[[int, int], int], kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
    return Fraction(operation(whole(arguments[0]), whole(arguments[1])))


def _bits_kind(arguments: tuple[Folded, ...]) -> DataType:
    found = not_decimal(*arguments)
    return found if found is not None and found.family is Family.INTEGER else ANY


def _whole_number(arguments: tuple[Folded, ...]) -> DataType:
    return arguments[0].kind if arguments[0].kind.family is Family.INTEGER else ANY


def _or_null(value: Value) -> Value:
    """Of a function that fails, the one that gives NULL instead."""

    def tried(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
        try:
            return value(kind, arguments)
        except Fails:
            return None

    return tried


_PLUS, _MINUS = partial(_sum, 1), partial(_sum, -1)
_TWO = (2, 2)

ARITHMETIC = (
    Function("+", partial(_sum_kind, 1), _PLUS, arguments=_TWO),
    Function("-", partial(_sum_kind, -1), _MINUS, arguments=_TWO),
    Function("*", _binary(product_kind), _product, arguments=_TWO),
    Function("/", _binary(quotient_kind), _quotient, arguments=_TWO),
    Function("%", _binary(remainder_kind), _remainder, arguments=_TWO),
    Function("mod", _binary(remainder_kind), _remainder, arguments=_TWO),
    Function("div", _whole_kind, _whole_quotient, arguments=_TWO),
    Function("pmod", _binary(remainder_kind), _positive_remainder, arguments=_TWO),
    Function("negative", _number, _negative),
    Function("positive", _number, lambda kind, arguments: arguments[0].value),
    Function("abs", _number, _absolute),
    Function("sign", always(DOUBLE), _sign),
    Function("signum", always(DOUBLE), _sign),
    Function("floor", _level_kind, partial(_level, floor), arguments=(1, 2)),
    Function("ceil", _level_kind, partial(_level, ceil), arguments=(1, 2)),
    Function("ceiling", _level_kind, partial(_level, ceil), arguments=(1, 2)),
    Function("round", _round_kind, partial(_round, ROUND_HALF_UP), arguments=(1, 2)),
    Function("bround", _round_kind, partial(_round, ROUND_HALF_EVEN), arguments=(1, 2)),
    Function("sqrt", always(DOUBLE), _root),
    Function("try_add", partial(_sum_kind, 1), _or_null(_PLUS), arguments=_TWO),
    Function("try_subtract", partial(_sum_kind, -1), _or_null(_MINUS), arguments=_TWO),
    Function("try_multiply", _binary(product_kind), _or_null(_product), arguments=_TWO),
    Function("try_divide", _binary(quotient_kind), _or_null(_quotient), arguments=_TWO),
    Function("&", _bits_kind, partial(_bits, lambda a, b: a & b), arguments=_TWO),
    Function("|", _bits_kind, partial(_bits, lambda a, b: a | b), arguments=_TWO),
    Function("^", _bits_kind, partial(_bits, lambda a, b: a ^ b), arguments=_TWO),
    Function("~", _whole_number, lambda kind, arguments: Fraction(~whole(arguments[0]))),
    *(Function(name, always(DOUBLE)) for name in (
        "exp", "ln", "log10", "log2", "log1p", "expm1", "cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
        "cosh", "tanh", "degrees", "radians",
    )),
    *(Function(name, always(DOUBLE), arguments=_TWO) for name in ("pow", "power", "atan2")),
    Function("log", always(DOUBLE), arguments=(1, 2)),
    Function("bin", always(STRING)),
    Function("conv", always(STRING), arguments=(3, 3)),
    Function("factorial", always(BIGINT)),
    Function("width_bucket", always(BIGINT), arguments=(4, 4)),
    Function("bit_count", always(INT), within=(0, 64)),
)  # fmt: skip
"""Operators and functions of numbers."""
