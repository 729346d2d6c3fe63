"""Does one table of many sets of streams, a *family*, store enough, and has it no more entries than it is claimed to?

An entry of a family is of any set of its members that holds, with a stream, all that is forced to be at most as new.
What it stores of a member does not depend on the others. So what the key decides is judged by the smallest set with
that member: every other set with it is larger, and its key says no less. Two matches of a set with one key have the
same future if every condition follows from those whose outcome is so decided wherever their ends may be parted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from itertools import product as pairs

from streambound.analyzer.query import Attribute, Comparison
from streambound.recheck.certificates.best import alike, components
from streambound.recheck.certificates.claims import (
    ClaimedCount,
    ClaimedLapse,
    ClaimedMember,
    ClaimedTable,
    RejectedError,
)
from streambound.recheck.certificates.conditions import Conditions, Distances
from streambound.recheck.certificates.names import counts_of, unknown
from streambound.recheck.certificates.quantity import Quantity, product
from streambound.recheck.certificates.sizes import Checker, Symbols, agreeing
from streambound.recheck.certificates.sufficiency import Known, bounds, settled, wrong_extrema, wrong_keys


def wrong_family(conditions: Conditions, table: ClaimedTable) -> Iterator[str]:
    """The reasons why a table with members is no table of all sets, or stores too little."""
    found = list(_misshapen(conditions, table))
    if not found:
        family = _Family(conditions, table)
        found = [*family.misplaced(), *family.mislimited()] or list(family.insufficient())
    yield from found


def family_entries(conditions: Conditions, table: ClaimedTable, symbols: Symbols) -> Quantity:
    """The most entries of a family of the right shape; raises RejectedError when its count does not say so."""
    return _Family(conditions, table).entries(symbols)


def _misshapen(conditions: Conditions, table: ClaimedTable) -> Iterator[str]:
    """Members that are not all the streams, or need not be there when the family says so."""
    streams = [stream for member in table.members for stream in member.streams]
    relations = [relation for member in table.members for relation in member.relations]
    if sorted(streams) != sorted(table.streams) or len({*streams}) != len(streams):
        yield f"the members of table {table.name} are not its streams {', '.join(table.streams)}"
        return
    others = [stream for stream in conditions.streams if stream not in streams]
    times = [(conditions.time(x), conditions.time(y)) for x in streams for y in others]
    if any(conditions.follows.bound(*pair) is not None for x, y in times for pair in ((x, y), (y, x))):
        yield f"the streams of table {table.name} are within a time of others"
    if sorted({*relations}) != sorted(table.relations) or not {*relations} <= {*conditions.relations}:
        yield f"the members of table {table.name} do not join its relations"
    twice = any(len({*member.relations}) != len(member.relations) for member in table.members)
    if twice or not all(member.streams for member in table.members):
        yield f"table {table.name} has a member without streams, or with a relation twice"
    if table.deadline is not None:
        yield f"table {table.name} forgets matches"
    before: list[str] = []
    for member in table.members:
        first = member.streams[0]
        if not all(conditions.forced(x, y) for x in member.streams for y in member.streams):
            yield f"table {table.name} takes {', '.join(member.streams)} for one"
        if any(conditions.forced(first, other) for other in before):
            yield f"table {table.name} has {first} after what is never older"
        for other in member.after:
            if other not in before or not conditions.forced(other, first):
                yield f"table {table.name} says that {other} is there whenever {first} is"
        before.append(first)


class _Family:
    """A family of streams that no time relates to others."""

    def __init__(self, conditions: Conditions, table: ClaimedTable) -> None:
        self.conditions, self.table = conditions, table
        self.homes: dict[str, list[ClaimedMember]] = {}
        for member in table.members:
            for source in (*member.streams, *member.relations):
                self.homes.setdefault(source, []).append(member)
        self.shared = {source for source, homes in self.homes.items() if len(homes) > 1}
        self.fixed = frozenset(name for part in counts_of(table.count) for name in part.fixed)
        self.known = {m.streams[0]: Known(conditions, self.smallest(m, m.streams[0])) for m in table.members}
        self.lapsing = {attribute: lapse.awaited for lapse in table.lapses for attribute in lapse.attributes}

    def smallest(self, member: ClaimedMember, first: str) -> ClaimedTable:
        """The table of the smallest set with a member, counted as that member is."""
        inside = [m for m in self.table.members if m == member or self.conditions.forced(m.streams[0], first)]
        streams = tuple(stream for m in inside for stream in m.streams)
        relations = tuple({relation: None for m in inside for relation in m.relations})
        stored = tuple(s for s in self.table.stored if s.attribute.source in (*streams, *relations))
        ages = tuple(age for age in self.table.ages if age.stream in streams)
        parts = (
            (e, tuple(part for part in e.of if part[0].source in (*streams, *relations))) for e in self.table.extrema
        )
        extrema = tuple(replace(extremum, of=of) for extremum, of in parts if of)
        lapses = tuple(lapse for lapse in self.table.lapses if lapse.stream in streams)
        of_these = replace(self.table, streams=streams, relations=relations, stored=stored, ages=ages)
        return replace(of_these, extrema=extrema, lapses=lapses, members=())

    # --- which sources are in an entry together ----------------------------------------------------------------------

    def with_(self, source: str) -> Iterator[Known]:
        """What a key says where a source is in an entry that misses some stream, for each member that brings it."""
        known = (self.known[member.streams[0]] for member in self.homes.get(source, ()))
        yield from (one for one in known if self._partial(one))

    def parted(self, one: str, other: str) -> Iterator[Known]:
        """What the key says where one source is in an entry and the other is not.

        A stream that comes after all others of the family is in no entry, nor is a relation that no member brings.
        """
        for known in self.with_(one):
            if other not in known.table.sources:
                yield self.until(known, frozenset([other]))

    def until(self, known: Known, missing: frozenset[str]) -> Known:
        """What the key says as long as one of some streams is missing: values that lapse before are not in it."""
        table = known.table
        held = tuple(s for s in table.stored if missing <= self.lapsing.get(s.attribute, missing))
        return known if held == table.stored else Known(self.conditions, replace(table, stored=held))

    # --- what is stored --------------------------------------------------------------------------------------------

    def misplaced(self) -> Iterator[str]:
        """Attributes that are not the table's, and values that are taken from where they need not be, or are not."""
        wrong = list(wrong_keys(self.conditions, self.table))
        yield from wrong
        for stored in () if wrong else self.table.stored:
            for other, _ in stored.equal:
                if any(self.parted(other.source, stored.attribute.source)):
                    yield f"table {self.table.name} may hold {other} where there is no {stored.attribute}"
        for age in self.table.ages:
            if age.stream not in self.table.streams or (age.expires is None) == (age.saturates is None):
                yield f"table {self.table.name} has no age of {age.stream}"
            elif age.expires is not None and not self._missing(age.stream, age.expires):
                yield f"table {self.table.name} drops {age.stream}, while nothing says that it is too old"
        for lapse in self.table.lapses:
            if not self._lapses(lapse):
                yield f"table {self.table.name} forgets {lapse.stream}, while nothing says that it may"

    def _lapses(self, lapse: ClaimedLapse) -> bool:
        """Whether what is dropped misses a stream that would come too late, and its age is known until it is."""
        implies, time = self.conditions.follows.implies, self.conditions.time(lapse.stream)
        others = {*self.table.streams} - {*self.known_of(time).table.streams}
        if not lapse.awaited or not lapse.awaited <= others or lapse.stream not in self.homes:
            return False
        stored = {stored.attribute for stored in self.table.stored}
        if any(attribute.source != lapse.stream or attribute not in stored for attribute in lapse.attributes):
            return False
        passing = not lapse.passing or any(
            age.stream == lapse.stream and age.expires is None and (age.saturates or 0) > (lapse.expires or 0)
            for age in self.table.ages
        )
        late = all(implies(self.conditions.time(s), time, lapse.expires or 0) for s in lapse.passing)
        zeros = ((self.conditions.time(s), self.conditions.zero(time)) for s in lapse.ending)
        ended = lapse.deadline is not None or not lapse.ending
        return passing and late and ended and all(implies(s, zero, lapse.deadline or 0) for s, zero in zeros)

    def _missing(self, stream: str, age: int) -> bool:
        """Whether each of its streams that need not be there with one would be too new for a tuple of that age."""
        time = self.conditions.time(stream)
        inside = self.known_of(time).table.streams
        others = (self.conditions.time(other) for other in self.table.streams if other not in inside)
        return all(self.conditions.follows.implies(other, time, age) for other in others)

    def mislimited(self) -> Iterator[str]:
        """Extrema that limit more than the query does, or of which an entry may have no best match."""
        yield from wrong_extrema(self.conditions, self.table, self._parted)
        for one, another in combinations(self.table.extrema, 2):
            for (x, _), (y, _) in pairs(one.of, another.of):
                inside = self.known_of(x).table.sources | self.known_of(y).table.sources
                limited = ({a.source for a, _, _ in e.limits} - inside for e in (one, another))
                linked = (c for missed in pairs(*limited) for c in self._components(frozenset(missed)))
                if any({x.source, y.source} <= c and not alike(self.conditions, one, another, c) for c in linked):
                    yield f"table {self.table.name} may have several best matches, by {x} and by {y}"

    def _parted(self, own: Attribute, other: Attribute) -> bool:
        one = len(self.homes.get(own.source, ())) == 1
        return one and other.source not in self.known_of(own).table.sources

    def known_of(self, attribute: Attribute) -> Known:
        """What the key says wherever an attribute's source, that one member brings, is in an entry."""
        return self.known[self.homes[attribute.source][0].streams[0]]

    def _components(self, missed: frozenset[str]) -> tuple[frozenset[str], ...]:
        """The components of all that can be in an entry without some sources."""
        if missed not in self._linked:
            streams = missed.intersection(self.conditions.streams)
            after = {s for s in self.table.streams if any(self.conditions.forced(m, s) for m in streams)}
            sources = {*self.table.streams, *self.conditions.relations} - after - missed
            lasting = tuple(stored for stored in self.table.stored if stored.attribute not in self.lapsing)
            known = replace(self.table, stored=lasting)
            found = components(self.conditions, known, sorted(sources - self.fixed), self.fixed)
            self._linked[missed] = tuple(found)
        return self._linked[missed]

    @cached_property
    def _linked(self) -> dict[frozenset[str], tuple[frozenset[str], ...]]:
        return {}

    def insufficient(self) -> Iterator[str]:
        """What the query returns and is not stored, and conditions whose outcome the key does not decide."""
        for attribute in self.conditions.outputs:
            for known in self.with_(attribute.source):
                missing = frozenset(self.table.streams).difference(known.table.streams)
                if not self.until(known, missing).exactly(attribute):
                    yield f"table {self.table.name} does not store {attribute}, which the query returns"
        for atom in self.conditions.comparisons:
            if len({attribute.source for attribute in atom.attributes}) == 2 and not self._settled(atom):
                yield f"table {self.table.name} does not store what decides {atom.left} {atom.op} {atom.right}"

    def _partial(self, known: Known) -> bool:
        """Whether the smallest set is not that of all the family's streams, of which there are no entries."""
        return len(known.table.streams) < len(self.table.streams)

    def _settled(self, atom: Comparison) -> bool:
        exactly = all(known.exactly(mine) for mine, known in self._sides(*atom.attributes))
        return settled(self.conditions, self._decided, atom, exactly)

    def _sides(self, x: Attribute, y: Attribute) -> Iterator[tuple[Attribute, Known]]:
        """The ways in which two attributes can be parted: which one is inside, and what the key says then."""
        for mine, other in ((x, y), (y, x)):
            yield from ((mine, known) for known in self.parted(mine.source, other.source))

    @cached_property
    def _decided(self) -> Distances:
        """What follows from bounds that hold wherever their two ends may be."""
        return Distances(bounds(self.conditions, self._holds_everywhere))

    def _holds_everywhere(self, x: Attribute, y: Attribute) -> bool:
        return all(self._holds(mine, known, x, y) for mine, known in self._sides(x, y))

    def _holds(self, mine: Attribute, known: Known, x: Attribute, y: Attribute) -> bool:
        """Whether a bound on ``x − y`` holds where only ``mine`` is inside: what is outside comes later."""
        bound = self.conditions.follows.bound(x, y)
        later = self.conditions.kind(x) == "time" and mine == x and bound is not None and bound[0] >= -1
        return later or known.decides(x, y)

    # --- how much ----------------------------------------------------------------------------------------------------

    def entries(self, symbols: Symbols) -> Quantity:
        """The most entries; raises RejectedError when the count, or the formula, does not say so."""
        members, total_count = self.table.members, self.table.count
        *once, count = total_count.of if total_count.rule == "product" and total_count.of else (total_count,)
        of, best = count.of[: len(members)], count.of[len(members) :]
        if count.rule != "family" or len(of) < len(members) or [part.rule for part in best] != ["best"] * len(best):
            raise RejectedError("it does not count what each of its members may hold")
        rows = {part.source for part in once if part.rule == "rows"}
        if len(best) != bool(self.table.extrema) or any(part.size != "1" or {*part.fixed} - rows for part in best):
            raise RejectedError("it does not count one best match")
        checkers = [self._counted(member, part) for member, part in zip(members, of, strict=True)]
        values = self._counted_once(once)
        sets = sum_over_sets(members, [c.most(part, symbols) for c, part in zip(checkers, of, strict=True)])
        most = sets * product(values.most(part, symbols) for part in once)
        for formula, found in ((count.size, sets), (total_count.size, most), (self.table.entries.formula, most)):
            agreeing("it", formula, found, symbols)
        return most

    def _counted(self, member: ClaimedMember, count: ClaimedCount) -> Checker:
        """A checker of the count of a member's part of a key; raises RejectedError where it leaves something out."""
        mine = {*member.streams, *member.relations} - self.shared
        return self._covering(self.smallest(member, member.streams[0]), count, mine)

    def _counted_once(self, parts: list[ClaimedCount]) -> Checker:
        """The same of the relations that several members bring, or whose rows are given: an entry has one of each."""
        every = replace(self.table.count, rule="product", of=tuple(parts))
        alone = replace(self.table, streams=(), relations=tuple(self.shared | self.fixed), ages=(), extrema=())
        return self._covering(replace(alone, members=(), lapses=()), every, self.shared)

    def _covering(self, table: ClaimedTable, count: ClaimedCount, mine: set[str]) -> Checker:
        """A checker of a count of what a table stores of some sources."""
        for fault in unknown(self.conditions, replace(table, count=count)):
            raise RejectedError(fault)
        checker = Checker(self.conditions, replace(table, count=count))
        wanted = {s.attribute for s in self.table.stored if s.attribute.source in mine}
        checker.check(wanted | {self.conditions.time(age.stream) for age in self.table.ages if age.stream in mine})
        return checker


# --- sums over sets ---------------------------------------------------------------------------------------------------


_ONE = Quantity.number(1)
MOST = 20_000
"""Steps after which a sum is given up."""


def sum_over_sets(members: Sequence[ClaimedMember], own: Sequence[Quantity]) -> Quantity:
    """The sum over all sets but the empty and the full one; each member comes later than those that it is after.

    Raises RejectedError where that takes too long.
    """
    place = {member.streams[0]: number for number, member in enumerate(members)}
    parents = [[place[stream] for stream in member.after] for member in members]
    every = _of_forest(parents, own) if all(len(mine) <= 1 for mine in parents) else _of_order(parents, own)
    return every - product(own) - _ONE


def _of_forest(parents: list[list[int]], own: Sequence[Quantity]) -> Quantity:
    """From the last member to the first: nothing of what is after it, or it and any of these."""
    later = [_ONE] * len(own)
    roots = _ONE
    for number in reversed(range(len(own))):
        value = _ONE + own[number] * later[number]
        if parents[number]:
            later[parents[number][0]] = later[parents[number][0]] * value
        else:
            roots = roots * value
    return roots


def _of_order(parents: list[list[int]], own: Sequence[Quantity]) -> Quantity:
    """By whether some member is in, for the members of a bit mask, whose independent parts are multiplied."""
    older = [0] * len(own)
    for number, mine in enumerate(parents):
        for parent in mine:
            older[number] |= older[parent] | 1 << parent
    newer = [sum(1 << k for k, mine in enumerate(older) if mine >> number & 1) for number in range(len(own))]
    memory: dict[int, Quantity] = {0: _ONE}

    def weight(mask: int) -> Quantity:
        return product(own[number] for number in range(len(own)) if mask >> number & 1)

    def part_of(mask: int) -> int:
        part, reached = 0, mask & -mask
        while reached:
            part |= reached
            reached = mask & ~part & _union(older, newer, reached)
        return part

    def total(mask: int) -> Quantity:
        if mask not in memory:
            if len(memory) > MOST:
                raise RejectedError("its order has too many parts")
            part = part_of(mask)
            if part != mask:
                memory[mask] = total(part) * total(mask & ~part)
            else:
                inside = [number for number in range(len(own)) if mask >> number & 1]
                one = max(inside, key=lambda number: (mask & (older[number] | newer[number])).bit_count())
                taken = (1 << one) | older[one] & mask
                memory[mask] = weight(taken) * total(mask & ~taken) + total(mask & ~(1 << one | newer[one]))
        return memory[mask]

    return total((1 << len(own)) - 1)


def _union(older: list[int], newer: list[int], mask: int) -> int:
    found = 0
    for number in range(len(older)):
        if mask >> number & 1:
            found |= older[number] | newer[number]
    return found
