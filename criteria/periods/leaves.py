"""A stream with the conditions and expressions right above it, as one block: its rows come as it computes them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace
from sqlglot import exp

from streambound.analyzer.catalog import Catalog, DeclaredTable
from streambound.analyzer.codes import Code
from streambound.analyzer.errors import TooManyBranchesError
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.lower import lower
from streambound.analyzer.periods import PeriodRows
from streambound.analyzer.query import Query
from streambound.analyzer.spans import SourceText
from streambound.analyzer.statements import some_statements
from streambound.criteria.block_part import BlockPart
from streambound.criteria.bound import bound, results_size
from streambound.criteria.column_types import columns_of
from streambound.criteria.periods.partners import Asked, RelationPartners, values_beside
from streambound.criteria.periods.slices import declared
from streambound.criteria.periods.valid import valid_rows
from streambound.criteria.periods.views import Leaf, MaybeSize, PartnerKeys, PeriodContext, PeriodView, smallest
from streambound.criteria.size import Number
from streambound.preprocess.pipeline import derive
from streambound.temporal.inferring import same_values
from streambound_runtime.operators.period_plan import (
    SliceFilter,
    SliceMatched,
    SlicePlan,
    SliceProject,
    SliceRelation,
    SliceScan,
)

_END = "e"
"""The column of a block that holds a row's end."""
NOTHING = Number(0)


def leaf(plan: SlicePlan, context: PeriodContext, partners: Asked = ()) -> PeriodView | None:
    """The rows of a stream, below conditions and expressions, as a block; None where they cannot be read as one.

    Where rows have lineages, their keys and probabilities come after the values. Those without ``partners`` are left
    out.
    """
    found = _select(plan, context.catalog)
    if found is None or (context.whole and not isinstance(plan, SliceRelation)):
        return None
    table, items, conditions = found
    if context.lineages and table.period is not None:
        items = [*items, *(exp.column(name, quoted=True) for name in own_columns(table.period))]
    query = read_block(table, items, conditions, context)
    if query is None:
        return None
    split = derive(query).split
    sizes = bound(split)
    if sizes is None or sizes.tables:
        return None
    name = f"rows {next(context.numbers)}"
    part = BlockPart(name, query, split, sizes, columns_of(query))
    context.blocks.append(part)
    matched = _matched(table, items, partners, context)
    own = tuple(conditions)
    context.leaves.append(Leaf(name, table, tuple(items), own, own, tuple(keys for keys, _ in matched)))
    scan: SlicePlan = SliceScan(name, len(items))
    for _, one in matched:
        scan = SliceMatched(scan, one.view.plan, one.equal)
    view = PeriodView(
        scan,
        tuple(column.type for column in part.columns[:-1]),
        None,
        None,
        (None,) * len(items),
        None,
        None,
        tuple(item.sql("spark", identify=False).replace("`", "") for item in items),
        tuple(declared(table.column(item.name)) if isinstance(item, exp.Column) else None for item in items),
        (table.name,),
    )
    return _limited(view, query, context.leaves[-1], context)


def narrowed(view: PeriodView, plan: SlicePlan, context: PeriodContext) -> PeriodView:
    """A view of conditions and expressions that are kept apart from their stream, with what they limit."""
    found = _select(plan, context.catalog)
    if found is None:
        return view
    table, items, conditions = found
    query = read_block(table, items, conditions, context)
    if query is None:
        return view
    under = context.leaves[-1] = replace(context.leaves[-1], passing=tuple(conditions))  # what was read last
    return _limited(view, query, replace(under, items=tuple(items)), context)


def _matched(
    table: DeclaredTable, items: list[exp.Expr], partners: Asked, context: PeriodContext
) -> list[tuple[PartnerKeys, RelationPartners]]:
    """What a stream's own columns are equal to in relations' rows; of those with a relation's own columns only."""
    found = []
    for one in partners:
        keys, equal = dict[str, str](), []
        for mine, theirs in one.equal:
            item, partner = items[mine], one.columns[theirs]
            column = table.column(item.name) if isinstance(item, exp.Column) else None
            if column is not None and partner is not None and same_values(column.type, one.view.types[theirs]):
                keys.setdefault(column.name, partner)
                equal.append((mine, theirs))
        if equal:
            rows = context.rows(one.relation)
            found.append((PartnerKeys(one.relation, rows, tuple(keys.items())), replace(one, equal=tuple(equal))))
    return found


def _limited(view: PeriodView, query: Query, leaf: Leaf, context: PeriodContext) -> PeriodView:
    """A view of some rows of a stream, with what bounds these; of none where nothing satisfies the conditions."""
    table, items, conditions, partners = leaf.table, leaf.items, leaf.passing, leaf.partners
    columns = tuple(item.name if isinstance(item, exp.Column) else "" for item in items)
    places, different = tuple(range(len(items))), partial(_values, query)
    rows = smallest(view.rows, values_beside(partners, columns, places, different))
    valid, longest = valid_rows(table, context, lambda names: key_values(table, names, conditions, context, partners))
    derived = derive(query)
    if not derived.split.branches:
        valid = NOTHING
        context.never |= dict.fromkeys(one for one in derived.warnings if one.code is Code.NEVER_TRUE)
    valid = smallest(view.valid, valid)
    values = tuple(
        smallest(known, values_beside(partners, columns, (place,), different))
        for place, known in enumerate(view.values)
    )
    return replace(view, valid=valid, there=smallest(valid, rows), values=values, rows=rows, longest=longest)


def own_columns(period: PeriodRows) -> tuple[str, str]:
    """The columns with the key and the probability of rows that have lineages."""
    assert period.key is not None and period.probability is not None, "SEQ TP reads no other rows"
    return period.key, period.probability


def _select(plan: SlicePlan, catalog: Catalog) -> tuple[DeclaredTable, list[exp.Expr], list[exp.Expr]] | None:
    """The stream, the items and the conditions of σ and Π above it, over its own columns."""
    match plan:
        case SliceRelation(name, columns, period) if period:
            table = catalog.table(name)
            if table is None or table.timestamp is None:
                return None
            return table, [exp.column(column, quoted=True) for column in columns], []
        case SliceFilter(input, condition):
            under = _select(input, catalog)
            if under is None:
                return None
            table, items, conditions = under
            return table, items, [*conditions, _over(condition, items)]
        case SliceProject(input, texts):
            under = _select(input, catalog)
            if under is None:
                return None
            table, items, conditions = under
            return table, [_over(text, items) for text in texts], conditions
    return None


def _over(text: str, items: list[exp.Expr]) -> exp.Expr:
    """An expression over ``c0`` and so on, over what these are."""

    def meant(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        item = items[int(node.name[1:])].copy()
        return item if isinstance(item, exp.Column) else exp.Paren(this=item)

    return parsed(text).copy().transform(meant)


def read_block(
    table: DeclaredTable, items: Sequence[exp.Expr], conditions: Sequence[exp.Expr], context: PeriodContext
) -> Query | None:
    """``SELECT items, end FROM stream WHERE conditions``; None where it is no select-project-join query."""
    assert table.period is not None, "only streams of rows with periods are read"
    listed = [exp.alias_(item.copy(), f"c{place}", quoted=True) for place, item in enumerate(items)]
    end = exp.alias_(exp.column(table.period.end, quoted=True), _END, quoted=True)
    select = exp.select(*listed, end).from_(exp.to_identifier(table.name, quoted=True))
    if conditions:
        select = select.where(*(exp.Paren(this=condition.copy()) for condition in conditions))
    (statement,) = some_statements(SourceText(context.catalog.file, select.sql("spark")))
    lowered = lower(statement, context.catalog, periods=True)
    if lowered.query is None:
        return None
    try:
        derive(lowered.query)
    except TooManyBranchesError:
        return None
    branches = tuple(replace(branch, span=context.span) for branch in lowered.query.branches)
    return replace(lowered.query, span=context.span, branches=branches)


def _values(query: Query, places: tuple[int, ...]) -> MaybeSize:
    """How many different values some columns of a block have together: none where no row satisfies its conditions."""
    branches = tuple(replace(one, outputs=tuple(one.outputs[place] for place in places)) for one in query.branches)
    split = derive(replace(query, branches=branches)).split
    return results_size(split)


def key_values(
    table: DeclaredTable,
    names: tuple[str, ...],
    conditions: Sequence[exp.Expr],
    context: PeriodContext,
    partners: Sequence[PartnerKeys] = (),
) -> MaybeSize:
    """How many different values some of a stream's columns have in the rows that conditions let pass."""
    query = read_block(table, [exp.column(name, quoted=True) for name in names], conditions, context)
    if query is None:
        return None
    return values_beside(partners, names, tuple(range(len(names))), partial(_values, query))
