"""Which states a SEQ TP block over streams has: valid rows (P4), and open facts where these come of several (P3)."""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from streambound.recheck.derivation.claims import NotCheckedError
from streambound.recheck.periods.operators import PeriodStates, in_words, place_of, same_values
from streambound.recheck.periods.sizes import Limit, RowsView, number, plus, smaller, times
from streambound_runtime.operators.period_plan import (
    SliceDifference,
    SliceFilter,
    SliceGroup,
    SliceJoin,
    SlicePlan,
    SliceProject,
    SliceRelation,
    SliceUnion,
    scans,
    width,
)

_PADDED = {"inner": (), "left": (0,), "anti": (0,), "right": (1,), "full": (0, 1)}
"""Whose rows without a match a join has."""


def random_states(plan: SlicePlan, states: PeriodStates, final: bool) -> None:
    """Note the states; raises NotCheckedError for a form that this checker knows nothing of."""
    source, shown, filtered = _source(plan)
    views, several = list[RowsView](), not _is_base(source)
    join = source if isinstance(source, SliceJoin) else None
    kept = join is not None or not states.parts
    names, facts = _rows(plan, states, kept, views)
    if join is not None and _is_base(join.left) and _is_base(join.right):
        several = not _keeps_facts(join, shown, filtered, views)
    elif join is None:
        several = several or {*shown} != {*range(width(source))}
    if states.parts and (several or (join is not None and _PADDED[join.kind])):
        raise NotCheckedError("emit parts of rows without a match, or of rows that come of several")
    if several and final:
        states.line("P3", names, facts)
    elif join is not None and join.kind == "full" and final:
        states.line("P4", (), number(1))


def _keeps_facts(join: SliceJoin, shown: tuple[int, ...], filtered: bool, sides: list[RowsView]) -> bool:
    """Whether a column that is left out equals one that is shown, of a side whose rows always have a match."""
    by = width(join.left)
    for place in {*range(by if join.kind == "anti" else by + width(join.right))} - {*shown}:
        side = int(place >= by)
        told = [
            pair
            for pair in join.keys
            if place_of(pair[side]) == place - side * by
            and same_values(pair, *sides)
            and (place_of(pair[1 - side]) or 0) + (1 - side) * by in shown
        ]
        if not told or filtered or side in _PADDED[join.kind]:
            return False
    return True


def _source(plan: SlicePlan) -> tuple[SlicePlan, tuple[int, ...], bool]:
    """The join or base rows under σ and Π, the columns that these show, and whether there is a σ."""
    match plan:
        case SliceFilter(input) if not _is_base(plan):
            source, shown, _ = _source(input)
            return source, shown, True
        case SliceProject(input, items) if not _is_base(plan):
            source, shown, filtered = _source(input)
            return source, tuple(-1 if (at := place_of(item)) is None else shown[at] for item in items), filtered
    return plan, tuple(range(width(plan))), False


def _rows(plan: SlicePlan, states: PeriodStates, kept: bool, views: list[RowsView]) -> tuple[tuple[str, ...], Limit]:
    """The names of an operator's columns, and how many facts are valid at a time (R*); notes those rows that arrive."""
    if _is_base(plan):
        view = _valid_rows(plan, states, kept)
        views.append(view)
        return view.names, view.valid
    match plan:
        case SliceFilter(input):
            return _rows(input, states, kept, views)
        case SliceProject(input, items):
            names, facts = _rows(input, states, kept, views)
            return tuple(in_words(item, names) for item in items), facts
        case SliceUnion() | SliceDifference():
            (mine, left), (_, right) = (_rows(side, states, kept, views) for side in (plan.left, plan.right))
            if isinstance(plan, SliceUnion):
                return mine, plus(left, right)
            return mine, smaller(left, right) if plan.common else left
        case SliceGroup(input, keys, aggregates):  # of n rows there are 1 to n
            names, facts = _rows(input, states, kept, views)
            return (*names[:keys], *(one.function for one in aggregates)), facts
        case SliceJoin(kind=kind):
            (mine, left), (theirs, right) = (_rows(side, states, kept, views) for side in (plan.left, plan.right))
            if kind == "anti":
                return mine, left
            padded = ([left] if 0 in _PADDED[kind] else []) + ([right] if 1 in _PADDED[kind] else [])
            return (*mine, *theirs), plus(times([left, right]), *padded)
    raise NotCheckedError("operators of SEQ TP blocks")


def _valid_rows(plan: SlicePlan, states: PeriodStates, kept: bool) -> RowsView:
    """The rows of a side, each an entry, where they are ``kept``, with its key, its probability and its end."""
    (scan,) = scans(plan)
    table = states.known.table(scan.table)
    assert table.period is not None, "rows of SEQ TP blocks have periods"
    own = tuple(name for name in (table.period.key, table.period.probability) if name is not None)
    view = states.of(_with(plan, own))
    if kept:
        states.line("P4", (*view.names, "end"), view.valid)
    return structs.replace(view, types=view.types[: -len(own)], names=view.names[: -len(own)])


def _is_base(plan: SlicePlan) -> bool:
    match plan:
        case SliceRelation():
            return True
        case SliceFilter(input=input):
            return _is_base(input)
        case SliceProject(input, items):
            return _is_base(input) and {*items} >= {f"c{place}" for place in range(width(input))}
    return False


def _with(plan: SlicePlan, own: tuple[str, ...]) -> SlicePlan:
    """The same rows with some more columns of their table."""
    match plan:
        case SliceFilter(input=input):
            return replace(plan, input=_with(input, own))
        case SliceProject(input, items):
            more = (f"c{width(input) + place}" for place in range(len(own)))
            return SliceProject(_with(input, own), (*items, *more))
        case SliceRelation(columns=columns):
            return replace(plan, columns=(*columns, *own))
    raise AssertionError("no base rows")
