"""RANK and DENSE_RANK up to a limit, of rows that are only added: equal rows are one entry, with their number."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.operators.by_tick import Changes, Row, Ticks, Weighted, rows_by_time
from streambound_runtime.operators.circuit_plan import OverNode
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import arrow_of_pairs, pairs_of_arrow
from streambound_runtime.operators.over import ROWS, by_partition, end_of, peers_of
from streambound_runtime.operators.protocol import State

RANKS = ("rank", "dense_rank")
"""The functions that all rows have alike which the order leaves equal."""
Rows = dict[Row, int]
"""Rows of a partition, with how often each is there."""


class RankedOperator:
    """The operator of an `OverNode` node of such functions that keeps the first rows."""

    def __init__(self, plan: OverNode) -> None:
        self.plan = plan
        self.kept: dict[Row, Rows] = {}
        self.names = tuple(map(str, range(plan.width + len(plan.partition) + len(plan.order))))
        self.ends: list[tuple[int, int, Row]] = []
        self.number = 0
        self.sizes: Integers = np.zeros(0, dtype=np.int64)

    def entries(self) -> int:
        """The different rows that are kept."""
        return sum(map(len, self.kept.values()))

    def step(self, inputs: Sequence[Delta], ticks: Ticks) -> Delta:
        """Close timestamps; in each, the rows whose rank changes are taken back, and put out with the new one."""
        changes, sizes = Changes(self.plan.columns), []
        (given,) = inputs
        by_time = rows_by_time(given)
        for now in ticks.times.tolist():
            touched = by_partition(self.plan, by_time.get(now, []))
            changes.add(now, [change for key, rows in touched.items() for change in self._partition(key, rows)])
            while self.ends and self.ends[0][0] <= now:
                self.kept.pop(heapq.heappop(self.ends)[2], None)
            sizes.append(self.entries())
        self.sizes = np.array(sizes, dtype=np.int64)
        return changes.delta

    def _partition(self, key: Row, rows: Sequence[Weighted]) -> Iterator[Weighted]:
        width, before = self.plan.width, self._open(key)
        yield from (((*row[:width], *values), -before[row]) for row, values in self._ranked(before))
        after = Counter(before)
        for row, weight in rows:
            assert weight > 0, "rows are only added"
            after[row] += weight
        ranked = list(self._ranked(after))
        yield from (((*row[:width], *values), after[row]) for row, values in ranked)
        self.kept[key] = {row: after[row] for row, _ in ranked}

    def _open(self, key: Row) -> Rows:
        """The rows of a partition, which from now on is there."""
        if key not in self.kept:
            self.kept[key] = {}
            if (bucket := self.plan.bucket) is not None:
                self.number += 1
                heapq.heappush(
                    self.ends, (end_of(bucket, key[self.plan.partition.index(bucket.key)]), self.number, key)
                )
        return self.kept[key]

    def _ranked(self, rows: Rows) -> Iterator[tuple[Row, list[int]]]:
        """The rows that may still be asked for, with the functions' values."""
        rank, place = 1, partial(peers_of, self.plan)
        for dense_rank, (_, found) in enumerate(groupby(sorted(rows, key=place), place), 1):
            peers, values = list(found), {"rank": rank, "dense_rank": dense_rank}
            mine = [values[call.function] for call in self.plan.calls]
            if mine[0] > self.plan.most:
                return
            yield from ((row, mine) for row in peers)
            rank += sum(rows[row] for row in peers)

    # --- state ------------------------------------------------------------------------------------------------------

    def dump(self) -> State:
        """The rows that are kept, with how often each is there."""
        return {ROWS: arrow_of_pairs([pair for rows in self.kept.values() for pair in rows.items()], self.names)}

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.kept, self.ends = {}, []
        for row, weight in pairs_of_arrow(state[ROWS]):
            assert isinstance(weight, int), "rows have no sums"
            self._open(tuple(row[place] for place in self.plan.partition))[row] = weight
