"""Generated rows come no faster than the catalog allows (`max_per_timestamp`, `max_rate`), from all partitions."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

from streambound.analyzer.values import Value
from streambound.synopsis_exec.plan_ir import Input, JobPlan
from streambound_runtime.promises import Partitions

if TYPE_CHECKING:
    pass

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pace:
    """The most rows that each stream may bring at every timestamp of a feed with timestamps ``step`` apart."""

    rows: Mapping[str, int]
    step: int


def pace(plan: JobPlan, rate: int, tick: int = 1) -> Pace:
    """As many rows as may share a timestamp, or ``rate`` where nothing says so, and a step of at least ``tick``.

    Of an interval of the length ``per`` with ``rows`` rows ``rows // n`` timestamps have ``n`` rows each.
    """
    most = {s.name: _least(s.max_per_timestamp or rate, s) for s in plan.streams}
    steps = (-(-s.max_rate.per // (s.max_rate.rows // most[s.name])) for s in plan.streams if s.max_rate is not None)
    return Pace(most, max((tick, *steps)))


def _least(most: int, stream: Input) -> int:
    return most if stream.max_rate is None else min(most, stream.max_rate.rows)


def within_rates(inputs: Iterable[Input], rows: Iterable[tuple[str, Row]]) -> list[tuple[str, Row]]:
    """The rows without those that are one too many beside rows of their stream before them, in whatever order."""
    streams = {stream.name: stream for stream in inputs}
    counted: Counter[tuple[str, Any]] = Counter()
    times: defaultdict[str, list[int]] = defaultdict(list)
    found = []
    for name, row in rows:
        stream, now = streams[name], row[str(streams[name].timestamp)]
        most, rate = stream.max_per_timestamp, stream.max_rate
        if most is not None and counted[name, now] >= most:
            continue
        if rate is not None and not _room(times[name], now, rate.rows, rate.per):
            continue
        counted[name, now] += 1
        insort(times[name], now)
        found.append((name, row))
    return found


def _room(times: list[int], now: int, most: int, per: int) -> bool:
    """Whether every interval of the length ``per`` has at most ``most`` rows with one more; ``times`` are in order."""
    place = bisect_left(times, now)
    around = [*times[max(0, place - most) : place], now, *times[place : place + most]]
    return all(last - first >= per for first, last in zip(around, around[most:], strict=False))


def crowded(stream: Input, counts: Mapping[int, int]) -> set[int]:
    """The timestamps at which there are more rows than the stream's limits allow."""
    most, rate, times = stream.max_per_timestamp, stream.max_rate, sorted(counts)
    found = {time for time in times if most is not None and counts[time] > most}
    first = inside = done = 0
    for place, last in enumerate(times if rate is not None else ()):
        inside += counts[last]
        while rate is not None and times[first] <= last - rate.per:
            inside -= counts[times[first]]
            first += 1
        if rate is not None and inside > rate.rows:
            found.update(times[max(first, done) : place + 1])
            done = place + 1
    return found


LAG = 4
"""How many rows for each of the partitions a stream brings while one of them brings none."""


def in_partitions(streams: Sequence[Input], rows: Iterator[tuple[str, Row]]) -> Iterator[tuple[str, Row]]:
    """Pairs of a stream's name and a row of it, the rows given to the stream's partitions in turn.

    A row that is of a partition already, since the query compares the column with something, stays there. Where all
    rows are of some partitions only, the others would promise nothing and hold back the results: now and then a row is
    given to one of them. There are as many rows at each timestamp as before.
    """
    turns = {item.name: _Turns(item.arrival.partitions) for item in streams if item.arrival.partitions is not None}
    for name, row in rows:
        yield name, turns[name].placed(row) if name in turns else row


class _Turns:
    """The partitions of a stream, and how many rows ago each has brought one."""

    def __init__(self, partitions: Partitions[Value]) -> None:
        self.column, self.next = partitions.column, cycle(partitions.values)
        self.ago = dict.fromkeys(partitions.values, 0)

    def placed(self, row: Row) -> Row:
        """A row of one of the partitions: of its own, of one that is behind, or of the next one."""
        mine = row[self.column]
        behind = max(self.ago, key=self.ago.__getitem__)
        if self.ago[behind] >= LAG * len(self.ago):
            mine = behind
        elif mine not in self.ago:
            mine = next(self.next)
        for value in self.ago:
            self.ago[value] += 1
        self.ago[mine] = 0
        return {**row, self.column: mine}
