"""From the rewriting of a SEQ VT block over streams to operators over slices of time, with what is kept for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from msgspec import structs
from sqlglot import exp

from streambound.analyzer.algebra.aggregate_functions import aggregate_type
from streambound.analyzer.algebra.syntax import conjuncts
from streambound.analyzer.constants import BIGINT
from streambound.analyzer.expressions.dialect import parsed
from streambound.analyzer.expressions.reading import Refused, read
from streambound.analyzer.expressions.whole_numbers import whole_number
from streambound.analyzer.types import DataType, Family
from streambound.criteria.periods.ends import different_state, distinct_state, group_states, latest_state, valid_state
from streambound.criteria.periods.leaves import leaf, narrowed
from streambound.criteria.periods.partners import Asked, PartnerSearch, merged
from streambound.criteria.periods.slices import declared, of_either, plus, together
from streambound.criteria.periods.views import MaybeSize, PeriodContext, PeriodView, every, smallest
from streambound.criteria.size import Number
from streambound.temporal.inferring import place_of, same_values
from streambound_runtime.operators.period_plan import (
    SliceAggregate,
    SliceCoalesce,
    SliceDifference,
    SliceDistinct,
    SliceFilter,
    SliceGroup,
    SliceJoin,
    SlicePlan,
    SliceProject,
    SliceRelation,
    SliceUnion,
    is_arriving,
    only_latest,
)

Types = tuple[tuple[str, str], ...]


class NotRead(Exception):
    """An expression that no type is known of, or a construct that is evaluated over relations only."""


def lowered(plan: SlicePlan, context: PeriodContext, partners: Asked = ()) -> PeriodView:
    """The operators of a plan; notes the states of those that remember rows. Raises NotRead.

    Rows without ``partners`` play no part above it.
    """
    found = leaf(plan, context, partners)
    if found is not None:
        return found
    match plan:
        case SliceRelation():
            return _relation(plan, context)
        case SliceProject(SliceFilter(SliceGroup() as group, condition), items) if most := rows_asked_for(
            group, condition, items
        ):
            own = _of_keys(group, _below(items, partners))
            counted = _grouped(group, lowered(group.input, context, own), context, most)
            return _projected(_filtered(counted, condition), items)
        case SliceFilter(input, condition):
            return narrowed(_filtered(lowered(input, context, partners), condition), plan, context)
        case SliceProject(input, items):
            under = lowered(input, context, _below(items, partners))
            return narrowed(_projected(under, items), plan, context)
        case SliceUnion(left, right):
            return _united(*_alike(*(lowered(side, context, partners) for side in (left, right))), context)
        case SliceDistinct(input):
            return _distinct(lowered(input, context, partners), context)
        case SliceDifference(left, right):
            sides = _alike(*(lowered(side, context, partners) for side in (left, right)))
            return _set_operation(plan, *sides, context)
        case SliceCoalesce(input):  # any encoding of what is under it will do
            return lowered(input, context, partners)
        case SliceGroup():
            return _grouped(plan, lowered(plan.input, context, _of_keys(plan, partners)), context)
        case SliceJoin():
            return _joined(plan, context, partners)
    raise AssertionError(f"{type(plan).__name__} is no operator of a rewriting")


def _relation(plan: SliceRelation, context: PeriodContext) -> PeriodView:
    if not plan.table:
        one = Number(1)
        return PeriodView(SliceRelation(), (), one, one, (), one, None, (), ())
    table = context.catalog.table(plan.table)
    assert table is not None, "the rewriting has found it"
    needed = context.relations.setdefault(table.name, (table, {}))[1]
    needed |= dict.fromkeys((*plan.columns, *(plan.period or ())))
    types = tuple(column.type for name in plan.columns if (column := table.column(name)) is not None)
    size = context.rows(table.name)
    return PeriodView(
        replace(plan, types=tuple(kind.name for kind in types)),
        types,
        size,
        size,
        (size,) * len(types),
        size,
        None,
        plan.columns,
        tuple(declared(table.column(name)) for name in plan.columns),
    )


# --- σ, Π -------------------------------------------------------------------------------------------------------------


def _filtered(view: PeriodView, condition: str) -> PeriodView:
    checked_type(condition, view.types)
    return structs.replace(view, plan=SliceFilter(view.plan, condition, named(view.types)))


def _projected(view: PeriodView, items: Sequence[str]) -> PeriodView:
    types = tuple(checked_type(item, view.types) for item in items)
    values = tuple(_values_of(item, view) for item in items)
    rows = every(values)
    if items and view.rows is not None:
        rows = smallest(rows, view.rows)
    plan = SliceProject(view.plan, tuple(items), named(view.types), tuple(kind.name for kind in types))
    names = tuple(in_words(item, view.names) for item in items)
    domains = tuple(None if (at := place_of(item)) is None else view.domains[at] for item in items)
    return structs.replace(view, plan=plan, types=types, values=values, rows=rows, names=names, domains=domains)


def in_words(item: str, names: Sequence[str]) -> str:
    """An expression, with what its columns are."""

    def meant(node: exp.Expr) -> exp.Expr:
        return exp.column(names[int(node.name[1:])]) if isinstance(node, exp.Column) else node

    return parsed(item).copy().transform(meant).sql("spark")


def _values_of(item: str, view: PeriodView) -> MaybeSize:
    """How many values an expression has: as many as the column that it is, or one."""
    node = parsed(item)
    if isinstance(node, exp.Column):
        return view.values[int(node.name[1:])]
    read_columns = {int(column.name[1:]) for column in node.find_all(exp.Column)}
    return every(view.values[place] for place in sorted(read_columns))


def checked_type(text: str, types: Sequence[DataType]) -> DataType:
    """The type of an expression over columns of these types; raises NotRead."""
    try:
        return read(parsed(text), {f"c{place}": kind for place, kind in enumerate(types)}).kind
    except Refused as refused:
        raise NotRead(str(refused)) from refused


def named(types: Sequence[DataType]) -> Types:
    """Columns by their places, with their types."""
    return tuple((f"c{place}", kind.name) for place, kind in enumerate(types))


def _below(items: Sequence[str], partners: Asked) -> Asked:
    """The partners that the input rows of expressions must agree with."""
    mine = [(place, under) for place, item in enumerate(items) if (under := place_of(item)) is not None]
    return merged(one.at(mine) for one in partners)


def _of_keys(group: SliceGroup, partners: Asked) -> Asked:
    """The partners that the input rows of groups must agree with."""
    return merged(one.at((place, place) for place in range(group.keys)) for one in partners)


# --- sets -------------------------------------------------------------------------------------------------------------


def _alike(left: PeriodView, right: PeriodView) -> tuple[PeriodView, PeriodView]:
    """Two sides with columns of one type each; raises NotRead."""
    types = tuple(common_type(a, b) for a, b in zip(left.types, right.types, strict=True))
    return _cast(left, types), _cast(right, types)


def common_type(left: DataType, right: DataType) -> DataType:
    """The type of a column of two sides: a NULL takes the other side's, a narrower number the wider one's."""
    if right.name in (left.name, "void"):
        return left
    if left.name == "void":
        return right
    if Family.INTEGER is left.family is right.family:
        return left if (left.bits or 64) >= (right.bits or 64) else right
    raise NotRead(f"{left.name} and {right.name} in one column: cast one of them")


def _cast(view: PeriodView, types: tuple[DataType, ...]) -> PeriodView:
    """The view with other names for its types: of NULLs and of integers, whose values stay what they are."""
    return structs.replace(view, types=types)


def _united(left: PeriodView, right: PeriodView, context: PeriodContext) -> PeriodView:
    plan = SliceUnion(left.plan, right.plan)
    if not is_arriving(plan) and not context.parts:
        _remembered(left, context)
        _remembered(right, context)
    return structs.replace(of_either(left, right), plan=plan)


def _remembered(view: PeriodView, context: PeriodContext) -> None:
    """An operator needs the rows under it until they end, where these do not come as fragments."""
    if is_arriving(view.plan):
        valid_state(view, context)


def _distinct(view: PeriodView, context: PeriodContext) -> PeriodView:
    if is_arriving(view.plan):
        distinct_state(view, context)
    there = smallest(view.there, view.rows)
    return structs.replace(view, plan=SliceDistinct(view.plan), valid=there, there=there, longest=None)


def _set_operation(asked: SliceDifference, left: PeriodView, right: PeriodView, context: PeriodContext) -> PeriodView:
    if asked.distinct:
        left, right = _distinct(left, context), _distinct(right, context)
    plan = SliceDifference(left.plan, right.plan, asked.common)
    if not asked.distinct and is_arriving(left.plan) and is_arriving(right.plan):
        different_state(left, right, context)
    elif not asked.distinct:
        for side, other, latest in zip((left, right), (right, left), only_latest(plan), strict=True):
            if latest:
                latest_state(side, other.valid, context)
            else:
                _remembered(side, context)
    there = together("intersect" if plan.common else "except", left.there, right.there)
    values, rows = left.values, left.rows
    if plan.common:
        values = tuple(smallest(a, b) for a, b in zip(left.values, right.values, strict=True))
        rows = smallest(left.rows, right.rows)
    streams = (*left.streams, *right.streams)
    there = smallest(there, rows)
    return structs.replace(left, plan=plan, there=there, values=values, rows=rows, longest=None, streams=streams)


# --- γ, ⋈ -------------------------------------------------------------------------------------------------------------


def _grouped(plan: SliceGroup, view: PeriodView, context: PeriodContext, most: int = 0) -> PeriodView:
    aggregates = []
    types = [*view.types[: plan.keys]]
    for one in plan.aggregates:
        kind = None if one.column is None else view.types[one.column]
        if kind is not None and one.function in ("sum", "avg") and kind.family not in _SUMMED:
            raise NotRead(f"{one.function.upper()} of {kind.with_article}")
        result = aggregate_type(one.function.upper(), kind) or BIGINT
        own = "bigint" if kind is None else kind.name
        aggregates.append(SliceAggregate(one.function, one.column, own, one.distinct, result.name))
        types.append(result)
    if is_arriving(view.plan):
        group_states(view, plan.keys, tuple(aggregates), context, most)
    groups = Number(1) if plan.always else smallest(view.there, view.some(range(plan.keys)))
    values = (*view.values[: plan.keys], *(None for _ in aggregates))
    made = SliceGroup(view.plan, plan.keys, tuple(aggregates), plan.always, most)
    names = (*view.names[: plan.keys], *(one.function for one in aggregates))
    domains = (*view.domains[: plan.keys], *(None for _ in aggregates))
    return PeriodView(made, tuple(types), groups, groups, values, None, None, names, domains, view.streams)


_SUMMED = (Family.INTEGER, Family.FLOAT, Family.DECIMAL)


def _joined(plan: SliceJoin, context: PeriodContext, partners: Asked) -> PeriodView:
    near = PartnerSearch(context.catalog, partial(lowered, context=context), context.order).of_sides(plan, partners)
    left, right = lowered(plan.left, context, near[0]), lowered(plan.right, context, near[1])
    types = (*left.types, *right.types)
    keys, condition = join_tests(plan, left.types, right.types)
    if plan.kind in ("semi", "anti") and not condition:  # only which keys are there plays a part: their latest ends
        asked = list(dict.fromkeys(theirs for _, theirs in keys))
        right = _projected(right, asked)
        keys = tuple((mine, f"c{asked.index(theirs)}") for mine, theirs in keys)
        right = _distinct(right, context)
    whole = context.parts and plan.kind == "inner"
    if not whole:
        _remembered(left, context)
        _remembered(right, context)
    elif left.streams and right.streams:
        valid_state(left, context)
        valid_state(right, context)
    streams = (*left.streams, *right.streams)
    there = together(plan.kind, left.there, right.there)
    made = SliceJoin(plan.kind, left.plan, right.plan, keys, condition, named((*left.types, *right.types)))
    if plan.kind in ("semi", "anti"):
        return structs.replace(left, plan=made, there=there, longest=None, streams=streams)
    nullable = Number(1)
    lefts = [plus(one, nullable) for one in left.values] if plan.kind in ("right", "full") else left.values
    rights = [plus(one, nullable) for one in right.values] if plan.kind in ("left", "full") else right.values
    values = (*lefts, *rights)
    rows = every(values)
    there, names = smallest(there, rows), (*left.names, *right.names)
    valid = every((left.valid, right.valid)) if whole else None
    longest = None if left.longest is None or right.longest is None or not whole else min(left.longest, right.longest)
    domains = (*left.domains, *right.domains)
    return PeriodView(made, types, valid, there, values, rows, longest, names, domains, streams)


def join_tests(
    plan: SliceJoin, left: Sequence[DataType], right: Sequence[DataType]
) -> tuple[tuple[tuple[str, str], ...], str]:
    """Which columns of the sides of a join are equal, and what else holds, over the columns of both; raises NotRead."""
    keys, tests = list[tuple[str, str]](), [f"({plan.condition})"] if plan.condition else []
    for mine, theirs in plan.keys:
        places = place_of(mine), place_of(theirs)
        if places[0] is not None and places[1] is not None and same_values(left[places[0]], right[places[1]]):
            keys.append((mine, theirs))
        else:
            tests.append(f"({mine}) = ({_moved(theirs, len(left))})")
    condition = " AND ".join(tests)
    if condition:
        checked_type(condition, (*left, *right))
    return tuple(keys), condition


def _moved(text: str, by: int) -> str:
    """An expression over the right side's columns, over those of both."""

    def meant(node: exp.Expr) -> exp.Expr:
        return exp.column(f"c{int(node.name[1:]) + by}") if isinstance(node, exp.Column) else node

    return parsed(text).copy().transform(meant).sql("spark")


# --- HAVING COUNT(*) >= k: where it is all that is asked of a group, it has k rows or it has not ----------------------


def rows_asked_for(group: SliceGroup, condition: str, items: Sequence[str]) -> int:
    """How many rows a group must have at least, where its aggregates say nothing else; 0 where they do."""
    if group.aggregates != (SliceAggregate("count"),):
        return 0
    count = f"c{group.keys}"
    asked = [test for test in conjuncts(parsed(condition)) if _reads(test, count)]
    if len(asked) != 1 or any(_reads(parsed(item), count) for item in items):
        return 0
    return _least(asked[0], count)


def _reads(expression: exp.Expr, column: str) -> bool:
    return any(found.name == column for found in expression.find_all(exp.Column))


def _least(test: exp.Expr, count: str) -> int:
    """The least number of rows for which a comparison with a constant is true, if it is of all greater ones."""
    if isinstance(test, exp.GTE | exp.GT):
        column, limit = test.left.unnest(), test.right.unnest()
    elif isinstance(test, exp.LTE | exp.LT):
        column, limit = test.right.unnest(), test.left.unnest()
    else:
        return 0
    if not (isinstance(column, exp.Column) and column.name == count):
        return 0
    found = whole_number(limit)
    return 0 if found is None else max(0, found[0] + isinstance(test, exp.GT | exp.LT))
