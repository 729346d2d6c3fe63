"""DISTINCT, EXCEPT, INTERSECT, with ALL and without, and semi and anti joins by whole rows.

What is kept is how often each side has a row, while its fate is open. ``EXCEPT ALL = pos(a - b)`` and
``INTERSECT ALL = a - pos(a - b)``, so that the difference of both numbers is all there is; the others are of what is
there at all (``distinct``: Budiu et al., *DBSP*, §4.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from streambound_runtime.engine.predicates import any_of
from streambound_runtime.engine.tables import (
    CLOSED,
    HUGEINT,
    StateTable,
    TickStatement,
    TickTables,
    deleted,
    exchanged,
    listed,
    places,
    same,
)
from streambound_runtime.engine.time_buckets import expired
from streambound_runtime.operators.circuit_plan import TimeBucket
from streambound_runtime.operators.plan import Test

_RESULT = {
    "distinct": "CAST({l} > 0 AS INT)",
    "except": "CAST({l} > 0 AND {r} <= 0 AS INT)",
    "intersect": "CAST({l} > 0 AND {r} > 0 AS INT)",
    "semi": "CASE WHEN {r} > 0 THEN {l} ELSE 0 END",
    "anti": "CASE WHEN {r} <= 0 THEN {l} ELSE 0 END",
}
_RESULT_OF_ALL = {"except": "greatest({l}, 0)", "intersect": "-greatest({l}, 0)"}


@dataclass(frozen=True, slots=True)
class SqlCounts:
    """A set operation over rows of these types: ``operation`` of the left and the right input, or of the left alone.

    ``open`` are, for each side, alternatives of tests of the columns ``c0`` … that a row passes while the result may
    still change by it; other left rows pass an EXCEPT at once. With ``grows`` no side takes rows back, so that it only
    matters what is there. Rows go with the ``bucket`` that one of their columns is, or with the key that their columns
    at the ``ending`` places are, of which those that are over are the last input.
    """

    timed: ClassVar[bool] = False
    """Whether a row is there depends on the rows of a tick together."""
    name: str
    inputs: tuple[str, ...]
    operation: str
    types: tuple[str, ...]
    all: bool = False
    grows: bool = False
    open: tuple[tuple[tuple[Test, ...], ...] | None, ...] = (None, None)
    bucket: TimeBucket | None = None
    ending: tuple[int, ...] = ()

    @property
    def states(self) -> tuple[StateTable, ...]:
        """The rows, with their number on each side; with ALL the left number less the right one."""
        names = places(len(self.types))
        key = 0 if self.bucket is None else self.bucket.key
        gone = expired(self.bucket, f"c{key}", CLOSED, self.types[key] == "VARCHAR") if self.types else ""
        columns = (*zip(names, self.types, strict=True), ("l", HUGEINT), ("r", HUGEINT))
        return (StateTable("rows", columns, gone, tuple(f"c{place}" for place in self.ending)),)

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """The change by the rows that came: the result with them, minus the result without."""
        names = places(len(self.types))
        row, came, changed = ", ".join(names), at.temporary("came"), at.temporary("changed")
        (state,) = self.states
        mine = {name: name for name in names}
        tests = [any_of(alternatives, mine) for alternatives in self.open]
        sides = [
            f"SELECT {listed(row, 'w AS l, 0 AS r' if side == 0 else '0, w')} FROM {rows} WHERE {tests[side]}"
            for side, rows in enumerate(at.inputs[: len(at.inputs) - bool(self.ending)])
        ]
        both = "sum(l) AS l, sum(r) AS r"
        before = f"{came} t LEFT JOIN {at.state(state.name)} s ON {same(names, 't', 's')}"
        old = "coalesce(s.l, 0) AS old_l, coalesce(s.r, 0) AS old_r"
        l, r = self._numbers()  # noqa: E741
        made = (
            f"SELECT *, {l} AS new_l, {r} AS new_r FROM "
            f"(SELECT {listed(*(f't.{name}' for name in names), 't.l, t.r', old)} FROM {before})"
        )
        grouped = f"SELECT {listed(row, both)} FROM ({' UNION ALL '.join(sides)})"
        grouped += f" GROUP BY {row}" if names else " HAVING count(*) > 0"
        stored = (
            f"SELECT {listed(row, 'new_l, new_r')} FROM {changed} WHERE (new_l <> 0 OR new_r <> 0) AND {state.lasts}"
        )
        return (
            TickStatement(grouped, came),
            TickStatement(made, changed),
            TickStatement(self._delta(at, changed, row, tests[0]), at.delta),
            *exchanged(at.state(state.name), came, names, stored),
            *deleted(state, at),
        )

    def _numbers(self) -> tuple[str, str]:
        """How often both sides have a row now."""
        if self.all:
            return "old_l + l - r", "0"
        if not self.grows:
            return "old_l + l", "old_r + r"
        there = "CAST(old_{0} + {0} > 0 AS INT)"
        return "old_l + l" if self.operation in ("semi", "anti") else there.format("l"), there.format("r")

    def _delta(self, at: TickTables, changed: str, row: str, passes: str) -> str:
        result = (_RESULT_OF_ALL if self.all else _RESULT)[self.operation]
        change = f"{result.format(l='new_l', r='new_r')} - {result.format(l='old_l', r='old_r')}"
        if self.all and self.operation == "intersect":
            change = f"l + {change}"
        found = f"SELECT * FROM (SELECT {listed(row, f'{change} AS w')} FROM {changed}) WHERE w <> 0"
        if self.operation != "except" or self.open[0] is None:
            return found
        return f"{found} UNION ALL SELECT {listed(row, 'w')} FROM {at.inputs[0]} WHERE NOT {passes}"
