"""The rewriting of SEQ blocks as text: an operator a line, those under it below, and what is moved for each."""

from __future__ import annotations

from collections.abc import Iterator

from streambound.analyzer.types import parse_type
from streambound.analyzer.values import decode
from streambound.temporal.lineage import LineageBlock
from streambound.temporal.snapshot import SnapshotBlock
from streambound.temporal.statement import SeqStatement
from streambound_runtime.operators.period_plan import (
    SliceAggregate,
    SliceCoalesce,
    SliceDifference,
    SliceDistinct,
    SliceFilter,
    SliceGroup,
    SliceJoin,
    SliceLineage,
    SlicePlan,
    SliceProject,
    SliceQuery,
    SliceRelation,
    SliceUnion,
    inputs_of,
)
from streambound_runtime.tp.plan import keeps_facts, merges

_SETS = {
    (False, False): "EXCEPT ALL: max(0, left - right)",
    (False, True): "EXCEPT: left > 0 and right = 0",
    (True, False): "INTERSECT ALL: min(left, right)",
    (True, True): "INTERSECT: left > 0 and right > 0",
}
_JOINS = {"inner": "⋈", "left": "⟕", "right": "⟖", "full": "⟗", "semi": "⋉", "anti": "▷"}
_WINDOWS = {
    "inner": "overlapping windows",
    "left": "overlapping windows, unmatched and negating ones of the left side",
    "right": "overlapping windows, unmatched and negating ones of the right side",
    "full": "overlapping windows, unmatched and negating ones of both sides",
    "anti": "unmatched and negating windows of the left side",
}


def rewriting_text(statement: SeqStatement) -> str:
    """The blocks of a statement, operator by operator, and the SQL around them."""
    lines = list[str]()
    for block in statement.blocks:
        keys = {table.name: table.period.key for table in block.tables if table.period is not None}
        lineages = isinstance(block, LineageBlock)
        lines += _head(block)
        for depth, operator in _operators(block.query.plan, 2 if lineages else 1):
            lines.append("  " * depth + (_lineage_line if lineages else _line)(operator))
            if isinstance(operator, SliceRelation) and lineages:
                lines[-1] += f", variable {operator.table}.{keys[operator.table]}"
        lines.append("")
    if statement.outer:
        lines += ["around it, by Spark:", f"  {statement.outer}"]
    return "\n".join(lines).rstrip()


def _head(block: SnapshotBlock | LineageBlock) -> list[str]:
    columns = ", ".join(block.columns)
    if isinstance(block, SnapshotBlock):
        return [f"SEQ VT of {block.query.name}, {_time(block.query)}: {columns}"]
    query = block.query
    worlds = f"  P, at most {query.nodes:,} nodes a lineage, without rows of no possible world"
    return [f"SEQ TP of {query.name}, {_time(query)}: {columns}", worlds]


def _operators(plan: SlicePlan, depth: int) -> Iterator[tuple[int, SlicePlan]]:
    yield depth, plan
    for under in inputs_of(plan):
        yield from _operators(under, depth + 1)


def _time(query: SliceQuery | SliceLineage) -> str:
    kind = parse_type(query.time_type)
    assert kind is not None, "it is a declared type"
    low, high = (None if end is None else decode(end, kind) for end in (query.low, query.high))
    if query.as_of:
        return f"as of {low}"
    if low is None and high is None:
        return f"at every {kind.name}"
    return f"from {low or 'the first time'} to before {high or 'the end'}"


def _line(plan: SlicePlan) -> str:
    """An operator in words, with the shuffles that it needs."""
    match plan:
        case SliceRelation(table, columns, period):
            when = f"in [{period[0]}, {period[1]})" if period else "at all of time"
            return f"{table or 'one row'} ({_columns(columns)}), valid {when}"
        case SliceFilter(condition=condition):
            return f"σ {condition}"
        case SliceProject(items=items):
            return f"Π {', '.join(f'{item} AS c{place}' for place, item in enumerate(items)) or '(no columns)'}"
        case SliceUnion():
            return "∪ rows of both sides"
        case SliceDistinct():
            return "δ each value once at a time; shuffle by all values"
        case SliceCoalesce():
            return "C maximal periods of constant multiplicity; shuffle by all values"
        case SliceDifference(common=common, distinct=distinct):
            return f"{_SETS[common, distinct]}, shuffle by all values"
        case SliceJoin():
            return _join(plan)
        case SliceGroup():
            return _group(plan)
    raise AssertionError(f"{type(plan).__name__} is no operator of a rewriting")


def _columns(names: tuple[str, ...]) -> str:
    return ", ".join(f"{name} AS c{place}" for place, name in enumerate(names))


def _join(plan: SliceJoin) -> str:
    return f"{_condition(plan)}; shuffle both sides by {'the keys' if plan.keys else 'bin of time'}"


def _condition(plan: SliceJoin) -> str:
    """The sign of a join, and when rows are joined."""
    keys = [f"left {mine} = right {theirs}" for mine, theirs in plan.keys]
    return f"{_JOINS[plan.kind]} {' AND '.join([*keys, *filter(None, [plan.condition]), 'valid together'])}"


# --- rows with lineages -----------------------------------------------------------------------------------------------


def _lineage_line(plan: SlicePlan) -> str:
    """An operator over rows with lineages in words; `_line` where that is the same."""
    how = "the disjunction of derivations, equivalent neighbours merged: shuffle by the values"
    match plan:
        case SliceProject() if not keeps_facts(plan):
            return f"{_line(plan)}; {how}"
        case SliceUnion():
            return f"{_line(plan)}; {how}"
        case SliceGroup():
            return f"{_line(plan)}; each number of rows that there can be, by {how}"
        case SliceDifference(common=common):
            word = "INTERSECT: rows of both sides" if common else "EXCEPT: rows of the left side, and none of the right"
            return f"{word}; each side's by {how}"
        case SliceJoin():
            moved = "the keys" if plan.keys else "bin of time"
            found = f"{_condition(plan)}; {_WINDOWS[plan.kind]}; shuffle both sides by {moved}"
            if merges(plan) or plan.kind == "full" or not plan.keys:
                found += "; equivalent neighbours merged: shuffle by the values"
            return found
    return _line(plan)


def _group(plan: SliceGroup) -> str:
    shown = ", ".join(map(_aggregate, plan.aggregates)) or "no aggregate"
    by = ", ".join(f"c{place}" for place in range(plan.keys))
    if plan.always:
        return f"γ {shown} at all of time; shuffle by bin of time"
    return f"γ {shown} by {by}; shuffle by {by}"


def _aggregate(one: SliceAggregate) -> str:
    inner = "*" if one.column is None else f"{'DISTINCT ' * one.distinct}c{one.column}"
    return f"{one.function.upper()}({inner})"
