"""Linear aggregates of many timestamps at once: sums per group and timestamp, added up along each group.

A sum after a timestamp is the one before plus the rows' own (Budiu et al., *DBSP*, §7.2: linear aggregates are
incremental by addition), so that old and new rows of all groups follow from running sums in whole columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streambound_runtime.arrays import Integers, Mask, Numbers, Values, are_integers
from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.operators.by_tick import Row
from streambound_runtime.operators.circuit_plan import GroupNode, GroupValue
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.exact import LARGEST, greatest, totals
from streambound_runtime.operators.frame import coded, groups

EXACT = 2**53
"""Integers up to here are doubles, so that dividing them rounds once."""
Column = tuple[Values, Mask | None]


def is_linear(plan: GroupNode, final: bool) -> bool:
    """Whether all values of a group follow from its sums, as arrays of integers can have them.

    Where only a ``final`` row of each group is asked for, that is computed of exact sums, whatever the values are.
    """
    if not plan.keys or plan.arguments or plan.session or plan.ends is not None:
        return False
    kinds = (sql_type(value.type).family for value in plan.values)
    return final or all(
        value.function == "count"
        or (value.function == "sum" and kind in ("integer", "decimal"))
        or (value.function == "avg" and kind == "float")
        for value, kind in zip(plan.values, kinds, strict=True)
    )


@dataclass(frozen=True, slots=True)
class GroupChanges:
    """The groups that rows change, and each change: a group and a timestamp, in this order.

    ``keys`` are the groups'; ``added`` the number of rows and the sums that a change adds, ``first`` the place of each
    group's first change, ``last`` when each group changes for the last time.
    """

    keys: list[Row]
    group: Integers
    time: Integers
    added: list[Numbers]
    first: Integers
    last: Integers


def group_changes(plan: GroupNode, rows: Delta, whole: bool) -> GroupChanges | None:
    """What rows change; None where numbers of 64 bits may not do.

    With ``whole`` it is enough to know what all rows of a group add, as one change at the time of the first of them.
    """
    columns = [_coded_column(rows, name) for name in plan.keys]
    numbers = _numbers(plan, rows)
    if numbers is None or any(column is None for column in columns):
        return None
    codes, size = coded([column for column in columns if column is not None], rows.size)
    first, group = groups(codes, size)
    keys, last = _rows_at(rows, plan.keys, first), np.empty(len(first), dtype=np.int64)
    last[group] = rows.time  # in order, and the last assignment holds
    if whole:
        each = np.arange(len(first))
        return GroupChanges(keys, each, rows.time[first], [totals(n, group, len(first)) for n in numbers], each, last)
    order = np.lexsort((rows.time, group))
    mine, time = group[order], rows.time[order]
    starts = np.flatnonzero(np.r_[True, (mine[1:] != mine[:-1]) | (time[1:] != time[:-1])])
    added = [np.add.reduceat(values[order], starts) for values in numbers]
    mine = mine[starts]
    return GroupChanges(keys, mine, time[starts], added, np.flatnonzero(np.r_[True, mine[1:] != mine[:-1]]), last)


def _coded_column(rows: Delta, name: str) -> Column | None:
    values, null = rows.columns[name], rows.nulls.get(name)
    if values.dtype == np.float64:
        return None
    if values.dtype == object:
        known: dict[object, int] = {}
        places = [known.setdefault(value, len(known)) for value in rows.values(name)]
        return np.array(places, dtype=np.int64), None
    return values, null


def _rows_at(rows: Delta, names: Sequence[str], places: Integers) -> list[Row]:
    columns = {name: rows.columns[name][places] for name in names}
    nulls = {name: rows.nulls[name][places] for name in names if name in rows.nulls}
    dictionary = {name: rows.dictionary[name] for name in names if name in rows.dictionary}
    return Delta(rows.time[places], None, columns, nulls, dictionary).rows()


def _numbers(plan: GroupNode, rows: Delta) -> list[Integers] | None:
    """The weight and the weighted sums of each row; None where adding them all up may exceed 64 bits."""
    try:
        weights = np.array(rows.weights().tolist() if rows.weights().dtype == object else rows.weights(), np.int64)
    except OverflowError:
        return None
    found = [weights]
    for name in plan.sums:
        values = rows.columns[name]
        if not are_integers(values) or name in rows.nulls or greatest(values) * greatest(weights) > LARGEST:
            return None
        found.append(values if plan.weighted else values * weights)
    return found if all(greatest(values) * len(values) <= LARGEST for values in found) else None


def running_sums(changes: GroupChanges, before: Sequence[Sequence[int]]) -> list[Integers] | None:
    """The number of rows and the sums after each change, of those ``before`` the first; None beyond 64 bits."""
    found = []
    lengths = np.diff(changes.first, append=len(changes.group))
    for place, added in enumerate(changes.added):
        start = [sums[place] for sums in before]
        if max(map(abs, start), default=0) + greatest(added) * len(added) > LARGEST // 2:
            return None
        total = np.cumsum(added).astype(np.int64, copy=False)
        offset = np.array(start, dtype=np.int64) - (total[changes.first] - added[changes.first])
        found.append(total + np.repeat(offset, lengths))
    return found


def values_of(value: GroupValue, sums: Sequence[Integers]) -> tuple[Values, Mask] | None:
    """An aggregate for each row of sums, and where it is NULL; None where a double needs more than 64 bits.

    Raises OverflowError where a sum does not fit its type.
    """
    n = sums[value.sums[0] + 1]
    if value.function == "count":
        return n, np.zeros(len(n), dtype=bool)
    total = np.zeros(len(n), dtype=np.int64)
    for place in value.sums[1:]:
        if greatest(total) + greatest(sums[place + 1]) > LARGEST:
            return None
        total = total + sums[place + 1]
    null = n == 0
    if value.function == "sum":
        return _fitting(value, total, null), null
    divisor = 10**value.places
    if max(greatest(total), greatest(n) * divisor) > EXACT:
        return None
    return total / (np.where(null, 1, n) * divisor), null


def _fitting(value: GroupValue, total: Integers, null: Mask) -> Integers:
    kind = sql_type(value.type)
    most = 10**kind.digits - 1 if kind.family == "decimal" else 2 ** (kind.bits - 1) - 1
    least = -most if kind.family == "decimal" else -most - 1
    wrong = np.flatnonzero(~null & ((total > min(most, LARGEST)) | (total < max(least, -LARGEST - 1))))
    if len(wrong):
        raise OverflowError(f"{value.name}: the sum {total[wrong[0]]} does not fit {value.type}")
    return np.where(null, 0, total)


def ranks(keys: Sequence[Row]) -> Integers:
    """The place of each key in the order of their values, NULL first."""
    order = sorted(range(len(keys)), key=lambda place: [(value is not None, value) for value in keys[place]])
    found = np.empty(len(keys), dtype=np.int64)
    found[order] = np.arange(len(keys))
    return found


def results_of(
    plan: GroupNode, changes: GroupChanges, after: Sequence[Integers], columns: Sequence[str]
) -> Delta | None:
    """Old rows taken back and new ones, in order of time and values; None where numbers of 64 bits do not do."""
    before = [sums - added for sums, added in zip(after, changes.added, strict=True)]
    was, is_there = before[0] != 0, after[0] != 0
    old, new = ([values_of(value, _kept(sums, there)) for value in plan.values] for sums, there in
                ((before, was), (after, is_there)))  # fmt: skip
    differs = was != is_there
    for one, other in zip(old, new, strict=True):
        if one is None or other is None:
            return None
        differs = differs | (one[1] != other[1]) | (one[0] != other[0])
    gone, come = np.flatnonzero(was & differs), np.flatnonzero(is_there & differs)
    group = np.concatenate([changes.group[gone], changes.group[come]])
    time = np.concatenate([changes.time[gone], changes.time[come]])
    weight = np.repeat(np.array([-1, 1]), [len(gone), len(come)])
    values: list[tuple[Values, Mask]] = []
    for one, other in zip(old, new, strict=True):
        assert one is not None and other is not None, "looked at above"
        both = [np.concatenate([one[k][gone], other[k][come]]) for k in (0, 1)]
        values.append((both[0], both[1]))
    by = [key for found, null in reversed(values) for key in (np.where(null, 0, found), ~null)]
    order = np.lexsort((*by, ranks(changes.keys)[group], time))
    return _delta(plan, changes.keys, group[order], time[order], weight[order], columns,
                  [(found[order], null[order]) for found, null in values])  # fmt: skip


def _kept(sums: Sequence[Integers], there: Mask) -> list[Integers]:
    """The sums, zeros where there is no group: what is not there must not overflow."""
    return [np.where(there, values, 0) for values in sums]


def _delta(
    plan: GroupNode, keys: Sequence[Row], group: Integers, time: Integers, weight: Integers,
    columns: Sequence[str], values: Sequence[tuple[Values, Mask]],
) -> Delta:  # fmt: skip
    found: dict[str, Values] = {}
    nulls: dict[str, Mask] = {}
    for place, name in enumerate(columns[: len(plan.keys)]):
        texts, null = _key_column([key[place] for key in keys])
        found[name] = texts[group]
        if null.any():
            nulls[name] = null[group]
    for name, (mine, null) in zip(columns[len(plan.keys) :], values, strict=True):
        found[name] = mine
        if null.any():
            nulls[name] = null
    return Delta(time, weight, found, nulls)


def _key_column(values: list[object]) -> tuple[Values, Mask]:
    null = np.array([value is None for value in values], dtype=bool)
    if all(value is None or (isinstance(value, int) and abs(value) <= LARGEST) for value in values):
        return np.array([0 if value is None else value for value in values], dtype=np.int64), null
    return np.array(values, dtype=object), null
