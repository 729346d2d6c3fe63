"""The rewriting of a SEQ TP block as text: an operator a line, with its windows and what is moved between tasks."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.temporal.lineage import LineageBlock
from streambound_runtime.periods.plan import (
    PeriodFilter,
    PeriodJoin,
    PeriodPlan,
    PeriodProject,
    SnapshotScan,
    inputs_of,
)
from streambound_runtime.tp.plan import keeps_facts, merges

_SIGNS = {"inner": "⋈", "left": "⟕", "right": "⟖", "full": "⟗", "anti": "▷"}
_WINDOWS = {
    "inner": "overlapping windows",
    "left": "overlapping windows, unmatched and negating ones of the left side",
    "right": "overlapping windows, unmatched and negating ones of the right side",
    "full": "overlapping windows, unmatched and negating ones of both sides",
    "anti": "unmatched and negating windows of the left side",
}


def lineage_lines(block: LineageBlock) -> Iterator[str]:
    """The block, operator by operator, those under one below it."""
    query = block.query
    yield f"SEQ TP of {query.name}, at every {query.time_type}: {', '.join(block.columns)}"
    yield f"  P, at most {query.nodes:,} nodes a lineage, without rows of no possible world"
    tables = {table.name: table.period for table in block.tables}
    for depth, plan in _operators(query.plan, 2):
        line = _line(plan)
        if isinstance(plan, SnapshotScan) and (period := tables.get(plan.table)) is not None:
            line += f", valid in [{period.begin}, {period.end}), variable {plan.table}.{period.key}"
        yield "  " * depth + line


def _operators(plan: PeriodPlan, depth: int) -> Iterator[tuple[int, PeriodPlan]]:
    yield depth, plan
    for under in inputs_of(plan):
        yield from _operators(under, depth + 1)


def _line(plan: PeriodPlan) -> str:
    match plan:
        case SnapshotScan(table, names):
            return f"{table} ({', '.join(f'{name} AS c{place}' for place, name in enumerate(names))})"
        case PeriodFilter(condition=condition):
            return f"σ {condition}"
        case PeriodProject(items=items):
            shown = ", ".join(f"{item} AS c{place}" for place, item in enumerate(items))
            more = "" if keeps_facts(plan) else "; the disjunction of derivations, equivalent neighbours merged: {}"
            return f"Π {shown}{more.format('shuffle by the values')}"
        case PeriodJoin():
            return _join(plan)
    raise AssertionError(f"{type(plan).__name__} has no lineage")


def _join(plan: PeriodJoin) -> str:
    keys = [f"left {mine} = right {theirs}" for mine, theirs in plan.keys]
    tests = [*keys, *([plan.condition] if plan.condition else []), "valid together"]
    moved = "the keys" if keys else "bin of time"
    found = f"{_SIGNS[plan.kind]} {' AND '.join(tests)}; {_WINDOWS[plan.kind]}; shuffle both sides by {moved}"
    if merges(plan) or plan.kind == "full" or not keys:
        found += "; equivalent neighbours merged: shuffle by the values"
    return found
