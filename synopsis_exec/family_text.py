"""The text that closes a timestamp for a family: entries grow by one member after the other (theory §4, "Families").

Rows are added in the order of the members, which is one of time: to what was remembered, or to what the members before
have added at this timestamp. So each match is found once, and no set of streams is named. The first value of an entry
is ``held``: its bits say which streams it has; those of ``late`` say which of them came at this timestamp.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from analyzer.query import Attribute, Comparison, Op
from criteria.tables import Member, Table
from criteria.times import Times
from synopsis_exec.loops import Participant, Term, comparison_text, join_loops, number, tested
from synopsis_exec.plan_ir import BranchPlan

if TYPE_CHECKING:
    from synopsis_exec.transitions import BranchText


@dataclass
class FamilyText:
    """The names and the text of one family."""

    branch: BranchText
    table: Table
    held: str = field(init=False)
    late: str = field(init=False)

    def __post_init__(self) -> None:
        self.held, self.late = (self.branch.locals.new(name) for name in ("held", "late"))

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
        if not self._needs(member):
            lines += self._joined(member, None, grown)
        if self._needs(member) or self._others(member):
            lines += self._joined(member, self._remembered(member), grown)
            columns: dict[tuple[int, ...], str] = {}
            text = self._joined(member, self._new(member, columns), grown)
            lines += [f"{n} = grouped({self.fresh}, {', '.join(map(str, c))})" for c, n in columns.items()]
            lines += text
        return [*lines, f"{self.fresh}.update({grown})"]

    def _joined(self, member: Member, entries: Participant | None, grown: str) -> list[str]:
        """The loops over a member's rows, its relations' rows and entries."""
        if entries is None or not self._completes(member):
            return self._extended(member, entries, grown, None)
        top = self._needs(member) | self._bits(member) == self._all
        there = f"{self.held} == {self._all & ~self._bits(member)}"
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
            key = [self._late(member, late), *self._key(member, values, entries is None)]
            entry = self.branch.counted(grown, key, counts)
            if complete is None:
                return tested(tests, [entry])
            result = [f"    {line}" for line in self._complete(values, counts)]
            return tested(tests, [f"if {complete}:", *result, "else:", f"    {entry}"])

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
        return join_loops(participants, tuple(checks), self._complete, counted=not self.branch.plan.distinct)

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

    def _completes(self, member: Member) -> bool:
        """Whether a member may be the last one of a match: no other comes after it."""
        return not any(self.needed_by(member, other) for other in self.table.members)

    def _late(self, member: Member, late: str | None) -> str:
        return f"{self._bits(member)}" if late is None else f"{late} | {self._bits(member)}"

    def _key(self, member: Member, values: dict[Attribute, Term], alone: bool) -> list[str]:
        """What is held of a match: of the member by its values, of the others as before."""
        mine = (*member.streams, *member.relations)
        key = [f"{self._bits(member)}" if alone else f"{self.held} | {self._bits(member)}"]
        for stored in self.table.key:
            if stored.attribute.source in mine:
                key.append(self.branch.clipped(stored, values))
            else:
                key.append("None" if alone else self.branch.variable(stored.attribute))
        for age in self.table.ages:
            key.append("now" if age.stream in mine else "None" if alone else self.branch.age(age.stream))
        return key

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

        apart = sum(self._bit(s) for s in self.table.streams if not self._together(member, s))
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
        return Participant(name, pattern, self.before, values, index, conditions)

    def _pattern(self, member: Member) -> tuple[str, ...]:
        """The variables of an entry's key; what it would hold of a member that it lacks has none."""
        mine = (*member.streams, *member.relations)
        key = [self.branch.variable(s.attribute) if s.attribute.source not in mine else "_" for s in self.table.key]
        ages = [self.branch.age(age.stream) if age.stream not in mine else "_" for age in self.table.ages]
        return (self.held, *key, *ages)

    def _there(self, member: Member) -> str:
        mine, needs = self._bits(member), self._needs(member)
        return f"{self.held} & {mine | needs} == {needs}"

    # --- streams as bits ---------------------------------------------------------------------------------------------

    def _bit(self, stream: str) -> int:
        return 1 << self.table.streams.index(stream)

    def _bits(self, member: Member) -> int:
        return sum(map(self._bit, member.streams))

    @property
    def _all(self) -> int:
        return (1 << len(self.table.streams)) - 1

    def needed_by(self, member: Member, other: Member) -> bool:
        """Whether another member comes after a member, or with it."""
        return member != other and self.plan.facts.never_newer(member.streams[0], other.streams[0])

    def _needs(self, member: Member) -> int:
        """The streams that are there before a member."""
        return sum(self._bits(other) for other in self.table.members if self.needed_by(other, member))

    def _others(self, member: Member) -> int:
        """The streams that may be there before a member and need not."""
        free = self._all & ~self._bits(member) & ~self._needs(member)
        return free & ~sum(self._bits(other) for other in self.table.members if self.needed_by(member, other))

    def _together(self, member: Member, stream: str) -> bool:
        """Whether a member may be as new as a stream."""
        lags = [lag for s in member.streams for lag in (self.plan.facts.lag(s, stream), self.plan.facts.lag(stream, s))]
        return all(lag is None or lag >= 0 for lag in lags)

    # --- checks ------------------------------------------------------------------------------------------------------

    def _checks(self, member: Member, alone: bool) -> tuple[tuple[Comparison, ...], list[tuple[int, Comparison]]]:
        """The joins of a member with itself and what is there in any case; with others, each with its bit."""
        mine = {*member.streams, *member.relations}
        home = {source: m for m in self.table.members for source in (*m.streams, *m.relations)}
        checks, optional = [], []
        for join in self.plan.joins:
            ends = {attribute.source for attribute in join.attributes}
            others = ends - mine
            if others == ends or not ends <= home.keys() or any(ends <= set(group) for group in self.plan.groups):
                continue
            other = home[next(iter(others))] if others else member
            if other == member or self.needed_by(other, member):
                checks.append(join)
            elif not alone and not self.needed_by(member, other):
                optional.append((self._bit(other.streams[0]), join))
        return tuple(checks), optional

    def _ages(self, member: Member) -> list[str]:
        """What the ages of streams that are there in any case have to be."""
        return [text for stream, text in self._age_tests(member) if self._needs(member) & self._bit(stream)]

    def _optional_ages(self, member: Member) -> list[str]:
        """What the ages of others have to be, where these are there."""
        tests = ((s, text) for s, text in self._age_tests(member) if self._others(member) & self._bit(s))
        return [f"not {self.held} & {self._bit(stream)} or {text}" for stream, text in tests]

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


def aging_lines(table: Table, name: str, distinct: bool, indexes: tuple[tuple[tuple[int, ...], str], ...]) -> list[str]:
    """Entries with a tuple that is too old are dropped; timestamps old enough for every window and wait become one."""
    first = 1 + len(table.key)
    regroup = [f"    {index} = grouped({name}, {', '.join(map(str, columns))})" for columns, index in indexes]
    ends = {first + place: age.expires for place, age in enumerate(table.ages) if age.expires is not None}
    oldest = {first + place: age.saturates - 1 for place, age in enumerate(table.ages) if age.saturates is not None}
    lines = []
    if ends:
        old = " or ".join(f"(key[{c}] is not None and key[{c}] <= now - {age})" for c, age in ends.items())
        lines += [f"expired = [key for key in {name} if {old}]", "for key in expired:", f"    del {name}[key]"]
        lines += ["if expired:", *regroup] if regroup else []
    if oldest:
        tests = " or ".join(f"(key[{c}] is not None and key[{c}] < now - {age})" for c, age in oldest.items())
        columns = (_aged(c, oldest.get(c)) for c in range(first + len(table.ages)))
        lines += [
            f"if any({tests} for key in {name}):  # old enough for every window",
            "    aged: Counter[tuple] = Counter()",
            f"    for key, n in {name}.items():",
            f"        aged[{', '.join(columns)}] {'= 1' if distinct else '+= n'}",
            f"    {name} = aged",
            *regroup,
        ]
    return lines


def _aged(column: int, age: int | None) -> str:
    """A value of a key, a timestamp no older than that."""
    value = f"key[{column}]"
    return value if age is None else f"None if {value} is None else max({value}, now - {age})"
