"""Rows with lineages: joins of two streams or relations need the rows that are valid, and nothing else (P4).

An unmatched or negating window of a row is open since its matches have been the same, which is a counter of the row's
entry; an overlapping one is the time that two rows have in common, which they tell (Papaioannou et al., Section V).
Where a result row comes of several, in each slice anew, it has an entry while it may go on (P3).
"""

from __future__ import annotations

from dataclasses import replace

from msgspec import Struct, structs

from streambound.analyzer.catalog import DeclaredTable
from streambound.analyzer.columns import Column
from streambound.analyzer.constants import BIGINT, DOUBLE, STRING
from streambound.analyzer.emission import EmitMode
from streambound.analyzer.types import DataType, Family, parse_type
from streambound.criteria.periods.ends import P4
from streambound.criteria.periods.leaves import NOTHING, leaf, own_columns
from streambound.criteria.periods.lowering import (
    NotRead,
    checked_type,
    common_type,
    in_words,
    join_tests,
    lowered,
    named,
)
from streambound.criteria.periods.slices import P3, together
from streambound.criteria.periods.views import MaybeSize, PeriodContext, PeriodView
from streambound.criteria.size import Number
from streambound.temporal.inferring import KEPT, place_of
from streambound.temporal.lineage import LineageBlock
from streambound_runtime.operators.period_plan import (
    EXPECTED_SUM,
    LineageColumn,
    RandomRows,
    SliceDifference,
    SliceFilter,
    SliceGroup,
    SliceJoin,
    SliceLineage,
    SlicePlan,
    SliceProject,
    SliceRelation,
    SliceUnion,
    chance_columns,
    operators_of,
    scans,
    width,
)
from streambound_runtime.tp.plan import WINDOWS, is_base


def lineage_windows(
    block: LineageBlock, emit: EmitMode, context: PeriodContext
) -> tuple[SliceLineage, list[Column], bool]:
    """The operator of a block, the columns of its results, and whether it never has any; notes its states.

    Raises NotRead.
    """
    query, final, parts = block.query, emit is EmitMode.FINAL, emit is EmitMode.PARTS
    source, items, filtered = _source(query.plan)
    join = source if isinstance(source, SliceJoin) else None
    operands = [join.left, join.right] if join else [source]
    made = _rows(query.plan, context)
    widths = list(map(width, operands))
    executed = next((one for one in operators_of(made.plan) if isinstance(one, SliceJoin)), None)
    derived = not all(map(is_base, operands)) or not _keeps_facts(executed, items, filtered, widths)
    if parts and derived:
        raise NotRead("emit parts of rows that come of several,")
    if parts and join is not None and any(WINDOWS[join.kind]):
        raise NotRead("emit parts of rows without a match, which are known when they end,")
    if not parts or join is not None:
        for view in made.views:
            context.remember("valid rows", P4, view.valid, (*view.names, "end"), view.streams)
    if derived and final:
        streams = dict.fromkeys(name for view in made.views for name in view.streams)
        context.remember("open rows", P3, made.facts, made.names, tuple(streams))
    elif join is not None and join.kind == "full" and final:
        context.remember("rows without values", P4, Number(1), (), ())
    names = [base_table(one, context).name for one in operands] if not derived else []
    found = replace(
        query, plan=made.plan, blanks=_blanks(items, widths), independent=len({*names}) == len(operands),
        derived=derived, final=final, parts=parts,
    )  # fmt: skip
    period = parse_type(query.time_type) or BIGINT
    columns = [Column(name, kind) for name, kind in zip(query.columns, made.types, strict=True)]
    columns += [] if query.as_of else [Column("_begin", period), Column("_end", period)]
    columns += [Column("_lineage", STRING), *(Column(name, DOUBLE) for name in chance_columns(query))]
    return found, columns, made.empty


class _RandomRows(Struct, frozen=True):
    """An operator, the types and names of its columns, and the streams and relations under it.

    ``facts``: how many different rows are valid at a time; ``empty``: it never has a row.
    """

    plan: SlicePlan
    types: tuple[DataType, ...]
    names: tuple[str, ...]
    views: tuple[PeriodView, ...]
    facts: MaybeSize
    empty: bool


def _rows(plan: SlicePlan, context: PeriodContext) -> _RandomRows:
    """The operators of a plan; raises NotRead."""
    if is_base(plan):
        view = _side(plan, context)
        rows = RandomRows(view.plan, base_table(plan, context).name, *(kind.name for kind in view.types[-2:]))
        return _RandomRows(rows, view.types[:-2], view.names[:-2], (view,), view.valid, view.valid == NOTHING)
    match plan:
        case SliceFilter(input, condition):
            under = _rows(input, context)
            checked_type(condition, under.types)
            return structs.replace(under, plan=SliceFilter(under.plan, condition, named(under.types)))
        case SliceProject(input, items):
            under = _rows(input, context)
            types = tuple(checked_type(item, under.types) for item in items)
            names = tuple(in_words(item, under.names) for item in items)
            shown = replace(plan, input=under.plan, given=named(under.types), types=tuple(kind.name for kind in types))
            return structs.replace(under, plan=shown, types=types, names=names)
        case LineageColumn(input):
            under = _rows(input, context)
            return structs.replace(
                under, plan=LineageColumn(under.plan), types=(*under.types, STRING), names=(*under.names, "lineage")
            )
        case SliceUnion() | SliceDifference():
            left, right = _rows(plan.left, context), _rows(plan.right, context)
            types = tuple(common_type(*both) for both in zip(left.types, right.types, strict=True))
            word = "union" if isinstance(plan, SliceUnion) else "intersect" if plan.common else "except"
            facts, views = together(word, left.facts, right.facts), (*left.views, *right.views)
            none = {"union": left.empty and right.empty, "except": left.empty}.get(word, left.empty or right.empty)
            both_sides = replace(plan, left=left.plan, right=right.plan)
            return _RandomRows(both_sides, types, left.names, views, facts, none)
        case SliceGroup(keys=number, aggregates=aggregates):  # of n rows there are 1 to n
            under = _rows(plan.input, context)
            for one in aggregates:
                if one.function == EXPECTED_SUM and one.column is not None:
                    kind = under.types[one.column]
                    if kind.family not in (Family.INTEGER, Family.FLOAT):
                        raise NotRead(f"EXPECTED(SUM) of {kind.with_article}")
            types = (*under.types[:number], *(DOUBLE if one.result == "double" else BIGINT for one in aggregates))
            names = (*under.names[:number], *(one.function for one in aggregates))
            return structs.replace(under, plan=replace(plan, input=under.plan), types=types, names=names)
        case SliceJoin(kind=kind):
            left, right = _rows(plan.left, context), _rows(plan.right, context)
            both = (*left.types, *right.types)
            keys, condition = join_tests(plan, left.types, right.types)
            join = SliceJoin(kind, left.plan, right.plan, keys, condition, named(both))
            none = (left.empty and right.empty) or any((left, right)[side].empty for side in KEPT.get(kind, ()))
            facts, views = together(kind, left.facts, right.facts), (*left.views, *right.views)
            types, names = both, (*left.names, *right.names)
            if kind == "anti":
                types, names = left.types, left.names
            return _RandomRows(join, types, names, views, facts, none)
    raise AssertionError(f"{type(plan).__name__} has no lineage")


_COMPUTED = -1
"""The place of what is no column."""


def _source(plan: SlicePlan) -> tuple[SlicePlan, tuple[int, ...], bool]:
    """The join or base rows under σ and Π, the places of its columns that these show, and whether there is a σ."""
    match plan:
        case SliceProject(input, items) if not is_base(plan):
            source, shown, filtered = _source(input)
            return source, tuple(_COMPUTED if (at := place_of(item)) is None else shown[at] for item in items), filtered
        case SliceFilter(input) if not is_base(plan):
            source, shown, _ = _source(input)
            return source, shown, True
    return plan, tuple(range(width(plan))), False


def _side(plan: SlicePlan, context: PeriodContext) -> PeriodView:
    """The rows of a stream or a relation, with their keys and probabilities; raises NotRead."""
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


def base_table(plan: SlicePlan, context: PeriodContext) -> DeclaredTable:
    """The stream or relation of which an operator has some rows."""
    (scan,) = scans(plan)
    table = context.catalog.table(scan.table)
    assert table is not None, "the rewriting has found it"
    return table


def _with_own(plan: SlicePlan, own: tuple[str, str]) -> SlicePlan:
    """σ and Π of a relation with two columns more: the key and the probability."""
    match plan:
        case SliceFilter(input=input):
            return replace(plan, input=_with_own(input, own))
        case SliceProject(input, items):
            more = (f"c{place + width(input)}" for place in range(len(own)))
            return SliceProject(_with_own(input, own), (*items, *more))
        case SliceRelation(columns=columns):
            return replace(plan, columns=(*columns, *own))
    raise AssertionError("no base rows")


def _keeps_facts(join: SliceJoin | None, items: tuple[int, ...], filtered: bool, widths: list[int]) -> bool:
    """Whether different facts never become one, so that a row has one derivation.

    A column may be left out where it equals one of the other side that is shown, if no row of its side is ever without
    a match; and no condition may tell rows apart by it.
    """
    by = widths[0]
    visible = range(by) if join is not None and join.kind == "anti" else range(sum(widths))
    windows = WINDOWS[join.kind] if join is not None else (False, False)
    keys = [] if join is None else [(int(mine[1:]), int(theirs[1:]) + by) for mine, theirs in join.keys]
    equal = dict(keys) | {theirs: mine for mine, theirs in keys}
    told = (place for place in visible if equal.get(place) in items and not windows[int(place >= by)] and not filtered)
    return {*visible} == {*items, *told}


def _blanks(items: tuple[int, ...], widths: list[int]) -> tuple[tuple[int, ...], ...]:
    """The places of each side's columns that are shown."""
    by = widths[0]
    sides = (range(by), range(by, sum(widths)))[: len(widths)]
    return tuple(tuple(place - side.start for place in side if place in items) for side in sides)
