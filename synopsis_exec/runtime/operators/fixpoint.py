"""Recursion: r and what its steps read, each row once, from change to change.

Rows that come: semi-naive (Budiu et al., *DBSP*, §5–6): what is new joins with all that is there until nothing is new
any more, so that a timestamp takes time in proportion to the rows that it adds and those that they join, not to r.

Rows that go: DRed (Gupta, Mumick and Subrahmanian, *Maintaining views incrementally*, SIGMOD 1993). All that was
derived of them leaves r, whatever else it follows from; then what the base has, or a step still makes of the rows that
are left, comes back, and what follows from that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.operators.by_tick import Changes, Row, Ticks, Weighted, rows_by_time
from streambound_runtime.operators.circuit_plan import FixpointNode, RecursionStep
from streambound_runtime.operators.counted import Counted
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import arrow_of_pairs, pairs_of_arrow
from streambound_runtime.operators.formula import Formula
from streambound_runtime.operators.plan import Constant, Test
from streambound_runtime.operators.protocol import State
from streambound_runtime.operators.row_tests import Passes, ValueOf, moved, one_test, term_value
from streambound_runtime.operators.sums import times
from streambound_runtime.row_values import Value

ROWS, BASE, INPUT = "rows", "base", "input {}"
Env = list[Value]


class LeastFixpoint:
    """The operator of a `FixpointNode`; its first input are the base's rows, the others those that the steps read.

    The base is remembered where rows may go: else all of it is in r.
    """

    def __init__(self, plan: FixpointNode) -> None:
        self.plan = plan
        self.rows = Counted()
        self.base = Counted()
        self.inputs = [Counted() for _ in plan.inputs]
        self.steps = [_Step(step) for step in plan.steps]
        self.sizes: Integers = np.zeros(0, dtype=np.int64)

    def entries(self) -> int:
        """The rows of r, and of what it is made of."""
        return len(self.rows) + len(self.base) + sum(map(len, self.inputs))

    def step(self, inputs: Sequence[Delta], ticks: Ticks) -> Delta:
        """Close timestamps; returns the rows of r that come and go at each of them."""
        changes, sizes = Changes(self.plan.columns), []
        by_time = [rows_by_time(delta) for delta in inputs]
        for now in ticks.times.tolist():
            base, *read = [rows.get(now, []) for rows in by_time]
            if base or any(read):
                changes.add(now, self._tick(base, read))
            sizes.append(self.entries())
        self.sizes = np.array(sizes, dtype=np.int64)
        return changes.delta

    def _tick(self, base: list[Weighted], read: list[list[Weighted]]) -> list[Weighted]:
        """How r changes."""
        if not self.plan.retracts:
            fresh = [_added(known, _rows_of(rows)) for known, rows in zip(self.inputs, read, strict=True)]
            return [(row, 1) for row in self._grown(_added(self.rows, _rows_of(base)), fresh)]
        changes = [_changed(known, rows) for known, rows in zip(self.inputs, read, strict=True)]
        own = _changed(self.base, base)
        gone = self._derived_of(own.gone, [change.gone for change in changes])
        self.rows.remove(gone)
        for known, change in zip((self.base, *self.inputs), (own, *changes), strict=True):
            change.apply(known)
        kept = [row for row in gone if row in self.base.entries or self._follows(row)]
        new = _added(self.rows, [*kept, *own.come])
        found = self._grown(new, [change.come for change in changes])
        return [*((row, 1) for row in found), *((row, -1) for row in gone)]

    def _grown(self, new: list[Row], fresh: list[list[Row]]) -> list[Row]:
        """Rows of r that are new, with what follows from them and from rows that the steps have not read before."""
        found = [*new]
        made = [
            row
            for step in self.steps
            for number, place in enumerate(step.plan.inputs, step.recursive)
            for row in step.made(number, fresh[place], self.rows, self.inputs)
        ]
        more = _added(self.rows, made)
        new, found = [*new, *more], [*found, *more]
        while new:
            made = [row for step in self.steps for row in step.of_rows(new, self.rows, self.inputs)]
            new = _added(self.rows, made)
            found += new
        return found

    def _derived_of(self, base: list[Row], gone: list[list[Row]]) -> list[Row]:
        """The rows of r that were derived of rows that go, the base's and those that the steps read."""
        found = dict.fromkeys(row for row in base if row in self.rows.entries)
        for step in self.steps:
            for number, place in enumerate(step.plan.inputs, step.recursive):
                found |= dict.fromkeys(step.made(number, gone[place], self.rows, self.inputs))
        new = [*found]
        while new:
            made = [row for step in self.steps for row in step.of_rows(new, self.rows, self.inputs)]
            new = [row for row in dict.fromkeys(made) if row not in found]
            found |= dict.fromkeys(new)
        return [*found]

    def _follows(self, row: Row) -> bool:
        """Whether some step makes a row of those that are there."""
        return any(step.makes(row, self.rows, self.inputs) for step in self.steps)

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


def _added(known: Counted, rows: Iterable[Row]) -> list[Row]:
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
    """What some changes of rows make of them, which are there with these weights."""
    totals: dict[Row, int] = {}
    for row, weight in rows:
        totals[row] = totals.get(row, times(known.entries.get(row, 0))) + weight
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
    """How matches are found from a row on, whose values begin at ``start``: it passes ``tests``, then come lookups."""

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

    def made(self, participant: int, fresh: list[Row], rows: Counted, inputs: list[Counted]) -> list[Row]:
        """The rows that those of one participant make with all of the others."""
        return self._matches(self.ways[participant], fresh, rows, inputs)

    def of_rows(self, fresh: list[Row], rows: Counted, inputs: list[Counted]) -> list[Row]:
        """The rows that rows of r make."""
        return [row for first in range(self.recursive) for row in self.made(first, fresh, rows, inputs)]

    def makes(self, row: Row, rows: Counted, inputs: list[Counted]) -> bool:
        """Whether a row is made of those that are there."""
        return bool(self._matches(self.back, [row], rows, inputs, once=True))

    def _matches(
        self, way: _MatchOrder, fresh: list[Row], rows: Counted, inputs: list[Counted], once: bool = False
    ) -> list[Row]:
        """What the matches of some rows make; the first one only, if that is enough."""
        found: list[Row] = []
        env: Env = [None] * self.starts[-1]
        sources = [*([rows] * self.recursive), *(inputs[place] for place in self.plan.inputs)]

        def extend(depth: int) -> bool:
            if depth == len(way.lookups):
                found.append(tuple([value(env) for value in self.values]))
                return once
            lookup = way.lookups[depth]
            source = sources[lookup.participant]
            candidates = source.entries
            if lookup.columns:
                key = tuple([value(env) for value in lookup.values])
                if any(key[place] is None for place in lookup.joined):
                    return False
                candidates = source.by(lookup.columns).get(key, {})
            for row in candidates:
                env[lookup.start : lookup.start + len(row)] = row
                if all(test(env) for test in lookup.tests) and extend(depth + 1):
                    return True
            return False

        for row in fresh:
            env[way.start : way.start + len(row)] = row
            if all(test(env) for test in way.tests) and extend(0):
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
        return _MatchOrder(self.starts[first], passing, tuple(lookups))

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
    """What is subtracted of a value to get the column that it is made of."""
    assert isinstance(offset, int | float), "only numbers are added"
    return -offset
