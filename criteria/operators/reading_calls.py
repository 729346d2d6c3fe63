"""The aggregates of a SELECT with the syntax of their arguments."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from streambound.analyzer.algebra.nodes import AggregateCall
from streambound.analyzer.flatten import written
from streambound.criteria.operators.judge import NoRule

KNOWN = ("COUNT", "SUM", "AVG", "MIN", "MAX", "VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP")
"""The aggregates that propositions speak of."""
SPREADS = ("VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP")
"""Those that need the sum of squares."""


@dataclass(frozen=True, slots=True)
class AggregateRead:
    """An aggregate with the syntax of its arguments."""

    function: str
    arguments: tuple[exp.Expr, ...]
    distinct: bool
    condition: exp.Expr | None
    syntax: exp.Expr


def call_of(call: AggregateCall) -> AggregateRead:
    """A call of the algebra; raises NoRule for an aggregate that no proposition speaks of."""
    if call.function not in KNOWN or call.order:
        raise NoRule
    arguments = tuple(written(argument) for argument in call.arguments)
    if call.function == "COUNT" and not call.distinct and all(isinstance(one, exp.Literal) for one in arguments):
        arguments = ()
    distinct = call.distinct and call.function not in ("MIN", "MAX")
    condition = written(call.filter) if call.filter is not None else None
    return AggregateRead(call.function, arguments, distinct, condition, written(call))


def needs_values(call: AggregateRead) -> bool:
    """Whether an aggregate is computed of values, not of sums."""
    return call.distinct or call.function in ("MIN", "MAX")
