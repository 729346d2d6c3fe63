"""Which value of a column gives an expression a wanted value, by rules that hold for any value.

    a * 2 + 1 = 7  ->  a = 3        upper(s) || '!' = 'X!'  ->  s = 'X'

A rule looks at the wanted value alone and at constants, so that what it gives for some values of a sequence that only
grows it gives for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from streambound.analyzer.casts import cast
from streambound.analyzer.constants import Folded
from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal, calls, fields, value_of
from streambound.analyzer.expressions.function import Fails, NotKnown, Scalar, exactly
from streambound.analyzer.types import DataType, Family

_INT_DIGITS = 10
_EXACT = (Family.INTEGER, Family.DECIMAL, Family.DATE, Family.TIMESTAMP)
Undo = Callable[[Scalar, int, tuple[Scalar, ...]], Scalar]
"""The argument at a place that gives a wanted value, where the others are as they are; NotKnown where none does."""


def inverse(expression: Expression, name: str, wanted: Scalar, row: Mapping[str, Scalar]) -> Scalar:
    """The value of a column with which an expression has a wanted value; raises NotKnown and Fails.

    ``row`` has the values of the other columns.
    """
    if wanted is None or expression.kind.range is not None:
        raise NotKnown("NULL, or one of few values")
    match expression:
        case Field():
            return _fitting(wanted, expression.kind)
        case Literal():
            raise NotKnown("a constant")
    if not _endless(expression.kind):
        raise NotKnown("one of few values")
    place = _place(expression, name)
    others = tuple(None if at == place else value_of(a, row).value for at, a in enumerate(expression.arguments))
    if any(other is None for at, other in enumerate(others) if at != place):
        raise NotKnown("a NULL beside the column")
    argument = expression.arguments[place]
    found = _undone(expression, place, wanted, others, argument.kind)
    return inverse(argument, name, found, row)


def _fitting(wanted: Scalar, kind: DataType) -> Scalar:
    """A value that a column of a type can have exactly."""
    if isinstance(wanted, str):
        fits = kind.family is Family.STRING
    else:
        one = 10 ** (kind.scale or 0) if kind.family is Family.DECIMAL else 1
        fits = kind.family in _EXACT and (_number(wanted) * one).denominator == 1
    if not fits:
        raise NotKnown("a value that the column cannot have")
    return wanted


def _endless(kind: DataType) -> bool:
    """Whether a type counts as one of unboundedly many values: not a narrow one, through which few values pass."""
    if kind.family is Family.DECIMAL:
        return kind.precision - (kind.scale or 0) >= _INT_DIGITS
    return kind.range is None


def _place(call: Call, name: str) -> int:
    """The place of the one argument that reads a column."""
    places = [place for place, argument in enumerate(call.arguments) if name in fields(argument)]
    if len(places) != 1:
        raise NotKnown("a column that is read several times")
    return places[0]


def _undone(call: Call, place: int, wanted: Scalar, others: tuple[Scalar, ...], kind: DataType) -> Scalar:
    name = call.function.name
    if name in ("cast", "try_cast"):
        if Family.FLOAT in (kind.family, call.kind.family):
            raise NotKnown("a floating-point number")
        return exactly(lambda: cast(Folded(wanted, call.kind), kind))
    if name in _UNCHANGED and place == 0:
        return wanted
    rule = _RULES.get(name)
    if rule is None or Family.FLOAT in (kind.family, call.kind.family):
        raise NotKnown(f"which arguments of {name} give a value")
    return rule(wanted, place, others)


def _number(value: Scalar) -> Fraction:
    if not isinstance(value, Fraction):
        raise NotKnown("not a number")
    return value


def _plus(wanted: Scalar, place: int, others: tuple[Scalar, ...]) -> Scalar:
    return _number(wanted) - _number(others[1 - place])


def _minus(wanted: Scalar, place: int, others: tuple[Scalar, ...]) -> Scalar:
    if place == 0:
        return _number(wanted) + _number(others[1])
    return _number(others[0]) - _number(wanted)


def _times(wanted: Scalar, place: int, others: tuple[Scalar, ...]) -> Scalar:
    factor = _number(others[1 - place])
    if factor == 0:
        raise NotKnown("a product with 0")
    return _number(wanted) / factor


def _negative(wanted: Scalar, place: int, others: tuple[Scalar, ...]) -> Scalar:
    return -_number(wanted)


def _joined(wanted: Scalar, place: int, others: tuple[Scalar, ...]) -> Scalar:
    before, after = ("".join(map(str, part)) for part in (others[:place], others[place + 1 :]))
    text = str(wanted)
    if not text.startswith(before) or not text.endswith(after) or len(text) < len(before) + len(after):
        raise NotKnown("a text that does not begin or end so")
    return text[len(before) : len(text) - len(after)]


_RULES: dict[str, Undo] = {
    "+": _plus, "-": _minus, "*": _times, "negative": _negative, "||": _joined, "concat": _joined, "date_add": _plus,
    "dateadd": _plus, "date_sub": _minus, "try_add": _plus, "try_subtract": _minus, "try_multiply": _times,
}  # fmt: skip
_UNCHANGED = (
    "upper", "lower", "ucase", "lcase", "trim", "ltrim", "rtrim", "btrim", "coalesce", "nvl", "ifnull", "positive",
    "abs", "to_date", "to_timestamp",
)  # fmt: skip
"""What leaves the values unchanged that it has itself, of its first argument."""


def factors(expression: Expression) -> tuple[int, ...]:
    """Numbers of which the encoded values of an expression should be multiples, so that its products can be undone."""
    found = []
    for call in calls(expression):
        if call.function.name in ("*", "try_multiply"):
            for argument in call.arguments:
                try:
                    value = None if fields(argument) else value_of(argument, {}).value
                except (Fails, NotKnown):
                    continue
                if isinstance(value, Fraction) and value != 0:
                    found.append(abs(value.numerator) * 10 ** (call.kind.scale or 0))
    return tuple(found)


def ends(expression: Expression) -> tuple[str, str]:
    """The constant prefix and suffix of all results of a concatenation."""
    if not isinstance(expression, Call) or expression.function.name not in ("||", "concat"):
        return "", ""
    first, last = expression.arguments[0], expression.arguments[-1]
    return _constant(first) or ends(first)[0], _constant(last) or ends(last)[1]


def _constant(expression: Expression) -> str:
    return str(expression.constant.value or "") if isinstance(expression, Literal) else ""
