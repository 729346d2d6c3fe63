"""A table within a batch, as its entries at the start and a log of what was added when."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from streambound_runtime.arrays import Integers, Numbers, Values
from streambound_runtime.operators.delta import Times
from streambound_runtime.operators.exact import added, narrowed, plus, running, totals
from streambound_runtime.operators.frame import (
    ColumnFrame,
    Index,
    coded,
    coded_alike,
    codes_in,
    groups,
    indexed,
    renumbered,
    stacked,
)
from streambound_runtime.operators.ordered import DENSE, Ordered, few, order_of, searched, sums_below
from streambound_runtime.operators.plan import Table, age

Changes = list[tuple[Integers, Integers]]
"""Timestamps, and by how much the number of entries changes at each."""


class Log:
    """The entries of a table at the start of a batch, and what is added to it, in order of time.

    A multiplicity at a time is what it was at the start and the count of the key's additions before that time: a
    difference of two prefix sums. Where timestamps are kept, entries at the start are additions too: they count from
    their greatest kept timestamp on, which comes before the batch. ``apart`` says that no two additions are of the same
    entry.
    """

    def __init__(
        self, table: Table, start: ColumnFrame, more: list[ColumnFrame], distinct: bool, apart: bool = False
    ) -> None:
        self.table, self.distinct, self.apart = table, distinct, apart and bool(table.ages)
        self.start, in_order = start, len(more) < 2
        if table.ages:  # those at the start are in the order of their keys, and before what is added
            time = np.max([start.columns[age(stream)] for stream, *_ in table.ages], axis=0).astype(np.int64)
            more = [start._replace(time=time).take(order_of(time)), *more]
            self.start = start.take(slice(0, 0))
        log = stacked(more) if more else start.take(slice(0, 0))
        if not in_order:
            log = log.take(order_of(log.time))
        self.log = log._replace(n=None) if distinct else log
        self.times = Ordered(self.log.time)
        self.number_keys()
        self.indexes: dict[tuple[bool, tuple[str, ...]], Index] = {}
        self.ordered: dict[tuple[str, ...], Integers] = {}
        self.prefixes: tuple[Integers, Numbers | None, Integers] | None = None

    def number_keys(self) -> None:
        """Give every row of the log the code of its key, and note which codes there are, and where first."""
        names, at_start = self.table.columns, self.start.size
        known, codes, size = coded_alike(self.start, self.log, names)
        if not few(size, at_start + self.log.size):
            first, number = renumbered(np.concatenate([known, codes]))
            known, codes, size = number[:at_start], number[at_start:], len(first)
        where = np.full(size, -1, dtype=np.int64)
        where[known] = np.arange(at_start)
        new = np.flatnonzero(where[codes] < 0)[::-1]
        where[codes[new]] = new + at_start  # the last assignment holds: the first row
        self.size, self.codes, self.present = size, codes, np.flatnonzero(where >= 0)
        first = where[self.present]
        self.new = first[first >= at_start] - at_start
        """The rows of the log with a key that is not there before."""
        self.base = totals(None if self.distinct else self.start.n, known, size) if at_start else None
        self.upto: tuple[int, Numbers] = (0, np.zeros(size, dtype=np.int64))
        """Up to some place of the log, how often each key was added."""
        parts = [self.start, self.log.take(self.new)] if at_start else [self.log.take(self.new)]
        order = first.copy()
        order[first >= at_start] = at_start + np.arange(len(self.new))
        self.keys = stacked([part._replace(n=None) for part in parts]).take(order)
        """The distinct keys, without timestamps."""

    def index(self, of_keys: bool, names: tuple[str, ...]) -> Index:
        """The distinct keys, or all rows of the log, by some columns."""
        if (of_keys, names) not in self.indexes:
            frame = self.keys if of_keys else self.log
            self.indexes[of_keys, names] = indexed([frame.columns[name] for name in names], frame.size)
        return self.indexes[of_keys, names]

    # --- multiplicities by key -----------------------------------------------------------------------------------

    def counts(self, numbers: Integers, before: Values, since: Values | None) -> Numbers:
        """The multiplicities of keys before a time each, and not before another where that is given."""
        codes = self.present[numbers]
        if not len(codes):
            return codes
        first = None if since is None else self.times.places(since)
        last = self.times.places(before)
        if self.size == 1:
            found = self._of_all(first, last)
        elif len(codes) * 4 < self.log.size and self.prefixes is None and first is None:
            found = self._by_segments(codes, last)
        else:
            found = self._by_search(codes, first, last)
        return found if self.base is None else added(found, self.base[codes])

    def _of_all(self, first: Integers | None, last: Integers) -> Numbers:
        """Counts of the only key between two places of the log."""
        sums = np.arange(self.log.size + 1) if self.log.n is None else running(self.log.n)
        return narrowed(sums[last] if first is None else np.where(last > first, sums[last] - sums[first], 0))

    def _by_segments(self, codes: Integers, last: Integers) -> Numbers:
        """Counts of some keys before some places: per segment between two places, then added up."""
        cuts, segment = np.unique(last, return_inverse=True)
        if len(cuts) * self.size > max(self.log.size, DENSE):
            return self._by_search(codes, None, last)
        end = int(cuts[-1])
        cells = np.repeat(np.arange(len(cuts)) * self.size, np.diff(cuts, prepend=0))
        cells += self.codes[:end]
        n = None if self.log.n is None else self.log.n[:end]
        table = totals(n, cells, len(cuts) * self.size).reshape(len(cuts), self.size)
        np.add.accumulate(table, axis=0, out=table)
        self.upto = end, table[-1]
        return narrowed(table[segment, codes])

    def sums(self) -> Numbers:
        """How often each key was added."""
        place, before = self.upto
        n = None if self.log.n is None else self.log.n[place:]
        rest = totals(n, self.codes[place:], self.size)
        return added(before, rest) if place else rest

    def _by_search(self, codes: Integers, first: Integers | None, last: Integers) -> Numbers:
        """Counts of keys between two places, by looking the places up among the rows of the key."""
        if self.prefixes is None:
            order = order_of(self.codes)
            sums = None if self.log.n is None else running(self.log.n[order])
            starts = sums_below(self.codes, self.size)
            self.prefixes = self.codes[order] * self.log.size + order, sums, starts
        places, sums, starts = self.prefixes
        until = searched(places, codes * self.log.size + last)
        begin = starts[codes] if first is None else searched(places, codes * self.log.size + first)
        if sums is None:
            found: Numbers = np.maximum(until - begin, 0)
            return found
        return narrowed(np.where(until > begin, sums[until] - sums[begin], 0))

    # --- single rows ---------------------------------------------------------------------------------------------

    def ranges(
        self, names: tuple[str, ...], values: list[Values], before: Values, since: Values | None
    ) -> tuple[Index, Integers, Integers]:
        """Where, in the index by some columns, the rows of the log before a time are that have these values."""
        index, size = self.index(False, names), self.log.size
        if not size or not len(before):
            none = np.zeros(len(before), dtype=np.int64)
            return index, none, none
        codes, found = codes_in(index, values, len(before))
        last = self.times.places(before)
        if since is None:
            first = searched(index.codes, codes) if index.starts is None else index.starts[codes]
            until = self.searched(names, index, codes, last)
            return index, first, until if found is None else np.where(found, until, first)
        begin = self.times.places(since)
        some = self.may_have(index, codes, begin, last)
        if found is not None:
            some = some[found[some]]
        until = np.zeros(len(before), dtype=np.int64)
        until[some] = self.searched(names, index, codes[some], last[some])
        first = until.copy()
        some = some[index.order[until[some] - 1] >= begin[some]]  # of all keys, so of too many rather than too few
        first[some] = self.searched(names, index, codes[some], begin[some])
        return index, first, until

    def searched(self, names: tuple[str, ...], index: Index, codes: Integers, places: Integers) -> Integers:
        """Where, in an index of the log, the rows of a code from a place of the log on begin."""
        if names not in self.ordered:
            self.ordered[names] = index.codes * self.log.size + index.order
        return searched(self.ordered[names], codes * self.log.size + places)

    def may_have(self, index: Index, codes: Integers, begin: Integers, last: Integers) -> Integers:
        """The numbers of those codes that the log has between two places each, and of some that it has close by.

        The log is cut into stretches as long as the longest range, so that a range reaches over two at most.
        """
        longest = int((last - begin).max())
        if longest <= 0 or index.starts is None:
            return np.flatnonzero(last > begin)
        bits, size = longest.bit_length(), len(index.starts) - 1
        while not few(size * (stretches := (self.log.size >> bits) + 1), self.log.size) and stretches > 1:
            bits += 1
        occupied = np.zeros(size * stretches, dtype=bool)
        occupied[index.codes * stretches + (index.order >> bits)] = True
        cells = codes * stretches
        return np.flatnonzero(
            (occupied[cells + (begin >> bits)] | occupied[cells + (last - 1 >> bits)]) & (last > begin)
        )

    # --- entries -------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """All columns of an entry: its key's and the kept timestamps."""
        return (*self.table.columns, *(age(stream) for stream, *_ in self.table.ages))

    def entries(self, times: Times) -> tuple[int, Changes, ColumnFrame]:
        """The number of entries at the start, its changes, and the entries after the last timestamp.

        Where entries may die, those at the start count as changes at the first timestamp.
        """
        if self.table.ages or self.table.deadline is not None:
            return 0, *self._mortal(times.all)
        n = None
        if not self.distinct:
            n = self.sums()
            n = narrowed((n if self.base is None else added(n, self.base))[self.present])
        changes: Changes = [(self.log.time[self.new], np.ones(len(self.new), dtype=np.int64))]
        return self.start.size, changes, self.keys._replace(n=n)

    def _mortal(self, times: Integers) -> tuple[Changes, ColumnFrame]:
        """The changes and the last entries of a table whose entries may die."""
        if self.start.size:  # a deadline alone
            log = stacked([self.start._replace(time=np.full(self.start.size, times[0])), self.log])
        else:
            log = self.log
        if self.apart:
            entries = log
        else:
            first, number = groups(*coded(log.by(*self.names), log.size))
            entries = log.take(first)._replace(n=None if self.distinct else totals(log.n, number, len(first)))
        ordered = Ordered(times)
        born = ordered.places(entries.time)
        dies = self._deaths(entries, ordered)
        by = np.zeros(len(times) + 1, dtype=np.int64)
        for begin, end in self._lives(entries, ordered, born, dies):
            by += np.bincount(begin, minlength=len(by)) - np.bincount(end, minlength=len(by))
        left = entries.take(np.flatnonzero((born < dies) & (dies == len(times))))
        return [(times, by[:-1])], self._merged(left, times[-1])

    def _deaths(self, entries: ColumnFrame, times: Ordered) -> Integers:
        """The place of the timestamp whose closing drops an entry; the number of timestamps for none."""
        dies = np.full(entries.size, len(times.values))
        for stream, expires, _ in self.table.ages:
            if expires is not None:
                dies = np.minimum(dies, times.places(plus(entries.columns[age(stream)], expires)))
        if self.table.deadline is not None:
            dies = np.minimum(dies, np.searchsorted(times.values, self.table.deadline))
        return dies

    def _lives(
        self, entries: ColumnFrame, times: Ordered, born: Integers, dies: Integers
    ) -> Iterator[tuple[Integers, Integers]]:
        """From which to which closed timestamp there are entries, all told apart.

        A timestamp that is old enough is no longer told apart from others: for every set of kept timestamps that may
        have become old, the entries whose other timestamps are still told apart.
        """
        old = self._saturations()
        aging = list(old)
        grows = {stream: times.places(plus(entries.columns[age(stream)], limit)) for stream, limit in old.items()}
        for chosen in range(1 << len(aging)):
            merged = [stream for bit, stream in enumerate(aging) if chosen >> bit & 1]
            begin = np.max([born, *(grows[stream] for stream in merged)], axis=0)
            end = np.min([dies, *(grows[stream] for stream in aging if stream not in merged)], axis=0)
            alive = np.flatnonzero(begin < end)
            if merged:
                alive = alive[order_of(begin[alive])]
                apart = tuple(name for name in self.names if name not in {age(stream) for stream in merged})
                alive = alive[groups(*coded(entries.take(alive).by(*apart), len(alive)))[0]]
            yield begin[alive], end[alive]

    def _saturations(self) -> dict[int, int]:
        """The greatest age that is told apart from greater ones, of the streams that have one."""
        ages = self.table.ages
        return {stream: most - 1 for stream, expires, most in ages if expires is None and most is not None}

    def _merged(self, entries: ColumnFrame, now: Integers) -> ColumnFrame:
        """Entries as a table keeps them: timestamps that are old enough are not told apart."""
        columns = dict(entries.columns)
        for stream, limit in self._saturations().items():
            columns[age(stream)] = np.maximum(columns[age(stream)], int(now) - limit)
        merged = entries._replace(columns=columns)
        first, number = groups(*coded(merged.by(*self.names), merged.size))
        n = None if self.distinct else narrowed(totals(merged.n, number, len(first)))
        return merged.take(first)._replace(n=n)
