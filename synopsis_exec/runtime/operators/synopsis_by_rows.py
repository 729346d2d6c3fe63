"""The synopsis of a query whose tables only the interpreter keeps: one timestamp after the other, row by row."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.operators.delta import Delta, delta_of
from streambound_runtime.operators.entries import arrow_of_pairs, pairs_of_arrow
from streambound_runtime.operators.interpreter import RowSynopsis
from streambound_runtime.operators.plan import SynopsisPlan
from streambound_runtime.operators.protocol import State
from streambound_runtime.operators.sums import Sums, times
from streambound_runtime.operators.synopsis import RESULTS, check_positive, names_of
from streambound_runtime.row_values import Value


class SynopsisByRows:
    """Closes the timestamps of a step one after the other. Weights must be positive."""

    def __init__(self, plan: SynopsisPlan, relations: Mapping[str, list[dict[str, Value]]]) -> None:
        self.rows = RowSynopsis(plan, relations)
        self.limit = self.rows.limit
        self.entries = self.rows.entries
        self.history: tuple[Integers, Integers] = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    @property
    def peak(self) -> int:
        """The most entries there were after any timestamp of the last step."""
        return int(self.history[1].max()) if len(self.history[1]) else self.entries()

    def step(self, deltas: Mapping[str, Delta]) -> Delta:
        """Close the timestamps of all rows; returns what becomes true at them."""
        check_positive(deltas)
        by_time: dict[int, dict[str, list[dict[str, Value]]]] = {}
        for name, delta in deltas.items():
            names = tuple(delta.columns)
            counts = delta.weights().tolist()
            for now, row, n in zip(delta.time.tolist(), delta.rows(), counts, strict=True):
                by_time.setdefault(now, {}).setdefault(name, []).extend([dict(zip(names, row, strict=True))] * n)
        found: list[tuple[int, int, tuple[Value, ...]]] = []
        ticks, sizes = sorted(by_time), []
        for now in ticks:
            for key, n in self.rows.close(now, by_time.pop(now)):
                found.append((now, times(n), (*key, *n[1:]) if isinstance(n, Sums) else key))
            sizes.append(self.entries())
        self.history = np.array(ticks, dtype=np.int64), np.array(sizes, dtype=np.int64)
        return delta_of(found, (*self.rows.plan.columns, *self.rows.plan.sums))

    def remembered(self) -> Delta:
        """The results of a set that it has returned, as far as they may come again."""
        return delta_of([(0, 1, key) for key in self.rows.written], self.rows.plan.columns)

    def dump(self) -> State:
        """The tables as Arrow, by name."""
        columns = {table.name: names_of(table) for branch in self.rows.plan.branches for table in branch.tables}
        columns[RESULTS], sums = self.rows.plan.columns, len(self.rows.plan.sums)
        return {name: arrow_of_pairs(table.items(), columns[name], sums) for name, table in self.rows.tables().items()}

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.rows.load({name: dict(pairs_of_arrow(table)) for name, table in state.items()})
