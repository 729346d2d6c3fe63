"""Aggregates in DuckDB's SQL: those that give what Spark gives in whatever order rows come."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streambound.analyzer.algebra.nodes import AggregateCall
from streambound.analyzer.constants import BIGINT
from streambound.analyzer.expressions.engine_sql import EnginePart, Outside, engine_type, raising
from streambound.analyzer.types import DataType, Family

_EXACT_IN_DOUBLES = 2**53


def engine_aggregate(
    call: AggregateCall, parts: Sequence[EnginePart], kind: DataType, only: exp.Expr | None
) -> EnginePart:
    """An aggregate of at most one value, with Spark's type; ``only`` says which rows count. Raises Outside."""

    def aggregate(function: str, value: exp.Expr | None) -> exp.Expr:
        value = exp.Star() if value is None else value.copy()
        made: exp.Expr = exp.Anonymous(
            this=function, expressions=[exp.Distinct(expressions=[value]) if call.distinct else value]
        )
        return made if only is None else exp.Filter(this=made, expression=exp.Where(this=only.copy()))

    if call.function == "COUNT":
        return EnginePart(aggregate("COUNT", parts[0].node if parts else None), BIGINT)
    (part,) = parts
    match call.function, part.kind.family:
        case (("MIN" | "MAX"), _):
            return EnginePart(aggregate(call.function, part.node), kind, part.raises, part.wide)
        case "SUM", (Family.INTEGER | Family.DECIMAL):
            return EnginePart(exp.cast(aggregate("SUM", part.node), engine_type(kind)), kind, part.raises)
        case "AVG", Family.INTEGER if not call.distinct:  # Spark adds doubles: exact while these hold every number
            total = exp.cast(aggregate("SUM", part.node), engine_type(kind))
            mean = exp.Div(this=total, expression=aggregate("COUNT", part.node))
            wide = exp.cast(part.node.copy(), "hugeint", dialect="duckdb")
            sizes = aggregate("SUM", exp.Anonymous(this="abs", expressions=[wide]))
            beyond = exp.GTE(this=sizes, expression=exp.Literal.number(_EXACT_IN_DOUBLES))
            node = exp.Case(
                ifs=[exp.If(this=beyond, true=raising(exp.Literal.string("NEEDS_SPARK"), kind))], default=mean
            )
            return EnginePart(node, kind, part.raises)
    raise Outside(f"{call.function} of {part.kind.name}", "Spark rounds it by the order of rows, or by digits")
