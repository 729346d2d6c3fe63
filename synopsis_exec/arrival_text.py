"""How the job knows the order of a stream's rows: lateness, punctuation records and partitions, as Python text."""

from __future__ import annotations

from sqlglot import exp

from streambound.analyzer.catalog import Column
from streambound.analyzer.query import Attribute, Comparison, Op
from streambound.analyzer.types import Family
from streambound.analyzer.values import Value, decode
from streambound.synopsis_exec.emit import Lines, literal
from streambound.synopsis_exec.plan_ir import Input
from streambound.synopsis_exec.row_sql import cell, condition, encoded


def arrival_text(lines: Lines, item: Input) -> None:
    """Append what differs from a stream of one partition in strict order."""
    arrival = item.arrival
    if arrival.lateness != 0:
        lines.add(f"lateness={arrival.lateness},")
    if arrival.idle_after is not None:
        lines.add(f"idle_after={arrival.idle_after},")
    if arrival.mark is not None:
        lines.add(f"mark={literal(mark(item))},")
        if arrival.mark.since is not None:
            lines.add(f"since={literal(_since(item, _column(item, arrival.mark.since)))},")
        lines.add(f"mark_columns={literal(mark_columns(item))},")
    if arrival.partitions is not None:
        column = _column(item, arrival.partitions.column)
        lines.add(f"part={literal(part(item))},")
        lines.add(f"parts={literal(tuple(_name(value, column) for value in arrival.partitions.values))},")


def mark(item: Input) -> str:
    """Whether a record is a punctuation, in Spark SQL over `row`; never NULL."""
    declared = item.arrival.mark
    if declared is None:
        return "FALSE"
    column = _column(item, declared.column)
    if declared.value is not None:
        test = _equals(item, column, declared.value)
    else:
        test = f"{cell(column)} LIKE {exp.Literal.string(declared.like).sql('spark')}"
    return f"coalesce({test}, FALSE)"


def mark_columns(item: Input) -> tuple[str, ...]:
    """The columns that a punctuation needs; empty where there are none."""
    declared, partitions = item.arrival.mark, item.arrival.partitions
    if declared is None:
        return ()
    wanted = {declared.column, declared.since, item.timestamp, partitions.column if partitions else None}
    return tuple(column.name for column in item.declared if column.name in wanted)


def part(item: Input) -> str:
    """The place of a row's partition among the declared ones, in Spark SQL over `row`; NULL for another."""
    partitions = item.arrival.partitions
    if partitions is None:
        return "0"
    column = _column(item, partitions.column)
    cases = (f"WHEN {_equals(item, column, value)} THEN {place}" for place, value in enumerate(partitions.values))
    return f"CASE {' '.join(cases)} END"


def _column(item: Input, name: str) -> Column:
    return next(column for column in item.declared if column.name == name)


def _equals(item: Input, column: Column, value: Value) -> str:
    return condition([Comparison(Attribute("row", column.name), Op.EQ, None, value)], item.declared)


def _since(item: Input, column: Column) -> str:
    """Integer time starts at 0, so that what ends from there on ends from the beginning."""
    if column.type.family is not Family.INTEGER:
        return encoded(column)
    return f"CASE WHEN {encoded(column)} > 0 THEN {encoded(column)} END"


def _name(value: Value, column: Column) -> str:
    return value if isinstance(value, str) else decode(value, column.type)
