"""Conditions, comparisons and what chooses among values; SQL's three-valued logic, evaluated from left to right."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from streambound.analyzer import comparands
from streambound.analyzer.casts import cast
from streambound.analyzer.constants import BOOLEAN, VOID, ConstantError, Folded, is_interval
from streambound.analyzer.expressions.function import ANY, Function, NotKnown, Scalar, always, exactly
from streambound.analyzer.expressions.kinds import common
from streambound.analyzer.types import DataType, Family

Thunk = Callable[[], Folded]
_MANY = 1_000
TRUE, FALSE = Fraction(1), Fraction(0)


def _sides(left: Folded, right: Folded) -> tuple[Fraction | str, Fraction | str]:
    """Two values, neither NULL, as Spark compares them."""
    try:
        a, b = comparands.folded(left, right)
    except ConstantError as error:
        raise NotKnown(str(error)) from error
    others = [one.kind for one in (left, right) if one.kind.family is Family.OTHER]
    if a is None or b is None or not (len(others) in (0, 2) and all(map(is_interval, others))):
        raise NotKnown("values that cannot be compared")
    return a, b


def compare(left: Folded, right: Folded) -> int:
    """Less, equal or greater: -1, 0, 1; texts by their bytes in UTF-8, as Spark has them. Raises NotKnown."""
    a, b = _sides(left, right)
    x: bytes | Fraction = a.encode() if isinstance(a, str) else a
    y: bytes | Fraction = b.encode() if isinstance(b, str) else b
    return (x > y) - (x < y)  # type: ignore[operator]  # both are texts or both numbers


def _comparison(name: str, holds: Callable[[int], bool]) -> Function:
    def value(kind: DataType, arguments: tuple[Folded, ...]) -> Scalar:
        return Fraction(holds(compare(*arguments)))

    return Function(name, always(BOOLEAN), value, arguments=(2, 2))


def _same(kind: DataType, arguments: tuple[Thunk, ...]) -> Scalar:
    """``<=>``: NULL is the same as NULL."""
    left, right = (one() for one in arguments)
    if left.value is None or right.value is None:
        return Fraction(left.value is right.value)
    return Fraction(compare(left, right) == 0)


def _not_same(kind: DataType, arguments: tuple[Thunk, ...]) -> Scalar:
    return TRUE if _same(kind, arguments) == FALSE else FALSE


def _connective(decisive: Fraction) -> Callable[[DataType, tuple[Thunk, ...]], Scalar]:
    """AND, which one false operand decides, or OR, which a true one does."""

    def value(kind: DataType, arguments: tuple[Thunk, ...]) -> Scalar:
        found: Scalar = 1 - decisive
        for one in arguments:
            part = one().value
            if part == decisive:
                return decisive
            found = None if part is None else found
        return found

    return value


def _listed(kind: DataType, arguments: tuple[Thunk, ...]) -> Scalar:
    """IN."""
    sought, unknown = arguments[0](), False
    if sought.value is None:
        return None
    for one in arguments[1:]:
        item = one()
        unknown = unknown or item.value is None
        if item.value is not None and compare(sought, item) == 0:
            return TRUE
    return None if unknown else FALSE


def _listed_kind(arguments: tuple[Folded, ...]) -> DataType:
    return ANY if comparands.mixes_texts([one.kind for one in arguments]) else BOOLEAN


def _tested(name: str, wanted: Callable[[Scalar], bool]) -> Function:
    return Function(name, always(BOOLEAN), lazy=lambda kind, one: Fraction(wanted(one[0]().value)))


def converted(kind: DataType, chosen: Folded) -> Scalar:
    """A chosen value in the type of all; raises Fails and NotKnown."""
    return None if chosen.value is None else exactly(lambda: cast(chosen, kind))


def _coalesced(kind: DataType, arguments: tuple[Thunk, ...]) -> Scalar:
    for one in arguments:
        found = one()
        if found.value is not None:
            return converted(kind, found)
    return None


def _cased(kind: DataType, arguments: tuple[Thunk, ...]) -> Scalar:
    """Conditions and results in turn, and at last the result of ELSE, if there is one."""
    for condition, result in zip(arguments[::2], arguments[1::2], strict=False):
        if condition().value == TRUE:
            return converted(kind, result())
    return converted(kind, arguments[-1]()) if len(arguments) % 2 else None


def _results(arguments: tuple[Folded, ...]) -> tuple[Folded, ...]:
    return (*arguments[1::2], *(arguments[-1:] if len(arguments) % 2 else ()))


def _case_kind(arguments: tuple[Folded, ...]) -> DataType:
    return common(_results(arguments))


def _nvl2(kind: DataType, arguments: tuple[Thunk, ...]) -> Scalar:
    return converted(kind, arguments[1 if arguments[0]().value is not None else 2]())


def _nullif(kind: DataType, arguments: tuple[Thunk, ...]) -> Scalar:
    first, second = arguments[0](), arguments[1]()
    equal = None not in (first.value, second.value) and compare(first, second) == 0
    return None if equal else first.value


def _extreme(sign: int, kind: DataType, arguments: tuple[Thunk, ...]) -> Scalar:
    """GREATEST and LEAST leave NULL out."""
    found: Folded | None = None
    for value in (Folded(converted(kind, one()), kind) for one in arguments):
        if value.value is not None and (found is None or sign * compare(value, found) > 0):
            found = value
    return None if found is None else found.value


def _first_kind(arguments: tuple[Folded, ...]) -> DataType:
    return ANY if arguments[0].kind == VOID else arguments[0].kind


COMPARISONS = (
    _comparison("=", lambda order: order == 0),
    _comparison("<>", lambda order: order != 0),
    _comparison("<", lambda order: order < 0),
    _comparison("<=", lambda order: order <= 0),
    _comparison(">", lambda order: order > 0),
    _comparison(">=", lambda order: order >= 0),
    Function("<=>", always(BOOLEAN), lazy=_same, arguments=(2, 2)),
    Function("equal_null", always(BOOLEAN), lazy=_same, arguments=(2, 2)),
    Function("is distinct from", always(BOOLEAN), lazy=_not_same, arguments=(2, 2)),
    Function("in", _listed_kind, lazy=_listed, arguments=(2, 100_000)),
)
"""Comparisons."""

CONDITIONS = (
    Function("and", always(BOOLEAN), lazy=_connective(FALSE), arguments=(2, _MANY)),
    Function("or", always(BOOLEAN), lazy=_connective(TRUE), arguments=(2, _MANY)),
    Function("not", always(BOOLEAN), lambda kind, one: 1 - one[0].exact),
    _tested("is null", lambda value: value is None),
    _tested("isnull", lambda value: value is None),
    _tested("isnotnull", lambda value: value is not None),
    _tested("is true", lambda value: value == TRUE),
    _tested("is false", lambda value: value == FALSE),
    Function("isnan", always(BOOLEAN), lazy=lambda kind, one: FALSE),
)
"""Conditions."""

CHOICES = (
    Function("case", _case_kind, lazy=_cased, arguments=(2, _MANY)),
    Function("if", _case_kind, lazy=_cased, arguments=(3, 3)),
    Function("coalesce", common, lazy=_coalesced, arguments=(1, _MANY)),
    Function("nvl", common, lazy=_coalesced, arguments=(2, 2)),
    Function("ifnull", common, lazy=_coalesced, arguments=(2, 2)),
    Function("nvl2", lambda arguments: common(arguments[1:]), lazy=_nvl2, arguments=(3, 3)),
    Function("nullif", _first_kind, lazy=_nullif, arguments=(2, 2)),
    Function("greatest", common, lazy=partial(_extreme, 1), arguments=(2, _MANY)),
    Function("least", common, lazy=partial(_extreme, -1), arguments=(2, _MANY)),
)
"""What chooses among its arguments."""
