"""Functions of all rows of a partition up to each: of those that change no more what they are so far, and no row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from streambound_runtime.operators.by_tick import Row, Weighted
from streambound_runtime.operators.circuit_plan import OverNode, OverValue
from streambound_runtime.operators.entries import arrow_of_pairs, pairs_of_arrow
from streambound_runtime.operators.over import (
    RANKS,
    OverOperator,
    aggregate,
    peers_of,
    place_of,
)
from streambound_runtime.operators.over_partitions import OverPartitions
from streambound_runtime.operators.protocol import State
from streambound_runtime.operators.sums import Number, Sums
from streambound_runtime.operators.values import factor, greatest, least
from streambound_runtime.row_values import Value

if TYPE_CHECKING:
    import pyarrow as pa

PARTITIONS = "partitions"


class RunningOperator(OverPartitions["_RowsSoFar"]):
    """The operator of an `OverNode` node that keeps what its functions are so far."""

    def entries(self) -> int:
        """The partitions that there are."""
        return len(self.kept)

    def _partition(self, key: Row, rows: list[Weighted]) -> Iterator[Weighted]:
        known = self.kept.get(key)
        if known is None:
            known = self._open(key, _RowsSoFar([_ValueSoFar(call) for call in self.plan.calls]))
        assert all(weight > 0 for _, weight in rows), "rows are only added"
        listed = [row for row, weight in rows for _ in range(weight)]
        listed.sort(key=lambda row: place_of(self.plan, row))
        for row, values in zip(listed, _with_more(self.plan, known, listed), strict=True):
            yield (*row[: self.plan.width], *values), 1

    def dump(self) -> State:
        """The partitions, with what is known of each."""
        return {PARTITIONS: _dumped(self.plan, self.kept)}

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.kept, self.ends = {}, []
        for key, known in _loaded(self.plan, state[PARTITIONS]):
            self._open(key, known)


class RunningOpen(OverOperator):
    """The operator of an `OverNode` node that keeps the rows whose bucket is open, and what those before them are.

    A row that has closed stays, and so do those before it, as rows are in order of their buckets.
    """

    def __init__(self, plan: OverNode) -> None:
        super().__init__(plan)
        self.closed: dict[Row, _RowsSoFar] = {}

    def entries(self) -> int:
        """The different rows that are kept, and the partitions of which some have closed."""
        return super().entries() + len(self.closed)

    def _values(self, rows: list[Row], begin: int = 0) -> list[Row]:
        if not rows:
            return []
        known = self._so_far(tuple(rows[0][place] for place in self.plan.partition)).copy()
        return [tuple(values) for values in _with_more(self.plan, known, rows)][begin:]

    def _left(self, key: Row, rows: list[Row], now: int) -> list[Row]:
        if closed := self._closed(rows, now):
            self.closed[key] = self._so_far(key)
            _with_more(self.plan, self.closed[key], rows[:closed])
        return rows[closed:]

    def _so_far(self, key: Row) -> _RowsSoFar:
        found = self.closed.get(key)
        return _RowsSoFar([_ValueSoFar(call) for call in self.plan.calls]) if found is None else found

    def dump(self) -> State:
        """The rows that are kept, and the partitions."""
        return {**super().dump(), PARTITIONS: _dumped(self.plan, self.closed)}

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        super().load(state)
        self.closed = dict(_loaded(self.plan, state[PARTITIONS]))


def _with_more(plan: OverNode, known: _RowsSoFar, rows: list[Row]) -> list[list[Value]]:
    """Take in the next rows, which are in their order; returns the functions' values of each."""
    found = list[list[Value]]()
    for _, peers in groupby(rows, lambda row: peers_of(plan, row)):
        found += known.add(list(peers))
    return found


def _dumped(plan: OverNode, partitions: dict[Row, _RowsSoFar]) -> pa.Table:
    width, calls = len(plan.partition), len(plan.calls)
    pairs = [((*key, *known.values), known.numbers) for key, known in partitions.items()]
    return arrow_of_pairs(pairs, tuple(map(str, range(width + calls))), 1 + 2 * calls)


def _loaded(plan: OverNode, table: pa.Table) -> Iterator[tuple[Row, _RowsSoFar]]:
    width = len(plan.partition)
    for row, numbers in pairs_of_arrow(table):
        assert isinstance(numbers, Sums), "there are sums"
        rows, peers, *sums = numbers
        found = [
            _ValueSoFar(call, int(sums[2 * place]), sums[2 * place + 1], row[width + place])
            for place, call in enumerate(plan.calls)
        ]
        yield row[:width], _RowsSoFar(found, int(rows), int(peers))


class _RowsSoFar:
    """What is known of the rows of a partition: how many there are, and how many that the order tells apart."""

    def __init__(self, calls: list[_ValueSoFar], rows: int = 0, peers: int = 0) -> None:
        self.calls, self.rows, self.peers = calls, rows, peers

    def copy(self) -> _RowsSoFar:
        """The same, which more rows may be taken in to."""
        calls = [_ValueSoFar(one.call, one.count, one.total, one.kept) for one in self.calls]
        return _RowsSoFar(calls, self.rows, self.peers)

    @property
    def numbers(self) -> Sums:
        """What has to be known again, but for `values`."""
        return Sums([self.rows, self.peers, *(number for one in self.calls for number in (one.count, one.total))])

    @property
    def values(self) -> list[Value]:
        """The value that each function keeps; None where it keeps none."""
        return [one.kept for one in self.calls]

    def add(self, peers: list[Row]) -> list[list[Value]]:
        """Take in the next rows, which the order leaves equal; returns the functions' values of each."""
        before, found = self.rows, list[list[Value]]()
        self.peers += 1
        for row in peers:
            without = [one.value(self.rows) if one.ends_before else None for one in self.calls]
            for one in self.calls:
                one.add(row, not self.rows)
            self.rows += 1
            with_it = [self._rank(one.call.function, before) or one.value(self.rows) for one in self.calls]
            found.append([without[n] if one.ends_before else with_it[n] for n, one in enumerate(self.calls)])
        for place, one in enumerate(self.calls):
            if one.call.frame is not None and not one.call.frame[0]:
                for values in found:
                    values[place] = found[-1][place]
        return found

    def _rank(self, function: str, before: int) -> int | None:
        """The rank of the last row; None for what is no rank."""
        ranks = (self.rows, before + 1, self.peers)
        return dict(zip(RANKS, ranks, strict=True)).get(function)


class _ValueSoFar:
    """One function of the rows so far: how many have a value, what they add up to, and the value that is kept."""

    def __init__(self, call: OverValue, count: int = 0, total: Number = 0, kept: Value = None) -> None:
        self.call, self.count, self.total, self.kept = call, count, total, kept

    @property
    def ends_before(self) -> bool:
        """Whether it is of the rows before a row: ``ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING``."""
        return self.call.frame is not None and self.call.frame[2] == -1

    def add(self, row: Row, first: bool) -> None:
        """One more row."""
        function, value = self.call.function, 1 if self.call.value is None else row[self.call.value]
        if function == "last_value" or (function == "first_value" and first):
            self.kept = value
        if value is None:
            return
        self.count += 1
        if function in ("sum", "avg"):
            self.total += factor(value)
        if function in ("min", "max"):
            better = least if function == "min" else greatest
            self.kept = value if self.kept is None else better([self.kept, value])

    def value(self, rows: int) -> Value:
        """The value of so many rows."""
        if self.call.function in ("count", "sum", "avg"):
            return aggregate(self.call, rows, self.count, self.total)
        return self.kept
