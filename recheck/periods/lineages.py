"""Which states a SEQ TP block over streams has: the rows that are valid, if no two derivations make one fact (P4)."""

from __future__ import annotations

from dataclasses import replace

from streambound.recheck.derivation.claims import NotCheckedError
from streambound.recheck.periods.operators import PeriodStates, place_of, same_values
from streambound.recheck.periods.sizes import RowsView, number
from streambound_runtime.periods.plan import (
    PeriodFilter,
    PeriodJoin,
    PeriodPlan,
    PeriodProject,
    SnapshotScan,
    scans,
    width,
)

_PADDED = {"inner": (), "left": (0,), "anti": (0,), "right": (1,), "full": (0, 1)}
"""Whose rows without a match a join has."""


def random_states(plan: PeriodPlan, states: PeriodStates, final: bool) -> None:
    """Note the states; raises NotCheckedError for a form that this checker knows nothing of."""
    if _is_base(plan):
        if not states.parts:
            _valid_rows(plan, states)
        return
    join, shown, filtered = _join_under(plan)
    sides = [_valid_rows(side, states) for side in (join.left, join.right)]
    if states.parts and _PADDED[join.kind]:
        raise NotCheckedError("emit parts of rows without a match")
    if join.kind == "full" and final:
        states.line("P4", (), number(1))
    by = width(join.left)
    for place in {*range(width(join))} - {*shown}:
        side = int(place >= by)
        told = [
            pair
            for pair in join.keys
            if place_of(pair[side]) == place - side * by
            and same_values(pair, *sides)
            and (place_of(pair[1 - side]) or 0) + (1 - side) * by in shown
        ]
        if not told or filtered or side in _PADDED[join.kind]:
            raise NotCheckedError("facts of several rows in SEQ TP blocks")


def _join_under(plan: PeriodPlan) -> tuple[PeriodJoin, tuple[int, ...], bool]:
    """The join under σ and Π, its columns that these show, and whether there is a σ."""
    match plan:
        case PeriodJoin():
            return plan, tuple(range(width(plan))), False
        case PeriodFilter(input=input):
            join, shown, _ = _join_under(input)
            return join, shown, True
        case PeriodProject(input, items):
            join, shown, filtered = _join_under(input)
            return join, tuple(shown[int(item[1:])] for item in items), filtered
    raise NotCheckedError("nested operands of SEQ TP blocks")


def _valid_rows(plan: PeriodPlan, states: PeriodStates) -> RowsView:
    """An entry for each valid row of a side, with its key, its probability and its end."""
    if not _is_base(plan):
        raise NotCheckedError("nested operands of SEQ TP blocks")
    (scan,) = scans(plan)
    table = states.known.table(scan.table)
    assert table.period is not None, "rows of SEQ TP blocks have periods"
    own = tuple(name for name in (table.period.key, table.period.probability) if name is not None)
    view = states.of(_with(plan, own))
    states.line("P4", (*view.names, "end"), view.valid)
    return replace(view, types=view.types[: -len(own)])


def _is_base(plan: PeriodPlan) -> bool:
    match plan:
        case SnapshotScan():
            return True
        case PeriodFilter(input=input):
            return _is_base(input)
        case PeriodProject(input, items):
            return _is_base(input) and {*items} >= {f"c{place}" for place in range(width(input))}
    return False


def _with(plan: PeriodPlan, own: tuple[str, ...]) -> PeriodPlan:
    """The same rows with some more columns of their table."""
    match plan:
        case PeriodFilter(input=input):
            return replace(plan, input=_with(input, own))
        case PeriodProject(input, items):
            more = (f"c{width(input) + place}" for place in range(len(own)))
            return PeriodProject(_with(input, own), (*items, *more))
        case SnapshotScan(columns=columns):
            return replace(plan, columns=(*columns, *own))
    raise AssertionError("no base rows")
