"""Contracts on rows that are valid together: `max_valid` and `snapshot_key`, which are judged when a begin is closed.

A row once accepted stays: of a conflict the rows that begin later are bad; among rows of one begin all those that
conflict with each other, and of too many all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import groupby

import numpy as np

from streambound_runtime.decoding.reasons import detail
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.rejected_row import RejectedRow
from streambound_runtime.operators.values import integer
from streambound_runtime.row_values import Value
from streambound_runtime.spec import Stream

Key = tuple[Value, ...]


def judged_together(stream: Stream) -> bool:
    """Whether a row of a stream may be bad because of others."""
    return stream.period is not None and (stream.period.most is not None or bool(stream.period.key))


class ValidTogether:
    """Judges the rows of a stream: the latest end of each key, and how many rows end when."""

    def __init__(self, stream: Stream) -> None:
        assert stream.period is not None, "only rows with periods are valid"
        self.stream, self.period = stream, stream.period
        self.latest: dict[Key, int] = {}
        self.ends: dict[int, int] = {}
        self.order: list[int] = []
        self.valid = 0

    def checked(self, rows: Delta) -> tuple[Delta, list[RejectedRow]]:
        """The good rows of closed timestamps, and the others with the reason."""
        keep = np.ones(rows.size, dtype=bool)
        rejected = list[RejectedRow]()
        ends = [integer(end) for end in rows.values(self.period.end)]
        keys = list(zip(*(self._values(rows, name) for name in self.period.key), strict=True)) or [()] * rows.size
        for begin, group in groupby(range(rows.size), key=lambda place: int(rows.time[place])):
            self._pass(begin)
            for place, broken in self._bad(begin, list(group), keys, ends):
                keep[place] = False
                rejected.append(self._rejected(rows, place, broken))
        kept = np.flatnonzero(keep)
        if len(kept) == rows.size:
            return rows, []
        return rows.take(kept), rejected

    def _bad(self, begin: int, places: list[int], keys: list[Key], ends: list[int]) -> list[tuple[int, str]]:
        """The bad rows of one begin, each with what it breaks; the others are taken in."""
        found = list[tuple[int, str]]()
        if self.period.key:
            free = [place for place in places if self.latest.get(keys[place], begin) <= begin]
            often = Counter(keys[place] for place in free)
            good = [place for place in free if often[keys[place]] == 1]
            broken = f"snapshot_key = {', '.join(self.period.key)}"
            found += [(place, broken) for place in sorted({*places} - {*good})]
            places = good
        if self.period.most is not None and self.valid + len(places) > self.period.most:
            found += [(place, f"max_valid = {self.period.most}") for place in places]
            places = []
        for place in places:
            if self.period.key:
                self.latest[keys[place]] = ends[place]
            if self.period.most is not None:
                self._count(ends[place], 1)
        return found

    def _count(self, end: int, rows: int) -> None:
        if end not in self.ends:
            heappush(self.order, end)
        self.ends[end] = self.ends.get(end, 0) + rows
        self.valid += rows

    def _pass(self, now: int) -> None:
        """Rows that have ended are not valid any more."""
        while self.order and self.order[0] <= now:
            self.valid -= self.ends.pop(heappop(self.order))

    def _values(self, rows: Delta, name: str) -> list[Value]:
        return rows.time.tolist() if name == self.stream.timestamp else rows.values(name)

    def _rejected(self, rows: Delta, place: int, broken: str) -> RejectedRow:
        values = {column.name: self._values(rows, column.name)[place] for column in self.stream.columns}
        words = detail("contract", per=broken)
        return RejectedRow(self.stream.name, "contract", words, int(rows.time[place]), values)

    def close(self, until: int) -> None:
        """Forget what has ended before a frontier."""
        self._pass(until)
        self.latest = {key: end for key, end in self.latest.items() if end > until}

    def entries(self) -> int:
        """One for each key, and one for each end."""
        return len(self.latest) + len(self.ends)

    def dump(self) -> list[list[object]]:
        """The keys with their ends, and the numbers of rows."""
        return [[[*key], end] for key, end in self.latest.items()] + [[end, n] for end, n in self.ends.items()]

    def load(self, entries: Sequence[list[object]]) -> None:
        """Take over what `dump` returned."""
        self.latest = {tuple(key): integer(end) for key, end in entries if isinstance(key, list)}
        for end, count in ((end, count) for end, count in entries if not isinstance(end, list)):
            self._count(integer(end), integer(count))
