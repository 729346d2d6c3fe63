"""Recursion: r and what its steps read, each row once, from change to change.

Rows that come: semi-naive (Budiu et al., *DBSP*, §5–6): what is new joins with all that is there until nothing is new
any more, so that a timestamp takes time in proportion to the rows that it adds and those that they join, not to r.

Rows that go: each row has a level, above those of the rows of r in one of its derivations; a row of the base has the
lowest. A row whose support is gone (no derivation from lower levels is left) goes, and with it those that need it;
from what is left it may come again, at another level. Levels need only be well founded: one relation of them instead
of DBSP's history of all iterations. What still stands by a lower level is not looked at further, other than with DRed
(Gupta, Mumick and Subrahmanian, *Maintaining views incrementally*, SIGMOD 1993).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, count

from streambound_runtime.operators.by_tick import Changes, Row, Ticks, Weighted, rows_by_time
from streambound_runtime.operators.circuit_plan import FixpointNode, RecursionStep
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import State, arrow_of_pairs, pairs_of_arrow
from streambound_runtime.operators.formula import Formula
from streambound_runtime.operators.plan import Constant, Test
from streambound_runtime.operators.row_tests import Passes, ValueOf, moved, one_test, term_value
from streambound_runtime.row_values import Value

ROWS, BASE, INPUT = "rows", "base", "input {}"
LOWEST = 1
Env = list[Value]
Levelled = tuple[Row, int]
"""A row that is derived, and its level by that derivation."""


class Counted:
    """Rows with their number; an index by some columns is made on demand, and kept up to date."""

    def __init__(self, entries: Mapping[Row, int] | None = None) -> None:
        self.entries: dict[Row, int] = dict(entries or {})
        self._indexes: dict[tuple[int, ...], dict[Row, dict[Row, int]]] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def by(self, columns: tuple[int, ...]) -> dict[Row, dict[Row, int]]:
        """The entries by the values of some columns."""
        if columns not in self._indexes:
            index: dict[Row, dict[Row, int]] = {}
            for key, n in self.entries.items():
                index.setdefault(tuple([key[column] for column in columns]), {})[key] = n
            self._indexes[columns] = index
        return self._indexes[columns]

    def of(self, columns: tuple[int, ...], values: Row) -> dict[Row, int]:
        """The keys with these values in some columns."""
        return self.by(columns).get(values, {})

    def put(self, key: Row, n: int) -> None:
        """Say how often a key is there."""
        self.entries[key] = n
        for columns, index in self._indexes.items():
            index.setdefault(tuple([key[column] for column in columns]), {})[key] = n

    def remove(self, keys: Iterable[Row]) -> None:
        """Take out some keys."""
        for key in keys:
            del self.entries[key]
            for columns, index in self._indexes.items():
                group = tuple([key[column] for column in columns])
                del index[group][key]
                if not index[group]:
                    del index[group]


class LeastFixpoint:
    """The operator of a `FixpointNode`; its first input are the base's rows, the others those that the steps read.

    ``rows`` are r with the levels. The base is remembered where rows may go: else all of it is in r.
    """

    def __init__(self, plan: FixpointNode) -> None:
        self.plan = plan
        self.rows = Counted()
        self.base = Counted()
        self.inputs = [Counted() for _ in plan.inputs]
        self.steps = [_Step(step) for step in plan.steps]

    def entries(self) -> int:
        """The rows of r, and of what it is made of."""
        return len(self.rows) + len(self.base) + sum(map(len, self.inputs))

    def step(self, inputs: Sequence[Delta], ticks: Ticks) -> Delta:
        """Close timestamps; returns the rows of r that come and go at each of them."""
        changes = Changes(self.plan.columns)
        by_time = [rows_by_time(delta) for delta in inputs]
        for now in ticks.times.tolist():
            base, *read = [rows.get(now, []) for rows in by_time]
            if base or any(read):
                changes.add(now, self._tick(base, read))
        return changes.delta

    def _tick(self, base: list[Weighted], read: list[list[Weighted]]) -> list[Weighted]:
        """How r changes."""
        if not self.plan.retracts:
            fresh = [_new(known, _rows_of(rows)) for known, rows in zip(self.inputs, read, strict=True)]
            return [(row, 1) for row in self._grown(_rows_of(base), fresh)]
        changes = [_changed(known, rows) for known, rows in zip(self.inputs, read, strict=True)]
        own = _changed(self.base, base)
        doubted = [*own.gone, *(row for row, _ in self._of_inputs([change.gone for change in changes]))]
        for known, change in zip((self.base, *self.inputs), (own, *changes), strict=True):
            change.apply(known)
        lost = self._lost(doubted)
        again = self._added(one for row in lost for one in self._supports(row))
        found = [*again, *self._grown(own.come, [change.come for change in changes], again)]
        return [
            *((row, -1) for row in lost if row not in self.rows.entries),
            *((row, 1) for row in found if row not in lost),
        ]

    def _grown(self, base: Iterable[Row], fresh: list[list[Row]], again: Sequence[Row] = ()) -> list[Row]:
        """Add rows of the base, and what follows from them, from input rows that are new, and from rows ``again``."""
        found = self._added((row, LOWEST) for row in base)
        found += self._added(self._of_inputs(fresh))
        new = [*again, *found]
        while new:
            new = self._added(self._of_rows(new))
            found += new
        return found

    def _added(self, rows: Iterable[Levelled]) -> list[Row]:
        """Those of some rows that were not there; from now on they are."""
        new = []
        for row, level in rows:
            if row not in self.rows.entries:
                self.rows.put(row, level)
                new.append(row)
        return new

    def _of_inputs(self, rows: list[list[Row]]) -> list[Levelled]:
        """The rows that the steps derive from rows of each input, together with all known ones."""
        return [
            one
            for step in self.steps
            for number, place in enumerate(step.plan.inputs, step.recursive)
            for one in step.made(number, rows[place], self.rows, self.inputs)
        ]

    def _of_rows(self, rows: list[Row]) -> list[Levelled]:
        """The rows that the steps derive from rows of r, together with all known ones."""
        return [
            one
            for step in self.steps
            for first in range(step.recursive)
            for one in step.made(first, rows, self.rows, self.inputs)
        ]

    def _lost(self, doubted: Iterable[Row]) -> dict[Row, None]:
        """Take out the rows that have no support any more, of those doubted and of those that need what goes.

        They are looked at from the lowest level up, so that what a row needs is decided before it is.
        """
        waiting: list[tuple[int, int, Row]] = []
        number, lost = count(), dict[Row, None]()

        def doubt(rows: Iterable[Row], above: int) -> None:
            for row in rows:
                if (level := self.rows.entries.get(row, 0)) > above:
                    heapq.heappush(waiting, (level, next(number), row))

        doubt(doubted, 0)
        while waiting:
            level, _, row = heapq.heappop(waiting)
            if row in lost or row in self.base.entries or self._supports(row, level):
                continue
            doubt((needs for needs, _ in self._of_rows([row])), level)
            self.rows.remove([row])
            lost[row] = None
        return lost

    def _supports(self, row: Row, below: float = math.inf) -> list[Levelled]:
        """A row with its level by a derivation from rows of r below a level, if there is one."""
        for step in self.steps:
            if found := step.derivation(row, below, self.rows, self.inputs):
                return found
        return []

    def dump(self) -> State:
        """The rows of r, and of what it is made of."""
        found = {ROWS: arrow_of_pairs(self.rows.entries.items(), self.plan.columns)}
        if self.plan.retracts:
            found[BASE] = arrow_of_pairs(self.base.entries.items(), self.plan.columns)
        for number, (known, names) in enumerate(zip(self.inputs, self.plan.given, strict=True)):
            found[INPUT.format(number)] = arrow_of_pairs(known.entries.items(), names)
        return found

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.rows = Counted(dict(pairs_of_arrow(state[ROWS])))
        self.base = Counted(dict(pairs_of_arrow(state[BASE])) if self.plan.retracts else {})
        self.inputs = [Counted(dict(pairs_of_arrow(state[INPUT.format(n)]))) for n in range(len(self.inputs))]


def _rows_of(rows: list[Weighted]) -> Iterable[Row]:
    """Rows of which none is taken back."""
    assert all(weight > 0 for _, weight in rows), "the plan says that no row is taken back"
    return (row for row, _ in rows)


def _new(known: Counted, rows: Iterable[Row]) -> list[Row]:
    """Those of some rows that were not there; from now on they are."""
    new = []
    for row in rows:
        if row not in known.entries:
            known.put(row, 1)
            new.append(row)
    return new


@dataclass(frozen=True, slots=True)
class _Change:
    """How often rows are there from now on, and which were not there before or are there no more."""

    weights: dict[Row, int]
    come: list[Row]
    gone: list[Row]

    def apply(self, known: Counted) -> None:
        """Change the rows that are there."""
        known.remove(self.gone)
        for row, weight in self.weights.items():
            known.put(row, weight)


def _changed(known: Counted, rows: list[Weighted]) -> _Change:
    """The change of a set by weighted changes of rows, which are known with these weights."""
    totals: dict[Row, int] = {}
    for row, weight in rows:
        totals[row] = totals.get(row, known.entries.get(row, 0)) + weight
    assert all(weight >= 0 for weight in totals.values()), "what is not there is not taken back"
    come = [row for row, weight in totals.items() if weight and row not in known.entries]
    gone = [row for row, weight in totals.items() if not weight and row in known.entries]
    return _Change({row: weight for row, weight in totals.items() if weight}, come, gone)


_SAME = "same"
"""A test that holds of NULLs, too."""


@dataclass(frozen=True, slots=True)
class _Lookup:
    """The next of the rows that a match has: those with these values, and what must then be true.

    Of the values, those ``joined`` are not NULL.
    """

    participant: int
    start: int
    columns: tuple[int, ...]
    values: tuple[ValueOf, ...]
    joined: tuple[int, ...]
    tests: tuple[Passes, ...]


@dataclass(frozen=True, slots=True)
class _MatchOrder:
    """How matches are found from a participant's row on, or from what is made (a participant after all others).

    Its values begin at ``start``; it passes ``tests``, then come ``lookups``.
    """

    participant: int
    start: int
    tests: tuple[Passes, ...]
    lookups: tuple[_Lookup, ...]


class _Step:
    """A case's matches, from the rows of any of its participants, or from a row that they are to make.

    Its participants are rows of r, then of the inputs.
    """

    def __init__(self, plan: RecursionStep) -> None:
        self.plan = plan
        made = tuple(f"made.{place}" for place in range(len(plan.values)))
        self.starts = [0, *accumulate(map(len, (*plan.variables, made)))]
        names = [name for variables in (*plan.variables, made) for name in variables]
        self.slots = {name: slot for slot, name in enumerate(names)}
        self.values = [term_value(term, self.slots) for term in plan.values]
        self.recursive = len(plan.variables) - len(plan.inputs)
        tests = list(plan.tests)
        self.ways = [self._way(n, variables, tests) for n, variables in enumerate(plan.variables)]
        shown = [
            Test(term.variable, _SAME, name, _less(term.offset))
            for term, name in zip(plan.values, made, strict=True)
            if term.variable is not None
        ]
        constants = [
            (self.slots[name], term.offset)
            for term, name in zip(plan.values, made, strict=True)
            if term.variable is None
        ]
        back = self._way(len(plan.variables), made, [*tests, *shown])
        self.back = replace(back, tests=(lambda env: all(env[at] == value for at, value in constants), *back.tests))

    def made(self, participant: int, fresh: list[Row], rows: Counted, inputs: list[Counted]) -> list[Levelled]:
        """The rows that those of one participant make with all of the others."""
        return self._matches(self.ways[participant], fresh, rows, inputs)

    def derivation(self, row: Row, below: float, rows: Counted, inputs: list[Counted]) -> list[Levelled]:
        """A row with its level by a match of rows of r below a level, if there is one."""
        return self._matches(self.back, [row], rows, inputs, below)

    def _matches(
        self, way: _MatchOrder, fresh: list[Row], rows: Counted, inputs: list[Counted], below: float | None = None
    ) -> list[Levelled]:
        """The rows derived from the matches of some rows; with ``below``, from the first one of rows of r below it."""
        found: list[Levelled] = []
        env: Env = [None] * self.starts[-1]
        sources = [*([rows] * self.recursive), *(inputs[place] for place in self.plan.inputs)]
        most = math.inf if below is None else below

        def extend(depth: int, level: int) -> bool:
            if depth == len(way.lookups):
                found.append((tuple([value(env) for value in self.values]), level + 1))
                return below is not None
            lookup = way.lookups[depth]
            source, levelled = sources[lookup.participant], lookup.participant < self.recursive
            candidates = source.entries
            if lookup.columns:
                key = tuple([value(env) for value in lookup.values])
                if any(key[place] is None for place in lookup.joined):
                    return False
                candidates = source.of(lookup.columns, key)
            for row, n in candidates.items():
                reached = max(level, n) if levelled else level
                env[lookup.start : lookup.start + len(row)] = row
                if reached < most and all(test(env) for test in lookup.tests) and extend(depth + 1, reached):
                    return True
            return False

        for row in fresh:
            env[way.start : way.start + len(row)] = row
            level = rows.entries[row] if way.participant < self.recursive else 0
            if all(test(env) for test in way.tests) and extend(0, level):
                break
        return found

    def _way(self, first: int, variables: tuple[str, ...], tests: list[Test]) -> _MatchOrder:
        """The order in which rows are looked up from those of one participant on: joined ones first."""
        known = set(variables)
        waiting = list(tests)
        passing = self._ready(waiting, known)
        lookups = []
        left = [number for number in range(len(self.plan.variables)) if number != first]
        while left:
            number = max(left, key=lambda one: len(self._equal(waiting, known, one)))
            left.remove(number)
            equal = self._equal(waiting, known, number)
            for test, _, _ in equal:
                waiting.remove(test)
            known |= set(self.plan.variables[number])
            columns = tuple(column for _, column, _ in equal)
            values = tuple(value for _, _, value in equal)
            joined = tuple(place for place, (test, _, _) in enumerate(equal) if test.op != _SAME)
            more = self._ready(waiting, known)
            lookups.append(_Lookup(number, self.starts[number], columns, values, joined, more))
        return _MatchOrder(first, self.starts[first], passing, tuple(lookups))

    def _ready(self, waiting: list[Test], known: set[str]) -> tuple[Passes, ...]:
        """The tests of which all values are known, which no longer wait."""
        ready = [test for test in waiting if {test.left, test.right} - {None} <= known]
        for test in ready:
            waiting.remove(test)
        return tuple(self._passes(test) for test in ready)

    def _passes(self, test: Test) -> Passes:
        if test.op != _SAME or test.right is None:
            return one_test(test, self.slots)
        left, value = self.slots[test.left], moved(self.slots[test.right], _number(test))
        return lambda env: env[left] == value(env)

    def _equal(self, waiting: list[Test], known: set[str], number: int) -> list[tuple[Test, int, ValueOf]]:
        """The columns of a participant that equal what is known, each once."""
        found: dict[int, tuple[Test, int, ValueOf]] = {}
        for test in (one for one in waiting if one.op in ("==", _SAME) and one.right is not None):
            assert test.right is not None
            sides = ((test.left, test.right, 1), (test.right, test.left, -1))
            for mine, other, sign in sides:
                if mine in self.plan.variables[number] and other in known:
                    column = self.plan.variables[number].index(mine)
                    found.setdefault(column, (test, column, moved(self.slots[other], sign * _number(test))))
        return list(found.values())


def _number(test: Test) -> int | float:
    """How much more the left side is than the right one."""
    more = test.offset or 0
    assert isinstance(more, int | float), "only numbers are added"
    return more


def _less(offset: Constant | Formula) -> int | float:
    """The number that is subtracted from a value to get its column."""
    assert isinstance(offset, int | float), "only numbers are added"
    return -offset
