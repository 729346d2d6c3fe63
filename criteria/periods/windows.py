"""P4 for rows with lineages: joins of two streams or relations need the rows that are valid, and nothing else.

An unmatched or negating window of a row is open since its matches have been the same, which is a counter of the row's
entry; an overlapping one is the time that two rows have in common, which they tell (Papaioannou et al., Section V).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import BIGINT, DOUBLE, STRING
from streambound.analyzer.emission import EmitMode
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.types import Family, parse_type
from streambound.criteria.periods.ends import P4
from streambound.criteria.periods.leaves import NOTHING, leaf, own_columns
from streambound.criteria.periods.lowering import NotRead, checked_type, join_tests, lowered, named
from streambound.criteria.periods.views import PeriodContext, PeriodView
from streambound.criteria.size import Number
from streambound.temporal.inferring import KEPT
from streambound.temporal.lineage import LineageBlock
from streambound_runtime.operators.epochs.plan import EpochJoin, EpochLineage, EpochMap, EpochPlan, RandomRows
from streambound_runtime.periods.plan import (
    PeriodFilter,
    PeriodJoin,
    PeriodPlan,
    PeriodProject,
    SnapshotScan,
    scans,
    width,
)
from streambound_runtime.tp.plan import WINDOWS, is_base


@dataclass(frozen=True, slots=True)
class _Top:
    """What a block shows of a join or of base rows, as places of its columns, and which rows."""

    source: PeriodPlan
    items: tuple[int, ...]
    where: str = ""


def lineage_windows(
    block: LineageBlock, emit: EmitMode, context: PeriodContext
) -> tuple[EpochLineage, list[Column], bool]:
    """The operator of a block over streams, the columns of its results, and whether it never has any; notes its states.

    Raises NotRead.
    """
    query = block.query
    top = _top(query.plan)
    join = top.source if isinstance(top.source, PeriodJoin) else None
    operands = [join.left, join.right] if join else [top.source]
    sides = [_side(one, context) for one in operands]
    tables = [base_table(one, context).name for one in operands]
    types = [view.types[:-2] for view in sides]
    both = tuple(kind for mine in types for kind in mine)
    plan: EpochPlan = sides[0].plan
    keys: list[tuple[int, int]] = []
    if join is not None:
        keys, condition = join_tests(join, *types)
        widths = len(types[0]), len(types[1])
        plan = EpochJoin(join.kind, sides[0].plan, sides[1].plan, widths, tuple(keys), named(both), condition)
    seen = types[0] if join is not None and join.kind == "anti" else both
    if top.where:
        checked_type(top.where, seen)
    _keeps_facts(join, keys, top, [len(mine) for mine in types])
    parts = emit is EmitMode.PARTS
    if parts and join is not None and any(WINDOWS[join.kind]):
        raise NotRead("emit parts of rows without a match, which are known when they end,")
    if not parts or join is not None:
        for view in sides:
            context.remember("valid rows", P4, view.valid, (*view.names, "end"), view.streams)
    if join is not None and join.kind == "full" and emit is EmitMode.FINAL:
        context.remember("rows without values", P4, Number(1), (), ())
    shown = tuple(seen[place] for place in top.items)
    made = EpochLineage(
        EpochMap(plan, named(seen), named(shown), tuple(f"c{place}" for place in top.items), top.where),
        tuple(
            RandomRows(name, *(kind.name for kind in view.types[-2:])) for name, view in zip(tables, sides, strict=True)
        ),
        _blanks(top, [len(mine) for mine in types]),
        len({*tables}) == len(sides),
        query.time_type,
        query.nodes,
        context.low,
        context.high,
        emit is EmitMode.FINAL,
        parts,
    )
    period = parse_type(query.time_type) or BIGINT
    columns = [Column(name, kind) for name, kind in zip(query.columns, shown, strict=True)]
    columns += [Column("_begin", period), Column("_end", period), Column("_lineage", STRING), Column("_p", DOUBLE)]
    none = [view.valid == NOTHING for view in sides]
    empty = all(none) or any(none[side] for side in (KEPT.get(join.kind, ()) if join is not None else ()))
    return made, columns, empty


def _top(plan: PeriodPlan) -> _Top:
    """Projections and conditions above a join, as one; of base rows they are part of the block."""
    if is_base(plan):
        return _Top(plan, tuple(range(width(plan))))
    match plan:
        case PeriodJoin():
            return _Top(plan, tuple(range(width(plan))))
        case PeriodProject(input, items):
            under = _top(input)
            return replace(under, items=tuple(under.items[int(item[1:])] for item in items))
        case PeriodFilter(input, condition):
            under = _top(input)
            meant = _over(condition, under.items)
            return replace(under, where=f"({under.where}) AND ({meant})" if under.where else meant)
    raise NotRead("a nested operand of SEQ TP", "operand")


def _over(condition: str, items: tuple[int, ...]) -> str:
    """A condition over columns by their places among the items, over the columns that these are."""

    def meant(node: exp.Expr) -> exp.Expr:
        return exp.column(f"c{items[int(node.name[1:])]}") if isinstance(node, exp.Column) else node

    return parsed(condition).copy().transform(meant).sql("spark")


def _side(plan: PeriodPlan, context: PeriodContext) -> PeriodView:
    """The rows of a stream or a relation, with their keys and probabilities; raises NotRead for what is neither."""
    if not is_base(plan):
        raise NotRead("a nested operand of SEQ TP", "operand")
    view = leaf(plan, context)
    if view is None:
        table = base_table(plan, context)
        if table.timestamp is not None:
            raise NotRead(f"{table.name}, which has a condition that is not read,")
        assert table.period is not None, "SEQ TP reads no other rows"
        view = lowered(_with_own(plan, own_columns(table.period)), context)
        needed = context.relations[table.name][1]
        needed |= dict.fromkeys(table.period.fact(table.columns))  # of which no two are valid together
    key = view.types[-2]
    if key.family in (Family.FLOAT, Family.OTHER):
        raise NotRead(f"a key that is {key.with_article}, which has no text that is always the same,")
    return view


def base_table(plan: PeriodPlan, context: PeriodContext) -> DeclaredTable:
    """The stream or relation of which an operator has some rows."""
    (scan,) = scans(plan)
    table = context.catalog.table(scan.table)
    assert table is not None, "the rewriting has found it"
    return table


def _with_own(plan: PeriodPlan, own: tuple[str, str]) -> PeriodPlan:
    """σ and Π of a relation with two columns more: the key and the probability."""
    match plan:
        case PeriodFilter(input=input):
            return replace(plan, input=_with_own(input, own))
        case PeriodProject(input, items):
            more = (f"c{place + width(input)}" for place in range(len(own)))
            return PeriodProject(_with_own(input, own), (*items, *more))
        case SnapshotScan(columns=columns):
            return replace(plan, columns=(*columns, *own))
    raise AssertionError("no base rows")


def _keeps_facts(join: PeriodJoin | None, keys: list[tuple[int, int]], top: _Top, widths: list[int]) -> None:
    """Raise NotRead where different facts may become one, so that a row has several derivations.

    A column may be left out where it equals one of the other side that is shown, if no row of its side is ever without
    a match; and no condition may tell rows apart by it.
    """
    by = widths[0]
    visible = range(by) if join is not None and join.kind == "anti" else range(sum(widths))
    windows = WINDOWS[join.kind] if join is not None else (False, False)
    equal = {mine: theirs + by for mine, theirs in keys} | {theirs + by: mine for mine, theirs in keys}
    for place in visible:
        other = equal.get(place)
        told = other is not None and other in top.items and not windows[int(place >= by)]
        if place not in top.items and (not told or top.where):
            raise NotRead("a SELECT list that leaves out columns, so that several rows may be one fact,", "list")


def _blanks(top: _Top, widths: list[int]) -> tuple[tuple[int, ...], ...]:
    """The places of each side's columns that are shown."""
    by = widths[0]
    sides = (range(by), range(by, sum(widths)))[: len(widths)]
    return tuple(tuple(place - side.start for place in side if place in top.items) for side in sides)
