"""A *family*: one table for all realisable sets of streams, where there would be too many tables (theory §4).

Its layout is the same for every set: of each stream an entry holds what the smallest set with that stream would hold of
it, since what is outside of a larger set is outside of that one, too. So a table of ``n`` streams stands for up to
``2^n`` tables, and its entries are counted by a formula over the order of the streams (`subsets`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations
from itertools import product as pairs_of

from streambound.analyzer import connected
from streambound.analyzer.boundedness import Facts
from streambound.analyzer.query import Attribute, Kind
from streambound.criteria.components import linked, part_of
from streambound.criteria.contents import Contents
from streambound.criteria.count import stored_count
from streambound.criteria.extremum import Extremum, extrema_of, is_open
from streambound.criteria.order_search import Reference
from streambound.criteria.size import Addition, Number, Size, Symbol, grouped, negative, product, total
from streambound.criteria.tables import Age, Lapse, Member, Stored, SynopsisTable


def families(contents: Contents) -> tuple[SynopsisTable, ...]:
    """A family of each component of the streams; whether it has a bound, its count tells."""
    return tuple(_family(contents, streams) for streams in components(contents))


def components(contents: Contents) -> tuple[tuple[str, ...], ...]:
    """The streams by what relates them: an order, a window, a relation, a finite stream's end, extrema."""
    if contents.facts.finite_streams or contents.references:
        return (contents.streams,)
    windows = contents.times.windows
    linked = lambda x, y: x in windows[y] or y in windows[x] or contents.neighbours(x, y)  # noqa: E731
    return connected.components(contents.streams, connected.related(contents.streams, linked))


def _family(contents: Contents, streams: tuple[str, ...]) -> SynopsisTable:
    """The family of all realisable sets of a component's streams but the full one."""
    members = _members(contents, streams)
    key = list(_of_shared(contents, members))
    ages: list[Age] = []
    lapses: list[Lapse] = []
    for member in (m for m in members if len(contents.needs[m.streams[0]]) < len(streams)):
        inside = _inside(contents, members, member)
        for stored in contents.kept(frozenset(own(members, member)), inside):
            _keep(contents.facts, key, stored, inside)
        for stream in member.streams:
            age = _age(contents, streams, stream, key, inside)
            if age is None or age.expires is None:
                lapse = _lapse(contents, stream, key, inside)
                lapses += [lapse] if lapse is not None else []
                age = _until_passed(stream, age, lapse)
            ages += [age] if age is not None else []
    relations = tuple(dict.fromkeys(alias for member in members for alias in member.relations))
    family = SynopsisTable(streams, relations, tuple(key), tuple(ages), None, members=members, lapses=tuple(lapses))
    return replace(family, extrema=_extrema(contents, family))


def least(facts: Facts, table: SynopsisTable, member: Member) -> SynopsisTable:
    """The table of the smallest set with a member: what every entry of it holds at least."""
    first = member.streams[0]
    inside = tuple(m for m in table.members if facts.never_newer(m.streams[0], first) or m == member)
    streams = tuple(stream for m in inside for stream in m.streams)
    relations = tuple(dict.fromkeys(alias for m in inside for alias in m.relations))
    key = tuple(stored for stored in table.key if stored.attribute.source in (*streams, *relations))
    ages = tuple(age for age in table.ages if age.stream in streams)
    lapses = tuple(lapse for lapse in table.lapses if lapse.stream in streams)
    return SynopsisTable(streams, relations, key, ages, table.deadline, lapses=lapses)


def least_with(facts: Facts, table: SynopsisTable, source: str) -> SynopsisTable:
    """The same for a stream or a relation of a member."""
    return least(facts, table, next(m for m in table.members if source in (*m.streams, *m.relations)))


def all_but_full(members: tuple[Member, ...], weights: list[Size]) -> Size | None:
    """The entries of all sets but the empty and the full one, where a member has so many of its own.

    None where no formula of a reasonable length says that.
    """
    every = subsets(_before(members), weights)
    if every is None:
        return None
    full = product(weights)
    if isinstance(every, Number) and isinstance(full, Number):
        return Number(every.number - full.number - 1)
    terms = every.parts if isinstance(every, Addition) else (every,)
    if terms[-1] == Number(1):
        return grouped(Addition((*terms[:-1], negative(full))))
    return grouped(Addition((*terms, negative(full), Number(-1))))


def _before(members: tuple[Member, ...]) -> list[frozenset[int]]:
    """For every member those that come before it, all of them."""
    place = {member.streams[0]: number for number, member in enumerate(members)}
    before: list[frozenset[int]] = []
    for member in members:
        direct = frozenset(place[stream] for stream in member.after)
        before.append(direct.union(*(before[number] for number in direct)))
    return before


# --- members ---------------------------------------------------------------------------------------------------------


def shared_relations(members: tuple[Member, ...]) -> tuple[str, ...]:
    """The relations that come with several members: with the first of them to be there."""
    brought = Counter(alias for member in members for alias in member.relations)
    return tuple(alias for alias, times in brought.items() if times > 1)


def own(members: tuple[Member, ...], member: Member) -> tuple[str, ...]:
    """The streams of a member, and the relations that come with no other."""
    shared = shared_relations(members)
    return (*member.streams, *(alias for alias in member.relations if alias not in shared))


def _members(contents: Contents, streams: tuple[str, ...]) -> tuple[Member, ...]:
    """Some streams in an order of time, each with the relations that are joined as soon as it is there.

    Relations that several unrelated streams are joined with are not joined before all streams are there, or, if a
    family is ``early``, with the first of these streams.
    """
    needs = contents.needs
    groups: dict[frozenset[str], list[str]] = {}
    for stream in streams:
        groups.setdefault(needs[stream], []).append(stream)
    blocks = sorted(groups, key=len)
    brought: dict[frozenset[str], list[str]] = {}
    for group in contents.relation_groups:
        linked = [s for s in streams if any(contents.linked(s, relation) for relation in group)]
        first = {needs[s] for s in linked if not any(needs[other] < needs[s] for other in linked)}
        if len(first) == 1 or contents.early:
            for block in first:
                brought.setdefault(block, []).extend(group)
    members = tuple(Member(tuple(groups[b]), tuple(brought.get(b, ())), _after(groups, blocks, b)) for b in blocks)
    looser = (members, _as_forest(members), _in_no_order(members))
    return next((way for way in looser if subsets(_before(way), _names(way)) is not None), members)


def _after(
    groups: dict[frozenset[str], list[str]], blocks: list[frozenset[str]], block: frozenset[str]
) -> tuple[str, ...]:
    """The first streams of what comes just before a block."""
    smaller = [other for other in blocks if other < block]
    return tuple(groups[other][0] for other in smaller if not any(other < between for between in smaller))


def _names(members: tuple[Member, ...]) -> list[Size]:
    """Long names for the members' own entries, to see whether a formula over them is of a reasonable length."""
    return [Symbol(f"{'w' * 30}{number}") for number in range(len(members))]


def _as_forest(members: tuple[Member, ...]) -> tuple[Member, ...]:
    """Each member after one other at most: that allows more sets, so that their formula is a bound, and a short one."""
    return tuple(replace(member, after=member.after[-1:]) for member in members)


def _in_no_order(members: tuple[Member, ...]) -> tuple[Member, ...]:
    """No member after another: that allows all sets."""
    return tuple(replace(member, after=()) for member in members)


def _inside(contents: Contents, members: tuple[Member, ...], member: Member) -> frozenset[str]:
    """The streams and relations that are in every entry with a member."""
    needs = contents.needs[member.streams[0]]
    return needs.union(*(m.relations for m in members if m.streams[0] in needs))


# --- what is kept ----------------------------------------------------------------------------------------------------


def _of_shared(contents: Contents, members: tuple[Member, ...]) -> Iterator[Stored]:
    """What is kept of relations that come with several members: what the sets with any of them need, as it is."""
    shared = shared_relations(members)
    for group in (group for group in contents.relation_groups if group[0] in shared):
        classes: dict[Attribute, list[Attribute]] = {}
        for member in (m for m in members if group[0] in m.relations):
            for attribute in contents.wanted(frozenset(group), _inside(contents, members, member)):
                alike = classes.setdefault(contents.facts.alike(attribute)[0], [])
                alike += [attribute] if attribute not in alike else []
        for first, *rest in classes.values():
            yield Stored(first, (), (), tuple((other, contents.facts.difference(other, first)) for other in rest))


def _keep(facts: Facts, key: list[Stored], stored: Stored, inside: frozenset[str]) -> None:
    """Add what is kept of a member to a key, unless something that is in every such entry has the value."""
    alike = facts.alike(stored.attribute)
    for place, other in enumerate(key):
        if other.exact and other.attribute.source in inside and other.attribute in alike:
            same = tuple((a, facts.difference(a, other.attribute)) for a in stored.attributes)
            key[place] = replace(other, equal=(*other.equal, *same))
            return
    key.append(stored)


def _lapse(contents: Contents, stream: str, key: list[Stored], inside: frozenset[str]) -> Lapse | None:
    """How long values of a stream are held that nothing bounds: until the streams that they are joined with are there.

    None where there are no such values, or a stream may come at any time that they are joined with.
    """
    facts, windows = contents.facts, contents.times.windows[stream]
    mine = (stored for stored in key if stored.attribute.source == stream)
    endless = [stored for stored in mine if stored_count(facts, stored, inside) is None]
    awaited = {other for stored in endless for other in _joined_with(contents, stored.attribute, inside)}
    if not awaited or not all(other in windows or other in facts.finite_streams for other in awaited):
        return None
    passing = tuple(other for other in contents.streams if other in awaited and other in windows)
    ending = tuple(other for other in contents.streams if other in awaited and other not in windows)
    expires = max((windows[other] for other in passing), default=None)
    deadline = max((facts.finite_streams[other] for other in ending), default=None)
    return Lapse(stream, tuple(stored.attribute for stored in endless), passing, expires, ending, deadline)


def _joined_with(contents: Contents, attribute: Attribute, inside: frozenset[str]) -> frozenset[str]:
    """The sources to come that something is joined with which always equals an attribute; all, if it is projected.

    Joins that extrema decide are left out.
    """
    facts = contents.facts
    alike = facts.alike(attribute)
    if any(shown in alike for shown in facts.branch.projected):
        return frozenset(source.alias for source in facts.branch.sources if source.alias not in inside)
    joined = {
        join.partner(other).source
        for other in alike
        for join in facts.joins_on.get(other, ())
        if Reference(join.attribute, join.other, other) not in contents.references
    }
    unequal = (a for atom in contents.facts.unequal if {*atom.attributes} & {*alike} for a in atom.attributes)
    return frozenset({*joined, *(other.source for other in (*alike, *unequal))}) - inside


def _until_passed(stream: str, age: Age | None, lapse: Lapse | None) -> Age | None:
    """What is kept of a stream's timestamp, so that one tells when its values are of no use."""
    if lapse is None or lapse.expires is None:
        return age
    told = 0 if age is None else age.saturates or 0
    return Age(stream, None, max(told, lapse.expires + 1))


def _extrema(contents: Contents, family: SynopsisTable) -> tuple[Extremum, ...]:
    """What entries hold of references: each of an attribute that nothing in every entry with it has."""
    found = []
    for member in family.members:
        carriers, kept = own(family.members, member), least(contents.facts, family, member)
        mine = (reference for reference in contents.references if reference.own.source in carriers)
        found += [(reference, carriers) for reference in mine if is_open(reference, kept.sources, kept.exact)]
    return extrema_of(contents.facts, found)


def fixed_in_family(facts: Facts, family: SynopsisTable) -> tuple[str, ...] | None:
    """The relations whose rows to count one by one, so that the matches of any set that agree in its key have a best
    one for each (`criteria.components`); None when that is not enough.
    """
    ways = ((), family.relations) if family.relations else ((),)
    return next((fixed for fixed in ways if _has_best(facts, family, frozenset(fixed))), None)


def _has_best(facts: Facts, family: SynopsisTable, fixed: frozenset[str]) -> bool:
    """Whether they have, the rows of some relations given.

    They have if linked sources have no different parts in two extrema that one entry holds. The smallest set with two
    parts shows whether it can, and the largest set that still misses what both limit, what is linked.
    """
    inside = {a: least_with(facts, family, a.source).sources for e in family.extrema for a, _ in e.of}
    relations = [source.alias for source in facts.branch.of_kind(Kind.RELATION) if source.alias not in fixed]

    @cache
    def without(*missed: str) -> list[frozenset[str]]:
        there = [s for s in family.streams if not any(m in family.streams and facts.never_newer(m, s) for m in missed)]
        return linked(facts, family, [*there, *(r for r in relations if r not in missed)], fixed)

    for one, other in combinations(family.extrema, 2):
        for (x, _), (y, _) in pairs_of(one.of, other.of):
            both = inside[x] | inside[y]
            for missed in pairs_of(one.missing_in(both), other.missing_in(both)):
                linking = (c for c in without(*missed) if {x.source, y.source} <= c)
                if any(part_of(facts, one, c) != part_of(facts, other, c) for c in linking):
                    return False
    return True


def _age(
    contents: Contents, streams: tuple[str, ...], stream: str, key: list[Stored], inside: frozenset[str]
) -> Age | None:
    """The ages that streams outside may ask for: beyond the widest window none is told apart.

    Where all of them are within windows, one of these is missing in every entry, so that too old tuples are of no use:
    that is what limits values that nothing else does. Streams of other components have no windows.
    """
    times = contents.times
    outside = [other for other in streams if other not in inside]
    waits = [wait for other, wait in times.waits[stream].items() if other in outside]
    stated = [lag + 1 for other in outside if (lag := times.stated_lag(other, stream)) is not None]
    told = max([*waits, *stated], default=None)
    mine = (stored for stored in key if stored.attribute.source == stream)
    counted = all(stored_count(contents.facts, stored, inside) is not None for stored in mine)
    if told is None and counted and stream not in contents.timed:
        return None
    windows = times.windows[stream]
    if all(other in windows for other in outside):
        return Age(stream, max(windows[other] for other in outside), None)
    return None if told is None else Age(stream, None, told)


# --- sums over sets ---------------------------------------------------------------------------------------------------


MOST_PARTS = 2000
"""Parts of an order beyond which its sum is not worked out."""
LONGEST = 20_000
"""Characters of a formula beyond which it is of no use."""
DEEPEST = 60
"""Parentheses in each other beyond which Python does not read a formula, or nearly."""

Members = frozenset[int]


class TooManyError(Exception):
    """The order has too many parts, or its formula is too long."""


def subsets(before: Sequence[Members], weights: Sequence[Size]) -> Size | None:
    """The sum, over the sets that a partial order allows, of the products of their members' weights, as one formula.

    A set is allowed if it holds with each member those ``before`` it, which are transitive; members are numbered. Sets
    are not listed: parts that the order does not relate are factors; of the sets of one part those without some member
    are sets of what need not come after it, those with it are sets of what need not come before it.

    None for more than `MOST_PARTS` parts, or a formula that is longer than `LONGEST` or deeper than `DEEPEST`.

    >>> from streambound.criteria.size import Symbol
    >>> subsets([frozenset(), frozenset({0}), frozenset({0})], [Symbol("a"), Symbol("b"), Symbol("c")]).text
    'a*(b + 1)*(c + 1) + 1'
    """
    members = frozenset(range(len(before)))
    after = [frozenset(other for other in members if one in before[other]) for one in range(len(before))]
    try:
        return _Sum(before, after, weights).over(members)
    except TooManyError:
        return None


@dataclass
class _Sum:
    before: Sequence[Members]
    after: Sequence[Members]
    weights: Sequence[Size]
    known: dict[Members, Size] = field(default_factory=dict)

    def over(self, members: Members) -> Size:
        if members not in self.known:
            self.known[members] = Number(0)
            if len(self.known) > MOST_PARTS:
                raise TooManyError
            parts = list(self._parts(members))
            found = self._of_one(members) if len(parts) == 1 else product(map(self.over, parts))
            if len(found.text) > LONGEST or found.depth > DEEPEST:
                raise TooManyError
            self.known[members] = found
        return self.known[members]

    def _of_one(self, members: Members) -> Size:
        """The sum over sets of related members: without the one that most others are related to, and with it."""
        one = max(sorted(members), key=lambda one: len(self._related(one) & members))
        weight = product(self.weights[other] for other in sorted({one} | self.before[one] & members))
        without, rest = members - {one} - self.after[one], members - {one} - self.before[one]
        return total([product([weight, self.over(rest)]), self.over(without)])

    def _related(self, one: int) -> Members:
        return self.before[one] | self.after[one]

    def _parts(self, members: Members) -> list[Members]:
        """The members by what relates them, directly or through others."""
        return [frozenset(part) for part in connected.components(sorted(members), self._related)]
