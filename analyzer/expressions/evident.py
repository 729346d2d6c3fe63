"""Which values an expression can have at all, where it is evident: a list of them, or the ends of a range."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import prod

from streambound.analyzer.columns import Column
from streambound.analyzer.constants import Folded
from streambound.analyzer.expressions.choices import converted
from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal, value_of
from streambound.analyzer.expressions.function import Fails, NotKnown, Scalar
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value
from streambound.analyzer.work import spend
from streambound_runtime.promises import Domain

MOST_VALUES = 256
"""Values of one expression that are listed."""
_MOST_TRIED = 4_096
_STEPS = 10
"""What it takes to try one."""
_CHOOSING = ("coalesce", "nvl", "ifnull", "greatest", "least")
_EXACT = (Family.INTEGER, Family.BOOLEAN)
Ends = tuple[Fraction, Fraction]
Columns = Mapping[str, Column]


def domain(expression: Expression, columns: Columns) -> Domain[Value] | None:
    """The domain of an expression's values other than NULL; None where none is evident, or its type says as much."""
    listed = _listed(expression, columns)
    if listed is not None and (values := {encoded(one, expression.kind) for one in listed if one is not None}):
        return _compact(tuple(sorted(values, key=_order)), expression.kind)
    ends = _ends(expression, columns) if expression.kind.family is Family.INTEGER else None
    return Domain(int(ends[0]), int(ends[1])) if ends is not None and ends != _of_type(expression.kind) else None


def _compact(values: tuple[Value, ...], kind: DataType) -> Domain[Value] | None:
    """A list of values, least first; whole numbers without a gap as a range."""
    least, most = values[0], values[-1]
    if kind.family is Family.BOOLEAN:
        return None
    if kind.family is Family.INTEGER and isinstance(least, int) and isinstance(most, int):
        return Domain(least, most) if most - least == len(values) - 1 else Domain(values=values)
    return Domain(values=values)


def _order(value: Value) -> Fraction | bytes:
    return value.encode() if isinstance(value, str) else Fraction(value)


def encoded(value: Fraction | str, kind: DataType) -> Value:
    """A value in the units of its type: a decimal's digits without the point."""
    if isinstance(value, str):
        return value
    if kind.family is Family.DECIMAL:
        value = value * 10 ** (kind.scale or 0)
    return value if kind.family is Family.FLOAT else int(value)


def plain_value(value: Value | float | None, kind: DataType) -> Scalar:
    """A value without the units of its type.

    >>> from streambound.analyzer.constants import kind_of
    >>> plain_value(250, kind_of("decimal(9,2)"))
    Fraction(5, 2)
    """
    if value is None or isinstance(value, str):
        return value
    return Fraction(value) / 10 ** (kind.scale or 0) if kind.family is Family.DECIMAL else Fraction(value)


def _listed(expression: Expression, columns: Columns) -> frozenset[Scalar] | None:
    """All values, NULL among them where it may be, as far as they are few; None otherwise."""
    match expression:
        case Literal(constant):
            return frozenset((constant.value,))
        case Field(name):
            return _of_column(columns[name])
    found = _of_choices(expression, columns)
    if found is None:
        found = _tried(expression, columns)
    return found if found is not None and len(found - {None}) <= MOST_VALUES else None


def _of_column(column: Column) -> frozenset[Scalar] | None:
    if column.domain is not None and column.domain.values:
        return frozenset((None, *(plain_value(value, column.type) for value in column.domain.values)))
    low, high = column.ends
    if not isinstance(low, int) or not isinstance(high, int) or high - low >= MOST_VALUES:
        return None
    return frozenset((None, *(plain_value(value, column.type) for value in range(low, high + 1))))


def chosen(call: Call) -> tuple[Expression, ...] | None:
    """The arguments of which one is the result; None where the result is none of them."""
    name, arguments = call.function.name, call.arguments
    if name in ("case", "if"):
        return (*arguments[1::2], *(arguments[-1:] if len(arguments) % 2 else ()))
    if name == "nvl2":
        return arguments[1:]
    if name == "nullif":
        return arguments[:1]
    return arguments if name in _CHOOSING else None


def _of_choices(call: Call, columns: Columns) -> frozenset[Scalar] | None:
    """The values of what is chosen from, in the type of the result; NULL where nothing may be chosen."""
    parts = chosen(call)
    if parts is None:
        return None
    found: set[Scalar] = {None}
    for part in parts:
        own = _listed(part, columns)
        if own is None:
            return None
        try:
            found |= {_cast(value, part.kind, call.kind) for value in own}
        except (Fails, NotKnown):
            return None
    return frozenset(found)


def _cast(value: Scalar, kind: DataType, target: DataType) -> Scalar:
    return converted(target, Folded(value, kind))


def _tried(call: Call, columns: Columns) -> frozenset[Scalar] | None:
    """The values for all arguments that there can be, where these are few; what fails gives none."""
    options = [_listed(argument, columns) for argument in call.arguments]
    number = prod(len(option or ()) for option in options)
    if any(option is None for option in options) or number > _MOST_TRIED:
        return None
    spend(_STEPS * number)
    found: set[Scalar] = set()
    for combination in product(*(option or () for option in options)):
        literals = (Literal(Folded(v, a.kind)) for v, a in zip(combination, call.arguments, strict=True))
        written = (a if isinstance(a, Literal) else one for a, one in zip(call.arguments, literals, strict=True))
        try:
            found.add(value_of(Call(call.function, tuple(written), call.kind), {}).value)
        except Fails:
            continue
        except NotKnown:
            return None
    return frozenset(found)


# --- ranges ----------------------------------------------------------------------------------------------------------


def _of_type(kind: DataType) -> Ends | None:
    return (Fraction(kind.range[0]), Fraction(kind.range[1])) if kind.range else None


def _ends(expression: Expression, columns: Columns) -> Ends | None:
    """The ends of a whole number's values; None where there are none, or none are evident."""
    if expression.kind.family not in _EXACT:
        return None
    return _narrower(_found_ends(expression, columns), _of_type(expression.kind))


def _narrower(first: Ends | None, second: Ends | None) -> Ends | None:
    if first is None or second is None:
        return first or second
    both = max(first[0], second[0]), min(first[1], second[1])
    return both if both[0] <= both[1] else None


def _found_ends(expression: Expression, columns: Columns) -> Ends | None:
    listed = _listed(expression, columns)
    if listed is not None and (numbers := [one for one in listed if isinstance(one, Fraction)]):
        return min(numbers), max(numbers)
    match expression:
        case Field(name):
            low, high = columns[name].ends
            return None if low is None or high is None else (Fraction(low), Fraction(high))
        case Call():
            return _of_call(expression, columns)
    return None


def _of_call(call: Call, columns: Columns) -> Ends | None:
    name, arguments = call.function.name, call.arguments
    if call.function.within is not None:
        return Fraction(call.function.within[0]), Fraction(call.function.within[1])
    parts = chosen(call)
    if parts is not None:
        return _union([_ends(part, columns) for part in parts if part.kind.name != "void"])
    if name in ("%", "mod", "pmod") and (ends := _ends(arguments[1], columns)) is not None:
        most = max(max(map(abs, ends)) - 1, Fraction(0))
        if name == "pmod":
            return (Fraction(0) if ends[0] > 0 else -most), most
        dividend = _lowest(arguments[0], columns)
        return (Fraction(0) if dividend is not None and dividend >= 0 else -most), most
    if name in ("cast", "try_cast", "positive", "round", "floor", "ceil", "ceiling") and len(arguments) == 1:
        return _ends(arguments[0], columns)
    inner = [_ends(argument, columns) for argument in arguments]
    if any(one is None for one in inner):
        return None
    return _combined(name, [one for one in inner if one is not None])


def _lowest(expression: Expression, columns: Columns) -> Fraction | None:
    ends = _ends(expression, columns)
    return ends[0] if ends else None


def _union(ends: list[Ends | None]) -> Ends | None:
    known = [one for one in ends if one is not None]
    if not known or len(known) < len(ends):
        return None
    return min(one[0] for one in known), max(one[1] for one in known)


def _combined(name: str, ends: list[Ends]) -> Ends | None:
    match name, ends:
        case "+", [(a, b), (c, d)]:
            return a + c, b + d
        case "-", [(a, b), (c, d)]:
            return a - d, b - c
        case "*", [(a, b), (c, d)]:
            corners = [a * c, a * d, b * c, b * d]
            return min(corners), max(corners)
        case "div", [(a, b), (c, d)] if c > 0 or d < 0:
            most = max(abs(a), abs(b))
            return -most, most
        case "negative", [(a, b)]:
            return -b, -a
        case "abs", [(a, b)]:
            return (Fraction(0) if a <= 0 <= b else min(abs(a), abs(b))), max(abs(a), abs(b))
    return None
