"""The synopsis of a select-project-join query: the operator that closes many timestamps at once, in whole columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from streambound_runtime.arrays import Integers, Mask, Values
from streambound_runtime.engine.tables import VARCHAR
from streambound_runtime.operators.delta import Delta, Times
from streambound_runtime.operators.dictionary import Dictionary, usable
from streambound_runtime.operators.entries import State, arrow_of_frame, column_of, frame_of_arrow, frame_of_pairs
from streambound_runtime.operators.exact import greatest, narrowed, plus, totals
from streambound_runtime.operators.formula import resolved
from streambound_runtime.operators.frame import ColumnFrame, coded, groups, stacked, summed
from streambound_runtime.operators.log import Changes
from streambound_runtime.operators.matches import Matches, passing
from streambound_runtime.operators.plan import Relations, Subplan, SynopsisPlan, Table, Term, Transition, age
from streambound_runtime.row_values import Value

RESULTS = "results"
"""Where a set keeps the results that it has returned."""


class SynopsisJoin:
    """Closes many timestamps at once. Weights must be positive: rows that are taken back are another operator's.

    ``history`` are the timestamps of the last step at which the number of entries changes, and its first, and how
    many entries there are from then on.
    """

    def __init__(self, plan: SynopsisPlan, relations: Mapping[str, list[dict[str, Value]]]) -> None:
        self.plan: SynopsisPlan = resolved(plan, relations)
        self.output = tuple(map(str, range(len(plan.columns))))
        self.texts = tuple(name for name, kind in zip(self.output, plan.types, strict=False) if kind == VARCHAR)
        self.related = [
            [joined_relations(branch, group, relations) for group in branch.relations] for branch in self.plan.branches
        ]
        self.tables = [
            [frame_of_pairs([], names_of(table), branch.texts) for table in branch.tables]
            for branch in self.plan.branches
        ]
        self.written = frame_of_pairs([], self.output, self.texts)
        self.history: tuple[Integers, Integers] = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    @property
    def peak(self) -> int:
        """The most entries there were after any timestamp of the last step."""
        return int(self.history[1].max()) if len(self.history[1]) else self.entries()

    # --- state ------------------------------------------------------------------------------------------------------

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.tables = [
            [frame_of_arrow(state[table.name], names_of(table), branch.texts) for table in branch.tables]
            for branch in self.plan.branches
        ]
        if self.plan.distinct:
            self.written = frame_of_arrow(state[RESULTS], self.output, self.texts)

    def dump(self) -> State:
        """The tables as Arrow, by name."""
        found = {
            table.name: arrow_of_frame(entries, names_of(table))
            for branch, tables in zip(self.plan.branches, self.tables, strict=True)
            for table, entries in zip(branch.tables, tables, strict=True)
        }
        return found | ({RESULTS: arrow_of_frame(self.written, self.output)} if self.plan.distinct else {})

    def entries(self) -> int:
        """How many entries the tables have now."""
        return self.written.size + sum(entries.size for tables in self.tables for entries in tables)

    def remembered(self) -> Delta:
        """The results of a set that it has returned, as far as they may come again."""
        return self.delta_of(self.written)

    # --- steps ------------------------------------------------------------------------------------------------------

    def step(self, deltas: Mapping[str, Delta]) -> Delta:
        """Close the timestamps of all rows; returns what becomes true at them.

        Raises OverflowError for more duplicates of a result than the output has room for.
        """
        check_positive(deltas)
        times = Times(deltas.values())
        if times.ends is None:
            self.history = self.history[0][:0], self.history[1][:0]
            return self.delta_of(None)
        deltas = {name: delta.with_distinct_texts() for name, delta in deltas.items()}
        texts = self.dictionary(deltas)
        entries, found = 0, []
        changes: Changes = [(np.array(times.ends[:1]), np.zeros(1, dtype=np.int64))]
        for number, branch in enumerate(self.plan.branches):
            related = [texts.encoded(frame, branch.texts) for frame in self.related[number]]
            tables = [texts.encoded(frame, branch.texts) for frame in self.tables[number]]
            if not all(frame.size for frame in related):
                entries += sum(frame.size for frame in tables)
                continue  # a relation is empty, so there are no results
            arrived = [usable(scan, deltas, texts) for scan in branch.scans]
            matches = Matches(texts.branch(branch), arrived, related, tables, self.plan.distinct)
            found += matches.results
            for place in range(len(branch.tables)):
                before, more, left = matches.log(place).entries(times)
                entries += before
                changes += more
                self.tables[number][place] = texts.decoded(left, branch.texts)
        entries += self.written.size
        results, more = self.new_results(found, texts, times)
        self.note(entries, changes + more)
        return results

    def note(self, entries: int, changes: Changes) -> None:
        """Add the changes up to each timestamp to the entries before the step."""
        time, by = (np.concatenate(parts) for parts in zip(*changes, strict=True))
        first, number = groups(*coded([(time, None)], len(time)))
        self.history = time[first], entries + np.cumsum(totals(by, number, len(first))).astype(np.int64, copy=False)

    def dictionary(self, deltas: Mapping[str, Delta]) -> Dictionary:
        """All texts of some rows, of the relations, of the query and of what is remembered."""
        texts = Dictionary()
        texts.add_batch(deltas)
        for branch, related, tables in zip(self.plan.branches, self.related, self.tables, strict=True):
            for frame in (*related, *tables):
                texts.add_columns(frame, branch.texts)
            texts.add_constants(branch)
        texts.add_columns(self.written, self.texts)
        return texts

    def new_results(self, found: list[ColumnFrame], texts: Dictionary, times: Times) -> tuple[Delta, Changes]:
        """Results of all branches as one; of a set, those not returned before, which count as entries."""
        frames = [frame for frame in found if frame.size]
        if not frames:
            return self.delta_of(None), self.forgotten(times)
        distinct = self.plan.distinct
        results = summed(stacked(frames), self.output, distinct) if len(frames) > 1 else frames[0]
        if not distinct or self.plan.repeats:
            return self.delta_of(texts.decoded(results, self.texts)), []
        before = texts.encoded(self.written, self.texts)
        together = stacked([before, results]) if before.size else results
        first = np.sort(groups(*coded(together.by(*self.output), together.size))[0])
        self.written = texts.decoded(together.take(first), self.texts)
        new = together.take(first[first >= before.size])._replace(n=None)
        born = [(new.time, np.ones(new.size, dtype=np.int64))]
        return self.delta_of(texts.decoded(new, self.texts)), [*born, *self.forgotten(times)]

    def forgotten(self, times: Times) -> Changes:
        """Forget the results of a set that cannot come again; returns when each of them goes."""
        gone = self.plan.forgetting
        if gone is None or not self.written.size:
            return []
        ends = plus(self.written.columns[str(gone.place)], gone.lag)
        places = np.maximum(np.searchsorted(times.all, ends), np.searchsorted(times.all, self.written.time))
        self.written = self.written.take(np.flatnonzero(places == len(times.all)))
        return [(times.all[places[places < len(times.all)]], -np.ones(int((places < len(times.all)).sum()), np.int64))]

    def delta_of(self, frame: ColumnFrame | None) -> Delta:
        """Results as they leave the operator; raises OverflowError for too great multiplicities."""
        if frame is None:
            none = np.zeros(0, dtype=np.int64)
            return Delta(none, none, dict.fromkeys(self.plan.columns, none))
        n = np.ones(frame.size, dtype=np.int64) if frame.n is None else frame.n
        if greatest(n) > self.plan.most and (over := n > self.plan.most).any():
            now = frame.time[np.flatnonzero(over)[0]]
            raise OverflowError(f"a result at timestamp {now} has more than {self.plan.most} duplicates")
        named = list(zip(self.plan.columns, self.output, strict=True))
        columns = {name: frame.columns[place] for name, place in named}
        nulls = {name: frame.nulls[place] for name, place in named if place in frame.nulls}
        return Delta(frame.time, narrowed(n), columns, nulls)


def joined_relations(branch: Subplan, group: Relations, relations: Mapping[str, list[dict[str, Value]]]) -> ColumnFrame:
    """The rows of some relations, joined with each other, with their number."""
    texts, rows = Dictionary(), list[ColumnFrame]()
    for scan in group.scans:
        columns, nulls = dict[str, Values](), dict[str, Mask]()
        for name, column in scan.columns:
            columns[name], null = column_of([row[column] for row in relations[scan.table]], name in branch.texts)
            nulls |= {} if null is None else {name: null}
        rows.append(ColumnFrame(np.zeros(len(relations[scan.table]), dtype=np.int64), None, columns, nulls))
        texts.add_columns(rows[-1], branch.texts)
    every = Transition(target=None, joins=group.joins, values=tuple(map(Term, group.columns)))
    joined = Subplan(group.scans, (), (), (every,))
    texts.add_constants(joined)
    arrived = []
    for scan, frame in zip(group.scans, rows, strict=True):
        frame = passing(texts.encoded(frame, branch.texts), tuple(map(texts.test, scan.tests)))
        nulls = {name: null for name, null in frame.nulls.items() if name in scan.kept}
        arrived.append(frame._replace(columns={name: frame.columns[name] for name in scan.kept}, nulls=nulls))
    found = Matches(joined, arrived, [], [], False).results
    if not found:
        return frame_of_pairs([], group.columns, branch.texts)
    names = {str(place): name for place, name in enumerate(group.columns)}
    frame = summed(stacked(found), tuple(names), False)
    columns = {names[place]: values for place, values in frame.columns.items()}
    nulls = {names[place]: null for place, null in frame.nulls.items()}
    return texts.decoded(frame._replace(columns=columns, nulls=nulls), branch.texts)


def check_positive(deltas: Mapping[str, Delta]) -> None:
    """Raise ValueError for rows that are taken back: a table of partial matches has no room for them."""
    for name, delta in deltas.items():
        if delta.weight is not None and (delta.weight <= 0).any():
            raise ValueError(f"rows of {name} are taken back, which a synopsis join cannot do")


def names_of(table: Table) -> tuple[str, ...]:
    """The columns of a table's entries."""
    return (*table.columns, *(age(stream) for stream, *_ in table.ages))
