"""How a family grows, as data: by one member after the other (theory §4, "Families").

Rows are added in the order of the members, which is one of time: to what was remembered, or to what the members before
have added at this timestamp. So each match is found once, and no set of streams is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, reduce
from itertools import product
from operator import or_

from streambound.analyzer.query import Comparison, Op
from streambound.criteria.contents import TimeLimits
from streambound.criteria.extremum import Extremum
from streambound.criteria.tables import Lapse, Member, SynopsisTable
from streambound.synopsis_exec.branch_plan import (
    BranchLowering,
    Participant,
    Values,
    best_value,
    comparison,
    joins,
    number,
    term,
)
from streambound.synopsis_exec.family_streams import FamilyStreams
from streambound.synopsis_exec.filters import constraint
from streambound.synopsis_exec.plan_ir import BranchPlan
from streambound_runtime.operators import plan


class FamilyLowering:
    """One family of a branch."""

    def __init__(self, branch: BranchLowering, table: SynopsisTable) -> None:
        self.branch, self.table = branch, table
        self.streams = FamilyStreams(branch.facts, table)

    @property
    def planned(self) -> BranchPlan:
        """The branch."""
        return self.branch.branch

    @cached_property
    def full(self) -> SynopsisTable | None:
        """The table of the full set of the members; None where that is the set of all streams."""
        every = {source.alias for source in self.planned.branch.streams}
        return None if set(self.table.streams) == every else self.planned.table(self.table.streams)

    def lowered(self) -> plan.FamilyPlan:
        """The family."""
        members = tuple(
            plan.FamilyMember(
                self.streams.bits(member),
                tuple(self.branch.places[alias] for alias in member.streams),
                tuple(self._grown(member)),
            )
            for member in self.table.members
        )
        lapses = tuple(found for lapse in self.table.lapses for found in self._lapses(lapse))
        full = None if self.full is None else self.planned.tables.index(self.full)
        return plan.FamilyPlan(self.planned.tables.index(self.table), members, full, lapses)

    def _lapses(self, lapse: Lapse) -> Iterator[plan.Expiry]:
        """When an entry is of no use, since a stream is missing that its values are held for."""
        if lapse.passing:
            yield plan.Expiry(self.streams.bits_of(lapse.passing), self.branch.places[lapse.stream], lapse.expires)
        if lapse.ending:
            mine, ending = self.streams.bit(lapse.stream), self.streams.bits_of(lapse.ending)
            yield plan.Expiry(ending, having=mine, deadline=lapse.deadline)

    # --- one member --------------------------------------------------------------------------------------------------

    def _grown(self, member: Member) -> Iterator[plan.Growth]:
        """New matches with a member: with nothing else, with what is remembered, with what else is new."""
        if not self.streams.needs(member):
            yield self._extended(member, None)
        for fresh in (False, True):
            for some, there in self._by_relations(member):
                yield from self._joined(some, self._entries(some, there, fresh))

    def _by_relations(self, member: Member) -> Iterator[tuple[Member, tuple[plan.Bits, ...]]]:
        """A member, as one that brings only the relations that an entry lacks, with what such entries are known by.

        A relation that other members bring, too, is there as soon as one of these is.
        """
        groups = [group for group in self._groups_of(member) if group[0] in self.streams.shared]
        for lacking in product((False, True), repeat=len(groups)):
            conditions, there = [], set[str]()
            for group, lacks in zip(groups, lacking, strict=True):
                others = self.streams.bringing(group[0]) & ~self.streams.bits(member)
                conditions.append(plan.Bits(others, 0, negated=not lacks))
                there |= set() if lacks else {*group}
            some = replace(member, relations=tuple(r for r in member.relations if r not in there))
            if self.streams.needs(some) or self.streams.others(some):
                yield some, tuple(conditions)

    def _joined(self, member: Member, entries: Participant) -> Iterator[plan.Growth]:
        """A member's rows with its relations' rows and entries."""
        if not self.streams.completes(member):
            yield self._extended(member, entries)
            return
        top = self.streams.needs(member) | self.streams.bits(member) == self.streams.all
        there = plan.Bits(self.streams.all, self.streams.all & ~self.streams.bits(member))
        if not self._last_groups:
            yield self._extended(member, entries, None if top else there, top)
            return
        yield self._completed(member, _where(there, entries))
        if not top:
            yield self._extended(member, _where(replace(there, negated=True), entries))

    def _extended(
        self, member: Member, entries: Participant | None, complete: plan.Bits | None = None, top: bool = False
    ) -> plan.Growth:
        """Matches that are entries; where ``complete`` holds, or for ``top``, they are of all members."""
        alone = entries is None
        checks, optional = self._checks(member, alone)
        found, values = joins(self._participants(member, entries, self._groups_of(member)), checks)
        made = {comparison(check, values) for both in checks for check in (both, _turned(both))}
        masks: dict[plan.Test, int] = {}
        for bit, check in optional:
            test = comparison(check, values)
            if test not in made:
                masks[test] = masks.get(test, 0) | bit
        tests = [(mask, test) for test, mask in masks.items()]
        tests += [] if alone else self._optional_ages(member)
        grown = plan.Growth(found, tuple(tests))
        if complete is not None or top:
            grown = replace(grown, bits=complete, result=self._complete(values))
        return grown if top else replace(grown, values=tuple(self._values(member, values, alone)))

    def _completed(self, member: Member, entries: Participant) -> plan.Growth:
        """Matches of all members, since entries have all other streams: relations' rows join in, too."""
        groups = [*self._groups_of(member), *self._last_groups]
        entries = replace(entries, tests=(*entries.tests, *(test for _, test in self._age_tests(member))))
        new = {*member.streams, *(alias for group in groups for alias in group)}
        checks = [
            join
            for join in self.planned.joins
            if (ends := {a.source for a in join.attributes}) & new
            and ends <= {*self.table.streams, *self.table.relations, *new}
            and not any(ends <= set(g) for g in self.planned.groups)
        ]
        asked = tuple(dict.fromkeys(self._by_extremum(join, new) for join in checks))
        found, values = joins(self._participants(member, entries, groups), asked)
        return plan.Growth(found, result=self._complete(values))

    def _complete(self, values: Values) -> tuple[plan.Term, ...]:
        """A match of all members: a result, or an entry of the table of all of them."""
        if self.full is None:
            return self.branch.results(values)
        return tuple(self.branch.kept(stored, values) for stored in self.full.key)

    def _participants(
        self, member: Member, entries: Participant | None, groups: list[tuple[str, ...]]
    ) -> list[Participant]:
        rows = [self.branch.arriving(alias) for alias in member.streams]
        return [*rows, *([] if entries is None else [entries]), *(self.branch.related(group) for group in groups)]

    def _groups_of(self, member: Member) -> list[tuple[str, ...]]:
        """The relations that a member brings."""
        return [group for group in self.planned.groups if group[0] in member.relations]

    @property
    def _last_groups(self) -> list[tuple[str, ...]]:
        """The relations that no member brings: they are joined when all streams are there."""
        joined = [group for group in self.planned.groups if self.full is None or group[0] in self.full.relations]
        return [group for group in joined if group[0] not in self.table.relations]

    # --- what an entry holds -----------------------------------------------------------------------------------------

    def _values(self, member: Member, values: Values, alone: bool) -> Iterator[plan.Held]:
        """What is held of a match: of the member by its values, of the others as before; extrema, and timestamps."""
        mine = (*member.streams, *member.relations)
        for stored in self.table.key:
            if stored.attribute.source in mine:
                held = plan.Held((self.branch.kept(stored, values),))
            else:
                held = plan.Held(before=None if alone else self.branch.variables.of(stored.attribute))
            lapse = self.table.lapse(stored.attribute)
            yield held if lapse is None else self._until(member, self.streams.bits_of(lapse.awaited), held, alone)
        for extremum in self.table.extrema:
            yield self._best(member, extremum, values, alone)
        for age in self.table.ages:
            if age.stream in mine:
                yield plan.Held((plan.Term("now"),))
            else:
                yield plan.Held(before=None if alone else self._age(age.stream))

    def _best(self, member: Member, extremum: Extremum, values: Values, alone: bool) -> plan.Held:
        """An extremum with a member: by its own values, and by what the entry held; NULL where it limits nothing."""
        sources = (*member.streams, *member.relations)
        parts = [term(values[a], offset) for a, offset in extremum.of if a.source in sources]
        before = None if alone else self.branch.variables.of(best_value(extremum))
        held = plan.Held(tuple(dict.fromkeys(parts)), before, extremum.greatest)
        limited = self._limited(extremum)
        if limited is None or (not parts and (alone or not limited & self.streams.bits(member))):
            return held
        return self._until(member, limited, held, alone)

    def _until(self, member: Member, awaited: int, held: plan.Held, alone: bool) -> plan.Held:
        """A value of an entry with a member, which is held until some streams are there."""
        there = self.streams.bits(member) | self.streams.needs(member)
        if awaited & ~there == 0:
            return plan.Held()
        if alone or awaited & ~(there | self.streams.others(member)):
            return held
        return replace(held, until=awaited)

    def _limited(self, extremum: Extremum) -> int | None:
        """The streams with which an extremum limits nothing more; None where it does as long as a match is partial."""
        homes = [self.streams.home.get(attribute.source) for attribute, _, _ in extremum.limits]
        bits = [self.streams.bits(home) for home in homes if home is not None]
        return reduce(or_, bits) if len(bits) == len(homes) else None

    def _by_extremum(self, check: Comparison, new: set[str]) -> Comparison:
        """A join of what is ``new`` with what is remembered, which may be held as an extremum only."""
        own, other = (check.left, check.right) if check.left.source not in new else (check.right, check.left)
        if own is None or other is None or own.source in new:
            return check
        return self.branch.by_extremum(self.table, check, own, other)

    # --- entries -----------------------------------------------------------------------------------------------------

    def _entries(self, member: Member, there: tuple[plan.Bits, ...], fresh: bool) -> Participant:
        """The entries that have what a member comes after, and not itself.

        ``fresh`` are those that this timestamp has brought, of streams that may be as new as the member's.
        """
        mine, needs = self.streams.bits(member), self.streams.needs(member)
        bits = [*there, plan.Bits(mine | needs, needs)]
        if fresh:
            apart = sum(self.streams.bit(s) for s in self.table.streams if not self.streams.together(member, s))
            bits += [plan.Bits(apart, 0, fresh=True)] if apart else []
        own = (*member.streams, *member.relations)
        without = [self.branch.variables.of(s.attribute) for s in self.table.key if s.attribute.source in own]
        without += [self._age(age.stream) for age in self.table.ages if age.stream in own]
        join = plan.JoinStep(
            table=self.planned.tables.index(self.table), new=fresh, bits=tuple(bits), without=tuple(without)
        )
        values = {a: v for a, v in self.branch.remembered(self.table).items() if a.source not in own}
        return Participant(join, values, tuple(self._ages(member)))

    # --- checks ------------------------------------------------------------------------------------------------------

    def _checks(self, member: Member, alone: bool) -> tuple[tuple[Comparison, ...], list[tuple[int, Comparison]]]:
        """The joins of a member with itself and what is there in any case; with others, each with its bit."""
        mine = {*member.streams, *member.relations}
        checks, optional = [], []
        for join in self.planned.joins:
            ends = {attribute.source for attribute in join.attributes}
            others = ends - mine
            if others == ends or any(ends <= set(group) for group in self.planned.groups):
                continue
            there = self.streams.when_there(member, next(iter(others))) if others else 0
            if there == 0:
                checks.append(self._by_extremum(join, mine))
            elif there is not None and not alone:
                optional.append((there, self._by_extremum(join, mine)))
        return tuple(dict.fromkeys((*checks, *self._taken_for(member)))), optional

    def _taken_for(self, member: Member) -> Iterator[Comparison]:
        """The equalities by which values of a member are not kept; no join says so where a late relation links them."""
        mine, joined = (*member.streams, *member.relations), {frozenset(join.attributes) for join in self.planned.joins}
        for stored in self.table.key:
            for other, _ in stored.equal:
                same = other.source == stored.attribute.source or frozenset((other, stored.attribute)) in joined
                if other.source in mine and not same:
                    yield constraint(self.planned.facts, other, stored.attribute)

    def _ages(self, member: Member) -> list[plan.Test]:
        """What the ages of streams that are there in any case have to be."""
        needs = self.streams.needs(member)
        return [test for stream, test in self._age_tests(member) if needs & self.streams.bit(stream)]

    def _optional_ages(self, member: Member) -> list[tuple[int, plan.Test]]:
        """What the ages of others have to be, where these are there."""
        others, found = self.streams.others(member), self._age_tests(member)
        return [(bit, test) for stream, test in found if others & (bit := self.streams.bit(stream))]

    def _age_tests(self, member: Member) -> list[tuple[str, plan.Test]]:
        times, found = TimeLimits(self.planned.facts), []
        for old in (age.stream for age in self.table.ages if age.stream not in member.streams):
            asked = [times.age_checks(new, old) for new in member.streams]
            least = max((low for low, _ in asked if low is not None), default=None)
            greatest = min((high for _, high in asked if high is not None), default=None)
            if least is not None:
                found.append((old, plan.Test("now", ">=", self._age(old), least)))
            if greatest is not None:
                found.append((old, plan.Test("now", "<=", self._age(old), greatest)))
        return found

    def _age(self, stream: str) -> str:
        return plan.age(self.branch.places[stream])


def _where(there: plan.Bits, entries: Participant) -> Participant:
    """Entries for which one more condition holds."""
    return replace(entries, join=replace(entries.join, bits=(*entries.join.bits, there)))


def _turned(check: Comparison) -> Comparison:
    """An equality with its sides exchanged; another check as it is."""
    if check.op is not Op.EQ or check.right is None:
        return check
    return replace(check, left=check.right, right=check.left, offset=-number(check.offset))
