"""`max_per_timestamp` and `max_rate`: contracts that are only seen beside other rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import NamedTuple

import numpy as np

from streambound_runtime.arrays import Integers, Mask, Numbers
from streambound_runtime.decoding.reasons import detail
from streambound_runtime.quarantine import Row, row_of
from streambound_runtime.spec import Stream

_LONGEST = 2**62
"""No two timestamps are farther apart that a sum of 64 bits may still count from."""


class Read(NamedTuple):
    """A good row, read again: its timestamp, its text, where it is, and its place among its batch's good rows."""

    ts: int
    row: str
    place: int
    known: Mapping[str, str | int | None]


class RowLimit(NamedTuple):
    """At most ``rows`` rows in any half-open interval of the length ``per``; one timestamp is one of the length 1."""

    reason: str
    detail: str
    rows: int
    per: int


class Rates:
    """How many useful rows the timestamps of a stream have that are still open, or near to these.

    A row stays if no interval has too many with it: rows of earlier batches, and of its own those before it, by time
    and then by text. So a replay chooses the same.
    """

    def __init__(self, stream: Stream, counts: Mapping[str, int] | None = None) -> None:
        self.stream, self.limits = stream, tuple(_limits(stream))
        self.open = {int(ts): n for ts, n in (counts or {}).items()}

    def dump(self) -> dict[str, int]:
        """The counts, as JSON can hold them."""
        return {str(ts): n for ts, n in self.open.items()}

    def crowded(self, ts: Integers) -> bool:
        """Whether some interval has too many rows with those of a batch."""
        return _Crowd(self.limits, self.open, ts).any

    def checked(
        self, ts: Integers, complete: int | None, again: Callable[[set[int]], Iterable[Read]]
    ) -> tuple[Mask, list[Row]]:
        """Which of a batch's good rows, which have these timestamps, are not too many, and the others as bad rows.

        Timestamps before ``complete`` are closed by the end of the batch. Only where some rows are too many, those
        around them are read ``again`` for their texts.
        """
        keep, bad = np.ones(len(ts), dtype=bool), list[Row]()
        if not self.limits:
            return keep, bad
        crowd = _Crowd(self.limits, self.open, ts)
        if crowd.any:
            reads = sorted(again(crowd.times), key=lambda read: (read.ts, read.row))
            texts = {time: list(rows) for time, rows in groupby(reads, key=lambda read: read.ts)}
            for time, stay, limit in crowd.settled():
                for read in texts[time][stay:]:
                    why = {"reason": limit.reason, "detail": limit.detail, "row": read.row}
                    bad.append(row_of(self.stream, {**read.known, **why}))
                    keep[read.place] = False
        longest = max(limit.per for limit in self.limits)
        counts = zip(crowd.at.tolist(), crowd.accepted.tolist(), strict=True)
        self.open = {time: n for time, n in counts if n and (complete is None or time > complete - longest)}
        return keep, bad


def _limits(stream: Stream) -> Iterable[RowLimit]:
    if stream.per_timestamp is not None:
        reason = "max-per-timestamp"
        yield RowLimit(reason, detail(reason, most=stream.per_timestamp), stream.per_timestamp, 1)
    if stream.rate is not None:
        rows, per, written = stream.rate.rows, stream.rate.per, stream.rate.written
        yield RowLimit("max-rate", detail("max-rate", most=rows, per=written), rows, min(per, _LONGEST))


class _Crowd:
    """A batch's rows among those of earlier batches: timestamps ``at``, how many of each there are, and were before."""

    def __init__(self, limits: tuple[RowLimit, ...], before: Mapping[int, int], ts: Integers) -> None:
        times, counts = np.unique(np.asarray(ts, dtype=np.int64), return_counts=True)
        earlier = np.array(sorted(before), dtype=np.int64)
        self.limits, self.at = limits, np.union1d(times, earlier)
        self.new, self.before = np.zeros(len(self.at), dtype=np.int64), np.zeros(len(self.at), dtype=np.int64)
        self.new[np.searchsorted(self.at, times)] = counts
        self.before[np.searchsorted(self.at, earlier)] = [before[time] for time in earlier.tolist()]
        self.accepted = self.before + self.new
        # Where the intervals begin that end at each place, and their first places: any other holds no more than these.
        self.since = [self.at - limit.per for limit in limits]
        self.first = [np.searchsorted(self.at, since, side="right") for since in self.since]
        self.crowded = np.zeros(len(self.at), dtype=bool)
        for limit, first in zip(limits, self.first, strict=True):
            self.crowded |= self._within_full(limit, first)
        self.crowded &= self.new > 0

    @property
    def any(self) -> bool:
        """Whether some interval has too many rows."""
        return bool(self.crowded.any())

    @property
    def times(self) -> set[int]:
        """The batch's timestamps in such intervals."""
        return set(self.at[self.crowded].tolist())

    def _within_full(self, limit: RowLimit, first: Integers) -> Mask:
        """The places in intervals that would have too many rows."""
        sums = _sums(self.accepted)
        last = np.flatnonzero(sums[1:] - sums[first] > limit.rows)
        change = np.zeros(len(self.at) + 1, dtype=np.int64)
        np.add.at(change, first[last], 1)
        np.add.at(change, last + 1, -1)
        return np.cumsum(change[:-1]) > 0

    def settled(self) -> Iterable[tuple[int, int, RowLimit]]:
        """In order of time: a crowded timestamp, how many of its new rows stay, and the limit that says so."""
        sums, earlier = np.zeros(len(self.at) + 1, dtype=np.int64), _sums(self.before)
        counted, done = np.flatnonzero(self.before), 0
        for place in np.flatnonzero(self.crowded).tolist():
            sums[done + 1 : place + 1] = sums[done] + np.cumsum(self.accepted[done:place])
            allowed = []
            for limit, since, first in zip(self.limits, self.since, self.first, strict=True):
                until = np.searchsorted(since, self.at[place])
                later = counted[np.searchsorted(counted, place, side="right") : np.searchsorted(counted, until)]
                ends = np.concatenate([[place], later])
                used = sums[place] - sums[first[ends]] + earlier[ends + 1] - earlier[place]
                allowed.append(limit.rows - int(used.max()))
            left, number = min((left, number) for number, left in enumerate(allowed))
            stay = max(0, min(left, int(self.new[place])))
            self.accepted[place] = self.before[place] + stay
            done = place
            yield int(self.at[place]), stay, self.limits[number]


def _sums(counts: Numbers) -> Numbers:
    """Of how many there are before each place."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
