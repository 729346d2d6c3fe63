"""Semi, anti and outer joins of two streams: a row waits while its fate is open (propositions B1 to B4).

What is remembered are the tables of the inner join. Of a preserved side's entries it is also known how many rows have
no partner yet: those are printed with NULLs, or kept from a semi join, until one comes. A row that no row of the other
side can match is decided at once. Of ``final`` results a row without a partner is printed once none comes any more: as
its entry is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from streambound_runtime.arrays import Integers
from streambound_runtime.operators import plan
from streambound_runtime.operators.by_tick import Changes, Row, Ticks, Weighted, rows_by_time
from streambound_runtime.operators.circuit_plan import PairNode, PairSide
from streambound_runtime.operators.counted import Counted, Key
from streambound_runtime.operators.delta import Delta
from streambound_runtime.operators.entries import arrow_of_pairs, pairs_of_arrow
from streambound_runtime.operators.formula import resolved
from streambound_runtime.operators.interpreter import BranchByRows, Env, Then
from streambound_runtime.operators.protocol import State
from streambound_runtime.operators.row_tests import ValueOf, every_test, one_test, term_value
from streambound_runtime.operators.sums import Weight, times
from streambound_runtime.operators.values import integer
from streambound_runtime.row_values import Value

_ALONE = "{} without a partner"
_Rows = dict[str, list[dict[str, Value]]]


class _Matching(BranchByRows):
    """The inner join, which tells of each match what is in it."""

    def __init__(self, branch: plan.Subplan, distinct: bool, on_match: Callable[[int, Env, Weight], None]) -> None:
        self.on_match = on_match
        super().__init__(branch, distinct, {})
        self.results_of = [number for number, one in enumerate(branch.transitions) if one.target is None]

    def _transition(self, transition: plan.Transition) -> Then:
        if transition.target is not None:
            return super()._transition(transition)
        number = self.plan.transitions.index(transition)
        return self._joined(transition.joins, lambda env, n: self.on_match(number, env, n), self.plan.scans)

    def values_of(self, number: int) -> list[ValueOf]:
        """The values of a transition's target."""
        return [self._term(term) for term in self.plan.transitions[number].values]


class _Side:
    """One side of the join: its rows of a timestamp, and where its entries are."""

    def __init__(self, side: PairSide, matching: _Matching) -> None:
        self.plan, self.matching = side, matching
        names = ("now", *(name for name, _ in side.alone.columns))
        self.places = {name: place for place, name in enumerate(names)}
        tests = [one_test(test, self.places) for test in (*side.alone.times, *side.alone.tests)]
        self.passes = every_test(tests)
        self.columns = [column for _, column in side.alone.columns]
        self.padded = [_value(term, self.places) for term in side.padded]
        scan = matching.plan.scans[side.scan]
        self.scan, self.kept = scan, [column for name in scan.kept for one, column in scan.columns if one == name]
        mine = {name: place for place, name in enumerate(("now", *(name for name, _ in scan.columns)))}
        self.matchable = every_test([one_test(test, mine) for test in (*scan.times, *scan.tests)])
        self.of_entry: list[ValueOf] = []
        if side.table is not None:
            table = matching.plan.tables[side.table]
            pattern = (*table.columns, *(plan.age(stream) for stream, *_ in table.ages))
            entry = {name: place for place, name in enumerate(pattern)}
            self.of_entry = [_value(term, entry) for term in side.remembered]
            self.entry_places = [matching.places[name] for name in pattern]
            self.deadline = table.deadline
            self.ages = [(entry[plan.age(stream)], expires) for stream, expires, _ in table.ages if expires is not None]
        self.row_places = [matching.places[name] for name in scan.kept]
        self.alone = Counted()
        self.waiting: dict[Key, Weight] = {}

    def end(self, entry: Key) -> int:
        """The timestamp after which no row can match an entry; of what waits for a bounded time."""
        ends = [integer(entry[place]) + expires for place, expires in self.ages]
        return min(ends if self.deadline is None else (*ends, self.deadline))

    def over(self, now: int | None) -> dict[int, list[Weighted]]:
        """The rows without a partner that get none once a timestamp is closed, or all, by when that is so; they go."""
        entries = list(self.alone.entries) if now is None else self.alone.ended(self.end, now)
        found: dict[int, list[Weighted]] = {}
        for entry in entries:
            found.setdefault(self.end(entry), []).append(self.row(entry, self.alone.entries[entry]))
        self.alone.remove(entries)
        return found

    def row(self, entry: Key, n: Weight) -> Weighted:
        """The row of an entry without a partner."""
        return tuple([value(entry) for value in self.of_entry]), times(n)

    def arrived(self, rows: list[dict[str, Value]], now: int) -> tuple[dict[Key, dict[Row, int]], dict[Row, int]]:
        """Rows that may have partners, by what the join knows of them, and the others, each as it is without one."""
        open_rows: dict[Key, dict[Row, int]] = {}
        rest: dict[Row, int] = {}
        for row in rows:
            values = [now, *(row[column] for column in self.columns)]
            if self.passes is not None and not self.passes(values):
                continue
            padded = tuple([value(values) for value in self.padded])
            if self.matchable is None or self.matchable([now, *(row[column] for _, column in self.scan.columns)]):
                group = open_rows.setdefault(tuple([row[column] for column in self.kept]), {})
                group[padded] = group.get(padded, 0) + 1
            else:
                rest[padded] = rest.get(padded, 0) + 1
        return open_rows, rest


class PairJoin:
    """The operator of a `PairNode`; it reads two streams, neither of which takes rows back."""

    def __init__(self, node: PairNode, relations: Mapping[str, list[dict[str, Value]]], final: bool = False) -> None:
        self.plan: PairNode = resolved(node, dict(relations))
        self.found: list[tuple[int, list[Value], Weight]] = []
        self.matching = _Matching(self.plan.joint, self.plan.distinct, self._note)
        self.values = {number: self.matching.values_of(number) for number in self.matching.results_of}
        self.sides = tuple(_Side(side, self.matching) for side in (self.plan.left, self.plan.right))
        kind = self.plan.kind
        self.preserved = kind in ("left", "full", "semi", "anti"), kind in ("right", "full")
        waiting = (side for side, whole in zip(self.sides, self.preserved, strict=True) if whole and kind != "semi")
        self.kept_back = [side for side in waiting if final and side.plan.table is not None]
        self.pairs = kind in ("left", "right", "full")
        self.streams = {scan.table for scan in self.plan.joint.scans}
        self.sizes: Integers = np.zeros(0, dtype=np.int64)
        width = len(self.matching.places)
        self.env: Env = [None] * width

    def _note(self, number: int, env: Env, n: Weight) -> None:
        self.found.append((number, list(env), n))

    def entries(self) -> int:
        """Those of the inner join's tables."""
        return sum(len(table) for table in self.matching.tables)

    def step_of(self, deltas: Mapping[str, Delta], ticks: Ticks) -> Delta:
        """Close timestamps of the streams' rows."""
        changes, sizes = Changes(self.plan.columns), []
        rows = {name: _named(delta) for name, delta in deltas.items() if name in self.streams}
        for now in ticks.times.tolist():
            self._add_over(now - 1, changes)
            changes.add(now, self._tick(now, {name: mine.get(now, []) for name, mine in rows.items()}))
            sizes.append(self.entries())
        if ticks.over:
            self._add_over(None, changes)
        elif ticks.until is not None:
            self._add_over(ticks.until - 1, changes)
        self.sizes = np.array(sizes, dtype=np.int64)
        return changes.delta

    def _add_over(self, now: int | None, changes: Changes) -> None:
        """Print the rows that get no partner any more once a timestamp is closed, or none is open."""
        over = self._over(now)
        for end in sorted(over):
            changes.add(end, over[end])

    def _over(self, now: int | None) -> dict[int, list[Weighted]]:
        found: dict[int, list[Weighted]] = {}
        for side in self.kept_back:
            for end, rows in side.over(now).items():
                found.setdefault(end, []).extend(rows)
        return found

    def _tick(self, now: int, rows: _Rows) -> list[Weighted]:
        matching = self.matching
        matching.new = [{} for _ in matching.tables]
        arrived, rest = [], []
        for side in self.sides:
            mine, others = side.arrived(rows.get(side.scan.table, []), now)
            arrived.append(mine)
            rest.append(others)
        matching.arrived = [Counted() for _ in matching.plan.scans]
        for side, mine in zip(self.sides, arrived, strict=True):
            matching.arrived[side.plan.scan] = Counted({key: sum(group.values()) for key, group in mine.items()})
        changes = self._matched(now, arrived)
        for others, whole in zip(rest, self.preserved, strict=True):
            if whole and self.plan.kind != "semi":
                changes += others.items()
        for rows_over in self._over(now).values():
            changes += rows_over
        for number, side in enumerate(self.sides):
            self._keep(side, number, now, changes)
        return changes

    def _matched(self, now: int, arrived: list[dict[Key, dict[Row, int]]]) -> list[Weighted]:
        """The pairs of a timestamp, and what becomes of the rows that have, or have not, a partner now."""
        matching, changes = self.matching, list[Weighted]()
        self.found = []
        env = list(self.env)
        env[matching.now] = now
        for number, extend in enumerate(matching.transitions):
            if matching.plan.transitions[number].target is None:
                matching.gathered = {}
                extend(env, 1)
        matched_rows: list[set[Key]] = [set(), set()]
        matched_entries: list[set[Key]] = [set(), set()]
        for number, match, n in self.found:
            scans = {join.scan for join in matching.plan.transitions[number].joins}
            for place, side in enumerate(self.sides):
                if side.plan.scan in scans:
                    matched_rows[place].add(tuple([match[p] for p in side.row_places]))
                elif self.preserved[place]:
                    matched_entries[place].add(tuple([match[p] for p in side.entry_places]))
            if self.pairs:
                changes.append((tuple([value(match) for value in self.values[number]]), times(n)))
        for place, side in enumerate(self.sides):
            if self.preserved[place]:
                changes += self._decided(side, arrived[place], matched_rows[place], matched_entries[place])
        return changes

    def _decided(
        self, side: _Side, arrived: dict[Key, dict[Row, int]], rows: set[Key], entries: set[Key]
    ) -> list[Weighted]:
        """The rows of a preserved side that have come, and those that waited and have a partner now."""
        semi, changes = self.plan.kind == "semi", list[Weighted]()
        side.waiting = {}
        for key, group in arrived.items():
            if (key in rows) is semi:
                changes += group.items()
            if key not in rows:
                side.waiting[key] = sum(group.values())
        for entry in entries:
            n = times(side.alone.entries.get(entry, 0))
            if n:
                if side not in self.kept_back:
                    changes.append(side.row(entry, n if semi else -n))
                side.alone.remove([entry])
        if not self.pairs and side.plan.table is not None:
            table = self.matching.tables[side.plan.table]
            table.remove([entry for entry in entries if entry in table.entries])
        return changes

    def _keep(self, side: _Side, place: int, now: int, changes: list[Weighted]) -> None:
        """Keep a side's rows that later ones may match, and drop what is of no use.

        Rows that are kept without a partner are kept back from the ``changes`` where results are final.
        """
        table, matching = side.plan.table, self.matching
        if table is None:
            return
        env = list(self.env)
        env[matching.now] = now
        alone: dict[Key, Weight] = {}
        if self.preserved[place]:
            every = matching.arrived[side.plan.scan]
            matching.arrived[side.plan.scan] = Counted(side.waiting)
            self._extend(table, env)
            alone, matching.new[table] = matching.new[table], {}
            matching.arrived[side.plan.scan] = every if self.pairs else Counted(side.waiting)
            if side in self.kept_back:
                changes += [side.row(entry, -times(n)) for entry, n in alone.items() if side.end(entry) > now]
        self._extend(table, env)
        matching.keepers[table](now)
        if self.preserved[place]:
            kept, matching.tables[table], matching.new[table] = matching.tables[table], side.alone, alone
            matching.keepers[table](now)
            side.alone, matching.tables[table] = matching.tables[table], kept

    def _extend(self, table: int, env: Env) -> None:
        for number, transition in enumerate(self.matching.plan.transitions):
            if transition.target == table:
                self.matching.gathered = {}
                self.matching.transitions[number](list(env), 1)

    def dump(self) -> State:
        """The tables, and how many rows of each entry have no partner."""
        found: State = {}
        for table, entries in zip(self.plan.joint.tables, self.matching.tables, strict=True):
            found[table.name] = arrow_of_pairs(entries.entries.items(), _pattern(table))
        for side in self.sides:
            if side.plan.table is not None:
                table = self.plan.joint.tables[side.plan.table]
                found[_ALONE.format(table.name)] = arrow_of_pairs(side.alone.entries.items(), _pattern(table))
        return found

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.matching.tables = [Counted(dict(pairs_of_arrow(state[one.name]))) for one in self.plan.joint.tables]
        for side in self.sides:
            if side.plan.table is not None:
                name = self.plan.joint.tables[side.plan.table].name
                side.alone = Counted(dict(pairs_of_arrow(state[_ALONE.format(name)])))


def _pattern(table: plan.Table) -> tuple[str, ...]:
    return (*table.columns, *(plan.age(stream) for stream, *_ in table.ages))


def _named(delta: Delta) -> dict[int, list[dict[str, Value]]]:
    """The rows of a stream by timestamp, each as often as it came."""
    names = tuple(delta.columns)
    return {
        now: [dict(zip(names, row, strict=True)) for row, n in rows for _ in range(n)]
        for now, rows in rows_by_time(delta).items()
    }


def _value(term: plan.Term | None, places: Mapping[str, int]) -> ValueOf:
    """A value of the select list, of a row or an entry; NULL where it is the other side's."""
    return (lambda row: None) if term is None else term_value(term, places)
