"""P4: rows that carry their ends are counted by value and end, or only the latest end of a value is remembered."""

from __future__ import annotations

from msgspec.structs import replace

from streambound.criteria.periods.slices import of_either, plus
from streambound.criteria.periods.views import MaybeSize, PeriodContext, PeriodView, every, smallest
from streambound.criteria.size import Number
from streambound_runtime.operators.period_plan import SliceAggregate

P4 = "P4"


def by_end(view: PeriodView, values: MaybeSize) -> MaybeSize:
    """One entry for each value and end: min(V*, |dom v|·L)."""
    longest = None if view.longest is None else Number(view.longest)
    return smallest(view.valid, every((values, longest)))


def valid_state(view: PeriodView, context: PeriodContext) -> None:
    """Rows that are needed until they end, counted by value and end; of the result, too."""
    context.remember("valid rows", P4, by_end(view, view.rows), (*view.names, "end"), view.streams)


def distinct_state(view: PeriodView, context: PeriodContext) -> None:
    """δ, UNION, EXCEPT, INTERSECT: the latest end of each distinct row: min(V*, |dom v|)."""
    context.remember("latest ends", P4, smallest(view.valid, view.rows), view.names, view.streams)


def different_state(left: PeriodView, right: PeriodView, context: PeriodContext) -> None:
    """EXCEPT ALL and INTERSECT ALL: how many of each side, by value and end: min(V_R* + V_S*, |dom|·max L)."""
    apart = plus(by_end(left, left.rows), by_end(right, right.rows))
    both = replace(of_either(left, right), valid=apart)
    context.remember("valid rows", P4, by_end(both, both.rows), (*both.names, "end"), both.streams)


def latest_state(view: PeriodView, copies: MaybeSize, context: PeriodContext) -> None:
    """EXCEPT ALL and INTERSECT ALL with a static side: of each value as many latest ends as that has copies."""
    size = smallest(by_end(view, view.rows), copies)
    context.remember("latest ends", P4, size, (*view.names, "end"), view.streams)


def group_states(
    view: PeriodView, keys: int, aggregates: tuple[SliceAggregate, ...], context: PeriodContext, most: int
) -> None:
    """COUNT, SUM and AVG by group and end; DISTINCT the latest end of a group's value; MIN and MAX the rows that no
    other outlives with a value as good: min(V*, |dom g|·L, |dom g|·|dom x|), each aggregate its own. Where it matters
    only whether COUNT(*) is at least ``most``, the ``most`` latest ends of a group.
    """
    groups = view.some(range(keys))
    named = view.names[:keys]
    if most:
        size = smallest(by_end(view, groups), every((groups, Number(most))))
        context.remember("latest ends", P4, size, (*named, "end"), view.streams)
        return
    if any(one.function not in ("min", "max") and not one.distinct for one in aggregates):
        context.remember("sums", P4, by_end(view, groups), (*named, "end"), view.streams)
    kept = dict.fromkeys((one.function if not one.distinct else "distinct", one.column) for one in aggregates)
    if not aggregates:
        context.remember("latest ends", P4, smallest(view.valid, groups), named, view.streams)
    for function, column in kept:
        if column is None or function not in ("min", "max", "distinct"):
            continue
        pairs = every((groups, view.values[column]))
        if function == "distinct":
            context.remember("latest ends", P4, smallest(view.valid, pairs), (*named, view.names[column]), view.streams)
        else:
            size = smallest(by_end(view, groups), pairs)
            context.remember(f"{function} values", P4, size, (*named, view.names[column]), view.streams)
