"""What functions over windows keep of each partition, which goes with the partition's bucket of time."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.operators.buckets import last_of
from streambound_runtime.operators.by_tick import Changes, Row, Ticks, Weighted, rows_by_time
from streambound_runtime.operators.circuit_plan import OverNode, TimeBucket
from streambound_runtime.operators.delta import Delta
from streambound_runtime.row_values import Value

P = TypeVar("P")


class OverPartitions(ABC, Generic[P]):
    """The operator of an `OverNode` node: ``kept`` is what is remembered of each partition that there is."""

    def __init__(self, plan: OverNode) -> None:
        self.plan = plan
        self.kept: dict[Row, P] = {}
        self.ends: list[tuple[int, int, Row]] = []
        self.number = 0
        self.sizes: Integers = np.zeros(0, dtype=np.int64)

    @abstractmethod
    def entries(self) -> int:
        """How many entries there are now."""

    @abstractmethod
    def _partition(self, key: Row, rows: list[Weighted]) -> Iterable[Weighted]:
        """What the rows of a timestamp change in the results of their partition."""

    def step(self, inputs: Sequence[Delta], ticks: Ticks) -> Delta:
        """Close timestamps; in each, the partitions that change give back what they had, or only add."""
        changes, sizes = Changes(self.plan.columns), []
        (given,) = inputs
        by_time = rows_by_time(given)
        for now in ticks.times.tolist():
            touched = by_partition(self.plan, by_time.get(now, []))
            changes.add(now, [change for key, rows in touched.items() for change in self._partition(key, rows)])
            self._forget(now)
            sizes.append(self.entries())
        self.sizes = np.array(sizes, dtype=np.int64)
        return changes.delta

    def _open(self, key: Row, known: P) -> P:
        """Remember something of a partition that is new."""
        bucket = self.plan.bucket
        if bucket is not None and bucket.key in self.plan.partition:
            self.number += 1
            heapq.heappush(self.ends, (end_of(bucket, key[self.plan.partition.index(bucket.key)]), self.number, key))
        self.kept[key] = known
        return known

    def _forget(self, now: int) -> None:
        """Drop the partitions whose bucket has closed with a timestamp."""
        while self.ends and self.ends[0][0] <= now:
            self.kept.pop(heapq.heappop(self.ends)[2], None)


def by_partition(plan: OverNode, rows: Sequence[Weighted]) -> dict[Row, list[Weighted]]:
    """Rows by their partition."""
    found: dict[Row, list[Weighted]] = {}
    for row, weight in rows:
        found.setdefault(tuple(row[place] for place in plan.partition), []).append((row, weight))
    return found


def end_of(bucket: TimeBucket, value: Value) -> int:
    """Until when rows with such a value of a bucket's column may come."""
    return last_of(bucket, value) + bucket.delay
