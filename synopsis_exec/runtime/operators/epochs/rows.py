"""The rows of static relations with periods, and pairs of rows that are valid together."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from streambound_runtime.operators.epochs.fragments import GREATEST, LEAST, Fragment, FragmentRow, normal
from streambound_runtime.operators.epochs.plan import EpochJoin, EpochMap, EpochPlan, EpochRelation
from streambound_runtime.row_values import Value

Entry = Sequence[object]
"""An entry as JSON can hold it."""
Computed = Callable[[EpochMap, Sequence[FragmentRow]], list[FragmentRow | None]]
"""The rows that expressions make of others, each in its place; None where the condition is not true."""
Passes = Callable[[EpochJoin, Sequence[FragmentRow]], list[bool]]
"""For which of some pairs the condition of a join is true."""
Pair = tuple[int, int, int, int]
"""The places of a left and a right fragment, and from when to when both are valid."""
RelationTables = Mapping[str, Sequence[Mapping[str, Value]]]
"""The rows of static relations, by name."""


def saved_row(values: object) -> FragmentRow:
    """The values of a row in an entry."""
    return normal(tuple(cast("list[Value]", values)))


class WaitingRows:
    """The rows of a static relation, each of which comes when it begins, as a stream's do.

    ``last`` is the greatest end.
    """

    def __init__(self, rows: Sequence[Fragment]) -> None:
        self.rows = sorted(rows, key=lambda row: row[1])
        self.begins = [begin for _, begin, _, _ in self.rows]
        self.last = max((end for _, _, end, _ in rows), default=LEAST)

    def between(self, since: int, until: int) -> list[Fragment]:
        """Those that begin from a frontier to before another."""
        return self.rows[bisect_left(self.begins, since) : bisect_left(self.begins, until)]


def static_rows(
    plan: EpochPlan, relations: RelationTables, low: int | None, high: int | None, computed: Computed
) -> list[Fragment]:
    """All rows of σ and Π of a static relation."""
    if isinstance(plan, EpochMap):
        under = static_rows(plan.input, relations, low, high, computed)
        found = zip(computed(plan, [row for row, *_ in under]), under, strict=True)
        return [(normal(row), begin, end, count) for row, (_, begin, end, count) in found if row is not None]
    assert isinstance(plan, EpochRelation), "nothing else is known beforehand"
    return relation_rows(plan, relations, low, high)


def relation_rows(plan: EpochRelation, relations: RelationTables, low: int | None, high: int | None) -> list[Fragment]:
    """The rows of a relation in the time that there is; one without a period is valid at all of it."""
    first, last = LEAST if low is None else low, GREATEST if high is None else high
    found = list[Fragment]()
    for one in relations.get(plan.table, ()) if plan.table else [{}]:
        begin, end = (one[name] for name in plan.period) if plan.period else (first, last)
        if isinstance(begin, int) and isinstance(end, int) and max(begin, first) < min(end, last):
            values = normal(tuple(one[name] for name in plan.columns))
            found.append((values, max(begin, first), min(end, last), 1))
    return found


def pairs_of(plan: EpochJoin, left: Sequence[Fragment], right: Sequence[Fragment], passes: Passes) -> list[Pair]:
    """The pairs of a join, by their places, and where both are valid."""
    by_key: dict[FragmentRow, list[int]] = defaultdict(list)
    mine = [key for key, _ in plan.keys]
    theirs = [key for _, key in plan.keys]
    for j in sorted(range(len(right)), key=lambda j: right[j][1]):
        key = tuple(right[j][0][place] for place in theirs)
        if None not in key:
            by_key[key].append(j)
    found = list[Pair]()
    for i, (row, begin, end, _) in enumerate(left):
        for j in by_key.get(tuple(row[place] for place in mine), ()):
            _, other_begin, other_end, _ = right[j]
            if other_begin >= end:
                break
            if begin < other_end:
                found.append((i, j, max(begin, other_begin), min(end, other_end)))
    if not plan.condition or not found:
        return found
    passing = passes(plan, [(*left[i][0], *right[j][0]) for i, j, _, _ in found])
    return [pair for pair, passed in zip(found, passing, strict=True) if passed]
