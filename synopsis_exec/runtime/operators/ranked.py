"""RANK and DENSE_RANK up to a limit, of rows that are only added: equal rows are one entry, with their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import groupby

from streambound_runtime.operators.by_tick import Row, Weighted
from streambound_runtime.operators.circuit_plan import OverNode
from streambound_runtime.operators.entries import arrow_of_pairs, pairs_of_arrow
from streambound_runtime.operators.over import ROWS, peers_of
from streambound_runtime.operators.over_partitions import OverPartitions
from streambound_runtime.operators.protocol import State

RANKS = ("rank", "dense_rank")
"""The functions that all rows have alike which the order leaves equal."""
Rows = dict[Row, int]
"""Rows of a partition, with how often each is there."""


class RankedOperator(OverPartitions[Rows]):
    """The operator of an `OverNode` node of such functions that keeps the first rows."""

    def __init__(self, plan: OverNode) -> None:
        super().__init__(plan)
        self.names = tuple(map(str, range(plan.width + len(plan.partition) + len(plan.order))))

    def entries(self) -> int:
        """The different rows that are kept."""
        return sum(map(len, self.kept.values()))

    def _partition(self, key: Row, rows: list[Weighted]) -> Iterator[Weighted]:
        width, before = self.plan.width, self._rows(key)
        yield from (((*row[:width], *values), -before[row]) for row, values in self._ranked(before))
        after = Counter(before)
        for row, weight in rows:
            assert weight > 0, "rows are only added"
            after[row] += weight
        ranked = list(self._ranked(after))
        yield from (((*row[:width], *values), after[row]) for row, values in ranked)
        self.kept[key] = {row: after[row] for row, _ in ranked}

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

    def _rows(self, key: Row) -> Rows:
        return self.kept[key] if key in self.kept else self._open(key, {})

    # --- state ------------------------------------------------------------------------------------------------------

    def dump(self) -> State:
        """The rows that are kept, with how often each is there."""
        return {ROWS: arrow_of_pairs([pair for rows in self.kept.values() for pair in rows.items()], self.names)}

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.kept, self.ends = {}, []
        for row, weight in pairs_of_arrow(state[ROWS]):
            assert isinstance(weight, int), "rows have no sums"
            self._rows(tuple(row[place] for place in self.plan.partition))[row] = weight
