"""Aggregates of groups: an entry a group, with its sums and best values, and one for each value that is kept apart.

Linear aggregates need no more than sums and the number of rows (Budiu et al., *DBSP*, §7.2); a group without rows is
gone, but the one group of an aggregate without keys, which is there from the first timestamp on.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.operators.buckets import last_of, shown_at
from streambound_runtime.operators.by_tick import Changes, Row, Ticks, Weighted, rows_by_time
from streambound_runtime.operators.circuit_plan import GroupNode, GroupValues
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import arrow_of_pairs, pairs_of_arrow
from streambound_runtime.operators.group_columns import group_changes, is_linear, results_of, running_sums
from streambound_runtime.operators.group_values import ClosingValues, HeldValues, value_of
from streambound_runtime.operators.protocol import State
from streambound_runtime.operators.sums import Number, Sums
from streambound_runtime.operators.values import factor
from streambound_runtime.row_values import Value

GROUPS, VALUES, BEGUN = "groups", "values {}", "begun"


@dataclass
class GroupState:
    """A group: how many rows, the sums, and of each argument its best value, or its values with their numbers."""

    sums: list[Number]
    values: list[HeldValues | ClosingValues] = field(default_factory=list)


class GroupBy:
    """The operator of a `GroupNode` node; its first input are the rows, the others the arguments' values."""

    def __init__(self, plan: GroupNode, final: bool) -> None:
        self.plan, self.final = plan, final
        self.columns = (*plan.keys, *(value.name for value in plan.values))
        self.linear = is_linear(plan, final)
        self.groups: dict[Row, GroupState] = {}
        self.begun = False
        self.ends: list[int] = []
        self.closing: dict[int, dict[Row, None]] = {}
        self.by_ending: dict[Row, dict[Row, None]] = {}
        self.apart = 0
        self.open_buckets: dict[int, dict[tuple[int, Row, Value], None]] = {}
        """Of buckets whose values are kept until they close: the arguments, groups and buckets by when they do."""
        self.closes: list[int] = []
        self.sizes: Integers = np.zeros(0, dtype=np.int64)

    def entries(self) -> int:
        """The groups, and the values that are kept apart."""
        return len(self.groups) + self.apart

    def step(self, inputs: Sequence[Delta], ticks: Ticks) -> Delta:
        """Close timestamps; each changed group gives its old row back, and its new one."""
        found = self._in_columns(inputs[0], ticks) if self.linear and inputs[0].size else None
        return self._by_rows(inputs, ticks) if found is None else found

    def _by_rows(self, inputs: Sequence[Delta], ticks: Ticks) -> Delta:
        changes, sizes = Changes(self.columns), []
        by_time = [rows_by_time(delta) for delta in inputs]
        ended = by_time.pop() if self.plan.ends is not None else {}
        for now in ticks.times.tolist():
            self._drop_before(now, changes)
            found = self._tick([rows.get(now, []) for rows in by_time])
            if not self.final:
                changes.add(now, found)
            self._end(now, [key for key, _ in ended.get(now, ())], changes)
            self._drop_before(now + 1, changes)
            sizes.append(self.entries())
        if ticks.over:
            self._drop_before(None, changes)
        elif ticks.until is not None:
            self._drop_before(ticks.until, changes)
        self.sizes = np.array(sizes, dtype=np.int64)
        return changes.delta

    def _in_columns(self, rows: Delta, ticks: Ticks) -> Delta | None:
        """All timestamps at once; None, and nothing has changed, where that cannot be done in numbers of 64 bits."""
        grows = rows.weight is None or bool((rows.weight > 0).all())
        made = group_changes(self.plan, rows, self.final and grows)
        if made is None:
            return None
        held = [self.groups.get(key) for key in made.keys]
        none: list[Number] = [0] * (1 + len(self.plan.sums))
        before = [[n for n in (none if g is None else g.sums) if isinstance(n, int)] for g in held]
        if any(len(sums) < len(none) for sums in before):
            return None
        ends = [self._last(key) for key in made.keys]
        lasts = np.append(made.first[1:], len(made.group)) - 1
        if any(end is not None and end < now for end, now in zip(ends, made.last.tolist(), strict=True)):
            return None  # a group that changes after its end is another one
        after = running_sums(made, before)
        changes = None if after is None or self.final else results_of(self.plan, made, after, self.columns)
        if after is None or (changes is None and not self.final):
            return None
        there = (after[0] != 0).astype(np.int64) - (after[0] - made.added[0] != 0)
        more = np.zeros(len(ticks.times) + 1, dtype=np.int64)
        np.add.at(more, np.searchsorted(ticks.times, made.time), there)
        start = self.entries()
        for key, group, *sums in zip(made.keys, held, *(values[lasts].tolist() for values in after), strict=True):
            if not sums[0]:
                self.groups.pop(key, None)
            elif group is None:
                self._keep(key, GroupState(sums))
            else:
                group.sums = sums
        shown, last = Changes(self.columns), int(ticks.times[-1])
        for end, number in self._drop_before(last + 1, shown):
            more[np.searchsorted(ticks.times, end)] -= number
        self._drop_before(None if ticks.over else ticks.until if ticks.until is not None else last, shown)
        self.sizes = start + np.cumsum(more[:-1])
        return shown.delta if changes is None else changes

    def _last(self, key: Row) -> int | None:
        """The last timestamp at which a group may change; None where that is not known."""
        bucket = self.plan.bucket
        return None if bucket is None else last_of(bucket, key[bucket.key]) + bucket.delay

    def _drop_before(self, now: int | None, shown: Changes) -> list[tuple[int, int]]:
        """Drop the groups whose buckets no longer change when all before a timestamp is closed.

        Returns when how many of them do. Where results are final the groups' are ``shown``.
        """
        self._close_values(now)
        bucket, found = self.plan.bucket, list[tuple[int, int]]()
        while bucket is not None and self.ends and (now is None or self.ends[0] + bucket.delay < now):
            last = heapq.heappop(self.ends)
            keys = [key for key in self.closing.pop(last) if key in self.groups]
            if self.final and keys:
                rows = [(row, 1) for row in map(self._row, keys) if row is not None]
                shown.add(shown_at(bucket, keys[0][bucket.key]), rows)
            for key in keys:
                if key in self.groups:
                    self._drop(key)
            found.append((last + bucket.delay, len(keys)))
        return found

    def _tick(self, inputs: list[list[Weighted]]) -> list[Weighted]:
        """The changes that some rows and values make."""
        before: dict[Row, Row | None] = {}
        if not self.plan.keys and not self.begun:
            before[()] = None
            self.groups[()] = self._empty()
            self.begun = True
        width = len(self.plan.keys)
        for row, weight in inputs[0]:
            group = self._touched(row[:width], before)
            group.sums[0] += weight
            for place, value in enumerate(row[width:], 1):
                group.sums[place] += factor(value) if self.plan.weighted else factor(value) * weight
        for number, rows in enumerate(inputs[1:]):
            for row, weight in rows:
                self._add_value(self._touched(row[:width], before), number, row[:width], row[width:], weight)
        changes: list[Weighted] = []
        for key, old in before.items():
            new = self._row(key)
            if new != old:
                changes += [(old, -1)] if old is not None else []
                changes += [(new, 1)] if new is not None else []
        return changes

    def _add_value(self, group: GroupState, number: int, key: Row, given: Row, weight: int) -> None:
        """Add a value to a group; where it is of a bucket, that follows it."""
        held = group.values[number]
        if isinstance(held, HeldValues):
            self.apart += held.add(given[0], weight)
            return
        value, of_bucket = given
        self.apart += held.add(value, weight, of_bucket)
        bucket = self.plan.arguments[number].bucket
        assert bucket is not None, "its values close"
        end = last_of(bucket, of_bucket) + bucket.delay
        if end not in self.open_buckets:
            heapq.heappush(self.closes, end)
        self.open_buckets.setdefault(end, {})[number, key, of_bucket] = None

    def _close_values(self, now: int | None) -> None:
        """Of values of buckets that no longer change when all before a timestamp is closed, keep the best ones."""
        while self.closes and (now is None or self.closes[0] < now):
            for number, key, of_bucket in self.open_buckets.pop(heapq.heappop(self.closes)):
                held = self.groups[key].values[number] if key in self.groups else None
                if isinstance(held, ClosingValues):
                    self.apart += held.close(of_bucket)

    def _touched(self, key: Row, before: dict[Row, Row | None]) -> GroupState:
        group = self.groups.get(key)
        if key not in before:
            before[key] = self._row(key)
        if group is None:
            group = self._keep(key, self._empty())
        return group

    def _keep(self, key: Row, group: GroupState) -> GroupState:
        """Hold a new group, until its bucket no longer changes, or its key is over."""
        self.groups[key] = group
        if self.plan.ends is not None:
            self.by_ending.setdefault(self._ending(key), {})[key] = None
        if self.plan.bucket is not None:
            last = last_of(self.plan.bucket, key[self.plan.bucket.key])
            if last not in self.closing:
                heapq.heappush(self.ends, last)
            self.closing.setdefault(last, {})[key] = None
        return group

    def _drop(self, key: Row) -> None:
        """Forget a group."""
        self.apart -= sum(held.size for held in self.groups.pop(key).values)
        if self.plan.ends is not None:
            alike = self.by_ending[self._ending(key)]
            del alike[key]
            if not alike:
                del self.by_ending[self._ending(key)]

    def _ending(self, key: Row) -> Row:
        """The part of a key that a punctuation ends."""
        return tuple(key[place] for place in self.plan.ends.places) if self.plan.ends is not None else ()

    def _empty(self) -> GroupState:
        width = 1 + len(self.plan.sums)
        return GroupState([0] * width, [_no_values(argument) for argument in self.plan.arguments])

    def _row(self, key: Row) -> Row | None:
        """A group's row; None for one that has no rows. Such a group is forgotten."""
        group = self.groups.get(key)
        if group is None:
            return None
        if not group.sums[0] and self.plan.keys:
            self._drop(key)
            return None
        return (*key, *(value_of(value, group.sums, group.values) for value in self.plan.values))

    def _end(self, now: int, over: list[Row], changes: Changes) -> None:
        """Drop the groups of keys that are over."""
        found: list[Weighted] = []
        for part in over:
            for key in list(self.by_ending.get(part, ())):
                row = self._row(key)
                if row is None:
                    continue
                found.append((row, 1))
                self._drop(key)
        if self.final:
            changes.add(now, found)

    # --- state ------------------------------------------------------------------------------------------------------

    def dump(self) -> State:
        """The groups with their sums, and the values that are kept."""
        sums = [(key, Sums(group.sums)) for key, group in self.groups.items()]
        found = {GROUPS: arrow_of_pairs(sums, self.plan.keys, len(self.plan.sums))}
        for number, argument in enumerate(self.plan.arguments):
            names = (*self.plan.keys, "value", *(("bucket",) if argument.bucket is not None else ()))
            pairs = [
                ((*key, *given), weight)
                for key, group in self.groups.items()
                for given, weight in _kept(group.values[number])
            ]
            found[VALUES.format(number)] = arrow_of_pairs(pairs, names)
        found[BEGUN] = arrow_of_pairs([((), 1)] if self.begun else [], ())
        return found

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.groups, self.ends, self.closing, self.apart, self.by_ending = {}, [], {}, 0, {}
        self.open_buckets, self.closes = {}, []
        self.begun = state[BEGUN].num_rows > 0
        for key, sums in pairs_of_arrow(state[GROUPS]):
            group = self._keep(key, self._empty())
            group.sums = list(sums) if isinstance(sums, Sums) else [sums]
        width = len(self.plan.keys)
        for number in range(len(self.plan.arguments)):
            for entry, weight in pairs_of_arrow(state[VALUES.format(number)]):
                assert isinstance(weight, int), "values have no sums"
                group = self.groups[entry[:width]]
                held = group.values[number]
                if isinstance(held, ClosingValues) and entry[-1] is None:
                    held.best = entry[width]
                else:
                    self._add_value(group, number, entry[:width], entry[width:], weight)


def _no_values(argument: GroupValues) -> HeldValues | ClosingValues:
    """What is kept of an argument's values in a group that has none."""
    if argument.bucket is None:
        return HeldValues(argument.greatest)
    assert argument.greatest is not None, "values close where the best one is enough"
    return ClosingValues(argument.greatest)


def _kept(held: HeldValues | ClosingValues) -> Iterator[tuple[Row, int]]:
    """The values that are kept, with their weights; of those that close with their buckets, none for the best one."""
    if isinstance(held, HeldValues):
        yield from (((value,), weight) for value, weight in held.weights.items())
        return
    if held.best is not None:
        yield (held.best, None), 1
    yield from (((value, bucket), n) for bucket, weights in held.open.items() for value, n in weights.items())
