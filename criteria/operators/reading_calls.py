"""The aggregates of a SELECT with the syntax of their arguments."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from streambound.analyzer.algebra.nodes import AggregateCall, Scalar
from streambound.analyzer.algebra.percentiles import PERCENTILES, Percentile, percentile_of
from streambound.analyzer.flatten import written
from streambound.criteria.operators.judge import NoRule

KNOWN = ("COUNT", "SUM", "AVG", "MIN", "MAX", "VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP", *PERCENTILES)
"""The aggregates that propositions speak of."""
SPREADS = ("VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP")
"""Those that need the sum of squares."""


@dataclass(frozen=True, slots=True)
class AggregateRead:
    """An aggregate with the syntax of its arguments; a percentile at 0 or 1 is a MIN or MAX, of a double."""

    function: str
    arguments: tuple[exp.Expr, ...]
    distinct: bool
    condition: exp.Expr | None
    syntax: exp.Expr
    percentile: Percentile | None = None


def call_of(call: AggregateCall) -> AggregateRead:
    """A call of the algebra; raises NoRule for an aggregate that no proposition speaks of."""
    percentile = percentile_of(call)
    if call.function not in KNOWN or (call.order and percentile is None):
        refusal = NoRule(f"the aggregate {call.function}")
        refusal.at = call
        raise refusal
    condition = written(call.filter) if call.filter is not None else None
    if percentile is not None:
        value, best = written(percentile.value), percentile.extreme
        if best is not None:
            value = exp.cast(value.copy(), "double")
        distinct = call.distinct and best is None
        return AggregateRead(best or call.function, (value,), distinct, condition, written(call), percentile)
    arguments = tuple(written(argument) for argument in call.arguments)
    if call.function == "COUNT" and not call.distinct and all(isinstance(one, exp.Literal) for one in arguments):
        arguments = ()
    distinct = call.distinct and call.function not in ("MIN", "MAX")
    return AggregateRead(call.function, arguments, distinct, condition, written(call))


def needs_values(call: AggregateRead) -> bool:
    """Whether an aggregate is computed of values, not of sums."""
    return call.distinct or call.function in ("MIN", "MAX") or call.percentile is not None


def counts_values(call: AggregateRead) -> bool:
    """Whether it matters how often each value is there (A4): a percentile is not that of the different ones."""
    return call.percentile is not None and call.percentile.extreme is None and not call.distinct


def value_of_call(call: AggregateRead, of_row: bool = False) -> Scalar:
    """The argument that an aggregate's values are; NULL, which is none, for rows that do not count.

    ``of_row``: as a column that is derived of its row, so that a time is a value as others are.
    """
    if len(call.arguments) > 1:
        raise NoRule("several arguments beside values")
    argument, condition = call.arguments[0], call.condition
    if condition is None and of_row:
        condition = exp.Not(this=exp.Is(this=exp.Paren(this=argument.copy()), expression=exp.Null()))
    if condition is not None:
        argument = exp.Case(ifs=[exp.If(this=condition.copy(), true=argument.copy())])
    return Scalar(argument.sql("spark"), argument)
