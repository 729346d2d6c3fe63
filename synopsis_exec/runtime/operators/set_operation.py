"""EXCEPT, INTERSECT, semi and anti joins by whole rows, and duplicate elimination over bags that change.

What is kept are weights of rows, while their fate is open.

``EXCEPT ALL = pos(a − b)`` and ``INTERSECT ALL = a − pos(a − b)``, so that the integral of ``a − b`` is all there is;
EXCEPT and INTERSECT are of what is there at all (``distinct(a)``: Budiu et al., *DBSP*, §4.2).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.operators.buckets import last_of
from streambound_runtime.operators.by_tick import Changes, Row, Ticks, Weighted, rows_by_time
from streambound_runtime.operators.circuit_plan import SetNode
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import arrow_of_pairs, pairs_of_arrow
from streambound_runtime.operators.protocol import State
from streambound_runtime.operators.row_tests import Passes, any_of

_ROWS = "rows {}"
_JOINS = ("semi", "anti")
"""Operations whose results have a row as often as the left side has it."""


class SetOperation:
    """The operator of a `SetNode`: how often each side has the rows of which the result may still change.

    With ALL only the difference of both numbers is kept, as the left one.
    """

    def __init__(self, plan: SetNode) -> None:
        self.plan = plan
        self.counts: dict[Row, list[int]] = {}
        self.open: tuple[Passes | None, ...] = tuple(any_of(plan.columns, tests) for tests in plan.open)
        self.sizes: Integers = np.zeros(0, dtype=np.int64)

    def entries(self) -> int:
        """The rows that are kept."""
        return len(self.counts)

    def step(self, inputs: Sequence[Delta], ticks: Ticks) -> Delta:
        """Close timestamps; returns the changes of the set operation's rows at each of them."""
        changes, sizes = Changes(self.plan.columns), []
        by_time = [rows_by_time(delta) for delta in inputs]
        ended = by_time.pop() if self.plan.ends is not None else {}
        for now in ticks.times.tolist():
            changes.add(now, self._tick([rows.get(now, []) for rows in by_time]))
            self._close(now)
            self._end({key for key, _ in ended.get(now, ())})
            sizes.append(len(self.counts))
        self.sizes = np.array(sizes, dtype=np.int64)
        return changes.delta

    def _tick(self, inputs: list[list[Weighted]]) -> list[Weighted]:
        found: list[Weighted] = []
        before: dict[Row, int] = {}
        for side, rows in enumerate(inputs):
            passes = self.open[side]
            for row, weight in rows:
                if passes is not None and not passes(row):
                    if side == 0 and self.plan.operation == "except":
                        found.append((row, weight))
                    continue
                counts = self.counts.setdefault(row, [0, 0])
                before.setdefault(row, self._result(counts))
                self._count(counts, side, weight)
                if self.plan.all and self.plan.operation == "intersect" and side == 0:
                    before[row] -= weight
        for row, old in before.items():
            counts = self.counts[row]
            new = self._result(counts)
            if new != old:
                found.append((row, new - old))
            if not any(counts):
                del self.counts[row]
        return found

    def _close(self, now: int) -> None:
        """Forget the rows of buckets that are over once a timestamp is closed."""
        bucket = self.plan.bucket
        if bucket is not None:
            over = [row for row in self.counts if last_of(bucket, row[bucket.key]) + bucket.delay <= now]
            for row in over:
                del self.counts[row]

    def _end(self, over: set[Row]) -> None:
        """Forget the rows of keys that are over."""
        ends = self.plan.ends
        if ends is not None and over:
            gone = [row for row in self.counts if tuple(row[place] for place in ends.places) in over]
            for row in gone:
                del self.counts[row]

    def _count(self, counts: list[int], side: int, weight: int) -> None:
        if self.plan.all:
            counts[0] += weight if side == 0 else -weight
        elif self.plan.grows and (side == 1 or self.plan.operation not in _JOINS):
            counts[side] = 1
        else:
            counts[side] += weight

    def _result(self, counts: list[int]) -> int:
        """How often the result has a row, but for what an INTERSECT ALL adds of the left side."""
        left, right = counts
        if self.plan.all:
            kept = max(left, 0)
            return kept if self.plan.operation == "except" else -kept
        match self.plan.operation:
            case "except":
                return int(left > 0 and right <= 0)
            case "intersect":
                return int(left > 0 and right > 0)
            case "semi":
                return left if right > 0 else 0
            case "anti":
                return left if right <= 0 else 0
        return int(left > 0)

    def dump(self) -> State:
        """The rows with the numbers of each side."""
        return {
            _ROWS.format(side): arrow_of_pairs(
                ((row, counts[side]) for row, counts in self.counts.items() if counts[side]), self.plan.columns
            )
            for side in (0, 1)
        }

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.counts = {}
        for side in (0, 1):
            for row, n in pairs_of_arrow(state[_ROWS.format(side)]):
                assert isinstance(n, int), "rows have no sums"
                self.counts.setdefault(row, [0, 0])[side] = n
