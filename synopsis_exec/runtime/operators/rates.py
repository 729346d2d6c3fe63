"""`max_per_timestamp` and `max_rate`: contracts that are only seen beside other rows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from streambound_runtime.arrays import Integers, Mask, Numbers
from streambound_runtime.decoding.raw import PLACES
from streambound_runtime.decoding.reasons import detail
from streambound_runtime.decoding.row_text import cut_columns
from streambound_runtime.spec import Stream

if TYPE_CHECKING:
    import pyarrow as pa

_LONGEST = 2**62
"""No two timestamps are farther apart that a sum of 64 bits may still count from."""


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
        self, ts: Integers, complete: int | None, again: Callable[[set[int]], pa.Table], most: int = sys.maxsize
    ) -> tuple[Mask, tuple[pa.Table, pa.Table] | None]:
        """Which of a batch's good rows, which have these timestamps, are not too many; the others as bad rows.

        Timestamps before ``complete`` are closed by the end of the batch. Only where some rows are too many, those
        around them are read ``again``: their timestamps, `row`, `place` among the batch's good rows, and where they
        are. Of ``most`` bad rows is told what they are, of others how many there are (`Decoded.rejected`, `beyond`).
        """
        keep = np.ones(len(ts), dtype=bool)
        if not self.limits:
            return keep, None
        bad, crowd = None, _Crowd(self.limits, self.open, ts)
        if crowd.any:
            reads = again(crowd.times).unify_dictionaries().sort_by([("ts", "ascending"), ("row", "ascending")])
            settled = [*crowd.settled()]
            times, (found, stay, limit) = reads.column("ts").to_numpy(), map(np.array, zip(*settled, strict=True))
            first = np.searchsorted(times, found) + stay
            number = np.searchsorted(times, found, side="right") - first
            at = np.repeat(first - np.cumsum(number) + number, number) + np.arange(number.sum())
            keep[reads.column("place").to_numpy()[at]] = False
            bad = self._told(reads, at, np.repeat(limit, number), most)
        longest = max(limit.per for limit in self.limits)
        counts = zip(crowd.at.tolist(), crowd.accepted.tolist(), strict=True)
        self.open = {time: n for time, n in counts if n and (complete is None or time > complete - longest)}
        return keep, bad

    def _told(self, reads: pa.Table, at: Integers, limit: Integers, most: int) -> tuple[pa.Table, pa.Table]:
        import pyarrow as pa

        rows = reads.take(pa.array(at[:most]))
        why = pa.array(limit[:most])
        codes, words = ([str(getattr(one, name)) for one in self.limits] for name in ("reason", "detail"))
        told = {"reason": pa.array(codes).take(why), "detail": pa.array(words).take(why)}
        told |= cut_columns(rows.column("row").to_pylist())
        told |= {name: rows.column(name) for name in rows.schema.names if name in PLACES}
        numbers = np.bincount(limit[most:], minlength=len(words))
        return pa.table(told), pa.table({"detail": words, "n": numbers})


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

    def settled(self) -> Iterable[tuple[int, int, int]]:
        """In order of time: a crowded timestamp, how many of its new rows stay, and which limit says so."""
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
            yield int(self.at[place]), stay, number


def _sums(counts: Numbers) -> Numbers:
    """Of how many there are before each place."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
