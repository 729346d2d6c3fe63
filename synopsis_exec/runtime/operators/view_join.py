"""Joins of inputs that may both take rows back: inner, left, semi and anti (Budiu et al., *DBSP*, Theorem 3.4).

Both sides are remembered, the left one where a row can have a partner at all: another one is decided at once. Pairs are
bilinear: ``Δ(l ⋈ r) = Δl ⋈ r + (l − Δl) ⋈ Δr``. What an outer, semi or anti join says of a left row depends on
whether there is a partner now. Rows of buckets of time that have closed are dropped; a left row has its partners for as
long as it is there, also those that no other left row can meet any more: they are counted. A join as of the left side's
time is ``(I(r)) ↑⋈ l`` (7.6): linear in l, which is not remembered; so is one with rows that do not change.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.operators.buckets import last_of
from streambound_runtime.operators.by_tick import Changes, Row, Ticks, Weighted, rows_by_time
from streambound_runtime.operators.circuit_plan import TimeBucket, ViewJoinNode
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import arrow_of_pairs, pairs_of_arrow
from streambound_runtime.operators.protocol import State
from streambound_runtime.operators.row_tests import any_of

_SIDES = ("left rows", "right rows")
_PARTNERS = "partners of left rows"


class ViewJoin:
    """The operator of a `ViewJoinNode`."""

    def __init__(self, plan: ViewJoinNode) -> None:
        self.plan = plan
        names = (*plan.left_columns, *plan.right_columns)
        equal = [(t.left, t.right) for t in plan.tests if t.op == "==" and t.right is not None and not t.offset]
        pairs = [(one, two) if one in plan.left_columns else (two, one) for one, two in equal]
        pairs = [(one, two) for one, two in pairs if one in plan.left_columns and two in plan.right_columns]
        self.left = _ViewSide([plan.left_columns.index(one) for one, _ in pairs], plan.buckets[0])
        self.right = _ViewSide([plan.right_columns.index(two) for _, two in pairs], plan.buckets[1])
        self.open = any_of(plan.left_columns, plan.open)
        self.match = any_of(names, (plan.tests,))
        self.shown = [names.index(name) for name in plan.shown]
        self.clips = [(plan.left_columns.index(clip.column), clip.low, clip.high) for clip in plan.clips]
        self.nothing = (None,) * len(plan.right_columns)
        self.sizes: Integers = np.zeros(0, dtype=np.int64)

    def entries(self) -> int:
        """The different rows of both sides."""
        return self.left.size + self.right.size

    def step(self, inputs: Sequence[Delta], ticks: Ticks) -> Delta:
        """Close timestamps; returns the changes of the join's rows at each of them."""
        changes, sizes = Changes(self.plan.columns), []
        left, right = (rows_by_time(delta) for delta in inputs)
        tick = self._as_of if self.plan.as_of else self._tick
        known = set(ticks.times.tolist())
        for now in sorted(known.union(left, right)):  # what is final may have a time at which nothing came
            self._forget(now)
            changes.add(now, tick(_sum(left.get(now, ())), _sum(right.get(now, ()))))
            self._forget(now + 1)
            if now in known:
                sizes.append(self.entries())
        self.sizes = np.array(sizes, dtype=np.int64)
        return changes.delta

    def _forget(self, now: int) -> None:
        """Drop the rows whose buckets have closed when all before a timestamp is."""
        self.left.forget(now)
        self.right.forget(now)

    def _as_of(self, left: dict[Row, int], right: dict[Row, int]) -> list[Weighted]:
        """The left rows with those that are there now."""
        self.right.add(right)
        found = []
        for one, n in left.items():
            mine = [
                (self._row(one, row), n * weight)
                for row, weight in self.right.at(self.left.key(one)).items()
                if self._matches(one, row)
            ]
            alone = [(self._row(one, self.nothing), n)]
            match self.plan.kind:
                case "inner":
                    found += mine
                case "left":
                    found += mine or alone
                case kind:
                    found += alone if bool(mine) == (kind == "semi") else []
        return found

    def _tick(self, left: dict[Row, int], right: dict[Row, int]) -> list[Weighted]:
        closed = {} if self.open is None else {row: n for row, n in left.items() if not self.open(row)}
        left = _sum((self._clipped(row), n) for row, n in left.items() if row not in closed)
        unmatched = [(self._row(row, self.nothing), n) for row, n in closed.items()]
        found = unmatched if self.plan.kind in ("left", "anti") else []
        if self.plan.kind == "inner":
            return found + self._pairs(left, right)
        partners = self._partners(right)
        touched = {*left, *partners}
        before = [(row, -n) for row, n in self._alone(touched)]
        new = [row for row in left if not self.left.weight(row)]
        if self.plan.kind == "left":
            found += self._pairs(left, right)
        else:
            self.left.add(left)
            self.right.add(right)
        self.left.meet(partners)
        self.left.meet({one: sum(self._matches(one, row) for row in self.right.at(self.left.key(one))) for one in new})
        return found + before + self._alone(touched)

    def _partners(self, right: dict[Row, int]) -> dict[Row, int]:
        """How many partners more, or fewer, the left rows that are there have by the changes of the right side."""
        found: dict[Row, int] = {}
        for row, weight in right.items():
            was = self.right.weight(row)
            change = bool(was + weight) - bool(was)
            for one in self.left.at(self.right.key(row)) if change else ():
                if self._matches(one, row):
                    found[one] = found.get(one, 0) + change
        return found

    def _clipped(self, row: Row) -> Row:
        """What is remembered of a left row."""
        if not self.clips:
            return row
        values = list(row)
        for place, low, high in self.clips:
            value = values[place]
            assert isinstance(value, int), "a row with NULL in what is compared has no partner"
            if low is not None and value < low:
                values[place] = low
            elif high is not None and value > high:
                values[place] = high
        return tuple(values)

    def _pairs(self, left: dict[Row, int], right: dict[Row, int]) -> list[Weighted]:
        """The changes of the inner join; takes in those of the sides."""
        found = [
            (self._row(one, row), n * weight)
            for row, weight in right.items()
            for one, n in self.left.at(self.right.key(row)).items()
            if self._matches(one, row)
        ]
        self.left.add(left)
        self.right.add(right)
        found += [
            (self._row(one, row), n * weight)
            for one, weight in left.items()
            for row, n in self.right.at(self.left.key(one)).items()
            if self._matches(one, row)
        ]
        return found

    def _alone(self, rows: Iterable[Row]) -> list[Weighted]:
        """What the sides say now of some left rows alone: of a semi join those with a partner, else those without."""
        wanted = self.plan.kind == "semi"
        found = []
        for one in rows:
            n = self.left.weight(one)
            if n and wanted == bool(self.left.partners.get(one, 0)):
                found.append((self._row(one, self.nothing), n))
        return found

    def _matches(self, left: Row, right: Row) -> bool:
        return self.match is None or self.match((*left, *right))

    def _row(self, left: Row, right: Row) -> Row:
        both = (*left, *right)
        return tuple(both[place] for place in self.shown)

    def dump(self) -> State:
        """The rows of both sides with their weights, and how many partners left ones have."""
        sides = zip(_SIDES, (self.left, self.right), (self.plan.left_columns, self.plan.right_columns), strict=True)
        found = {name: arrow_of_pairs(side.rows(), columns) for name, side, columns in sides}
        return {**found, _PARTNERS: arrow_of_pairs(self.left.partners.items(), self.plan.left_columns)}

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        for name, side in zip(_SIDES, (self.left, self.right), strict=True):
            side.clear()
            side.add({row: n for row, n in pairs_of_arrow(state[name]) if isinstance(n, int)})
        self.left.meet({row: n for row, n in pairs_of_arrow(state[_PARTNERS]) if isinstance(n, int)})


class _ViewSide:
    """The rows of one side with their weights, by the values that both sides must have alike."""

    def __init__(self, places: Sequence[int], bucket: TimeBucket | None) -> None:
        self.key: Callable[[Row], Row] = lambda row: tuple(row[place] for place in places)
        self.bucket = bucket
        self.by_key: dict[Row, dict[Row, int]] = {}
        self.by_end: dict[int, dict[Row, None]] = {}
        self.ends: list[int] = []
        self.partners: dict[Row, int] = {}
        """How many rows of the other side some rows of this one match, also such as were dropped there."""
        self.size = 0

    def at(self, key: Row) -> dict[Row, int]:
        """The rows with these values."""
        return self.by_key.get(key, {})

    def weight(self, row: Row) -> int:
        """How often a row is there."""
        return self.at(self.key(row)).get(row, 0)

    def add(self, rows: dict[Row, int]) -> None:
        """Take in changes."""
        for row, weight in rows.items():
            key = self.key(row)
            mine = self.by_key.setdefault(key, {})
            was = row in mine
            total = mine.pop(row, 0) + weight
            if total:
                mine[row] = total
            if was != bool(total):
                self.size += 1 if total else -1
                self._note(row, bool(total))
            if not total:
                self.partners.pop(row, None)
            if not mine:
                del self.by_key[key]

    def meet(self, partners: dict[Row, int]) -> None:
        """Take in that rows which are there have so many partners more."""
        for row, change in partners.items():
            total = self.partners.pop(row, 0) + change
            if total and self.weight(row):
                self.partners[row] = total

    def _note(self, row: Row, comes: bool) -> None:
        """Note when a row goes, or that it is gone."""
        if self.bucket is None:
            return
        end = last_of(self.bucket, row[self.bucket.key]) + self.bucket.delay
        if end not in self.by_end:
            self.by_end[end] = {}
            heapq.heappush(self.ends, end)
        if comes:
            self.by_end[end][row] = None
        else:
            del self.by_end[end][row]

    def forget(self, now: int) -> None:
        """Drop the rows whose buckets have closed when all before a timestamp is."""
        while self.ends and self.ends[0] < now:
            for row in self.by_end.pop(heapq.heappop(self.ends)):
                key = self.key(row)
                del self.by_key[key][row]
                self.partners.pop(row, None)
                self.size -= 1
                if not self.by_key[key]:
                    del self.by_key[key]

    def rows(self) -> list[Weighted]:
        """All rows."""
        return [pair for mine in self.by_key.values() for pair in mine.items()]

    def clear(self) -> None:
        """Forget all rows."""
        self.by_key, self.by_end, self.ends, self.partners, self.size = {}, {}, [], {}, 0


def _sum(rows: Iterable[Weighted]) -> dict[Row, int]:
    """Rows with the sums of their weights, but those that cancel out."""
    total: dict[Row, int] = {}
    for row, weight in rows:
        total[row] = total.get(row, 0) + weight
    return {row: n for row, n in total.items() if n}
