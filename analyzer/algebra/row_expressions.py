"""Expressions over the columns of an operator's input, and their types; those of aggregates and functions over windows.

A column is a field called by its place in the input's schema.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.algebra.aggregate_functions import AGGREGATES, aggregate_type
from streambound.analyzer.algebra.nodes import AggregateCall, WindowCall
from streambound.analyzer.algebra.schema_columns import Schema, meant
from streambound.analyzer.algebra.window_functions import Gives, window_function, window_type
from streambound.analyzer.expressions.expression import Call, Expression, Field, Literal, fields, value_of
from streambound.analyzer.expressions.function import ANY, Fails, NotKnown
from streambound.analyzer.expressions.kinds import plain
from streambound.analyzer.expressions.reading import Refused, read_over
from streambound.analyzer.types import DataType, Family
from streambound.analyzer.work import by_identity

_KEEPS_VALUES = frozenset((
    "+", "-", "*", "/", "%", "div", "||", "=", "<>", "<", "<=", ">", ">=", "and", "or", "not", "in", "negative",
    "positive", "abs", "floor", "ceil", "ceiling", "upper", "lower", "length", "date_trunc",
    "date_format",
))  # fmt: skip
"""Functions that fail, or have a value other than NULL, where none of their arguments is NULL."""
_OF_TIMES, _TIMES = ("to_date", "unix_timestamp", "to_unix_timestamp"), ([Family.TIMESTAMP], [Family.DATE])
"""Functions that are never NULL of a time; of a text they may be."""
_NEVER_NULL = ("is null", "is true", "is false", "<=>", "is distinct from")


@by_identity
def row_expression(node: exp.Expr, given: Schema) -> Expression | None:
    """An expression over rows of these columns, each a field called by its place; None where it is not read here.

    Constant whole numbers are folded: ``1 + 1`` is 2.
    """
    try:
        return _folded(known_expression(node, given))
    except (Refused, KeyError):
        return None


def known_expression(node: exp.Expr, given: Schema) -> Expression:
    """The expression as it is written; raises KeyError if a name is no column, Refused if it has no meaning."""

    def field(column: exp.Column) -> Expression:
        place = meant(column, given)
        if place is None:
            raise KeyError(column.name)
        return Field(str(place), plain(given[place].type or ANY))

    # In a subquery, the row's columns are told by where they stand: it is read outside of the statement around it.
    return read_over(node.copy() if node.find(exp.Query) is not None else node, field)


def _folded(expression: Expression) -> Expression:
    """The expression with the values of its parts that are constant whole numbers; those that fail stay."""
    if not isinstance(expression, Call):
        return expression
    if expression.kind.family is Family.INTEGER and not fields(expression):
        try:
            return Literal(value_of(expression, {}))
        except (Fails, NotKnown):
            return expression
    return replace(expression, arguments=tuple(map(_folded, expression.arguments)))


def type_of(node: exp.Expr, given: Schema) -> tuple[DataType | None, bool]:
    """The type of an expression, None where it is not known, and whether it may be NULL."""
    found = row_expression(node, given)
    if found is None or found.kind == ANY:
        return None, True
    return found.kind, may_be_null(found, [column.nullable for column in given])


def may_be_null(expression: Expression, nulls: Sequence[bool] | Mapping[int, bool]) -> bool:
    """Whether an expression may be NULL, by which fields may be, called by their places."""
    match expression:
        case Field(name):
            return nulls[int(name)]
        case Literal(constant):
            return constant.value is None
        case Call(function, arguments):
            parts = [may_be_null(argument, nulls) for argument in arguments]
            match function.name:
                case "coalesce" | "nvl" | "ifnull":
                    return all(parts)
                case "case":
                    return any(parts[1::2]) or len(parts) % 2 == 0 or parts[-1]
                case name if name in _NEVER_NULL:
                    return False
                case "cast" if expression.kind.family is not Family.OTHER:
                    return any(parts)
                case name if name in _OF_TIMES and [one.kind.family for one in arguments] in _TIMES:
                    return any(parts)
                case name:
                    return name not in _KEEPS_VALUES or any(parts)


def is_null(expression: Expression, nulls: Collection[str]) -> bool:
    """Whether an expression is NULL where these fields are: by functions that are NULL where an argument is."""
    match expression:
        case Field(name):
            return name in nulls
        case Literal(constant):
            return constant.value is None
        case Call(function, arguments):
            strict = function.name in _KEEPS_VALUES and function.name not in ("and", "or", "in")
            return (strict or function.name == "cast") and any(is_null(argument, nulls) for argument in arguments)


def type_of_call(
    call: AggregateCall | WindowCall, arguments: Sequence[tuple[DataType | None, bool]], grouped: bool
) -> tuple[DataType | None, bool]:
    """The type of an aggregate or window function by its arguments' types, and whether it may be NULL.

    ``grouped``: it has a row to be computed of, unless its filter leaves none.
    """
    kind = arguments[0][0] if arguments else None
    nullable = not arguments or any(null for _, null in arguments)
    if call.function == "COUNT":
        return aggregate_type(call.function, kind), False
    if isinstance(call, WindowCall):
        return window_type(call, kind), window_function(call).gives not in (Gives.NUMBER, Gives.SHARE)
    found = AGGREGATES.get(call.function)
    whole = grouped and call.filter is None and found is not None and found.of_one_value
    return aggregate_type(call.function, kind), nullable or not whole
