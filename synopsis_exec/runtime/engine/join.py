"""Joins of inputs that may both take rows back, of every kind (Budiu et al., *DBSP*, Theorem 3.4).

Pairs are bilinear: ``Δ(l ⋈ r) = Δl ⋈ (r + Δr) + l ⋈ Δr``. What an outer, semi or anti join says of a row depends on
whether it has a partner: its entry has their number, of all that it has met, also those that have gone since because no
other row can meet them.
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
from streambound_runtime.operators.plan import JoinType, Test

Alternatives = tuple[tuple[Test, ...], ...]
"""Tests, of which a row passes all of one alternative."""
SIDES = ("left", "right")
_LETTERS = ("l", "r")
_PAIRS = ("inner", "left", "right", "full")
_ASKS = {"left": (0,), "right": (1,), "full": (0, 1), "semi": (0,), "anti": (0,)}
"""The sides of whose rows it matters whether they have a partner."""


@dataclass(frozen=True, slots=True)
class RightBest:
    """A column of the right side of which the greatest or least value is enough, with what rises with it, by places."""

    places: tuple[int, ...]
    greatest: bool


@dataclass(frozen=True, slots=True)
class SqlJoin:
    """A join of the ``kind`` inner, left, right, full, semi or anti of two inputs with columns of these types.

    ``tests`` are of columns ``l0`` …, ``r0`` …; so are ``open`` and ``open_right``, alternatives that a row of a side
    passes while it can have a partner, and ``shown``, the results' columns. Rows of a side go with the bucket that one
    of their columns is. They are remembered with their ``clips``. Rows of a side go with the key at its ``ending``
    places, of which the last input has those that are over. A side that ``grows`` takes no row back. A left side that
    is ``standing`` has all its rows in the first tick, so that nothing is kept of the right one. Pairs pass one
    alternative of each of ``either``, too. Of right rows, of which only the existence is asked, the ``best`` value of a
    column may be enough. A change of a right row meets left rows whose time is not over then, which is ``until`` (a
    place).
    """

    name: str
    inputs: tuple[str, ...]
    kind: JoinType
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
    open_right: tuple[tuple[Test, ...], ...] = ((),)
    standing: bool = False
    either: tuple[Alternatives, ...] = ()
    best: RightBest | None = None
    until: int | None = None

    @property
    def timed(self) -> bool:
        """Whether a row is there depends on the rows of a tick together."""
        return False

    @property
    def states(self) -> tuple[StateTable, ...]:
        """The kept rows of the sides, with the number of their partners where that matters."""
        return tuple(
            StateTable(
                SIDES[side],
                (*_columns(types), ("w", HUGEINT), *((("p", HUGEINT),) if side in self.asking else ())),
                _gone(self.buckets[side], types),
                tuple(f"c{place}" for place in self.ending[side]),
            )
            for side, types in enumerate((self.left, self.right))
            if side == 0 or not self.standing
        )

    @property
    def asking(self) -> tuple[int, ...]:
        """The sides of whose rows it matters whether they have a partner: 0 is the left one."""
        return _ASKS.get(self.kind, ())

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """The pairs that come and go, and what becomes of rows alone."""
        on = condition_of(self)
        if self.until is not None:  # a change of an earlier tick has no time: it was before
            on += f" AND (r.t IS NULL OR r.t <= l.c{self.until})"
        opens = [self._opens(side) for side in (0, 1)]
        made = [self._came(side, opens[side], at) for side in (0, 1)]
        came = [one.table for one in made]
        parts = []
        if self.kind in _PAIRS:
            sides = [(came[0], came[1]), (at.state("left"), came[1])]
            sides += [] if self.standing else [(came[0], self._kept_right(at))]
            pair = listed(*of_both(self.shown), "l.w * r.w AS w")
            parts += [f"SELECT {pair} FROM {one} l JOIN {other} r ON {on}" for one, other in sides]
        for side in self.asking:
            if side == 1 and self.standing:
                parts.append(self._met_nothing(at, on))
            else:
                made += self._partners(side, at, on)
                parts.append(self._alone(side, at))
            if self.kind != "semi":
                shown = of_side(self.shown, self.types, "r", _LETTERS[side])
                parts.append(f"SELECT {listed(*shown, 'w')} FROM {at.inputs[side]} r WHERE NOT {opens[side]}")
        made.append(TickStatement(summed(places(len(self.types)), " UNION ALL ".join(parts)), at.delta))
        for side, state in enumerate(self.states):
            made += self._kept(side, state, at)
        return (*made, *(one for state in self.states for one in deleted(state, at)))

    def _opens(self, side: int) -> str:
        """Whether a row of a side can have a partner."""
        alternatives, letter = (self.open, self.open_right)[side], _LETTERS[side]
        return any_of(alternatives, {f"{letter}{place}": f"c{place}" for place in range(len(self._types(side)))})

    def _types(self, side: int) -> tuple[str, ...]:
        return (self.left, self.right)[side]

    def _came(self, side: int, opens: str, at: TickTables) -> TickStatement:
        """The rows of a side that came and can have partners."""
        time = self._time if side == 1 else ()
        rows = f"SELECT {listed(*self._clipped(side), *time, 'w')} FROM {at.inputs[side]} WHERE {opens}"
        is_view, name = self.grows[side] and side not in self.asking, at.temporary(SIDES[side])
        return TickStatement(rows if is_view else summed((*places(len(self._types(side))), *time), rows), name, is_view)

    @property
    def _time(self) -> tuple[str, ...]:
        """The column with the time of a right row's change, where it matters."""
        return () if self.until is None else ("t",)

    def _kept_right(self, at: TickTables) -> str:
        """The right rows before the tick."""
        if self.until is None:
            return at.state("right")
        return f"(SELECT {listed(*places(len(self.right)), 'NULL AS t', 'w')} FROM {at.state('right')})"

    def _partners(self, side: int, at: TickTables, on: str) -> list[TickStatement]:
        """The rows of a side that change: how often they are there, and their partners, before and after."""
        names, (mine, theirs) = places(len(self._types(side))), (_LETTERS[side], _LETTERS[1 - side])
        came, others, state = at.temporary(SIDES[side]), at.temporary(SIDES[1 - side]), at.state(SIDES[side])
        row = listed(*(f"{mine}.{name}" for name in names))
        by_row = f"GROUP BY {row}" if names else "HAVING count(*) > 0"

        def met(own: str, other: str) -> str:
            shown = listed(row, f"sum({theirs}.w) AS p")
            return f"SELECT {shown} FROM {own} {mine} JOIN {other} {theirs} ON {on} {by_row}"

        fresh = f"(SELECT d.* FROM {came} d ANTI JOIN {state} s ON {same(names, 'd', 's')})"
        every = others
        if side == 1 or not self.standing:
            every = f"(SELECT * EXCLUDE (p) FROM {at.state(SIDES[1 - side])}" if 1 - side in self.asking else (
                f"(SELECT * FROM {self._kept_right(at) if side == 0 else at.state('left')}"
            )  # fmt: skip
            every += f" UNION ALL SELECT * FROM {others})"
        keys = listed(*names) or "true"
        more, first, touched = (at.temporary(f"{what}_{SIDES[side]}") for what in ("more", "first", "touched"))
        joined = " ".join(
            f"LEFT JOIN {table} {alias} ON {same(names, 't', alias)}"
            for table, alias in ((state, "s"), (came, "d"), (more, "m"), (first, "f"))
        )
        numbers = (
            "coalesce(s.w, 0) AS old_w, coalesce(s.p, 0) AS old_p, coalesce(s.w, 0) + coalesce(d.w, 0) AS new_w, "
            "coalesce(s.p, 0) + coalesce(m.p, 0) + coalesce(f.p, 0) AS new_p"
        )
        changed = f"SELECT {listed(*(f't.{name}' for name in names), numbers)} FROM {touched} t {joined}"
        return [
            TickStatement(met(state, others), more),
            TickStatement(met(fresh, every), first),
            TickStatement(f"SELECT {keys} FROM {came} UNION SELECT {keys} FROM {more}", touched),
            TickStatement(changed, self._changed(side, at)),
        ]

    def _changed(self, side: int, at: TickTables) -> str:
        return at.temporary(f"changed_{SIDES[side]}")

    def _alone(self, side: int, at: TickTables) -> str:
        """The rows of a side that are printed alone: those with a partner for a semi join, else those without."""
        there = "CASE WHEN {0}_p > 0 THEN {0}_w ELSE 0 END" if self.kind == "semi" else (
            "CASE WHEN {0}_p > 0 THEN 0 ELSE {0}_w END"
        )  # fmt: skip
        change = f"{there.format('new')} - {there.format('old')} AS w"
        shown = of_side(self.shown, self.types, "r", _LETTERS[side])
        return f"SELECT {listed(*shown, change)} FROM {self._changed(side, at)} r"

    def _met_nothing(self, at: TickTables, on: str) -> str:
        """The right rows that no row of a left side that is standing is a partner of."""
        left = f"(SELECT * EXCLUDE (p) FROM {at.state('left')} UNION ALL SELECT * FROM {at.temporary('left')})"
        shown = of_side(self.shown, self.types, "r", "r")
        return f"SELECT {listed(*shown, 'r.w')} FROM {at.temporary('right')} r ANTI JOIN {left} l ON {on}"

    def _kept(self, side: int, state: StateTable, at: TickTables) -> list[TickStatement]:
        """A side with what came."""
        names = places(len(self._types(side)))
        if side == 1 and self.best is not None:
            return self._best_kept(self.best, state, at)
        if side not in self.asking:
            return [*replaced(state, at.temporary(SIDES[side]), at, names)]
        changed = self._changed(side, at)
        rows = f"SELECT {listed(*names, 'new_w, new_p')} FROM {changed} WHERE new_w <> 0 AND {state.lasts}"
        return [*exchanged(at.state(state.name), changed, names, rows)]

    def _best_kept(self, best: RightBest, state: StateTable, at: TickTables) -> list[TickStatement]:
        """The best value of the right rows that agree in all other columns."""
        names, values, table = places(len(self.right)), [f"c{place}" for place in best.places], at.state(state.name)
        others = [name for name in names if name not in values]
        touched, new = at.temporary("touched_best"), at.temporary("best")
        came = f"SELECT {listed(*names)} FROM {at.temporary('right')} WHERE {state.lasts}"
        old = f"SELECT {listed(*names)} FROM {table} s SEMI JOIN {touched} t ON {same(others, 's', 't')}"
        function = "max" if best.greatest else "min"
        shown = (f"{function}({name}) AS {name}" if name in values else name for name in names)
        kept = f"SELECT {listed(*shown, '1 AS w')} FROM ({old} UNION ALL {came})"
        return [
            TickStatement(f"SELECT DISTINCT {listed(*others) or 'true'} FROM ({came})", touched),
            TickStatement(f"{kept} GROUP BY {listed(*others) or 'true'} HAVING count(*) > 0", new),
            *exchanged(table, touched, others, f"SELECT * FROM {new}"),
        ]

    def _clipped(self, side: int) -> list[str]:
        """A side's columns as they are remembered: what is compared only, between the values that matter."""
        found = {f"c{place}": f"c{place}" for place in range(len(self._types(side)))}
        for clip in (clip for clip in self.clips if clip.column.startswith(_LETTERS[side])):
            name = "c" + clip.column[1:]
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
    kind: JoinType
    left: tuple[str, ...]
    right: tuple[str, ...]
    tests: tuple[Test, ...]
    shown: tuple[str, ...]
    types: tuple[str, ...]
    timed: bool
    bucket: TimeBucket | None = None
    either: tuple[Alternatives, ...] = ()

    @property
    def states(self) -> tuple[StateTable, ...]:
        """The right rows."""
        return (StateTable("right", (*_columns(self.right), ("w", HUGEINT)), _gone(self.bucket, self.right)),)

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """Each left row with its partners."""
        right = places(len(self.right))
        on = condition_of(self)
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
        pair, alone = of_both(self.shown), of_side(self.shown, self.types, "l", "l")
        time = "l.t" if self.timed else ""
        joined = (
            f"SELECT {listed(*pair, 'l.w * r.w AS w', time)} FROM {came} l JOIN {partners} r ON l.number = r.number"
        )
        how = "SEMI" if self.kind == "semi" else "ANTI"
        single = f"SELECT {listed(*alone, 'l.w', time)} FROM {came} l {how} JOIN {partners} r ON l.number = r.number"
        found = {"inner": [joined], "left": [joined, single]}.get(self.kind, [single])
        return " UNION ALL ".join(found)


def condition_of(join: SqlJoin | SqlAsOf) -> str:
    """The SQL condition that a pair passes all tests and at least one alternative of each disjunction."""
    names = names_of_sides(len(join.left), len(join.right))
    return " AND ".join((all_of(join.tests, names), *(any_of(one, names) for one in join.either)))


def names_of_sides(left: int, right: int) -> dict[str, str]:
    """The SQL names of the columns ``l0``, …, ``r0``, … of both sides."""
    return {f"l{place}": f"l.c{place}" for place in range(left)} | {
        f"r{place}": f"r.c{place}" for place in range(right)
    }


def of_both(shown: Sequence[str]) -> list[str]:
    """The columns of a result of a left row and its partner."""
    return [f"{name[0]}.c{name[1:]} AS c{place}" for place, name in enumerate(shown)]


def of_side(shown: Sequence[str], types: Sequence[str], alias: str, letter: str) -> list[str]:
    """The columns of a result of a row alone, of the side with that letter, in a table with such an alias."""
    return [
        f"{alias}.c{name[1:]} AS c{place}" if name.startswith(letter) else f"CAST(NULL AS {kind}) AS c{place}"
        for place, (name, kind) in enumerate(zip(shown, types, strict=True))
    ]


def _columns(types: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple(zip(places(len(types)), types, strict=True))


def _gone(bucket: TimeBucket | None, types: Sequence[str]) -> str:
    return "" if bucket is None else expired(bucket, f"c{bucket.key}", CLOSED, types[bucket.key] == VARCHAR)
