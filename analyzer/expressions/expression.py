"""An expression over one row, as the registry knows it, and its value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from msgspec import Struct

from streambound.analyzer.constants import Folded
from streambound.analyzer.expressions.function import ANY, Function, NotKnown, Scalar, exactly
from streambound.analyzer.types import DataType
from streambound.analyzer.work import spend

_STEPS = 4


class Field(Struct, frozen=True):
    """A column of the row."""

    name: str
    kind: DataType


class Literal(Struct, frozen=True):
    """A constant."""

    constant: Folded

    @property
    def kind(self) -> DataType:
        """The type that Spark gives it."""
        return self.constant.kind


class Call(Struct, frozen=True):
    """An operator or function, or a cast, with its arguments; ``kind`` is the type of the result."""

    function: Function
    arguments: tuple[Expression, ...]
    kind: DataType


Expression = Field | Literal | Call


def fields(expression: Expression) -> frozenset[str]:
    """The columns that an expression reads."""
    match expression:
        case Field(name):
            return frozenset((name,))
        case Call(arguments=arguments):
            return frozenset().union(*map(fields, arguments))
    return frozenset()


def calls(expression: Expression) -> Iterator[Call]:
    """The calls in an expression, from the outside inwards."""
    if isinstance(expression, Call):
        yield expression
        for argument in expression.arguments:
            yield from calls(argument)


def value_of(expression: Expression, row: Mapping[str, Scalar]) -> Folded:
    """The value of an expression of a row; raises Fails where Spark fails, NotKnown where only Spark knows."""
    match expression:
        case Field(name, kind):
            return Folded(row[name], kind)
        case Literal(constant):
            return constant
    spend(_STEPS)
    if expression.kind == ANY:
        raise NotKnown(f"the value of {expression.function.name}")
    if expression.function.lazy is not None:
        thunks = tuple(partial(value_of, argument, row) for argument in expression.arguments)
        return Folded(expression.function.lazy(expression.kind, thunks), expression.kind)
    arguments = tuple(value_of(argument, row) for argument in expression.arguments)
    return applied(expression, arguments)


def applied(call: Call, arguments: tuple[Folded, ...]) -> Folded:
    """The value of a function that evaluates all its arguments; NULL if one of them is NULL."""
    if call.function.value is None:
        raise NotKnown(f"the value of {call.function.name}")
    if any(argument.value is None for argument in arguments):
        return Folded(None, call.kind)
    function, kind = call.function.value, call.kind
    return Folded(exactly(lambda: Folded(function(kind, arguments), kind)), kind)
