"""Joins of inputs that may both take rows back: inner, left, semi and anti (Budiu et al., *DBSP*, Theorem 3.4).

Pairs are bilinear: ``Δ(l ⋈ r) = Δl ⋈ (r + Δr) + l ⋈ Δr``. What a left, semi or anti join says of a left row depends on
whether it has a partner: its entry has their number, of all that it has met, also those that have gone since because no
other left row can meet them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streambound_runtime.engine.predicates import all_of, any_of
from streambound_runtime.engine.tables import (
    CLOSED,
    HUGEINT,
    VARCHAR,
    StateTable,
    TickStatement,
    TickTables,
    deleted,
    exchanged,
    listed,
    places,
    replaced,
    same,
    summed,
)
from streambound_runtime.engine.time_buckets import expired
from streambound_runtime.operators.circuit_plan import ColumnClip, TimeBucket
from streambound_runtime.operators.plan import Test


@dataclass(frozen=True, slots=True)
class SqlJoin:
    """A join of the ``kind`` inner, left, semi or anti of two inputs with columns of these types.

    ``tests`` are of columns ``l0`` …, ``r0`` …; so are ``open``, alternatives that a left row passes while it can have
    a partner, and ``shown``, the results' columns. Rows of a side go with the bucket that one of their columns is. Left
    rows are remembered with their ``clips``. Rows of a side go with the key at its ``ending`` places, of which the last
    input has those that are over. A side that ``grows`` takes no row back.
    """

    name: str
    inputs: tuple[str, ...]
    kind: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    tests: tuple[Test, ...]
    open: tuple[tuple[Test, ...], ...]
    shown: tuple[str, ...]
    types: tuple[str, ...]
    buckets: tuple[TimeBucket | None, TimeBucket | None] = (None, None)
    clips: tuple[ColumnClip, ...] = ()
    ending: tuple[tuple[int, ...], ...] = ((), ())
    grows: tuple[bool, bool] = (False, False)

    @property
    def timed(self) -> bool:
        """Whether a row is there depends on the rows of a tick together."""
        return False

    @property
    def states(self) -> tuple[StateTable, ...]:
        """The rows of both sides; left ones with the number of their partners where that is asked for."""
        partners = (("p", HUGEINT),) if self._asks else ()
        ending = [tuple(f"c{place}" for place in places) for places in self.ending]
        return (
            StateTable(
                "left", (*_columns(self.left), ("w", HUGEINT), *partners), _gone(self.buckets[0], self.left), ending[0]
            ),
            StateTable("right", (*_columns(self.right), ("w", HUGEINT)), _gone(self.buckets[1], self.right), ending[1]),
        )

    @property
    def _asks(self) -> bool:
        """Whether it matters if a left row has a partner."""
        return self.kind != "inner"

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """The pairs that come and go, and what becomes of left rows alone."""
        left, right = places(len(self.left)), places(len(self.right))
        came_left, came_right = at.temporary("left"), at.temporary("right")
        on = all_of(self.tests, names_of_sides(len(self.left), len(self.right)))
        opens = any_of(self.open, {f"l{place}": f"c{place}" for place in range(len(left))})
        rows = f"SELECT {listed(*self._clipped(), 'w')} FROM {at.inputs[0]} WHERE {opens}"
        others = f"SELECT {listed(*right, 'w')} FROM {at.inputs[1]}"
        made = [
            TickStatement(sql if is_view else summed(names, sql), came, is_view)
            for sql, names, came, is_view in (
                (rows, left, came_left, self.grows[0] and not self._asks),
                (others, right, came_right, self.grows[1]),
            )
        ]
        parts = []
        if self.kind in ("inner", "left"):
            sides = ((came_left, at.state("right")), (came_left, came_right), (at.state("left"), came_right))
            pair = listed(*of_both(self.shown), "l.w * r.w AS w")
            parts += [f"SELECT {pair} FROM {one} l JOIN {other} r ON {on}" for one, other in sides]
        if self._asks:
            made += self._partners(at, left, on)
            parts.append(self._alone(at))
        if self.kind in ("left", "anti"):
            parts.append(
                f"SELECT {listed(*of_left(self.shown, self.types, 'r'), 'w')} FROM {at.inputs[0]} r WHERE NOT {opens}"
            )
        names = places(len(self.types))
        made.append(TickStatement(summed(names, " UNION ALL ".join(parts)), at.delta))
        made += self._kept(at, left, right)
        return (*made, *(one for state in self.states for one in deleted(state, at)))

    def _partners(self, at: TickTables, left: Sequence[str], on: str) -> list[TickStatement]:
        """The left rows that change: how often they are there, and their partners, before and after."""
        came, right = at.temporary("left"), at.temporary("right")
        row = listed(*(f"l.{name}" for name in left))
        by_row = f"GROUP BY {row}" if left else "HAVING count(*) > 0"
        more = f"SELECT {listed(row, 'sum(r.w) AS p')} FROM {at.state('left')} l JOIN {right} r ON {on} {by_row}"
        fresh = f"(SELECT d.* FROM {came} d ANTI JOIN {at.state('left')} s ON {same(left, 'd', 's')})"
        every = f"(SELECT * FROM {at.state('right')} UNION ALL SELECT * FROM {right})"
        first = f"SELECT {listed(row, 'sum(r.w) AS p')} FROM {fresh} l JOIN {every} r ON {on} {by_row}"
        keys = listed(*left) or "true"
        touched = f"SELECT {keys} FROM {came} UNION SELECT {keys} FROM {at.temporary('more')}"
        numbers = (
            "coalesce(s.w, 0) AS old_w, coalesce(s.p, 0) AS old_p, coalesce(s.w, 0) + coalesce(d.w, 0) AS new_w, "
            "coalesce(s.p, 0) + coalesce(m.p, 0) + coalesce(f.p, 0) AS new_p"
        )
        joined = " ".join(
            f"LEFT JOIN {table} {alias} ON {same(left, 't', alias)}"
            for table, alias in (
                (at.state("left"), "s"), (came, "d"), (at.temporary("more"), "m"), (at.temporary("first"), "f"),
            )
        )  # fmt: skip
        changed = f"SELECT {listed(*(f't.{name}' for name in left), numbers)} FROM {at.temporary('touched')} t {joined}"
        return [
            TickStatement(more, at.temporary("more")),
            TickStatement(first, at.temporary("first")),
            TickStatement(touched, at.temporary("touched")),
            TickStatement(changed, at.temporary("changed")),
        ]

    def _alone(self, at: TickTables) -> str:
        """What left rows are alone: of a semi join those with a partner, else those without."""
        there = "CASE WHEN {0}_p > 0 THEN {0}_w ELSE 0 END" if self.kind == "semi" else (
            "CASE WHEN {0}_p > 0 THEN 0 ELSE {0}_w END"
        )  # fmt: skip
        change = f"{there.format('new')} - {there.format('old')} AS w"
        return f"SELECT {listed(*of_left(self.shown, self.types, 'r'), change)} FROM {at.temporary('changed')} r"

    def _kept(self, at: TickTables, left: Sequence[str], right: Sequence[str]) -> list[TickStatement]:
        """Both sides with what came."""
        lefts, rights = self.states
        made = replaced(rights, at.temporary("right"), at, right)
        if not self._asks:
            return made + replaced(lefts, at.temporary("left"), at, left)
        changed = at.temporary("changed")
        rows = f"SELECT {listed(*left, 'new_w, new_p')} FROM {changed} WHERE new_w <> 0 AND {lefts.lasts}"
        return [*made, *exchanged(at.state("left"), changed, left, rows)]

    def _clipped(self) -> list[str]:
        """The left columns as they are remembered: what is compared only, between the values that matter."""
        found = {f"c{place}": f"c{place}" for place in range(len(self.left))}
        for clip in self.clips:
            name = "c" + clip.column.removeprefix("l")
            value = found[name] if clip.low is None else f"greatest({found[name]}, {clip.low})"
            value = value if clip.high is None else f"least({value}, {clip.high})"
            found[name] = f"CASE WHEN {name} IS NOT NULL THEN {value} END"
        return [value if value == name else f"{value} AS {name}" for name, value in found.items()]


@dataclass(frozen=True, slots=True)
class SqlAsOf:
    """A join of left rows with the right ones that are there at their time; left rows are not remembered.

    ``(I(r)) ↑⋈ l`` is linear in l (Budiu et al., *DBSP*, 7.6). Inside a tick a left row meets the right rows before,
    and those changes of the tick that are not later than itself. Left rows that are not ``timed`` meet a relation that
    does not change: its rows are there from the first tick on.
    """

    name: str
    inputs: tuple[str, str]
    kind: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    tests: tuple[Test, ...]
    shown: tuple[str, ...]
    types: tuple[str, ...]
    timed: bool
    bucket: TimeBucket | None = None

    @property
    def states(self) -> tuple[StateTable, ...]:
        """The right rows."""
        return (StateTable("right", (*_columns(self.right), ("w", HUGEINT)), _gone(self.bucket, self.right)),)

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """Each left row with its partners."""
        right = places(len(self.right))
        on = all_of(self.tests, names_of_sides(len(self.left), len(self.right)))
        came, partners = at.temporary("left"), at.temporary("partners")
        shown = listed("l.number", *(f"r.{name}" for name in right), "r.w")
        several = (
            f"SELECT {shown} FROM {came} l JOIN {at.state('right')} r ON {on} UNION ALL "
            f"SELECT {shown} FROM {came} l JOIN {at.inputs[1]} r ON {on}{' AND r.t <= l.t' if self.timed else ''}"
        )
        return (
            TickStatement(f"SELECT row_number() OVER () AS number, * FROM {at.inputs[0]}", came),
            TickStatement(summed(("number", *right), several), partners),
            TickStatement(self._delta(at), at.delta),
            *replaced(self.states[0], at.inputs[1], at, right),
            *(one for state in self.states for one in deleted(state, at)),
        )

    def _delta(self, at: TickTables) -> str:
        came, partners = at.temporary("left"), at.temporary("partners")
        pair, alone = of_both(self.shown), of_left(self.shown, self.types, "l")
        time = "l.t" if self.timed else ""
        joined = (
            f"SELECT {listed(*pair, 'l.w * r.w AS w', time)} FROM {came} l JOIN {partners} r ON l.number = r.number"
        )
        how = "SEMI" if self.kind == "semi" else "ANTI"
        single = f"SELECT {listed(*alone, 'l.w', time)} FROM {came} l {how} JOIN {partners} r ON l.number = r.number"
        found = {"inner": [joined], "left": [joined, single]}.get(self.kind, [single])
        return " UNION ALL ".join(found)


def names_of_sides(left: int, right: int) -> dict[str, str]:
    """What the columns ``l0`` …, ``r0`` … are in SQL."""
    return {f"l{place}": f"l.c{place}" for place in range(left)} | {
        f"r{place}": f"r.c{place}" for place in range(right)
    }


def of_both(shown: Sequence[str]) -> list[str]:
    """The columns of a result of a left row and its partner."""
    return [f"{name[0]}.c{name[1:]} AS c{place}" for place, name in enumerate(shown)]


def of_left(shown: Sequence[str], types: Sequence[str], alias: str) -> list[str]:
    """The columns of a result of a left row alone, in a table with such an alias."""
    return [
        f"{alias}.c{name[1:]} AS c{place}" if name.startswith("l") else f"CAST(NULL AS {kind}) AS c{place}"
        for place, (name, kind) in enumerate(zip(shown, types, strict=True))
    ]


def _columns(types: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple(zip(places(len(types)), types, strict=True))


def _gone(bucket: TimeBucket | None, types: Sequence[str]) -> str:
    return "" if bucket is None else expired(bucket, f"c{bucket.key}", CLOSED, types[bucket.key] == VARCHAR)
