"""The values of derived columns and of computed ones, encoded by their types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.columns import Column
from streambound.analyzer.constants import Folded
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.evident import encoded, plain_value
from streambound.analyzer.expressions.expression import Call, Expression, Literal, fields, value_of
from streambound.analyzer.expressions.function import Function, NotKnown
from streambound.analyzer.expressions.reading import SUBQUERY, Refused, read
from streambound.analyzer.query import Computed
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.values import Value
from streambound.analyzer.work import cached

Evaluate = Callable[[Column, Sequence[Column], Mapping[str, Value | None]], Value | None]
"""The value of a derived column, by the columns that it reads and a row of encoded values; raises NotKnown."""
_evaluator: ContextVar[Evaluate | None] = ContextVar("evaluator", default=None)


@cached(1024)
def expression_of(column: Column, declared: tuple[Column, ...]) -> Expression:
    """The expression of a derived column, over the declared ones of its row."""
    return read(parsed(column.expression), {one.name: one.type for one in declared if not one.expression})


def derived_value(column: Column, declared: tuple[Column, ...], row: Mapping[str, Value | None]) -> Value | None:
    """The value of a derived column in a row of encoded values; raises Fails and NotKnown."""
    return value_in_row(expression_of(column, declared), column, declared, row)


def value_in_row(
    found: Expression, column: Column, declared: tuple[Column, ...], row: Mapping[str, Value | None]
) -> Value | None:
    """The same, where the expression is ``found``."""
    kinds = {one.name: one.type for one in declared}
    plain = {name: plain_value(row[name], kinds[name]) for name in fields(found)}
    try:
        value = value_of(found, plain)
        if value.kind.family is not column.type.family:
            raise NotKnown(f"the value of {column.name}")
    except NotKnown:
        evaluate = _evaluator.get()
        if evaluate is None or asked(column.expression):
            raise
        return evaluate(column, tuple(one for one in declared if one.name in plain), row)
    return None if value.value is None else encoded(value.value, value.kind)


@contextmanager
def evaluated_by(evaluate: Evaluate) -> Iterator[None]:
    """Ask another engine, in the block, for the values of derived columns that are not known here."""
    before = _evaluator.set(evaluate)
    try:
        yield
    finally:
        _evaluator.reset(before)


def is_evaluated_elsewhere() -> bool:
    """Whether another engine evaluates the derived columns that are unknown here."""
    return _evaluator.get() is not None


@cached(1024)
def asked(expression: str) -> frozenset[str]:
    """The names of the relations that an expression asks in subqueries, in small letters."""
    return frozenset(table.name.lower() for table in parsed(expression).find_all(exp.Table))


def of_no_rows(expression: Expression) -> Expression:
    """An expression where the relations that it asks have no rows: EXISTS and IN are false then, of any row."""
    match expression:
        case Call(Function(name=name), kind=kind) if name == SUBQUERY and kind.family is Family.BOOLEAN:
            return Literal(Folded(Fraction(0), kind))
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(map(of_no_rows, arguments)))
    return expression


def computed_value(computed: Computed, parts: Sequence[tuple[DataType, Value | None]]) -> Value | None:
    """The value of a computed output, of its parts' types and encoded values; raises Fails and NotKnown."""
    names = [f"_{place}" for place in range(1, len(parts) + 1)]
    try:
        found = read(parsed(computed.text), {name: kind for name, (kind, _) in zip(names, parts, strict=True)})
    except Refused as error:
        raise NotKnown(str(error)) from error
    row = {name: plain_value(value, kind) for name, (kind, value) in zip(names, parts, strict=True)}
    value = value_of(found, row)
    return None if value.value is None else encoded(value.value, value.kind)
