"""Part of every job: a table within a batch, as its entries at the start and a log of what was added when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from synopsis_exec.job.batch import Times
from synopsis_exec.job.exact import added, narrowed, plus, running, totals
from synopsis_exec.job.frame import DENSE, Frame, Index, coded, firsts, groups, indexed, matched, small, stacked
from synopsis_exec.job.shape import Table

Changes = list[tuple[Any, Any]]
"""Timestamps, and by how much the number of entries changes at each."""


def age(place: int) -> str:
    """The column of a kept timestamp."""
    return f"age {place}"


class Log:
    """The entries of a table at the start of a batch, and what is added to it, in order of time.

    A multiplicity at a time is what it was at the start and the count of the key's additions before that time: a
    difference of two prefix sums. Where timestamps are kept, entries at the start are additions too: they count from
    their greatest kept timestamp on, which comes before the batch.
    """

    def __init__(self, table: Table, start: Frame, more: list[Frame], distinct: bool) -> None:
        self.table, self.distinct = table, distinct
        self.start = start
        if table.ages:
            time = np.max([start.columns[age(place)] for place, _ in enumerate(table.ages)], axis=0)
            more = [start._replace(time=time.astype(np.int64)), *more]
            self.start = start.take(slice(0, 0))
        log = stacked(more) if more else start.take(slice(0, 0))
        if len(more) > 1 or table.ages:  # entries at the start are in the order of their keys
            log = log.take(np.argsort(log.time, kind="stable"))
        self.log = log._replace(n=None) if distinct else log
        self.number_keys()
        self.indexes: dict[tuple[bool, tuple[str, ...]], Index] = {}
        self.prefixes: tuple[Any, Any, Any] | None = None

    def number_keys(self) -> None:
        """Give every row of the log the code of its key, and note which codes there are, and where first."""
        names = self.table.columns
        if self.start.size:
            both = stacked([part._replace(n=None, nulls=part.nulls) for part in (self.start, self.log)])
        else:
            both = self.log
        codes, size = coded(both.by(*names), both.size)
        if size > max(DENSE, 4 * both.size):
            _, self.first, codes = np.unique(codes, return_index=True, return_inverse=True)
            size = len(self.first)
            self.present = np.arange(size)
        else:
            where = firsts(codes, size)
            self.present = np.flatnonzero(where >= 0)
            self.first = where[self.present]
        self.size, self.codes = size, codes[self.start.size :]
        self.base = None
        if self.start.size and not self.distinct:
            self.base = totals(self.start.n, codes[: self.start.size], size)
        elif self.start.size:
            self.base = totals(None, codes[: self.start.size], size)
        self.keys = both.take(self.first)
        """The distinct keys, without timestamps."""

    def index(self, of_keys: bool, names: tuple[str, ...]) -> Index:
        """The distinct keys, or all rows of the log, by some columns."""
        if (of_keys, names) not in self.indexes:
            frame = self.keys if of_keys else self.log
            self.indexes[of_keys, names] = indexed([frame.columns[name] for name in names], frame.size)
        return self.indexes[of_keys, names]

    # --- multiplicities by key -----------------------------------------------------------------------------------

    def counts(self, numbers: Any, before: Any, since: Any) -> Any:
        """The multiplicities of keys before a time each, and not before another where that is given."""
        codes = self.present[numbers]
        if not len(codes):
            return codes
        first = None if since is None else np.searchsorted(self.log.time, since)
        last = np.searchsorted(self.log.time, before)
        if self.size == 1:
            found = self._of_all(first, last)
        elif len(codes) * 4 < self.log.size and self.prefixes is None and first is None:
            found = self._by_segments(codes, last)
        else:
            found = self._by_search(codes, first, last)
        return found if self.base is None else added(found, self.base[codes])

    def _of_all(self, first: Any, last: Any) -> Any:
        """Counts of the only key between two places of the log."""
        sums = np.arange(self.log.size + 1) if self.log.n is None else running(self.log.n)
        return narrowed(sums[last] if first is None else np.where(last > first, sums[last] - sums[first], 0))

    def _by_segments(self, codes: Any, last: Any) -> Any:
        """Counts of some keys before some places: per segment between two places, then added up."""
        cuts = np.flatnonzero(np.bincount(last, minlength=self.log.size + 1))
        if len(cuts) * self.size > max(self.log.size, DENSE):
            return self._by_search(codes, None, last)
        lengths = np.diff(cuts, prepend=0)
        cells = np.repeat(np.arange(len(cuts)) * self.size, lengths) + self.codes[: cuts[-1]]
        n = None if self.log.n is None else self.log.n[: cuts[-1]]
        table = totals(n, cells, len(cuts) * self.size).reshape(len(cuts), self.size)
        if table.dtype == np.int64 and int(table.sum(dtype=np.float64)) > 2**62:
            table = table.astype(object)
        return narrowed(np.add.accumulate(table, axis=0)[np.searchsorted(cuts, last), codes])

    def _by_search(self, codes: Any, first: Any, last: Any) -> Any:
        """Counts of keys between two places, by looking the places up among the rows of the key."""
        if self.prefixes is None:
            order = np.argsort(small(self.codes), kind="stable")
            sums = None if self.log.n is None else running(self.log.n[order])
            starts = np.searchsorted(self.codes[order], np.arange(self.size))
            self.prefixes = self.codes[order] * self.log.size + order, sums, starts
        places, sums, starts = self.prefixes
        until = np.searchsorted(places, codes * self.log.size + last)
        begin = starts[codes] if first is None else np.searchsorted(places, codes * self.log.size + first)
        if sums is None:
            return np.maximum(until - begin, 0)
        return narrowed(np.where(until > begin, sums[until] - sums[begin], 0))

    # --- single rows ---------------------------------------------------------------------------------------------

    def ranges(self, names: tuple[str, ...], values: list[Any], before: Any, since: Any) -> tuple[Index, Any, Any]:
        """Where, in the index by some columns, the rows of the log before a time are that have these values."""
        index = self.index(False, names)
        low, high = matched(index, values, len(before))
        if not len(index.order):
            return index, low, high
        block = np.cumsum(np.r_[False, index.codes[1:] != index.codes[:-1]])
        places = block * self.log.size + index.order
        mine = block[np.minimum(low, len(block) - 1)] * self.log.size
        until = np.searchsorted(places, mine + np.searchsorted(self.log.time, before))
        first = low
        if since is not None:
            first = np.searchsorted(places, mine + np.searchsorted(self.log.time, since))
        some = high > low
        return index, np.where(some, np.maximum(first, low), 0), np.where(some, until, 0)

    # --- entries -------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """All columns of an entry: its key's and the kept timestamps."""
        return (*self.table.columns, *(age(place) for place, _ in enumerate(self.table.ages)))

    def entries(self, times: Times) -> tuple[int, Changes, Frame]:
        """The number of entries at the start, its changes, and the entries after the last timestamp.

        Where entries may die, those at the start count as changes at the first timestamp.
        """
        if self.table.ages or self.table.deadline is not None:
            return 0, *self._mortal(times.all)
        new = self.first[self.first >= self.start.size] - self.start.size
        n = None
        if not self.distinct:
            n = totals(self.log.n, self.codes, self.size)
            n = narrowed((n if self.base is None else added(n, self.base))[self.present])
        changes = [(self.log.time[new], np.ones(len(new), dtype=np.int64))]
        return self.start.size, changes, self.keys._replace(n=n)

    def _mortal(self, times: Any) -> tuple[Changes, Frame]:
        """The changes and the last entries of a table whose entries may die."""
        if self.start.size:  # a deadline alone
            log = stacked([self.start._replace(time=np.full(self.start.size, times[0])), self.log])
        else:
            log = self.log
        first, number = groups(*coded(log.by(*self.names), log.size))
        entries = log.take(first)._replace(n=None if self.distinct else totals(log.n, number, len(first)))
        born = np.searchsorted(times, entries.time)
        dies = self._deaths(entries, times)
        changes: Changes = []
        for begin, end in self._lives(entries, times, born, dies):
            ends = end[end < len(times)]
            changes.append((times[begin], np.ones(len(begin), dtype=np.int64)))
            changes.append((times[ends], np.full(len(ends), -1)))
        left = entries.take(np.flatnonzero((born < dies) & (dies == len(times))))
        return changes, self._merged(left, times[-1])

    def _deaths(self, entries: Frame, times: Any) -> Any:
        """The place of the timestamp whose closing drops an entry; the number of timestamps for none."""
        dies = np.full(entries.size, len(times))
        for place, (expires, _) in enumerate(self.table.ages):
            if expires is not None:
                dies = np.minimum(dies, np.searchsorted(times, plus(entries.columns[age(place)], expires)))
        if self.table.deadline is not None:
            dies = np.minimum(dies, np.searchsorted(times, self.table.deadline))
        return dies

    def _lives(self, entries: Frame, times: Any, born: Any, dies: Any) -> Iterator[tuple[Any, Any]]:
        """From which to which closed timestamp there are entries, all told apart.

        A timestamp that is old enough is no longer told apart from others: for every set of kept timestamps that may
        have become old, the entries whose other timestamps are still told apart.
        """
        old = {place: self._saturation(place) for place, _ in enumerate(self.table.ages)}
        aging = [place for place, limit in old.items() if limit is not None]
        grows = {p: np.searchsorted(times, plus(entries.columns[age(p)], old[p])) for p in aging}
        for chosen in range(1 << len(aging)):
            merged = [place for bit, place in enumerate(aging) if chosen >> bit & 1]
            begin = np.max([born, *(grows[p] for p in merged)], axis=0)
            end = np.min([dies, *(grows[p] for p in aging if p not in merged)], axis=0)
            alive = np.flatnonzero(begin < end)
            alive = alive[np.argsort(begin[alive], kind="stable")]
            if merged:
                apart = tuple(name for name in self.names if name not in {age(place) for place in merged})
                alive = alive[groups(*coded(entries.take(alive).by(*apart), len(alive)))[0]]
            yield begin[alive], end[alive]

    def _saturation(self, place: int) -> int | None:
        expires, saturates = self.table.ages[place]
        return None if expires is not None or saturates is None else saturates - 1

    def _merged(self, entries: Frame, now: Any) -> Frame:
        """Entries as a table keeps them: timestamps that are old enough are not told apart."""
        columns = dict(entries.columns)
        for place, _ in enumerate(self.table.ages):
            if (limit := self._saturation(place)) is not None:
                columns[age(place)] = np.maximum(columns[age(place)], int(now) - limit)
        merged = entries._replace(columns=columns)
        first, number = groups(*coded(merged.by(*self.names), merged.size))
        n = None if self.distinct else narrowed(totals(merged.n, number, len(first)))
        return merged.take(first)._replace(n=n)
