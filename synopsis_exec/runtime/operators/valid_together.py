"""Contracts on rows that are valid together: `max_valid`, `snapshot_key`, and the keys and facts of random variables.

They are judged when a begin is closed.

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
from streambound_runtime.operators.by_tick import RejectedRow
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import State, from_lines_of_json, lines_of_json
from streambound_runtime.operators.formula import Relations, resolved
from streambound_runtime.operators.plan import JudgedKeys
from streambound_runtime.operators.row_tests import any_of
from streambound_runtime.operators.values import integer
from streambound_runtime.row_values import Value
from streambound_runtime.spec import Stream

Key = tuple[Value, ...]
_TOGETHER = "valid together"


def judged_together(stream: Stream) -> bool:
    """Whether a row of a stream may be bad because of others."""
    return stream.period is not None and (stream.period.most is not None or bool(stream.period.unique))


class _KeysRead:
    """Which rows are of keys that some part of the query reads."""

    def __init__(self, judged: JudgedKeys) -> None:
        tested = (name for test in judged.tests for name in (test.left, test.right) if name)
        self.columns = list(dict.fromkeys([*tested, *(name for one in judged.partners for name in one.columns)]))
        places = {name: place for place, name in enumerate(self.columns)}
        self.passes = any_of(self.columns, (judged.tests,))
        self.partners = [
            ([places[name] for name in one.columns], frozenset(one.partners))
            for one in judged.partners
            if isinstance(one.partners, tuple)  # they are resolved
        ]

    def has(self, row: Sequence[Value]) -> bool:
        """Whether a row of the columns is one of these."""
        passes = self.passes is None or self.passes(row)
        return passes and all(tuple(row[place] for place in mine) in partners for mine, partners in self.partners)


class ValidTogether:
    """Judges the rows of a stream: the latest end of each key, and how many rows end when."""

    def __init__(self, stream: Stream, relations: Relations) -> None:
        assert stream.period is not None, "only rows with periods are valid"
        self.stream, self.period = stream, stream.period
        self.judged = [_KeysRead(one) for one in resolved(stream.judged, relations)]
        self.unique = [columns for _, columns in self.period.unique]
        self.latest: list[dict[Key, int]] = [{} for _ in self.unique]
        self.ends: dict[int, int] = {}
        self.order: list[int] = []
        self.valid = 0

    def checked(self, rows: Delta) -> tuple[Delta, list[RejectedRow]]:
        """The good rows of closed timestamps, and the others with the reason."""
        keep = np.ones(rows.size, dtype=bool)
        rejected = list[RejectedRow]()
        ends = [integer(end) for end in rows.values(self.period.end)]
        keys = [
            list(zip(*(self._values(rows, name) for name in columns), strict=True)) or [()] * rows.size
            for columns in self.unique
        ]
        for begin, group in groupby(self._judged(rows), key=lambda place: int(rows.time[place])):
            self._pass(begin)
            for place, reason, broken in self._bad(begin, list(group), keys, ends):
                keep[place] = False
                rejected.append(self._rejected(rows, place, reason, broken))
        kept = np.flatnonzero(keep)
        if len(kept) == rows.size:
            return rows, []
        return rows.take(kept), rejected

    def _judged(self, rows: Delta) -> list[int]:
        """The places of the rows that are judged: of the keys that the query reads, if they are not all."""
        if not self.judged:
            return list(range(rows.size))
        columns = {name: self._values(rows, name) for one in self.judged for name in one.columns}
        found = set[int]()
        for one in self.judged:
            read = zip(*(columns[name] for name in one.columns), strict=True)
            found.update(place for place, row in enumerate(read) if one.has(row))
        return sorted(found)

    def _bad(self, begin: int, places: list[int], keys: list[list[Key]], ends: list[int]) -> list[tuple[int, str, str]]:
        """The bad rows of one begin, each with the reason and what it breaks; the others are taken in."""
        found = list[tuple[int, str, str]]()
        for (reason, columns), mine, latest in zip(self.period.unique, keys, self.latest, strict=True):
            free = [place for place in places if latest.get(mine[place], begin) <= begin]
            often = Counter(mine[place] for place in free)
            good = [place for place in free if often[mine[place]] == 1]
            broken = f"snapshot_key = {', '.join(columns)}"
            found += [(place, reason, broken) for place in sorted({*places} - {*good})]
            places = good
        if self.period.most is not None and self.valid + len(places) > self.period.most:
            found += [(place, "contract", f"max_valid = {self.period.most}") for place in places]
            places = []
        for place in places:
            for mine, latest in zip(keys, self.latest, strict=True):
                latest[mine[place]] = ends[place]
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

    def _rejected(self, rows: Delta, place: int, reason: str, broken: str) -> RejectedRow:
        values = {column.name: self._values(rows, column.name)[place] for column in self.stream.columns}
        words = detail(reason, per=broken)
        return RejectedRow(self.stream.name, reason, words, int(rows.time[place]), values)

    def close(self, until: int) -> None:
        """Forget what has ended before a frontier."""
        self._pass(until)
        self.latest = [{key: end for key, end in latest.items() if end > until} for latest in self.latest]

    def entries(self) -> int:
        """One for each key, and one for each end."""
        return sum(map(len, self.latest)) + len(self.ends)

    def dump(self) -> State:
        """The keys with their ends, and the numbers of rows."""
        keys: list[list[object]] = [
            [n, [*key], end] for n, latest in enumerate(self.latest) for key, end in latest.items()
        ]
        counts: list[list[object]] = [[end, count] for end, count in self.ends.items()]
        return {_TOGETHER: lines_of_json(keys + counts)}

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        for entry in from_lines_of_json(state[_TOGETHER]):
            match entry:
                case [int() as number, list() as key, end]:
                    self.latest[number][tuple(key)] = integer(end)
                case [end, count]:
                    self._count(integer(end), integer(count))
