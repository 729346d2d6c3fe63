"""Percentiles of a group's values: MEDIAN, PERCENTILE, PERCENTILE_CONT and PERCENTILE_DISC, as Spark has them.

All are doubles. The continuous ones are interpolated between the two values that they lie between; the discrete one is
the first value, in order, that so many values come up to.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from streambound.analyzer.algebra.nodes import AggregateCall, Scalar
from streambound.analyzer.constants import numeral
from streambound.analyzer.expressions.dialect import parsed

PERCENTILES = ("MEDIAN", "PERCENTILE", "PERCENTILE_CONT", "PERCENTILE_DISC")
"""The aggregates that are percentiles."""
_HALF = 0.5
_PART = "which part of the values is below a percentile is a number from 0 to 1, such as 0.9"
_ORDERED = "{} (p) WITHIN GROUP (ORDER BY x) has one part p, and is ordered by one value"


class NoPercentileError(Exception):
    """A call that Spark or the query language refuses; its message says why."""


@dataclass(frozen=True, slots=True)
class Percentile:
    """A percentile of a ``value``: the ``part`` of the values, from 0 to 1, that comes before it in their order.

    They are in falling order if ``descending``; the ``discrete`` one is among them.
    """

    value: Scalar
    part: float = _HALF
    descending: bool = False
    discrete: bool = False

    @property
    def extreme(self) -> str | None:
        """MIN or MAX, whichever it is the same as but for its type; None for one within."""
        if self.part not in (0, 1):
            return None
        return "MAX" if (self.part == 1) != self.descending else "MIN"


def percentile_of(call: AggregateCall) -> Percentile | None:
    """The percentile that a call asks for, None for another aggregate; raises NoPercentileError."""
    match call.function:
        case "APPROX_PERCENTILE" | "PERCENTILE_APPROX" | "APPROX_QUANTILE":
            raise NoPercentileError(
                "an approximate percentile depends on how rows are put together; PERCENTILE is exact"
            )
        case "MEDIAN" | "PERCENTILE" if call.order:
            raise NoPercentileError(f"{call.function} takes no WITHIN GROUP; PERCENTILE_CONT does")
        case "MEDIAN":
            if len(call.arguments) != 1:
                raise NoPercentileError("MEDIAN(x) has one argument")
            return Percentile(call.arguments[0])
        case "PERCENTILE":
            if len(call.arguments) != 2:
                raise NoPercentileError(
                    "PERCENTILE(x, p) has two arguments; frequencies are outside the query language"
                )
            return Percentile(call.arguments[0], _part(call.arguments[1]))
        case "PERCENTILE_CONT" | "PERCENTILE_DISC":
            if len(call.arguments) != 1 or len(call.order) != 1:
                raise NoPercentileError(_ORDERED.format(call.function))
            if call.distinct:
                raise NoPercentileError("WITHIN GROUP takes no DISTINCT; PERCENTILE(DISTINCT x, p) does")
            (key,) = call.order
            return Percentile(key.value, _part(call.arguments[0]), key.descending, call.function == "PERCENTILE_DISC")
    return None


def _part(given: Scalar) -> float:
    node = parsed(given.text).unnest()
    if isinstance(node, exp.Cast) and node.is_type("double"):
        node = node.this
    part = numeral(node.name).exact if isinstance(node, exp.Literal) and not node.is_string else None
    if part is None or not 0 <= part <= 1:
        raise NoPercentileError(_PART)
    return float(part)
