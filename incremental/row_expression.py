"""Expressions over rows by position, with the text that readers see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import cast

from streambound.analyzer.constants import Folded
from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal, fields, value_of
from streambound.analyzer.expressions.function import Scalar
from streambound.analyzer.models import Described
from streambound.analyzer.types import DataType
from streambound.analyzer.work import cached
from streambound.incremental.zset import Row, Value

TRUE = 1
"""What a condition that holds has as its value."""
_CONDITIONS, _REMEMBERED = 64, 1 << 16
"""How many conditions are remembered, and for how many values each."""


class _ByPosition:
    """A row as a map from the names of its positions."""

    __slots__ = ("row",)

    def __init__(self, row: Row) -> None:
        self.row = row

    def __getitem__(self, name: str) -> Value:
        return self.row[int(name)]


class RowExpression(Described, frozen=True):
    """An expression whose fields are named "0", "1" … for the positions of a row; ``text`` is what readers see."""

    DESCRIPTION = ("text",)

    value: Expression
    text: str = ""

    def __call__(self, row: Row) -> Value:
        """Its value of a row; raises Fails where Spark fails, NotKnown where only Spark knows."""
        if isinstance(self.value, Field):
            return row[int(self.value.name)]
        return value_of(self.value, cast("Mapping[str, Scalar]", _ByPosition(row))).value

    def holds(self, row: Row) -> bool:
        """Whether a condition is true of a row: neither false nor NULL."""
        return self(row) == TRUE

    @property
    def kind(self) -> DataType:
        """The type of its values."""
        return self.value.kind

    @property
    def is_column(self) -> bool:
        """Whether it is a column as it is."""
        return isinstance(self.value, Field)

    @property
    def positions(self) -> frozenset[int]:
        """The positions of the row that it reads."""
        return frozenset(map(int, fields(self.value)))

    def moved(self, to: Mapping[int, Expression]) -> RowExpression:
        """The same expression over other rows: each position replaced by an expression over them."""
        return RowExpression(_moved(self.value, to), self.text)

    def shifted(self, by: int) -> RowExpression:
        """The same expression over rows with more columns in front."""
        return RowExpression(_shifted(self.value, by), self.text)


def _moved(expression: Expression, to: Mapping[int, Expression]) -> Expression:
    match expression:
        case Field(name):
            return to[int(name)]
        case Call(function, arguments, kind):
            return Call(function, tuple(_moved(argument, to) for argument in arguments), kind)
    return expression


def _shifted(expression: Expression, by: int) -> Expression:
    match expression:
        case Field(name, kind):
            return Field(str(int(name) + by), kind)
        case Call(function, arguments, kind):
            return Call(function, tuple(_shifted(argument, by) for argument in arguments), kind)
    return expression


@cached(_CONDITIONS)
def remembered(condition: RowExpression) -> Callable[[Row], bool]:
    """As `RowExpression.holds`, and worked out once for the values that it reads.

    A search for witnesses joins the same rows hundreds of times.
    """
    read = sorted(condition.positions)
    width = max(read, default=-1) + 1

    @lru_cache(_REMEMBERED)
    def holds(values: Row) -> bool:
        row: list[Value] = [None] * width
        for at, value in zip(read, values, strict=True):
            row[at] = value
        return condition.holds(tuple(row))

    return lambda row: holds(tuple([row[at] for at in read]))


def position(at: int, kind: DataType, text: str = "") -> RowExpression:
    """The column at a position."""
    return RowExpression(Field(str(at), kind), text)


def constant(value: Value, kind: DataType, text: str) -> RowExpression:
    """A constant."""
    return RowExpression(Literal(Folded(value, kind)), text)
