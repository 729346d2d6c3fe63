"""Expressions over rows by position, from SQL; an operator of each kind over rows of two columns."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.algebra.aggregate_functions import aggregate_type
from streambound.analyzer.constants import BIGINT, DOUBLE
from streambound.analyzer.expressions.dialect import parsed
from streambound.incremental.aggregates import AggregateOf
from streambound.incremental.circuit import CircuitColumn, Op
from streambound.incremental.operators import (
    AggregateRows,
    AtMostOne,
    BucketsOp,
    DistinctOp,
    Equality,
    FilterOp,
    GroupOp,
    GroupRowsOp,
    JoinOp,
    MapOp,
    NegateOp,
    PlusOp,
    PositiveOp,
    SessionsOfGroup,
    SumsOp,
)
from streambound.incremental.row_expression import RowExpression
from streambound.incremental.translation.views import BoundView, NamedColumn, bind
from streambound.incremental.window_functions import Bounds, FirstOfPartition, OverPartition, RowOrder, WindowOf

AB = (NamedColumn("S", "a", BIGINT), NamedColumn("S", "b", BIGINT))
PAIR = (*AB, NamedColumn("T", "c", BIGINT), NamedColumn("T", "d", BIGINT))
SCHEMA = tuple(CircuitColumn(column.name, column.kind) for column in AB)


def over(text: str, columns: tuple[NamedColumn, ...] = AB) -> RowExpression:
    """An expression over rows of a and b, or of some other columns."""
    syntax = parsed(text)
    assert isinstance(syntax, exp.Expr)
    return bind(syntax, BoundView(-1, columns))


def call(name: str, *arguments: str) -> AggregateOf:
    """An aggregate over rows of a and b."""
    bound = tuple(over(one) for one in arguments)
    return AggregateOf(name, bound, aggregate_type(name.upper(), bound[0].kind if bound else None) or DOUBLE)


A, B = over("a"), over("b")
EQUAL = Equality(A, A)
LINEAR: tuple[Op, ...] = (
    FilterOp(over("a > 0")),
    FilterOp(over("a IS NULL OR b = 1")),
    MapOp((over("a + b"),)),
    MapOp(()),
    BucketsOp(A, 3, 1),
    BucketsOp(A, 2, 2, 1),
    NegateOp(),
    SumsOp((A,), (call("sum", "b"), call("count", "b"))),
    SumsOp((), (call("var_samp", "b"),)),
)
"""Operators of one input that are declared linear."""

BILINEAR: tuple[Op, ...] = (
    JoinOp(),
    JoinOp((EQUAL,)),
    JoinOp((Equality(A, A, null_safe=True),), over("b < d", PAIR)),
    JoinOp((), over("a + c > 1", PAIR)),
)
KEYED: tuple[Op, ...] = (
    DistinctOp(),
    PositiveOp(),
    GroupOp((A,), AggregateRows((A,), (call("min", "b"), call("max", "b")))),
    GroupOp((), AggregateRows((), (call("median", "b"),)), always=True),
    GroupOp((A,), OverPartition((RowOrder(B),), (WindowOf("row_number", BIGINT),))),
    GroupOp((A,), OverPartition((RowOrder(B, True),), (WindowOf("lag", BIGINT, B),))),
    GroupOp((), OverPartition((RowOrder(B),), (WindowOf("sum", BIGINT, aggregate=call("sum", "a"),
                                                        frame=Bounds(True, None, None)),))),
    GroupOp((), FirstOfPartition((RowOrder(A),), 2)),
    GroupOp((A,), FirstOfPartition((RowOrder(B, True, False),), 1)),
    GroupOp((A,), SessionsOfGroup(B, 1)),
)  # fmt: skip
"""Operators that are sums over keys of something that is not linear; they are of bags."""

GROUPS: tuple[tuple[SumsOp, GroupRowsOp], ...] = tuple(
    (SumsOp(keys, calls), GroupRowsOp(calls, always=not keys))
    for keys in ((A,), ())
    for calls in ((call("sum", "b"),), (call("avg", "b"), call("count", "b")))
)
TWO = (PlusOp(),)
ONE_ROW = GroupOp((), AtMostOne())
