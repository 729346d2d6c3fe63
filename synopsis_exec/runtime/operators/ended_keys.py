"""Keys that punctuations end: which are open, and which have ended last, so that a row after its punctuation is known.

A punctuation holds from its own timestamp on: rows of the same timestamp are before it (Tucker, Maier, Sheard, Fegaras,
TKDE 15(3), 2003: a stream is grammatical if no row matches an earlier punctuation). To know of every key that it has
ended would take a memory of all keys; the `max_open` that ended last are remembered, so that rows that come a little
too late are found, and a key that comes again after that is a new one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from streambound_runtime.arrays import Integers, Mask
from streambound_runtime.decoding.reasons import AFTER_KEY
from streambound_runtime.errors import JobError
from streambound_runtime.operators.by_tick import Changes, Row, Ticks, in_order
from streambound_runtime.operators.circuit_plan import EndedKeysNode
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import arrow_of_pairs, pairs_of_arrow
from streambound_runtime.operators.protocol import State
from streambound_runtime.operators.rejected_row import RejectedRow

OPEN, ENDED = "open", "ended"


class EndedKeys:
    """The operator of an `EndedKeysNode`: it takes the rows that break the promise out of its stream."""

    def __init__(self, plan: EndedKeysNode) -> None:
        self.plan = plan
        self.open: dict[Row, None] = {}
        self.ended: dict[Row, None] = {}
        self.sizes: Integers = np.zeros(0, dtype=np.int64)

    def entries(self) -> int:
        """The keys that are open, and those that have ended last."""
        return len(self.open) + len(self.ended)

    def marks(self, rows: Delta) -> Mask:
        """Which rows are punctuations."""
        found: Mask = np.array([value == self.plan.value for value in rows.values(self.plan.column)], dtype=bool)
        return found

    def step_of(self, rows: Delta | None, marks: Mask, others: Mask, ticks: Ticks) -> tuple[Delta, Mask]:
        """Close timestamps of a stream's rows: the keys that end, and which rows come after their punctuation.

        ``marks`` are this promise's punctuations, ``others`` all punctuations of the stream.
        """
        ends, sizes = Changes(self.plan.attributes), []
        after = np.zeros(0 if rows is None else rows.size, dtype=bool)
        keys = _keys(rows, self.plan.attributes)
        bounds = np.zeros(len(ticks.times) + 1, dtype=np.int64)
        if rows is not None:
            bounds[1:] = np.searchsorted(rows.time, ticks.times, side="right")
        for number, now in enumerate(ticks.times.tolist()):
            over: dict[Row, int] = {}
            for place in range(bounds[number], bounds[number + 1]):
                if marks[place]:
                    over[keys[place]] = 1
                elif not others[place]:
                    after[place] = self._comes(keys[place])
            for key, _ in in_order(over):
                self._ends(key)
            ends.add(now, over.items())
            self._check(now)
            sizes.append(self.entries())
        self.sizes = np.array(sizes, dtype=np.int64)
        return ends.delta, after

    def _comes(self, key: Row) -> bool:
        """Take in a row's key; whether it has ended."""
        if key in self.ended:
            return True
        if self.plan.max_open is not None:
            self.open[key] = None
        return False

    def _ends(self, key: Row) -> None:
        """A key is over: it is remembered until so many more are."""
        if self.plan.max_open is None or key in self.ended:
            return
        self.open.pop(key, None)
        self.ended[key] = None
        if len(self.ended) > self.plan.max_open:
            del self.ended[next(iter(self.ended))]

    def _check(self, now: int) -> None:
        most = self.plan.max_open
        if most is not None and len(self.open) > most:
            named = ", ".join(self.plan.attributes)
            what = f"at timestamp {now} {len(self.open)} values of {named} are open in {self.plan.stream}"
            raise JobError("contract", f"{what}, more than the catalog's max_open = {most}", 1)

    def dump(self) -> State:
        """The keys, those that have ended in their order."""
        names = self.plan.attributes
        ended = [(key, place) for place, key in enumerate(self.ended)]
        return {OPEN: arrow_of_pairs([(key, 1) for key in self.open], names), ENDED: arrow_of_pairs(ended, names)}

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.open = {key: None for key, _ in pairs_of_arrow(state[OPEN])}
        self.ended = {key: None for key, _ in pairs_of_arrow(state[ENDED])}


class WatchedStreams:
    """The streams whose punctuations a plan uses: their rows without them, and without those that break a promise."""

    def __init__(self, nodes: Sequence[EndedKeysNode]) -> None:
        self.operators = {node.name: EndedKeys(node) for node in nodes}
        self.rejected: list[RejectedRow] = []
        """The rows of the last step that break a promise."""

    def step(self, deltas: dict[str, Delta], ticks: Ticks) -> dict[str, Delta]:
        """Close timestamps: the rows that are left take the place of their stream's; returns the keys that end."""
        found: dict[str, Delta] = {}
        self.rejected = []
        for stream in dict.fromkeys(operator.plan.stream for operator in self.operators.values()):
            rows, mine = deltas.get(stream), [one for one in self.operators.values() if one.plan.stream == stream]
            none = np.zeros(0, dtype=bool)
            marked = [none if rows is None else one.marks(rows) for one in mine]
            gone = np.logical_or.reduce(marked)
            for operator, marks in zip(mine, marked, strict=True):
                found[operator.plan.name], after = operator.step_of(rows, marks, gone, ticks)
                gone = gone | after
                self._reject(stream, rows, after)
            if rows is not None:
                deltas[stream] = rows.take(~gone)
        return found

    def _reject(self, stream: str, rows: Delta | None, after: Mask) -> None:
        if rows is None or not after.any():
            return
        bad = rows.take(after)
        for time, weight, row in zip(bad.time.tolist(), bad.weights().tolist(), bad.rows(), strict=True):
            values = dict(zip(bad.columns, row, strict=True))
            self.rejected.append(RejectedRow(stream, "after-punctuation", AFTER_KEY, time, values, int(weight)))


def _keys(rows: Delta | None, names: tuple[str, ...]) -> list[Row]:
    return [] if rows is None else list(zip(*(rows.values(name) for name in names), strict=True))
