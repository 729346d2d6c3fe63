"""How the rows of a batch extend what is remembered, transition by transition, in whole columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import cast

import numpy as np

from streambound_runtime.arrays import Integers, Mask, Values
from streambound_runtime.operators.exact import plus, product
from streambound_runtime.operators.frame import ColumnFrame, Index, indexed, matched, pairs, summed
from streambound_runtime.operators.log import Log
from streambound_runtime.operators.plan import JoinStep, Subplan, Term, Test, Transition, age
from streambound_runtime.operators.values import COMPARISONS

Ufunc = Callable[[Values, Values], Values]
"""A function of numpy's for each pair of values."""
_COMPARISONS = cast("dict[str, Callable[[Values, Values | float | str | None], Mask]]", COMPARISONS)
"""Python's operators are numpy's, value by value."""


def passing(frame: ColumnFrame, tests: tuple[Test, ...]) -> ColumnFrame:
    """The rows that pass some tests."""
    found = where(frame, tests)
    return frame if found is None else frame.take(found)


def where(frame: ColumnFrame, tests: tuple[Test, ...]) -> Integers | None:
    """The numbers of the rows that pass some tests; None for all."""
    if not tests or not frame.size:
        return None
    return all_of([mask for test in tests if (mask := _passes(frame, test)) is not None])


def selected(frame: ColumnFrame, masks: list[Mask]) -> ColumnFrame:
    """The rows that are in all masks."""
    found = all_of(masks)
    return frame if found is None else frame.take(found)


def all_of(masks: list[Mask]) -> Integers | None:
    """The numbers of the rows that are in all masks; None for all."""
    if not masks:
        return None
    mask = masks[0]
    for more in masks[1:]:
        mask = mask & more
    found = np.flatnonzero(mask)
    return None if len(found) == len(mask) else found


def _passes(frame: ColumnFrame, test: Test) -> Mask | None:
    """The rows that pass a test, as a mask; None for all."""
    offset = test.offset
    values = frame.time if test.left == "now" else frame.columns[test.left]
    null = frame.nulls.get(test.left)
    if test.op == "is null":
        return np.zeros(len(values), dtype=bool) if null is None else null
    if test.op == "is not null":
        return None if null is None else ~null
    if test.op == "in":
        assert isinstance(offset, tuple), "a list has members"
        members: Mask = np.isin(values, np.array(offset))
        return members
    assert offset is None or isinstance(offset, int | float | str), "formulas are resolved"
    if test.right is None:
        return _COMPARISONS[test.op](values, offset)
    assert not isinstance(offset, str), "only numbers are added"
    return _COMPARISONS[test.op](values, plus(frame.columns[test.right], offset))


class Matches:
    """The matches of one branch within a batch of closed timestamps.

    ``arrived`` holds each stream's usable rows, ``related`` the relations, ``tables`` the entries at the start;
    ``logs`` grows with each table's target, smallest sets of streams first.
    """

    def __init__(
        self,
        branch: Subplan,
        arrived: list[ColumnFrame],
        related: list[ColumnFrame],
        tables: list[ColumnFrame],
        distinct: bool,
    ) -> None:
        self.branch, self.arrived, self.related, self.tables = branch, arrived, related, tables
        self.distinct = distinct
        self.added: list[list[ColumnFrame]] = [[] for _ in tables]
        self.news: list[list[tuple[bool, ...]]] = [[] for _ in tables]
        """Of each of these frames, which of the kept timestamps are its time."""
        self.logs: dict[int, Log] = {}
        self.begun: list[tuple[tuple[JoinStep, ...], tuple[Index, Integers, Integers]]] = []
        self.results: list[ColumnFrame] = []
        for transition in branch.transitions:
            for frame in self.joined(self.first(transition.joins[0]), transition, 1):
                self.add(transition, frame)

    def log(self, table: int) -> Log:
        """What a table holds at each moment; asked for only once its transitions are done."""
        if table not in self.logs:
            news = self.news[table]  # what else is kept is older; without its time an addition may come again
            apart = len(set(news)) == len(news) and all(map(any, news))
            log = Log(self.branch.tables[table], self.tables[table], self.added[table], self.distinct, apart)
            self.logs[table] = log
        return self.logs[table]

    def first(self, join: JoinStep) -> ColumnFrame:
        """The rows that a transition begins with."""
        assert join.scan is not None, "a transition begins with what arrives"
        return passing(self.arrived[join.scan], join.tests)

    def joined(self, frame: ColumnFrame, transition: Transition, number: int) -> Iterator[ColumnFrame]:
        """The rows joined with the other participants of a transition, some at a time."""
        if not frame.size:
            return
        if number == len(transition.joins):
            yield frame
            return
        for wider in self.pairs(frame, transition, number):
            yield from self.joined(wider, transition, number + 1)

    def pairs(self, frame: ColumnFrame, transition: Transition, number: int) -> Iterator[ColumnFrame]:
        """The rows joined with one more participant."""
        join = transition.joins[number]
        names = tuple(name for name, _ in join.equal)
        values = [plus(frame.columns[str(term.variable)], _offset(term)) for _, term in join.equal]
        if join.table is not None:
            yield from self.remembered(frame, transition, join, names, values)
            return
        other = self.related[join.relations] if join.relations is not None else self.arrived[join.scan or 0]
        columns = [other.columns[name] for name in names]
        if join.scan is not None:
            columns, values = [other.time, *columns], [frame.time, *values]
        for rows, places in pairs(*self.bounds(transition.joins[: number + 1], columns, values, frame, other)):
            found = self.beside(frame.take(rows), other.take(places))
            yield passing(found, join.tests)

    def bounds(
        self,
        joins: tuple[JoinStep, ...],
        columns: list[Values],
        values: list[Values],
        frame: ColumnFrame,
        other: ColumnFrame,
    ) -> tuple[Index, Integers, Integers]:
        """Where those with the rows' values are of one more participant; transitions often begin with the same two."""
        if len(joins) == 2:
            for same, found in self.begun:
                if same == joins:
                    return found
        index = indexed(columns, other.size)
        bounds = index, *matched(index, values, frame.size)
        if len(joins) == 2:
            self.begun.append((joins, bounds))
        return bounds

    def beside(self, frame: ColumnFrame, other: ColumnFrame) -> ColumnFrame:
        """Two matches as one."""
        return frame.beside(other, None if self.distinct else product(frame.n, other.n))

    # --- what is remembered ------------------------------------------------------------------------------------------

    def remembered(
        self, frame: ColumnFrame, transition: Transition, join: JoinStep, names: tuple[str, ...], values: list[Values]
    ) -> Iterator[ColumnFrame]:
        """The rows joined with the entries of a table as they stand before each row's timestamp, or after it (``now``).

        Where no timestamp of theirs is needed any more, with its keys and their multiplicities; else with single
        entries, also where those within a window are fewer than the keys.
        """
        assert join.table is not None
        log = self.log(join.table)
        before, since = self.window(frame, join)
        by_key = not any(stream in transition.kept for stream, *_ in log.table.ages)
        by_key &= not join.ages or log.table.single
        in_window = None
        if not by_key or join.ages:
            in_window = log.ranges(names, values, plus(frame.time, 1) if join.now else frame.time, since)
        if by_key:
            index = log.index(True, names)
            low, high = matched(index, values, frame.size)
            if in_window is None or (high - low).sum() <= np.maximum(in_window[2] - in_window[1], 0).sum():
                yield from self.by_key(frame, log, join, pairs(index, low, high), (before, since))
                return
        assert in_window is not None
        yield from self.by_entry(frame, log, join, pairs(*in_window))

    def window(self, frame: ColumnFrame, join: JoinStep) -> tuple[Values, Values | None]:
        """The times before which, and since when, what each row meets must have come."""
        least = max((low for _, low, _ in join.ages if low is not None), default=0 if join.now else 1)
        most = min((high for _, _, high in join.ages if high is not None), default=None)
        before = frame.time if least == 1 else plus(frame.time, 1 - least)
        return before, None if most is None else plus(frame.time, -most)

    def by_key(
        self,
        frame: ColumnFrame,
        log: Log,
        join: JoinStep,
        found: Iterator[tuple[Integers, Integers]],
        window: tuple[Values, Values | None],
    ) -> Iterator[ColumnFrame]:
        """The rows joined with the distinct keys of a table."""
        before, since = window
        for rows, numbers in found:
            columns = {name: log.keys.columns[name][numbers] for name in log.table.columns}
            nulls = {name: null[numbers] for name, null in log.keys.nulls.items()}
            mine = frame.take(rows)
            place = {"row": rows, "key": numbers}
            wide = passing(mine._replace(columns=mine.columns | columns | place, nulls=mine.nulls | nulls), join.tests)
            rows, numbers = (wide.columns.pop(name).astype(np.int64, copy=False) for name in ("row", "key"))
            counts = log.counts(numbers, before[rows], None if since is None else since[rows])
            n = None if self.distinct else product(wide.n, counts)
            yield selected(wide._replace(n=n), [counts > 0])

    def by_entry(
        self, frame: ColumnFrame, log: Log, join: JoinStep, found: Iterator[tuple[Integers, Integers]]
    ) -> Iterator[ColumnFrame]:
        """The rows joined with single entries of a table."""
        for rows, places in found:
            wide = passing(self.beside(frame.take(rows), log.log.take(places)), join.tests)
            masks = []
            for stream, least, greatest in join.ages:
                kept = wide.columns[age(stream)]
                if least is not None:
                    masks.append(kept <= plus(wide.time, -least))
                if greatest is not None:
                    masks.append(kept >= plus(wide.time, -greatest))
            yield selected(wide, masks)

    # --- what is new -------------------------------------------------------------------------------------------------

    def add(self, transition: Transition, frame: ColumnFrame) -> None:
        """Keep the matches of a transition as additions to its target, or as results."""
        if transition.target is None:
            names = tuple(f"{place}" for place in range(len(transition.values)))
            self.results.append(summed(valued(frame, transition.values, names), names, self.distinct))
            return
        table = self.branch.tables[transition.target]
        added = valued(frame, transition.values, table.columns)
        for stream, *_ in table.ages:
            added.columns[age(stream)] = frame.columns[age(stream)] if stream in transition.kept else frame.time
        masks = [
            added.columns[age(stream)] > plus(added.time, -expires)
            for stream, expires, _ in table.ages
            if expires is not None
        ]
        if table.deadline is not None:
            masks.append(added.time < table.deadline)
        added = selected(added, masks)
        if table.ages:
            added = summed(added, (*table.columns, *(age(stream) for stream, *_ in table.ages)), self.distinct)
        self.added[transition.target].append(added)
        self.news[transition.target].append(tuple(stream not in transition.kept for stream, *_ in table.ages))


def valued(frame: ColumnFrame, terms: tuple[Term, ...], names: tuple[str, ...]) -> ColumnFrame:
    """The values of terms as columns with these names."""
    columns, nulls = {}, {}
    for term, name in zip(terms, names, strict=True):
        columns[name] = _value(frame, term)
        null = frame.nulls.get(term.variable) if term.variable is not None else None
        if term.variable is None and term.offset is None:
            null = np.ones(frame.size, dtype=bool)
        if null is not None and null.any():
            nulls[name] = null
    return ColumnFrame(frame.time, frame.n, columns, nulls)


def _value(frame: ColumnFrame, term: Term) -> Values:
    low, high, offset = term.low, term.high, _offset(term)
    assert isinstance(low, int | float | None) and isinstance(high, int | float | None), "formulas are resolved"
    if term.variable is None:
        fits = isinstance(offset, float) or -(2**63) <= offset < 2**63
        return np.full(frame.size, offset, dtype=type(offset) if fits else object)
    values = _named(frame, term.variable)
    if term.minus is not None:
        values = values - _named(frame, term.minus)
    values = plus(values, offset)
    if term.places:
        places = np.array(term.places)
        found: Values = places[np.maximum(np.searchsorted(places, values, side="right") - 1, 0)]
        return found
    if low is not None:
        values = np.maximum(values, low)
    if high is not None:
        values = np.minimum(values, high)
    if term.lows:
        values = np.maximum(values, _nested(frame, term.lows, np.minimum, np.maximum))
    if term.highs:
        values = np.minimum(values, _nested(frame, term.highs, np.maximum, np.minimum))
    return values


def _offset(term: Term) -> int | float:
    offset = term.offset or 0
    assert isinstance(offset, int | float), "formulas are resolved, and texts have numbers"
    return offset


def _named(frame: ColumnFrame, variable: str) -> Values:
    return frame.time if variable == "now" else frame.columns[variable]


def _nested(frame: ColumnFrame, limits: tuple[tuple[Term, ...], ...], outer: Ufunc, inner: Ufunc) -> Values:
    """One of ``outer`` of some limits, each one of ``inner`` of some terms."""
    return reduce(outer, (reduce(inner, (_value(frame, term) for term in limit)) for limit in limits))
