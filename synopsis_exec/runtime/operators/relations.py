"""The rows of relations: of one that changes, by inserts, deletes and upserts by key; of another, all at the start.

The changes of a timestamp are summed before they are judged, so that their order within it does not matter. A row that
is not there cannot be deleted: such a change is refused, and no weight is ever negative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.decoding.reasons import detail
from streambound_runtime.errors import JobError
from streambound_runtime.operators.by_tick import Changes, RejectedRow, Row, Ticks, Weighted
from streambound_runtime.operators.circuit_plan import ChangesNode, RelationNode
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import (
    State,
    arrow_of_pairs,
    from_lines_of_json,
    lines_of_json,
    pairs_of_arrow,
)
from streambound_runtime.operators.formula import Relations, values_of
from streambound_runtime.promises import UPDATE

_ROWS = "rows"
_ABSENT, _AMBIGUOUS = "absent-row", "ambiguous-change"
_Given = tuple[bool, Row, int]
"""Whether a change is an insert, its row, and how often it came."""


class ChangingRelation:
    """The operator of a `ChangesNode`: the rows that are there, and how often."""

    def __init__(self, plan: ChangesNode) -> None:
        self.plan = plan
        self.places = [plan.columns.index(name) for name in plan.key]
        self.rows: dict[Row, int] = {}
        self.by_key: dict[Row, Row] = {}
        self.rejected: list[RejectedRow] = []
        """The changes of the last step that have no meaning."""
        self.sizes: Integers = np.zeros(0, dtype=np.int64)

    def step_of(self, deltas: Mapping[str, Delta], ticks: Ticks) -> Delta:
        """Close timestamps of the relation's changes; returns how its rows change."""
        self.rejected = []
        changes, sizes = Changes(self.plan.columns), []
        given = _by_time(deltas.get(self.plan.table), self.plan)
        for now in ticks.times.tolist():
            if now in given:
                changes.add(now, self._tick(now, given[now]))
            sizes.append(self.entries())
        self.sizes = np.array(sizes, dtype=np.int64)
        return changes.delta

    def entries(self) -> int:
        """The different rows."""
        return len(self.rows)

    def dump(self) -> State:
        """The rows with their weights."""
        return {_ROWS: arrow_of_pairs(self.rows.items(), self.plan.columns)}

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.rows = dict(pairs_of_arrow(state[_ROWS]))
        self.by_key = {self._key(row): row for row in self.rows} if self.plan.key else {}

    def _key(self, row: Row) -> Row:
        return tuple(row[place] for place in self.places)

    def _tick(self, now: int, given: list[_Given]) -> list[Weighted]:
        found = self._by_key(now, given) if self.plan.key else self._by_row(now, given)
        for row, weight in found:
            total = self.rows.pop(row, 0) + weight
            if total:
                self.rows[row] = total
        most, size = self.plan.most, sum(self.rows.values())
        if most is not None and size > most:
            what = f"{self.plan.table} has {size} rows at timestamp {now}, more than its declared rows = {most}"
            raise JobError("contract", what, 1)
        return found

    def _by_row(self, now: int, given: list[_Given]) -> list[Weighted]:
        """The changes of a bag of rows: what is deleted more often than it is there is refused."""
        total: dict[Row, int] = {}
        for inserted, row, weight in given:
            total[row] = total.get(row, 0) + (weight if inserted else -weight)
        found = []
        for row, weight in total.items():
            missing = -(self.rows.get(row, 0) + weight)
            if missing > 0:
                self._reject(_ABSENT, now, row, missing)
            found.append((row, weight + max(missing, 0)))
        return found

    def _by_key(self, now: int, given: list[_Given]) -> list[Weighted]:
        """The changes of rows with a key: an insert replaces the row of its key, a delete needs the key only."""
        given = _netted(given) if self.plan.before else given
        inserts: dict[Row, list[tuple[Row, int]]] = {}
        deletes: dict[Row, list[tuple[Row, int]]] = {}
        for inserted, row, weight in given:
            (inserts if inserted else deletes).setdefault(self._key(row), []).append((row, weight))
        found: list[Weighted] = []
        for key in dict.fromkeys((*inserts, *deletes)):
            coming = inserts.get(key, [])
            if len({row for row, _ in coming}) > 1:
                for row, weight in coming:
                    self._reject(_AMBIGUOUS, now, row, weight)
                coming = []
            old, going = self.by_key.get(key), sum(weight for _, weight in deletes.get(key, []))
            if self.plan.before and coming:  # what goes is the row that it replaces
                going = 0
            left = (old is not None) + bool(coming) - going
            if left < 0:
                self._reject(_ABSENT, now, deletes[key][0][0], -left)
            new = coming[0][0] if coming and left > 0 else old if left > 0 else None
            if old == new:
                continue
            found += [(old, -1)] if old is not None else []
            found += [(new, 1)] if new is not None else []
            self.by_key.pop(key, None)
            if new is not None:
                self.by_key[key] = new
        return found

    def _reject(self, reason: str, now: int, row: Row, copies: int) -> None:
        values = dict(zip(self.plan.columns, row, strict=True))
        values[self.plan.op] = self.plan.delete if reason == _ABSENT else self.plan.insert
        self.rejected.append(RejectedRow(self.plan.table, reason, detail(reason), now, values, copies))


def _by_time(delta: Delta | None, plan: ChangesNode) -> dict[int, list[_Given]]:
    """By timestamp: whether a change is an insert, its row, and how often it came."""
    found: dict[int, list[_Given]] = {}
    if delta is None:
        return found
    times = delta.time.tolist()

    def rows(names: Sequence[str]) -> list[Row]:
        known = zip(plan.columns, names, strict=True)
        return [*zip(*(times if column == plan.time else delta.values(name) for column, name in known), strict=True)]

    kinds, weights, after = delta.values(plan.op), delta.weights().tolist(), rows(plan.columns)
    for now, kind, row, before, weight in zip(
        times, kinds, after, rows(plan.before or plan.columns), weights, strict=True
    ):
        mine = found.setdefault(now, [])
        mine.append((kind != plan.delete, row, weight))
        if kind == UPDATE and plan.before:
            mine.append((False, before, weight))
    return found


def _netted(given: list[_Given]) -> list[_Given]:
    """The changes without rows that both come and go: of several updates of a row the first and last ones are left."""
    total: dict[Row, int] = {}
    for inserted, row, weight in given:
        total[row] = total.get(row, 0) + (weight if inserted else -weight)
    return [(weight > 0, row, abs(weight)) for row, weight in total.items() if weight]


_TOLD = "told"


class StandingRelation:
    """The operator of a `RelationNode`. Whether its rows have come is no entry."""

    def __init__(self, plan: RelationNode, relations: Relations) -> None:
        self.plan, self.told = plan, False
        self.rows: list[Row] = values_of(relations[plan.table], plan.columns)

    def step(self, inputs: Sequence[Delta], ticks: Ticks) -> Delta:
        """All rows at the first timestamp that is closed, none later."""
        changes = Changes(self.plan.columns)
        if len(ticks.times) and not self.told:
            changes.add(int(ticks.times[0]), [(row, 1) for row in self.rows])
            self.told = True
        return changes.delta

    def entries(self) -> int:
        """Always 0."""
        return 0

    def dump(self) -> State:
        """Whether the rows have come."""
        return {_TOLD: lines_of_json([[self.told]])}

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        ((told,),) = from_lines_of_json(state[_TOLD])
        self.told = bool(told)
