"""A block whose streams' rows are kept apart, as data for the runtime: a table for each stream, which rows join.

All cases of the block's condition share the scans and tables: a row that some case can use is kept once, and the
conditions of one case are asked where its results are made. Those are ``Σ_i new_i ⋈ (new and old)_j<i ⋈ old_j>i``, by
the newest row, and of several at its timestamp by the last stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from streambound.analyzer.query import Comparison, Op
from streambound.criteria.contents import TimeLimits
from streambound.criteria.rows_apart import kept_apart
from streambound.synopsis_exec.branch_plan import BranchLowering, Participant, joins
from streambound.synopsis_exec.plan_ir import Plan
from streambound.synopsis_exec.variables import Variables
from streambound_runtime.operators import plan


def rows_apart(query: Plan) -> plan.Subplan | None:
    """The scans, tables and results of a block; None where it never has any."""
    return _RowsApart(query).lowered() if query.branches else None


class _RowsApart:
    def __init__(self, query: Plan) -> None:
        variables = Variables()
        self.cases = [BranchLowering(query, branch, variables) for branch in query.branches]
        self.streams = [source.alias for source in self.cases[0].streams]
        self.kept = kept_apart(query.bound) or {}
        scans = [[case.scan(case.branch.source(alias)) for case in self.cases] for alias in self.streams]
        self.of_case = [[_tests(scan, several) for scan in several] for several in scans]
        """By stream and case: what a row has to pass beside what all cases ask of it."""
        self.scans = tuple(_shared(*found) for found in zip(scans, self.of_case, strict=True))
        self.relations: list[plan.Relations] = []
        self.tables: list[str] = []
        """The streams whose rows are kept, as one of another stream may be newer."""

    def lowered(self) -> plan.Subplan:
        """The one branch that stands for all cases."""
        results = [
            made
            for number, case in enumerate(self.cases)
            for alias in self.streams
            if (made := self._results(number, case, alias)) is not None
        ]
        places = [self.streams.index(alias) for alias in self.tables]
        tables = [
            plan.Table(alias, self.scans[place].kept, ((place, self.kept[alias].timestamps, None),), single=True)
            for alias, place in zip(self.tables, places, strict=True)
        ]
        came = [
            plan.Transition(
                target=table,
                joins=(plan.JoinStep(scan=place),),
                values=tuple(map(plan.Term, self.scans[place].kept)),
            )
            for table, place in enumerate(places)
        ]
        return plan.Subplan(self.scans, tuple(self.relations), tuple(tables), (*came, *results), apart=True)

    def _results(self, number: int, case: BranchLowering, newest: str) -> plan.Transition | None:
        """The results of one case whose newest row is a stream's; None where it never is."""
        times, order = TimeLimits(case.facts), _order(case)
        others = [alias for alias in self.streams if alias != newest]
        before = order[: order.index(newest)]
        lags = {alias: times.window(newest, alias) for alias in others}
        if any(lag is not None and lag < (alias not in before) for alias, lag in lags.items()):
            return None
        came = replace(case.arriving(newest), tests=self.of_case[self.streams.index(newest)][number])
        waiting = [came]
        for alias in others:
            least = times.window(alias, newest)
            age = (self.streams.index(alias), None if least is None or least >= 0 else -least, lags[alias])
            waiting.append(self._kept(number, case, alias, plan.JoinStep(now=alias in before, ages=(age,))))
        waiting += [self._related(case, group) for group in case.branch.groups]
        found, values = joins(waiting, (*_times(case, newest, others), *_between(case)))
        kept = tuple(map(self.streams.index, others))
        return plan.Transition(target=None, joins=found, values=case.results(values), kept=kept)

    def _kept(self, number: int, case: BranchLowering, alias: str, step: plan.JoinStep) -> Participant:
        """The rows of a stream that are there."""
        if alias not in self.tables:
            self.tables.append(alias)
        place = self.streams.index(alias)
        age, its = plan.age(place), self.of_case[place][number]
        values = case.arriving(alias).values | {case.facts.time(alias): plan.Term(age)}
        tests = tuple(replace(one, left=age) if one.left == "now" else one for one in its)
        return Participant(replace(step, table=self.tables.index(alias)), values, tests)

    def _related(self, case: BranchLowering, group: tuple[str, ...]) -> Participant:
        """Relations that are joined with each other, which cases share if they ask the same of them."""
        rows, found = case.relations(group), case.related(group)
        if rows not in self.relations:
            self.relations.append(rows)
        return Participant(replace(found.join, relations=self.relations.index(rows)), found.values)


def _order(case: BranchLowering) -> list[str]:
    """The streams as rows of one timestamp come one after the other: those that are never newer first."""
    streams, older = [source.alias for source in case.streams], case.facts.never_newer
    return sorted(streams, key=lambda one: sum(older(other, one) and not older(one, other) for other in streams))


def _tests(scan: plan.TableScan, several: Sequence[plan.TableScan]) -> tuple[plan.Test, ...]:
    """What one case asks of a stream's row, and another does not."""
    every = [{*one.times, *one.tests} for one in several]
    return tuple(test for test in (*scan.times, *scan.tests) if any(test not in asked for asked in every))


def _shared(scans: Sequence[plan.TableScan], rest: Sequence[tuple[plan.Test, ...]]) -> plan.TableScan:
    """The rows that some case can use, with what any of them reads later."""
    first, tested = scans[0], [name for tests in rest for test in tests for name in (test.left, test.right)]
    columns = dict.fromkeys(pair for scan in scans for pair in scan.columns)
    kept = dict.fromkeys(name for scan in scans for name in scan.kept)
    kept |= dict.fromkeys(name for name in tested if name not in (None, "now"))
    return replace(
        first,
        columns=tuple(columns),
        kept=tuple(kept),
        tests=tuple(test for test in first.tests if test not in rest[0]),
        times=tuple(test for test in first.times if test not in rest[0]),
        either=tuple(dict.fromkeys(rest)) if all(rest) else (),
    )


def _between(case: BranchLowering) -> Iterator[Comparison]:
    """The conditions between rows of two sources that are not joined beforehand."""
    for join in case.branch.joins:
        ends = {attribute.source for attribute in join.attributes}
        if not any(ends <= set(group) for group in case.branch.groups):
            yield join


def _times(case: BranchLowering, newest: str, others: Sequence[str]) -> Iterator[Comparison]:
    """How far apart the times of two rows are at most, as far as that is not how old one is when the newest comes."""
    times = TimeLimits(case.facts)
    for one, other in combinations((newest, *others), 2):
        before, after = times.window(one, other), times.window(other, one)
        mine, theirs = case.facts.time(one), case.facts.time(other)
        if before is not None and after is not None and before == -after:
            yield Comparison(mine, Op.EQ, theirs, before)
        elif one != newest:
            yield from [] if before is None else [Comparison(mine, Op.LE, theirs, before)]
            yield from [] if after is None else [Comparison(theirs, Op.LE, mine, after)]
