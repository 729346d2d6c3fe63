"""Aggregates of the rows of a group that are valid at a time, and what is remembered of rows that go on.

Dignös et al., *Snapshot Semantics*, Definition 7.1. COUNT, SUM and AVG need what the values add up to, for each end at
which some go; MIN and MAX those rows that no other outlives with a value as good; DISTINCT a value's latest end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, cast

from streambound_runtime.decoding.sql_types import sql_type
from streambound_runtime.operators.epochs.amounts import AMOUNT, NOTHING, amount, made
from streambound_runtime.operators.epochs.fragments import Fragment, FragmentRow, latest
from streambound_runtime.operators.epochs.plan import EpochAggregate, EpochGroup
from streambound_runtime.operators.epochs.rows import Entry, Epoch, RowsOfEpoch, saved_row
from streambound_runtime.operators.values import integer
from streambound_runtime.periods.aggregating import ExtremeOf, ordered
from streambound_runtime.row_values import Comparable, Value

Held = Value | list[int]
"""What rows bring to a part: a value, or the sums of several."""


class OpenGroup(Protocol):
    """What a part of a group's aggregates is while time passes."""

    def change(self, value: Held, sign: int) -> None:
        """Values come (1), or go (-1)."""
        ...

    @property
    def there(self) -> bool:
        """Whether the group has rows."""
        ...

    def result(self, aggregate: EpochAggregate) -> Value:
        """The value of one of the part's aggregates."""
        ...


class GroupAggregates(Protocol):
    """Aggregates that are computed of the same entries."""

    def value(self, row: FragmentRow, copies: int) -> Held:
        """What a row brings."""
        ...

    def opened(self) -> OpenGroup:
        """A group without rows."""
        ...

    def held(self) -> Iterator[tuple[FragmentRow, int, Held]]:
        """Group, end and value of each entry."""
        ...

    def keep(self, group: FragmentRow, end: int, value: Held) -> None:
        """Remember what a row brings until it ends."""
        ...

    def forget(self, until: int) -> None:
        """Forget what has ended."""
        ...


class PeriodGroups:
    """The operator of an `EpochGroup`. Its rows carry their ends, or else are fragments: then nothing is remembered."""

    def __init__(self, plan: EpochGroup, rows: RowsOfEpoch, arriving: bool) -> None:
        self.plan, self.rows, self.arriving = plan, rows, arriving
        self.parts = [_part(kind, plan.most) for kind in _kinds(plan)]
        self.part_of = [_place(_kinds(plan), one) for one in plan.aggregates]

    def fragments(self, epoch: Epoch) -> list[Fragment]:
        """The groups' rows in an epoch."""
        rows = self.rows(epoch)
        keys = self.plan.keys
        events: dict[FragmentRow, list[tuple[int, int, Held, int]]] = defaultdict(list)
        if self.plan.always:
            events[()] = []
        for number, part in enumerate(self.parts):
            for group, end, value in part.held():
                _note(events[group], number, epoch.since, end, value, epoch)
            for row, begin, end, copies in rows:
                value = part.value(row, copies)
                _note(events[row[:keys]], number, begin, end, value, epoch)
        found = [one for group, mine in events.items() for one in self._swept(group, mine, epoch)]
        if self.arriving:
            for part in self.parts:
                for row, _, end, copies in rows:
                    if end > epoch.until:
                        part.keep(row[:keys], end, part.value(row, copies))
                part.forget(epoch.until)
        return found

    def _swept(self, group: FragmentRow, events: list[tuple[int, int, Held, int]], epoch: Epoch) -> Iterator[Fragment]:
        """The rows of a group from one event to the next."""
        opened, at = [part.opened() for part in self.parts], epoch.since
        events.sort(key=lambda event: event[0])
        for time, number, value, sign in (*events, (epoch.until, 0, None, 0)):
            if time > at:
                if self.plan.always or any(one.there for one in opened):
                    results = (opened[p].result(a) for p, a in zip(self.part_of, self.plan.aggregates, strict=True))
                    yield (*group, *results), at, time, 1
                at = time
            if sign:
                opened[number].change(value, sign)

    def entries(self) -> int:
        """Those of all parts."""
        return sum(1 for part in self.parts for _ in part.held())

    def dump(self) -> list[Entry]:
        """The part's number, group, end and value of each entry."""
        return [[n, list(g), end, value] for n, part in enumerate(self.parts) for g, end, value in part.held()]

    def load(self, entries: Sequence[Entry]) -> None:
        """Take over what `dump` returned."""
        for part in self.parts:
            part.forget(2**64)
        for number, group, end, value in entries:
            self.parts[integer(number)].keep(saved_row(group), integer(end), cast("Held", value))


def _note(
    events: list[tuple[int, int, Held, int]], number: int, begin: int, end: int, value: Held, epoch: Epoch
) -> None:
    first = max(begin, epoch.since)
    if first >= min(end, epoch.until):
        return
    events.append((first, number, value, 1))
    if end < epoch.until:
        events.append((end, number, value, -1))


# --- parts ------------------------------------------------------------------------------------------------------------

PartKey = tuple[str, int | None, str]
"""What aggregates are computed of: "sums", "distinct" or MIN's and MAX's name; a column and its type."""


def _kinds(plan: EpochGroup) -> list[tuple[PartKey, tuple[int, ...]]]:
    """The parts of a group, the sums with all their columns."""
    keys = dict.fromkeys(_key(one) for one in plan.aggregates)
    if not keys:
        keys[("distinct", None, "")] = None
    sums = tuple(
        dict.fromkeys(one.column for one in plan.aggregates if _key(one)[0] == "sums" and one.column is not None)
    )
    return [(key, sums if key[0] == "sums" else ()) for key in keys]


def _key(one: EpochAggregate) -> PartKey:
    if one.function in ("min", "max"):
        return one.function, one.column, one.type
    return ("distinct", one.column, one.type) if one.distinct else ("sums", None, "")


def _place(kinds: list[tuple[PartKey, tuple[int, ...]]], one: EpochAggregate) -> int:
    return next(place for place, (key, _) in enumerate(kinds) if key == _key(one))


def _part(kind: tuple[PartKey, tuple[int, ...]], most: int) -> GroupAggregates:
    (name, column, type), columns = kind
    if most:
        return LatestEnds(most)
    if name == "sums":
        return SumsByEnd(columns)
    if name == "distinct":
        return LatestValues(column)
    assert column is not None, "MIN and MAX are of a column"
    return BestByEnd(column, ordered(sql_type(type).family == "float", name == "max"))


def _sums(value: Held) -> list[int]:
    assert isinstance(value, list), "sums are of sums"
    return value


def _single(value: Held) -> Value:
    assert not isinstance(value, list), "values are of values"
    return value


class SumsByEnd:
    """For each group and end: how many rows go then, and what the values of the columns add up to in these."""

    def __init__(self, columns: tuple[int, ...]) -> None:
        self.columns = columns
        self.sums: dict[tuple[FragmentRow, int], list[int]] = {}

    def value(self, row: FragmentRow, copies: int) -> list[int]:
        """The copies, then an amount for each column."""
        return [copies, *(n for column in self.columns for n in amount(row[column], copies))]

    def opened(self) -> OpenGroup:
        """No rows."""
        return OpenSums(self.columns)

    def held(self) -> Iterator[tuple[FragmentRow, int, Held]]:
        """Group, end and sums."""
        return ((group, end, sums) for (group, end), sums in self.sums.items())

    def keep(self, group: FragmentRow, end: int, value: Held) -> None:
        """Add a row's sums."""
        known, more = self.sums.get((group, end)), _sums(value)
        self.sums[group, end] = more if known is None else [a + b for a, b in zip(known, more, strict=True)]

    def forget(self, until: int) -> None:
        """Forget what has ended."""
        self.sums = {key: sums for key, sums in self.sums.items() if key[1] > until}


class LatestEnds(SumsByEnd):
    """For each group its rows that end last: whether there are so many is all that is asked."""

    def __init__(self, most: int) -> None:
        super().__init__(())
        self.most = most

    def forget(self, until: int) -> None:
        """Forget what has ended, and what so many others outlive."""
        counts = {key: sums[0] for key, sums in self.sums.items() if key[1] > until}
        self.sums = {key: [count] for key, count in latest(counts, lambda group: self.most).items()}


class OpenSums:
    """The sums of the rows that are valid."""

    def __init__(self, columns: tuple[int, ...]) -> None:
        self.columns, self.total = columns, [0, *NOTHING * len(columns)]

    def change(self, value: Held, sign: int) -> None:
        """Add sums, or take them back."""
        self.total = [a + sign * b for a, b in zip(self.total, _sums(value), strict=True)]

    @property
    def there(self) -> bool:
        """Whether there are rows."""
        return self.total[0] > 0

    def result(self, aggregate: EpochAggregate) -> Value:
        """COUNT, SUM or AVG."""
        if aggregate.column is None:
            return self.total[0]
        first = 1 + AMOUNT * self.columns.index(aggregate.column)
        return made(aggregate.function, aggregate.type, self.total[first : first + AMOUNT])


class BestByEnd:
    """For each group the rows that no other outlives with a value as good; NULL is the worst value."""

    def __init__(self, column: int, order: Callable[[Value], Comparable]) -> None:
        self.column, self.order = column, order
        self.best: dict[FragmentRow, list[tuple[int, Value]]] = {}

    def value(self, row: FragmentRow, copies: int) -> Value:
        """The column's value."""
        return row[self.column]

    def opened(self) -> OpenGroup:
        """No rows."""
        return OpenBest(self.order)

    def held(self) -> Iterator[tuple[FragmentRow, int, Held]]:
        """Group, end and value."""
        return ((group, end, value) for group, found in self.best.items() for end, value in found)

    def keep(self, group: FragmentRow, end: int, value: Held) -> None:
        """Remember a row unless another outlives it with a value as good; forget those that it outlives."""
        known, new = self.best.setdefault(group, []), _single(value)
        if not any(e >= end and not self._better(new, v) for e, v in known):
            known[:] = [(e, v) for e, v in known if not (end >= e and not self._better(v, new))]
            known.append((end, new))

    def _better(self, value: Value, other: Value) -> bool:
        if value is None or other is None:
            return value is not None and other is None
        return self.order(value) < self.order(other)

    def forget(self, until: int) -> None:
        """Forget what has ended."""
        kept = {group: [one for one in found if one[0] > until] for group, found in self.best.items()}
        self.best = {group: found for group, found in kept.items() if found}


class OpenBest:
    """The best value of rows that are valid."""

    def __init__(self, order: Callable[[Value], Comparable]) -> None:
        self.values, self.rows = ExtremeOf(order), 0

    def change(self, value: Held, sign: int) -> None:
        """A value comes or goes."""
        self.rows += sign
        if value is not None:
            self.values.add(_single(value), sign)

    @property
    def there(self) -> bool:
        """Whether there are rows."""
        return self.rows > 0

    def result(self, aggregate: EpochAggregate) -> Value:
        """MIN or MAX; NULL of nothing."""
        return self.values.value


class LatestValues:
    """For each group and distinct value of a column its latest end; of rows where there is no column."""

    def __init__(self, column: int | None) -> None:
        self.column = column
        self.latest: dict[tuple[FragmentRow, Value], int] = {}

    def value(self, row: FragmentRow, copies: int) -> Value:
        """The column's value."""
        return None if self.column is None else row[self.column]

    def opened(self) -> OpenGroup:
        """No rows."""
        return OpenValues()

    def held(self) -> Iterator[tuple[FragmentRow, int, Held]]:
        """Group, end and value."""
        return ((group, end, value) for (group, value), end in self.latest.items())

    def keep(self, group: FragmentRow, end: int, value: Held) -> None:
        """Remember a value until its last row ends."""
        key = group, _single(value)
        self.latest[key] = max(end, self.latest.get(key, end))

    def forget(self, until: int) -> None:
        """Forget what has ended."""
        self.latest = {key: end for key, end in self.latest.items() if end > until}


class OpenValues:
    """The different values of rows that are valid."""

    def __init__(self) -> None:
        self.rows: dict[Value, int] = {}
        self.total = list(NOTHING)

    def change(self, value: Held, sign: int) -> None:
        """A value comes or goes."""
        single = _single(value)
        before = self.rows.pop(single, 0)
        if before + sign:
            self.rows[single] = before + sign
        if not before or not before + sign:
            self.total = [a + sign * b for a, b in zip(self.total, amount(single, 1), strict=True)]

    @property
    def there(self) -> bool:
        """Whether there are rows."""
        return bool(self.rows)

    def result(self, aggregate: EpochAggregate) -> Value:
        """COUNT, SUM or AVG of each value once."""
        return made(aggregate.function, aggregate.type, self.total)
