"""What is known of an operator or function of Spark: its result's type, the values that can come out, and the value."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from msgspec import Struct

from streambound.analyzer.casts import CastError
from streambound.analyzer.constants import ConstantError, Folded
from streambound.analyzer.types import DataType, Family

ANY = DataType("unknown", Family.OTHER)
"""The type of what is not known: an expression of it can be a condition, if Spark takes it to be true or false."""

Scalar = Fraction | str | None
"""A value as `Folded` has it."""

Kind = Callable[[tuple[Folded, ...]], DataType]
"""The type of a result; of an argument that is a literal the value is known, of others it is None."""

Value = Callable[[DataType, tuple[Folded, ...]], Scalar]
"""The value of a result of a type."""

Lazy = Callable[[DataType, tuple[Callable[[], Folded], ...]], Scalar]


class Fails(Exception):
    """Spark raises an error where it evaluates this, in ANSI mode."""


class NotKnown(Exception):
    """Spark's result is not known."""


class Function(Struct, frozen=True):
    """An operator or function by its name in small letters.

    ``value`` is not asked where an argument is NULL, for then the result is; ``lazy`` instead of it gets arguments
    that are evaluated when called. ``arguments`` is how many there are at least and at most, ``within`` the ends of all
    results, where they are evident.
    """

    name: str
    kind: Kind
    value: Value | None = None
    lazy: Lazy | None = None
    arguments: tuple[int, int] = (1, 1)
    within: tuple[int, int] | None = None


def always(kind: DataType) -> Kind:
    """A result of the same type whatever the arguments are."""
    return lambda arguments: kind


def first(arguments: tuple[Folded, ...]) -> DataType:
    """A result of the first argument's type."""
    return arguments[0].kind


def exactly(fold: Callable[[], Folded]) -> Scalar:
    """The result of a constant's arithmetic; raises Fails or NotKnown."""
    try:
        return fold().value
    except CastError as error:
        raise Fails(str(error)) from error
    except ConstantError as error:
        raise NotKnown(str(error)) from error


def whole(argument: Folded) -> int:
    """A whole number; raises NotKnown for another value."""
    if not isinstance(argument.value, Fraction) or argument.value.denominator != 1:
        raise NotKnown("not a whole number")
    return int(argument.value)
