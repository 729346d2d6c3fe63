"""The text that closes a timestamp for a family: entries grow by one member after the other (theory §4, "Families").

Rows are added in the order of the members, which is one of time: to what was remembered, or to what the members before
have added at this timestamp. So each match is found once, and no set of streams is named. The first value of an entry
is ``held``: its bits say which streams it has; those of ``late`` say which of them came at this timestamp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import product
from operator import or_
from typing import TYPE_CHECKING

from streambound.analyzer.query import Attribute, Comparison, Op
from streambound.criteria.extremum import Extremum
from streambound.criteria.tables import Member, Table
from streambound.criteria.times import Times
from streambound.synopsis_exec.family_streams import FamilyStreams
from streambound.synopsis_exec.filters import constraint
from streambound.synopsis_exec.loops import Participant, Term, comparison_text, exact, join_loops, number, plus, tested
from streambound.synopsis_exec.plan_ir import BranchPlan

if TYPE_CHECKING:
    from streambound.synopsis_exec.transitions import BranchText


@dataclass
class FamilyText:
    """The names and the text of one family."""

    branch: BranchText
    table: Table
    held: str = field(init=False)
    late: str = field(init=False)

    def __post_init__(self) -> None:
        self.held, self.late = (self.branch.locals.new(name) for name in ("held", "late"))

    @cached_property
    def streams(self) -> FamilyStreams:
        """Which of its streams entries can have."""
        return FamilyStreams(self.plan.facts, self.table)

    @property
    def plan(self) -> BranchPlan:
        """The branch."""
        return self.branch.branch

    @property
    def name(self) -> str:
        """The table."""
        return f"self.{self.branch.name_of(self.table)}"

    @cached_property
    def whole(self) -> Table | None:
        """The table of the full set of the members; None where that is the set of all streams."""
        return None if set(self.table.streams) == set(self._all_streams) else self.plan.table(self.table.streams)

    @property
    def _all_streams(self) -> list[str]:
        return [source.alias for source in self.plan.branch.streams]

    @cached_property
    def fresh(self) -> str:
        """The variable of what came at this timestamp: ``late``, and an entry's key."""
        return self.branch.locals.new("fresh")

    @cached_property
    def before(self) -> str:
        """The variable of an entry's multiplicity."""
        return self.branch.locals.new("before")

    @cached_property
    def lines(self) -> list[str]:
        """Everything from the rows that arrived to what is to be added to the table."""
        lines = [f"{self.fresh}: Counter[tuple] = Counter()"]
        if self.whole is not None:
            lines.append(f"{self.branch.new(self.whole.streams)}: Counter[tuple] = Counter()")
        for member in self.table.members:
            lines += ["", f"# {' and '.join(member.streams)}: to what is there without {self._it(member)}."]
            grown = self._grown(member)
            lines += [f"if {' and '.join(self.branch.arrived[alias] for alias in member.streams)}:"]
            lines += [f"    {line}" for line in grown]
        new = self.branch.new_of(self.table)
        count = "= 1" if self.branch.plan.distinct else "+= n"
        lines += ["", f"{new}: Counter[tuple] = Counter()", f"for key, n in {self.fresh}.items():"]
        return [*lines, f"    {new}[key[1:]] {count}"]

    @staticmethod
    def _it(member: Member) -> str:
        return "it" if len(member.streams) == 1 else "them"

    # --- one member ------------------------------------------------------------------------------------------------

    def _grown(self, member: Member) -> list[str]:
        """New matches with a member: with nothing else, with what is remembered, with what else is new."""
        grown = self.branch.locals.new("grown")
        lines = [f"{grown}: Counter[tuple] = Counter()"]
        if not self.streams.needs(member):
            lines += self._joined(member, None, grown)
        columns: dict[tuple[int, ...], str] = {}
        with_old, with_new = [], []
        for some, there in self._by_relations(member):
            with_old += self._joined(some, _where(there, self._remembered(some)), grown)
            with_new += self._joined(some, _where(there, self._new(some, columns)), grown)
        grouped = [f"{n} = grouped({self.fresh}, {', '.join(map(str, c))})" for c, n in columns.items()]
        return [*lines, *with_old, *grouped, *with_new, f"{self.fresh}.update({grown})"]

    def _by_relations(self, member: Member) -> Iterator[tuple[Member, tuple[str, ...]]]:
        """A member, as one that brings only the relations that an entry lacks, with what such entries are known by.

        A relation that other members bring, too, is there as soon as one of these is.
        """
        groups = [group for group in self._groups_of(member) if group[0] in self.streams.shared]
        for lacking in product((False, True), repeat=len(groups)):
            conditions, there = [], set[str]()
            for group, lacks in zip(groups, lacking, strict=True):
                others = self.streams.bringing(group[0]) & ~self.streams.bits(member)
                conditions.append(f"not {self.held} & {others}" if lacks else f"{self.held} & {others}")
                there |= set() if lacks else {*group}
            some = replace(member, relations=tuple(r for r in member.relations if r not in there))
            if self.streams.needs(some) or self.streams.others(some):
                yield some, tuple(conditions)

    def _joined(self, member: Member, entries: Participant | None, grown: str) -> list[str]:
        """The loops over a member's rows, its relations' rows and entries."""
        if entries is None or not self.streams.completes(member):
            return self._extended(member, entries, grown, None)
        top = self.streams.needs(member) | self.streams.bits(member) == self.streams.all
        there = f"{self.held} == {self.streams.all & ~self.streams.bits(member)}"
        if not self._last_groups:
            return self._extended(member, entries, grown, None if top else there, top)
        whole = replace(entries, conditions=(*entries.conditions, there))
        lines = self._completed(member, whole)
        if top:
            return lines
        less = replace(entries, conditions=(*entries.conditions, there.replace("==", "!=")))
        return [*lines, *self._extended(member, less, grown, None)]

    def _extended(
        self, member: Member, entries: Participant | None, grown: str, complete: str | None, top: bool = False
    ) -> list[str]:
        """The loops whose matches are entries; where ``complete`` holds, or for ``top``, they are results."""
        participants = self._participants(member, entries, self._groups_of(member))
        checks, optional = self._checks(member, alone=entries is None)
        late = self.late if entries is not None and entries.counts == self.fresh else None

        def body(values: dict[Attribute, Term], counts: list[str]) -> list[str]:
            made = {comparison_text(check, values) for both in checks for check in (both, _turned(both))}
            tests = _if_there(self.held, optional, values, made)
            tests += self._optional_ages(member) if entries is not None else []
            tests = [f"({test})" for test in tests] if len(tests) > 1 else tests
            if top:
                return tested(tests, self._complete(values, counts))
            best = self._best(member, values, entries is None)
            key = [self._late(member, late), *self._key(member, values, entries is None)]
            key += [name for name, _ in best]
            entry = [f"{name} = {text}" for name, text in best if name != text]
            entry.append(self.branch.counted(grown, key, counts))
            if complete is None:
                return tested(tests, entry)
            result = [f"    {line}" for line in self._complete(values, counts)]
            return tested(tests, [f"if {complete}:", *result, "else:", *(f"    {line}" for line in entry)])

        return join_loops(participants, checks, body, counted=not self.branch.plan.distinct)

    def _completed(self, member: Member, entries: Participant) -> list[str]:
        """The loops whose matches are results, since entries have all other streams: relations' rows join in, too."""
        groups = [*self._groups_of(member), *self._last_groups]
        entries = replace(entries, conditions=(*entries.conditions, *(text for _, text in self._age_tests(member))))
        new = {*member.streams, *(alias for group in groups for alias in group)}
        checks = [
            join
            for join in self.plan.joins
            if (ends := {a.source for a in join.attributes}) & new
            and ends <= {*self.table.streams, *self.table.relations, *new}
            and not any(ends <= set(g) for g in self.plan.groups)
        ]
        participants = self._participants(member, entries, groups)
        asked = tuple(dict.fromkeys(self._by_extremum(join, new) for join in checks))
        return join_loops(participants, asked, self._complete, counted=not self.branch.plan.distinct)

    def _complete(self, values: dict[Attribute, Term], counts: list[str]) -> list[str]:
        """The line for a match of all members: a result, or an entry of the table of all of them."""
        if self.whole is None:
            return self.branch.result(values, counts)
        key = [self.branch.clipped(stored, values) for stored in self.whole.key]
        return [self.branch.counted(self.branch.new(self.whole.streams), key, counts)]

    def _participants(
        self, member: Member, entries: Participant | None, groups: list[tuple[str, ...]]
    ) -> list[Participant]:
        rows = [self.branch.arriving(alias) for alias in member.streams]
        return [*rows, *([] if entries is None else [entries]), *(self.branch.relations(group) for group in groups)]

    def _groups_of(self, member: Member) -> list[tuple[str, ...]]:
        """The relations that a member brings."""
        return [group for group in self.plan.groups if group[0] in member.relations]

    @property
    def _last_groups(self) -> list[tuple[str, ...]]:
        """The relations that no member brings: they are joined when all streams are there."""
        joined = [group for group in self.plan.groups if self.whole is None or group[0] in self.whole.relations]
        return [group for group in joined if group[0] not in self.table.relations]

    def _late(self, member: Member, late: str | None) -> str:
        return f"{self.streams.bits(member)}" if late is None else f"{late} | {self.streams.bits(member)}"

    def _key(self, member: Member, values: dict[Attribute, Term], alone: bool) -> list[str]:
        """What is held of a match: of the member by its values, of the others as before."""
        mine = (*member.streams, *member.relations)
        key = [f"{self.streams.bits(member)}" if alone else f"{self.held} | {self.streams.bits(member)}"]
        for stored in self.table.key:
            if stored.attribute.source in mine:
                value = self.branch.clipped(stored, values)
            else:
                value = "None" if alone else self.branch.variable(stored.attribute)
            lapse = self.table.lapse(stored.attribute)
            key.append(
                value if lapse is None else self._until(member, self.streams.bits_of(lapse.awaited), value, alone)
            )
        for age in self.table.ages:
            key.append("now" if age.stream in mine else "None" if alone else self.branch.age(age.stream))
        return key

    # --- extrema -----------------------------------------------------------------------------------------------------

    def _best(self, member: Member, values: dict[Attribute, Term], alone: bool) -> list[tuple[str, str]]:
        """The extrema of an entry with a member, each with its text; those that depend on the entry get a variable."""
        texts = [(e, self._best_value(member, e, values, alone)) for e in self.table.extrema]
        return [(self.better[e] if " if " in text else text, text) for e, text in texts]

    @cached_property
    def better(self) -> dict[Extremum, str]:
        """The variables of the extrema of an entry that has grown."""
        names = ((e, self.branch.variable(self.branch.best_value(e))) for e in self.table.extrema)
        return {extremum: self.branch.locals.new(f"new_{name}") for extremum, name in names}

    def _best_value(self, member: Member, extremum: Extremum, values: dict[Attribute, Term], alone: bool) -> str:
        """An extremum with a member: by its own values, and by what the entry held; None where it limits nothing."""
        sources = (*member.streams, *member.relations)
        terms = ((values[attribute], offset) for attribute, offset in extremum.of if attribute.source in sources)
        parts = list(dict.fromkeys(plus(term.variable, exact(term.offset + offset)) for term, offset in terms))
        name = "min" if extremum.greatest else "max"
        value = parts[0] if len(parts) == 1 else f"{name}({', '.join(parts)})"
        if not alone:
            before = self.branch.variable(self.branch.best_value(extremum))
            value = f"{value} if {before} is None else {name}({', '.join([before, *parts])})" if parts else before
        elif not parts:
            return "None"
        limited = self._limited(extremum)
        if limited is None or (not parts and not limited & self.streams.bits(member)):
            return value
        return self._until(member, limited, value, alone)

    def _until(self, member: Member, awaited: int, value: str, alone: bool) -> str:
        """A value of an entry with a member, which is held until some streams are there."""
        there = self.streams.bits(member) | self.streams.needs(member)
        if awaited & ~there == 0 or value == "None":
            return "None"
        if alone or awaited & ~(there | self.streams.others(member)):
            return value
        return f"None if ({self.held} | {self.streams.bits(member)}) & {awaited} == {awaited} else {value}"

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

    def _remembered(self, member: Member) -> Participant:
        """The entries of the table that have what a member comes after, and not itself."""
        pattern = self._pattern(member)

        def index(columns: tuple[int, ...]) -> str:
            if (self.name, columns) not in self.branch.indexes:
                by = "_".join(pattern[column] for column in columns)
                wanted = f"{self.name.removeprefix('self.')}_by_{by}"
                self.branch.indexes[self.name, columns] = f"self.{self.branch.members.new(wanted)}"
            return self.branch.indexes[self.name, columns]

        return self._participant(member, self.name, pattern, (self._there(member), *self._ages(member)), index)

    def _new(self, member: Member, indexes: dict[tuple[int, ...], str]) -> Participant:
        """The entries that this timestamp has brought, of streams that may be as new as the member's."""

        def index(columns: tuple[int, ...]) -> str:
            if columns not in indexes:
                indexes[columns] = self.branch.locals.new("fresh_by")
            return indexes[columns]

        apart = sum(self.streams.bit(s) for s in self.table.streams if not self.streams.together(member, s))
        conditions = [self._there(member), *([f"not {self.late} & {apart}"] if apart else []), *self._ages(member)]
        return self._participant(member, self.fresh, (self.late, *self._pattern(member)), tuple(conditions), index)

    def _participant(
        self,
        member: Member,
        name: str,
        pattern: tuple[str, ...],
        conditions: tuple[str, ...],
        index: Callable[[tuple[int, ...]], str],
    ) -> Participant:
        mine = (*member.streams, *member.relations)
        values = {a: term for stored in self.table.key for a, term in self.branch.values_of(stored).items()}
        values = {attribute: term for attribute, term in values.items() if attribute.source not in mine}
        best = (self.branch.best_value(extremum) for extremum in self.table.extrema)
        values |= {value: Term(self.branch.variable(value)) for value in best}
        return Participant(name, pattern, self.before, values, index, conditions)

    def _pattern(self, member: Member) -> tuple[str, ...]:
        """The variables of an entry's key; what it would hold of a member that it lacks has none."""
        mine = (*member.streams, *member.relations)
        key = [self.branch.variable(s.attribute) if s.attribute.source not in mine else "_" for s in self.table.key]
        ages = [self.branch.age(age.stream) if age.stream not in mine else "_" for age in self.table.ages]
        best = [self.branch.variable(self.branch.best_value(extremum)) for extremum in self.table.extrema]
        return (self.held, *key, *ages, *best)

    def _there(self, member: Member) -> str:
        mine, needs = self.streams.bits(member), self.streams.needs(member)
        return f"{self.held} & {mine | needs} == {needs}"

    # --- checks ------------------------------------------------------------------------------------------------------

    def _checks(self, member: Member, alone: bool) -> tuple[tuple[Comparison, ...], list[tuple[int, Comparison]]]:
        """The joins of a member with itself and what is there in any case; with others, each with its bit."""
        mine = {*member.streams, *member.relations}
        checks, optional = [], []
        for join in self.plan.joins:
            ends = {attribute.source for attribute in join.attributes}
            others = ends - mine
            if others == ends or any(ends <= set(group) for group in self.plan.groups):
                continue
            there = self.streams.when_there(member, next(iter(others))) if others else 0
            if there == 0:
                checks.append(self._by_extremum(join, mine))
            elif there is not None and not alone:
                optional.append((there, self._by_extremum(join, mine)))
        return tuple(dict.fromkeys((*checks, *self._taken_for(member)))), optional

    def _taken_for(self, member: Member) -> Iterator[Comparison]:
        """The equalities by which values of a member are not kept; no join says so where a late relation links them."""
        mine, joined = (*member.streams, *member.relations), {frozenset(join.attributes) for join in self.plan.joins}
        for stored in self.table.key:
            for other, _ in stored.equal:
                same = other.source == stored.attribute.source or frozenset((other, stored.attribute)) in joined
                if other.source in mine and not same:
                    yield constraint(self.plan.facts, other, stored.attribute)

    def _ages(self, member: Member) -> list[str]:
        """What the ages of streams that are there in any case have to be."""
        return [
            text for stream, text in self._age_tests(member) if self.streams.needs(member) & self.streams.bit(stream)
        ]

    def _optional_ages(self, member: Member) -> list[str]:
        """What the ages of others have to be, where these are there."""
        tests = ((s, text) for s, text in self._age_tests(member) if self.streams.others(member) & self.streams.bit(s))
        return [f"not {self.held} & {self.streams.bit(stream)} or {text}" for stream, text in tests]

    def _age_tests(self, member: Member) -> list[tuple[str, str]]:
        times, found = Times(self.plan.facts), []
        for old in (age.stream for age in self.table.ages if age.stream not in member.streams):
            asked = [times.age_checks(new, old) for new in member.streams]
            least = max((low for low, _ in asked if low is not None), default=None)
            greatest = min((high for _, high in asked if high is not None), default=None)
            if least is not None:
                found.append((old, f"now - {self.branch.age(old)} >= {least}"))
            if greatest is not None:
                found.append((old, f"now - {self.branch.age(old)} <= {greatest}"))
        return found


def _where(there: tuple[str, ...], entries: Participant) -> Participant:
    """Entries for which some conditions hold, too."""
    return replace(entries, conditions=(*entries.conditions, *there))


def _if_there(
    held: str, optional: list[tuple[int, Comparison]], values: dict[Attribute, Term], made: set[str]
) -> list[str]:
    """Checks with streams that need not be there, those that say the same once; ``made`` are made in any case."""
    bits: dict[str, int] = {}
    for bit, check in optional:
        text = comparison_text(check, values)
        bits[text] = bits.get(text, 0) | bit
    return [f"not {held} & {mask} or {text}" for text, mask in bits.items() if text not in made]


def _turned(check: Comparison) -> Comparison:
    """An equality with its sides exchanged; another check as it is."""
    if check.op is not Op.EQ or check.right is None:
        return check
    return replace(check, left=check.right, right=check.left, offset=-number(check.offset))
