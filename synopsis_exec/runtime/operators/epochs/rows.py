"""Rows that come when they begin, and what is remembered of them: rows that are still valid, or the latest ends."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

from streambound_runtime.operators.epochs.fragments import (
    GREATEST,
    LEAST,
    EndCounts,
    Fragment,
    FragmentRow,
    difference,
    distinct,
    latest,
    normal,
)
from streambound_runtime.operators.epochs.plan import EpochDifference, EpochMap, EpochMatched, EpochPlan, EpochRelation
from streambound_runtime.operators.values import integer
from streambound_runtime.row_values import Value

Entry = Sequence[object]
"""An entry as JSON can hold it."""
Computed = Callable[[EpochMap, Sequence[FragmentRow]], list[FragmentRow | None]]
"""The rows that expressions make of others, each in its place; None where the condition is not true."""


RelationTables = Mapping[str, Sequence[Mapping[str, Value]]]
"""The rows of static relations, by name."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """The time ``since`` a frontier to before ``until``, with the rows of each block that begin in it."""

    since: int
    until: int
    arrived: Mapping[str, Sequence[Fragment]] = field(default_factory=dict)


def saved_row(values: object) -> FragmentRow:
    """The values of a row in an entry."""
    return normal(tuple(cast("list[Value]", values)))


RowsOfEpoch = Callable[[Epoch], list[Fragment]]
"""The rows that begin in an epoch, with their whole periods; or the parts of rows that lie in it."""


class KeepsEntries(Protocol):
    """What is remembered from one epoch to the next, where an operator has something to remember."""

    def entries(self) -> int:
        """How many entries there are between two epochs."""
        ...

    def dump(self) -> list[Entry]:
        """What has to be remembered."""
        ...

    def load(self, entries: Sequence[Entry]) -> None:
        """Take over what `dump` returned."""
        ...


def mapping(plan: EpochMap, rows: RowsOfEpoch, computed: Computed) -> RowsOfEpoch:
    """Expressions of rows, of those for which a condition is true."""
    return lambda epoch: mapped(plan, rows(epoch), computed)


def matching(plan: EpochMatched, rows: RowsOfEpoch, relation: Sequence[Fragment]) -> RowsOfEpoch:
    """The rows that agree with a row of a relation; one without a value agrees with none."""
    places = [place for place, _ in plan.keys]
    keys = (tuple(row[place] for _, place in plan.keys) for row, *_ in relation)
    partners = {key for key in keys if None not in key}
    return lambda epoch: [one for one in rows(epoch) if tuple(one[0][place] for place in places) in partners]


def united(left: RowsOfEpoch, right: RowsOfEpoch) -> RowsOfEpoch:
    """The rows of both sides."""
    return lambda epoch: [*left(epoch), *right(epoch)]


def mapped(plan: EpochMap, fragments: Sequence[Fragment], computed: Computed) -> list[Fragment]:
    """Other columns of fragments, without those for which the condition is not true."""
    found = computed(plan, [row for row, *_ in fragments])
    kept = zip(found, fragments, strict=True)
    return [(normal(row), begin, end, count) for row, (_, begin, end, count) in kept if row is not None]


class RelationRows:
    """The rows of a static relation."""

    def __init__(self, plan: EpochRelation, rows: Sequence[Mapping[str, Value]], low: int | None, high: int | None):
        first, last = LEAST if low is None else low, GREATEST if high is None else high
        self.rows = list[Fragment]()
        for one in rows if plan.table else [{}]:
            period = (one[plan.period[0]], one[plan.period[1]]) if plan.period else (first, last)
            if None in period:
                continue
            begin, end = map(integer, period)
            if begin < end:
                values = normal(tuple(one[name] for name in plan.columns))
                self.rows.append((values, max(begin, first), min(end, last), 1))
        self.last = max((end for _, _, end, _ in self.rows if plan.period), default=LEAST)

    def fragments(self, epoch: Epoch) -> list[Fragment]:
        """Those that are valid in an epoch."""
        return list(_within(self.rows, epoch))


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
        return mapped(plan, static_rows(plan.input, relations, low, high, computed), computed)
    assert isinstance(plan, EpochRelation), "nothing else is known beforehand"
    return RelationRows(plan, relations.get(plan.table, ()), low, high).fragments(Epoch(LEAST, GREATEST))


class ValidRows:
    """Rows that are still valid: a counter for each value and end.

    With ``ending`` those that end with the epoch, too: they may be prolonged. Where it is known how many copies of a
    value play a part at most, so many are remembered, those that end last.
    """

    def __init__(
        self, rows: RowsOfEpoch, ending: bool = False, most: Callable[[FragmentRow], int] | None = None
    ) -> None:
        self.rows, self.ending, self.most = rows, ending, most
        self.counts = EndCounts()

    def fragments(self, epoch: Epoch) -> list[Fragment]:
        """Rows of an epoch: those remembered, and those that begin."""
        held = [(row, epoch.since, end, count) for (row, end), count in self.counts.items()]
        new = self.rows(epoch)
        found = list(_within([*held, *new], epoch))
        least = epoch.until - self.ending
        self.counts = {key: count for key, count in self.counts.items() if key[1] > least}
        for row, _, end, count in new:
            if end > least:
                self.counts[row, end] = self.counts.get((row, end), 0) + count
        if self.most is not None:
            self.counts = latest(self.counts, self.most)
        return found

    def entries(self) -> int:
        """One for each value and end."""
        return len(self.counts)

    def dump(self) -> list[Entry]:
        """Values, end and number of each."""
        return [[*row, end, count] for (row, end), count in self.counts.items()]

    def load(self, entries: Sequence[Entry]) -> None:
        """Take over what `dump` returned."""
        self.counts = {(saved_row(row), integer(end)): integer(count) for *row, end, count in entries}


class DifferentRows:
    """EXCEPT ALL, or INTERSECT ALL: for each value and end how many rows of the left and of the right side have it."""

    def __init__(self, plan: EpochDifference, left: RowsOfEpoch, right: RowsOfEpoch) -> None:
        self.common, self.sides = plan.common, (left, right)
        self.counts: dict[tuple[FragmentRow, int], list[int]] = {}

    def fragments(self, epoch: Epoch) -> list[Fragment]:
        """What is left of the rows of an epoch: those remembered, and those that begin."""
        held = [[(row, epoch.since, end, of[n]) for (row, end), of in self.counts.items()] for n in (0, 1)]
        new = [rows(epoch) for rows in self.sides]
        left, right = (_within([*held[n], *new[n]], epoch) for n in (0, 1))
        found = list(difference(left, right, self.common))
        self.counts = {key: of for key, of in self.counts.items() if key[1] > epoch.until}
        for n in (0, 1):
            for row, _, end, count in new[n]:
                if end > epoch.until:
                    self.counts.setdefault((row, end), [0, 0])[n] += count
        return found

    def entries(self) -> int:
        """One for each value and end."""
        return len(self.counts)

    def dump(self) -> list[Entry]:
        """Values, end and both numbers of each."""
        return [[*row, end, *of] for (row, end), of in self.counts.items()]

    def load(self, entries: Sequence[Entry]) -> None:
        """Take over what `dump` returned."""
        self.counts = {(saved_row(row), integer(end)): [integer(a), integer(b)] for *row, end, a, b in entries}


class DistinctRows:
    """Each row once at a time: of each value the latest end is remembered."""

    def __init__(self, rows: RowsOfEpoch) -> None:
        self.rows = rows
        self.latest: dict[FragmentRow, int] = {}

    def fragments(self, epoch: Epoch) -> list[Fragment]:
        """Where there is a row in an epoch."""
        held = [(row, epoch.since, end, 1) for row, end in self.latest.items()]
        new = self.rows(epoch)
        found = list(distinct(_within([*held, *new], epoch)))
        self.latest = {row: end for row, end in self.latest.items() if end > epoch.until}
        for row, _, end, _ in new:
            if end > epoch.until:
                self.latest[row] = max(end, self.latest.get(row, end))
        return found

    def entries(self) -> int:
        """One for each value."""
        return len(self.latest)

    def dump(self) -> list[Entry]:
        """Values and latest end of each."""
        return [[*row, end] for row, end in self.latest.items()]

    def load(self, entries: Sequence[Entry]) -> None:
        """Take over what `dump` returned."""
        self.latest = {saved_row(row): integer(end) for *row, end in entries}


def _within(rows: Sequence[Fragment], epoch: Epoch) -> Iterator[Fragment]:
    """The parts of rows that lie in an epoch."""
    since, until = epoch.since, epoch.until
    for row, begin, end, count in rows:
        first, last = max(begin, since), min(end, until)
        if first < last:
            yield row, first, last, count
