"""Where a job's results and bad rows go, as Python text."""

from __future__ import annotations

from streambound.analyzer.catalog import Counters
from streambound.analyzer.endpoints import Target
from streambound.analyzer.types import DataType
from streambound.synopsis_exec.emit import Lines, literal
from streambound.synopsis_exec.plan_ir import Plan
from streambound.synopsis_exec.row_sql import quoted
from streambound.synopsis_exec.source_text import own_type


def sink_text(lines: Lines, plan: Plan) -> None:
    """Append the schema of a result, and the sinks."""
    columns = [*((column.name, column.type) for column in plan.columns), ("_ts", plan.time_type)]
    schema = ", ".join(f"{quoted(name)} {_written(kind)}" for name, kind in columns)
    count = "BIGINT" if plan.counters is Counters.BIGINT else "DECIMAL(38,0)"
    lines.add(f"RESULT = {literal(f'{schema}, _mult {count}')}")
    _target(lines, "SINK", plan.sink.target if plan.sink else None)
    _target(lines, "BAD", plan.sink.quarantine if plan.sink else None)
    lines.add(f"CALL = {literal(plan.sink.call if plan.sink else '')}")


def _written(kind: DataType) -> str:
    """The type that a column of the result is written as; a NULL that nothing gives a type is a string."""
    return "STRING" if kind.name == "void" else own_type(kind)


def _target(lines: Lines, name: str, target: Target | None) -> None:
    if target is None:
        lines.add(f"{name}: Target | None = None")
        return
    options = ", ".join(f"{literal(key)}: {literal(value)}" for key, value in target.options)
    parts = [literal(target.format), literal(target.path), f"{{{options}}}"]
    lines.call(f"{name}: Target | None = Target(", parts, ")")
