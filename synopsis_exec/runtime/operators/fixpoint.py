"""Recursion over rows that are only added: r and what its steps' streams give, each once, from change to change.

Semi-naive (Budiu et al., *DBSP*, §5–6): what is new joins with all that is there until nothing is new any more, so that
a timestamp takes time in proportion to the rows that it adds and those that they join, not to r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.operators.by_tick import Changes, Row, Ticks, Weighted, rows_by_time
from streambound_runtime.operators.circuit_plan import FixpointNode, RecursionStep
from streambound_runtime.operators.counted import Counted
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import arrow_of_pairs, pairs_of_arrow
from streambound_runtime.operators.plan import Test
from streambound_runtime.operators.protocol import State
from streambound_runtime.operators.row_tests import Passes, ValueOf, moved, one_test, term_value
from streambound_runtime.row_values import Value

ROWS, STREAMS = "rows", "streams {}"
Env = list[Value]


class LeastFixpoint:
    """The operator of a `FixpointNode`; its first input are the base's rows, the others those of the steps' streams."""

    def __init__(self, plan: FixpointNode) -> None:
        self.plan = plan
        self.rows = Counted()
        self.streams = [Counted() for step in plan.steps if step.streams is not None]
        self.steps = [_Step(step) for step in plan.steps]
        self.places: list[int | None] = []
        for step in plan.steps:
            known = sum(place is not None for place in self.places)
            self.places.append(None if step.streams is None else known)
        self.sizes: Integers = np.zeros(0, dtype=np.int64)

    def entries(self) -> int:
        """The rows of r, and of the steps' streams."""
        return len(self.rows) + sum(map(len, self.streams))

    def step(self, inputs: Sequence[Delta], ticks: Ticks) -> Delta:
        """Close timestamps; returns the new rows of each. Nothing may be taken back."""
        changes, sizes = Changes(self.plan.columns), []
        by_time = [rows_by_time(delta) for delta in inputs]
        for now in ticks.times.tolist():
            base, *streams = [rows.get(now, []) for rows in by_time]
            if base or any(streams):
                changes.add(now, ((row, 1) for row in self._tick(base, streams)))
            sizes.append(self.entries())
        self.sizes = np.array(sizes, dtype=np.int64)
        return changes.delta

    def _tick(self, base: list[Weighted], streams: list[list[Weighted]]) -> list[Row]:
        """The new rows of r."""
        fresh = [_added(known, rows) for known, rows in zip(self.streams, streams, strict=True)]
        new = _added(self.rows, base)
        made: list[Weighted] = []
        for step, place in zip(self.steps, self.places, strict=True):
            if place is not None and fresh[place]:
                made += step.of_streams(fresh[place], self.rows)
        new += _added(self.rows, made)
        found = list(new)
        while new:
            made = []
            for step, place in zip(self.steps, self.places, strict=True):
                made += step.of_rows(new, self.rows, None if place is None else self.streams[place])
            new = _added(self.rows, made)
            found += new
        return found

    def dump(self) -> State:
        """The rows of r, and of the steps' streams."""
        found = {ROWS: arrow_of_pairs(self.rows.entries.items(), self.plan.columns)}
        for number, step in enumerate(step for step in self.plan.steps if step.streams is not None):
            names = step.variables[-1]
            found[STREAMS.format(number)] = arrow_of_pairs(self.streams[number].entries.items(), names)
        return found

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.rows = Counted(dict(pairs_of_arrow(state[ROWS])))
        self.streams = [
            Counted(dict(pairs_of_arrow(state[STREAMS.format(number)]))) for number in range(len(self.streams))
        ]


def _added(known: Counted, rows: list[Weighted]) -> list[Row]:
    """Those of some rows that were not there; from now on they are."""
    new = []
    for row, weight in rows:
        assert weight > 0, "only rows that are added make a relation by recursion"
        if row not in known.entries:
            known.put(row, 1)
            new.append(row)
    return new


@dataclass(frozen=True, slots=True)
class _Lookup:
    """The next of the rows that a match has: those with these values, and what must then be true."""

    participant: int
    start: int
    columns: tuple[int, ...]
    values: tuple[ValueOf, ...]
    tests: tuple[Passes, ...]


class _Step:
    """A step's matches, from the rows of any of its participants: those of r, then its streams' result."""

    def __init__(self, plan: RecursionStep) -> None:
        self.plan = plan
        self.starts = [0, *accumulate(map(len, plan.variables))]
        names = [name for variables in plan.variables for name in variables]
        self.slots = {name: slot for slot, name in enumerate(names)}
        self.values = [term_value(term, self.slots) for term in plan.values]
        self.recursive = len(plan.variables) - (plan.streams is not None)
        self.ways = [self._way(first) for first in range(len(plan.variables))]

    def of_streams(self, fresh: list[Row], rows: Counted) -> list[Weighted]:
        """The rows that new results of its streams make."""
        return self._from(self.recursive, fresh, rows, None)

    def of_rows(self, fresh: list[Row], rows: Counted, streams: Counted | None) -> list[Weighted]:
        """The rows that new rows of r make."""
        return [row for first in range(self.recursive) for row in self._from(first, fresh, rows, streams)]

    def _from(self, first: int, fresh: list[Row], rows: Counted, streams: Counted | None) -> list[Weighted]:
        found: list[Weighted] = []
        tests, lookups = self.ways[first]
        env: Env = [None] * self.starts[-1]
        start = self.starts[first]

        def extend(depth: int) -> None:
            if depth == len(lookups):
                found.append((tuple([value(env) for value in self.values]), 1))
                return
            lookup = lookups[depth]
            source = rows if lookup.participant < self.recursive else streams
            assert source is not None, "what is not new is joined with what is there"
            candidates = source.entries
            if lookup.columns:
                key = tuple([value(env) for value in lookup.values])
                if None in key:
                    return
                candidates = source.by(lookup.columns).get(key, {})
            for row in candidates:
                env[lookup.start : lookup.start + len(row)] = row
                if all(test(env) for test in lookup.tests):
                    extend(depth + 1)

        for row in fresh:
            env[start : start + len(row)] = row
            if all(test(env) for test in tests):
                extend(0)
        return found

    def _way(self, first: int) -> tuple[tuple[Passes, ...], tuple[_Lookup, ...]]:
        """The order in which rows are looked up from those of one participant on: joined ones first."""
        known = set(self.plan.variables[first])
        waiting = list(self.plan.tests)
        tests = self._ready(waiting, known)
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
            more = self._ready(waiting, known)
            lookups.append(_Lookup(number, self.starts[number], columns, values, more))
        return tests, tuple(lookups)

    def _ready(self, waiting: list[Test], known: set[str]) -> tuple[Passes, ...]:
        """The tests of which all values are known, which no longer wait."""
        ready = [test for test in waiting if {test.left, test.right} - {None} <= known]
        for test in ready:
            waiting.remove(test)
        return tuple(one_test(test, self.slots) for test in ready)

    def _equal(self, waiting: list[Test], known: set[str], number: int) -> list[tuple[Test, int, ValueOf]]:
        """The columns of a participant that equal what is known, each once."""
        found: dict[int, tuple[Test, int, ValueOf]] = {}
        for test in (one for one in waiting if one.op == "==" and one.right is not None):
            assert test.right is not None
            sides = ((test.left, test.right, 1), (test.right, test.left, -1))
            for mine, other, sign in sides:
                if mine in self.plan.variables[number] and other in known:
                    column = self.plan.variables[number].index(mine)
                    more = test.offset or 0
                    assert isinstance(more, int | float), "only numbers are added"
                    found.setdefault(column, (test, column, moved(self.slots[other], sign * more)))
        return list(found.values())
