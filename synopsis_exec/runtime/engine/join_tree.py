"""Joins of joins of streams, of any kind, that keep the streams' rows, and no rows of the joins between.

What a join had before a tick is joined again, of rows that meet some of the tick alone: a stored join in factors
(Bakibayev, Olteanu, Závodný, *FDB*, 2012) whose factors are the streams' rows. With these as its states, the tick of
each join is that of `SqlJoin`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from streambound_runtime.engine.join import SIDES, SqlJoin, condition_of, of_both, of_side
from streambound_runtime.engine.linear import SqlPick
from streambound_runtime.engine.predicates import all_of
from streambound_runtime.engine.tables import (
    BIGINT,
    CLOSED,
    HUGEINT,
    StateTable,
    TickStatement,
    TickTables,
    deleted,
    listed,
    places,
    summed,
)
from streambound_runtime.operators.plan import JoinType

_LETTERS = ("l", "r")
_JOINED = {"inner": "JOIN", "left": "LEFT JOIN", "right": "RIGHT JOIN", "full": "FULL JOIN"}
_WITH_LEFT: dict[JoinType, JoinType] = {"right": "inner", "full": "left"}
_WITH_RIGHT: dict[JoinType, JoinType] = {"left": "inner", "full": "right"}
"""The kinds of outer joins of whose rows only those count that have a row of one side."""


@dataclass(frozen=True, slots=True)
class _PartTables(TickTables):
    """The tables of one join in a tick, whose states are made anew."""

    part: int

    @property
    def delta(self) -> str:
        return self.temporary("delta")

    def state(self, name: str) -> str:
        return self.temporary(f"old_{name}")

    def temporary(self, name: str) -> str:
        return f"tick_{self.number}_{self.part}_{name}"


@dataclass(frozen=True, slots=True)
class SqlJoinTree:
    """Joins of streams with columns of these types, of which the last one's rows are the results.

    The ``parts`` read each other, and the inputs as ``0``, ``1`` …, by these names; each stands after those that it
    reads. The rows of an input are kept for a number of ``timestamps``; None: for ever.
    """

    name: str
    inputs: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    timestamps: tuple[int | None, ...]
    parts: tuple[SqlJoin | SqlPick, ...]

    @property
    def types(self) -> tuple[str, ...]:
        """The types of the results' columns."""
        return self.parts[-1].types

    @property
    def timed(self) -> bool:
        """Whether a row is there depends on the rows of a tick together."""
        return False

    @property
    def states(self) -> tuple[StateTable, ...]:
        """The rows of each stream, with their number and time."""
        return tuple(
            StateTable(
                state_name(number),
                (*zip(places(len(types)), types, strict=True), ("w", HUGEINT), ("t", BIGINT)),
                "" if kept is None else f"t + {kept} <= {CLOSED}",
            )
            for number, (types, kept) in enumerate(zip(self.columns, self.timestamps, strict=True))
        )

    def tick(self, at: TickTables) -> tuple[TickStatement, ...]:
        """The tick of each join, then the streams' rows with those that came."""
        steps = list[TickStatement]()
        deltas = {str(number): name for number, name in enumerate(at.inputs)}
        for number, part in enumerate(self.parts):
            inside = _PartTables(at.number, tuple(deltas[one] for one in part.inputs), number)
            steps += self._met(part, inside, at) if isinstance(part, SqlJoin) else []
            for step in part.tick(inside):
                steps.append(step)
                if step.table == inside.delta:
                    break  # what follows brings states up to date
            deltas[part.name] = inside.delta
        steps.append(TickStatement(f"SELECT * FROM {deltas[self.parts[-1].name]}", at.delta, view=True))
        for given, state in zip(at.inputs, self.states, strict=True):
            names = [name for name in state.names if name != "w"]
            rows = f"SELECT {listed(*names[:-1], 'sum(w) AS w', 't')} FROM {given} WHERE {state.lasts} GROUP BY ALL"
            steps += [TickStatement(f"INSERT INTO {at.state(state.name)} {rows}"), *deleted(state, at)]
        return tuple(steps)

    def _met(self, join: SqlJoin, inside: TickTables, at: TickTables) -> Iterator[TickStatement]:
        """The rows that each side had, of those that some row of the tick meets, with the number of their partners."""
        on = condition_of(join)
        for side, name in enumerate(SIDES):
            mine, theirs, came = _LETTERS[side], _LETTERS[1 - side], inside.inputs[1 - side]
            columns = [f"{mine}.c{place}" for place in range(len((join.left, join.right)[side]))]
            old = self._old(join.inputs[side], at, self._near(join, side, came))
            met = f"SELECT {listed(*columns, f'{mine}.w')} FROM {old} {mine} SEMI JOIN {came} {theirs}"
            asks = side in join.asking
            rows = inside.temporary(f"met_{name}") if asks else inside.state(name)
            yield TickStatement(summed(places(len(columns)), f"{met} ON {on}"), rows)
            if asks:
                others = self._old(join.inputs[1 - side], at, self._near(join, 1 - side, rows))
                shown = listed(*columns, f"{mine}.w", f"coalesce(sum({theirs}.w), 0) AS p")
                partners = f"SELECT {shown} FROM {rows} {mine} LEFT JOIN {others} {theirs} ON {on} GROUP BY ALL"
                yield TickStatement(partners, inside.state(name))

    def _old(self, name: str, at: TickTables, near: Mapping[str, str]) -> str:
        """The rows that a stream or a part had; of streams with a condition those ``near`` the rows that it names."""
        if name.isdecimal():
            rows = f"SELECT * EXCLUDE (t) FROM {at.state(state_name(int(name)))} x"
            return f"({rows} SEMI JOIN {near[name]})" if name in near else f"({rows})"
        part = self._part(name)
        below = [self._old(one, at, near) for one in part.inputs]
        if isinstance(part, SqlPick):
            return f"(SELECT {listed(*(f'{one} AS c{n}' for n, one in enumerate(part.picked)), 'w')} FROM {below[0]})"
        on, kind = condition_of(part), part.kind
        if kind not in _JOINED:
            shown = of_side(part.shown, part.types, "l", "l")
            return f"(SELECT {listed(*shown, 'l.w')} FROM {below[0]} l {kind.upper()} JOIN {below[1]} r ON {on})"
        kept = [any(one in near for one in self._streams(side)) for side in part.inputs]
        kind = _WITH_LEFT.get(kind, kind) if kept[0] else kind
        kind = _WITH_RIGHT.get(kind, kind) if kept[1] else kind
        shown = [*of_both(part.shown), "coalesce(l.w, 1) * coalesce(r.w, 1) AS w"]
        return f"(SELECT {listed(*shown)} FROM {below[0]} l {_JOINED[kind]} {below[1]} r ON {on})"

    def _near(self, join: SqlJoin, side: int, others: str) -> dict[str, str]:
        """Of the streams of a side those whose columns are compared with the others', with these and the condition."""
        letter, found = _LETTERS[side], dict[str, list[str]]()
        for test in join.tests:
            own = next((one for one in (test.left, test.right) if one is not None and one.startswith(letter)), None)
            if own is None or test.right is None or test.or_null or test.left[0] == test.right[0]:
                continue
            stream, place = self._traced(join.inputs[side], int(own[1:]))
            other = test.right if own == test.left else test.left
            names = {own: f"x.c{place}", other: f"n.c{other[1:]}"}
            found.setdefault(stream, []).append(all_of((test,), names))
        return {stream: f"{others} n ON {' AND '.join(tests)}" for stream, tests in found.items()}

    def _traced(self, name: str, place: int) -> tuple[str, int]:
        """The stream's column that a column of a part is."""
        while not name.isdecimal():
            part = self._part(name)
            shown = part.picked[place] if isinstance(part, SqlPick) else part.shown[place]
            name, place = part.inputs[shown[0] == "r"], int(shown[1:])
        return name, place

    def _streams(self, name: str) -> Iterator[str]:
        """The streams that a part's rows are of."""
        if name.isdecimal():
            yield name
        else:
            for one in self._part(name).inputs:
                yield from self._streams(one)

    def _part(self, name: str) -> SqlJoin | SqlPick:
        return next(one for one in self.parts if one.name == name)


def state_name(number: int) -> str:
    """The name of the state of an input's rows."""
    return f"rows_{number}"
