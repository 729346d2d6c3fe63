"""The synopsis of a bounded branch: one table per realisable set of streams (theory §4, "Why it suffices").

A set D of streams is *realisable* if no stream outside is forced to be at most as new as one inside. Its table maps the
values that the future still needs of a partial match of D (clipped where only an interval matters) and the timestamps
that a window outside still needs, to a number of partial matches.

Relations are joined as soon as a stream that they are joined with has a tuple, so that a stream's attribute compared
with a relation need not be remembered for that comparison.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.closure import Sort
from streambound.analyzer.query import Attribute, Kind
from streambound.analyzer.work import spend
from streambound.criteria.clipping import Open, clip, clipped_to
from streambound.criteria.cuts import Cut, cuts
from streambound.criteria.extremum import extrema
from streambound.criteria.family import families, least_with
from streambound.criteria.independence import Independence
from streambound.criteria.order_search import Reference
from streambound.criteria.tables import Age, Stored, Table
from streambound.criteria.times import Times
from streambound.criteria.ways import Transition, ways, ways_between

MOST_WHOLE = 12
"""Realisable sets of streams up to which each has a table of its own, whatever streams are independent: so many tables
may be folded by executors (`synopsis_exec.range_choice`)."""
_STEPS_A_TABLE = 100
MOST_TABLES = 1024
"""Tables beyond which no plan is made."""


@dataclass(frozen=True)
class Synopsis:
    """The tables and transitions of one branch whose facts are given.

    ``references`` are the joins for which a set query keeps extrema; a bag has none, and keeps values. With ``linking``
    tables also keep what their own sources are joined by, where it has finitely many values: the matches that agree in
    it may have a best one where all of them have none. ``in_one`` says that a family holds all sets, however few;
    ``early``, that it joins a relation with whichever comes first of the streams joined with that one.
    """

    facts: Facts
    references: tuple[Reference, ...] = ()
    linking: bool = False
    in_one: bool = False
    early: bool = False

    @cached_property
    def streams(self) -> tuple[str, ...]:
        """All streams of the branch, in FROM order."""
        return tuple(source.alias for source in self.facts.branch.streams)

    @cached_property
    def times(self) -> Times:
        """What the timestamps of the streams have to do with each other."""
        return Times(self.facts)

    @cached_property
    def sets(self) -> tuple[tuple[str, ...], ...] | None:
        """The sets of streams that have a table, smallest first; None beyond `MOST_TABLES`, or for a family.

        >>> # X.ts > Y.ts > Z.ts gives {Z} and {Y, Z}
        """
        if self.in_one:
            return None
        independence = self._independence
        found = self._realisable(MOST_TABLES) if independence is None else independence.sets
        if found is None:
            return None
        order = self.streams.index
        proper = [tuple(sorted(m, key=order)) for m in found if 0 < len(m) < len(self.streams)]
        return tuple(sorted(proper, key=lambda members: (len(members), [order(s) for s in members])))

    def _realisable(self, most: int) -> set[frozenset[str]] | None:
        """The realisable sets, the empty and the full one among them; None where more than ``most`` others."""
        found: set[frozenset[str]] = {frozenset()}
        frontier = list(found)
        while frontier:
            larger = {members | self.needs[stream] for members in frontier for stream in self.streams} - found
            found |= larger
            if len(found) > most + 2:
                return None
            frontier = list(larger)
        return found

    @cached_property
    def needs(self) -> dict[str, frozenset[str]]:
        """Every stream with those that are never newer."""
        return {s: frozenset(t for t in self.streams if t == s or self.facts.never_newer(t, s)) for s in self.streams}

    @cached_property
    def _independence(self) -> Independence | None:
        """Which streams are independent, where otherwise there would be many tables; None where all sets have one.

        A finite stream's end empties all tables that it is missing in. Extrema are joined where there is no other way.
        """
        few = MOST_TABLES if self.references else MOST_WHOLE
        if self.facts.finite_streams or self._realisable(few) is not None:
            return None
        return Independence(self.streams, self.needs, self.times.windows, self.near, MOST_TABLES)

    def near(self, x: str, y: str) -> bool:
        """Whether streams are joined with the same relations, or their values may be kept as places among others."""
        shared = (group for group in self.relation_groups if any(self.linked(x, member) for member in group))
        if any(self.linked(y, member) for group in shared for member in group):
            return True
        return any(
            join.partner(own).source == y and not join.equality and self.facts.closure.sort(own) is not Sort.DISCRETE
            for own, join in self.facts.joins_of(x, (y,))
        )

    def parts(self, streams: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """The sets of streams whose tables together hold the matches of a realisable set."""
        if self._independence is not None:
            return self._independence.parts(streams)
        return (streams,) if streams else ()

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """One table per set; beyond `MOST_TABLES` families, and a table of each component's full set."""
        if self.sets is not None:
            return tuple(self._table(members) for members in self.sets)
        several = tuple(family for family in self.families if len(family.members) > 1)
        if len(self.families) == 1:
            return several
        return (*several, *(self._table(family.streams) for family in self.families))

    @cached_property
    def families(self) -> tuple[Table, ...]:
        """The tables of all sets of each component, where each set cannot have one; else none."""
        return families(self) if self.sets is None else ()

    @cached_property
    def transitions(self) -> tuple[Transition, ...] | None:
        """All ways to complete a partial match at one timestamp, targets smallest first; None beyond `MOST_WAYS`.

        The entries of a family grow by a stream at a time instead.
        """
        if self.families:
            grown = {family.streams: len(family.members) > 1 for family in self.families}
            return ways_between(self.streams, grown) if len(grown) > 1 else ()
        return ways(self.facts, self.parts, (*(self.sets or ()), self.streams))

    # --- relations ---------------------------------------------------------------------------------------------

    @cached_property
    def relation_groups(self) -> tuple[tuple[str, ...], ...]:
        """Relations that are joined with each other, directly or through others: they are joined once, beforehand."""
        groups: list[set[str]] = []
        for source in self.facts.branch.of_kind(Kind.RELATION):
            linked = [group for group in groups if any(self.linked(source.alias, other) for other in group)]
            merged = {source.alias}.union(*linked)
            groups = [group for group in groups if group not in linked] + [merged]
        order = [source.alias for source in self.facts.branch.sources]
        return tuple(tuple(sorted(group, key=order.index)) for group in groups)

    def linked(self, x: str, y: str) -> bool:
        """Whether a condition joins two sources."""
        return frozenset((x, y)) in self.facts.joined

    @cached_property
    def _unequal(self) -> dict[Attribute, set[str]]:
        """The attributes in a ``<>``, each with the sources there."""
        found: dict[Attribute, set[str]] = {}
        for atom in self.facts.unequal:
            for attribute in atom.attributes:
                found.setdefault(attribute, set()).update(a.source for a in atom.attributes)
        return found

    def relations_of(self, streams: tuple[str, ...]) -> tuple[str, ...]:
        """The relations joined into partial matches of a set: those linked with it; all of them for the full set."""
        if set(streams) == set(self.streams):
            return tuple(alias for group in self.relation_groups for alias in group)
        return tuple(
            alias
            for group in self.relation_groups
            if any(self.linked(stream, member) for stream in streams for member in group)
            for alias in group
        )

    def late_relations(self, stream: str) -> frozenset[str]:
        """The relations that are not joined yet in every match with a stream: a family may join them later."""
        if not self.families:
            return frozenset()
        family = next(family for family in self.families if stream in family.streams)
        relations = (alias for group in self.relation_groups for alias in group)
        return frozenset(relations).difference(least_with(self.facts, family, stream).relations)

    # --- keys --------------------------------------------------------------------------------------------------

    def _table(self, streams: tuple[str, ...]) -> Table:
        spend(_STEPS_A_TABLE)
        relations = self.relations_of(streams)
        inside = frozenset((*streams, *relations))
        ages = tuple(age for stream in streams if (age := self._age(stream, inside)) is not None)
        ends = [
            self.facts.finite_streams[s] for s in self.streams if s not in inside and s in self.facts.finite_streams
        ]
        table = Table(streams, relations, self._key(inside), ages, min(ends, default=None))
        return replace(table, extrema=extrema(self.facts, self.references, inside, table.exact))

    def part(self, streams: tuple[str, ...], relations: tuple[str, ...]) -> Table:
        """The table of matches of some streams and relations alone, whichever the others, older or newer, are.

        A value is clipped as in a table: whether a join is harmless does not depend on which side is newer.
        """
        inside = frozenset((*streams, *relations))
        return Table(streams, relations, self._key(inside), (), None)

    def _key(self, inside: frozenset[str]) -> tuple[Stored, ...]:
        """What a table keeps, with the finite streams' attributes that its values are clipped to."""
        links = frozenset(attribute for attribute in self._links if attribute.source in inside)
        plain = tuple(self._stored(inside, links))
        if inside.isdisjoint(self.facts.finite_streams):
            return plain
        limiting = frozenset(a for stored in plain for a in self._limiting(stored, plain, inside))
        return tuple(self._stored(inside, limiting | links)) if limiting else plain

    @cached_property
    def _links(self) -> frozenset[Attribute]:
        """What tables keep because their own sources are joined by it."""
        joins = (join for join in self.facts.joins if join.equality and self.linking)
        return frozenset(a for join in joins for a in (join.attribute, join.other) if self.facts.bounded(a))

    def kept(self, mine: frozenset[str], inside: frozenset[str]) -> Iterator[Stored]:
        """What a table of the sources ``inside`` keeps of some of them."""
        yield from self._stored(inside, mine=mine)

    def wanted(self, mine: frozenset[str], inside: frozenset[str]) -> Iterator[Attribute]:
        """The attributes of some of the sources ``inside`` that a table of these needs, in some way or other."""
        yield from (attribute for members in self._classes(inside, frozenset(), mine) for attribute in members)

    def _stored(
        self,
        inside: frozenset[str],
        limiting: frozenset[Attribute] = frozenset(),
        mine: frozenset[str] | None = None,
    ) -> Iterator[Stored]:
        """What is kept of each class of equal attributes; ``limiting`` are kept as they are.

        Only attributes of the sources ``mine`` are looked at, if they are given.
        """
        for members in self._classes(inside, limiting, inside if mine is None else mine):
            exact = any(member in limiting or self._exact(member, inside) for member in members)
            joins = self._open_joins(members, inside)
            if not exact and not joins:
                continue
            kept, rest = members[0], members[1:]
            low, high = ((), ()) if exact else clip(self.facts, kept, joins, limiting)
            equal = tuple((other, self.facts.difference(other, kept)) for other in rest)
            yield Stored(kept, low, high, equal, () if exact else self._cuts(kept, joins))

    def _classes(
        self, inside: frozenset[str], limiting: frozenset[Attribute], mine: frozenset[str]
    ) -> Iterator[list[Attribute]]:
        """The attributes that may be kept, those that are equal together, the one to keep first."""
        classes: dict[Attribute, list[Attribute]] = {}
        for attribute, partners in {**self._wanted, **{a: frozenset() for a in limiting - self._wanted.keys()}}.items():
            wanted = attribute in self._projected or attribute in limiting or not partners <= inside
            if attribute.source in mine and wanted:
                classes.setdefault(self.facts.alike(attribute)[0], []).append(attribute)
        yield from (sorted(members, key=self._carrier) for members in classes.values())

    def _limiting(self, stored: Stored, key: tuple[Stored, ...], inside: frozenset[str]) -> Iterator[Attribute]:
        """The finite streams' attributes to which an attribute of a key must be clipped, since nothing else limits how
        long it is kept, or its values.
        """
        if stored.exact and self._for_ever(stored.attribute.source, inside):
            exact = frozenset(attribute for other in key if other.exact for attribute in other.attributes)
            joins = self._open_joins(list(stored.attributes), inside)
            yield from clipped_to(self.facts, stored.attribute, joins, inside, exact)

    def _for_ever(self, stream: str, inside: frozenset[str]) -> bool:
        """Whether a table may keep tuples of a stream for ever."""
        ends = self.facts.finite_streams
        outside = [other for other in self.streams if other not in inside]
        windows = self.times.windows.get(stream, {})
        return stream in self.facts.infinite and not any(other in ends or other in windows for other in outside)

    @cached_property
    def _as_extremum(self) -> frozenset[Reference]:
        return frozenset(self.references)

    def _carrier(self, attribute: Attribute) -> tuple[bool, float, str, str]:
        """Which of some equal attributes is kept, whatever the order of FROM: the least of a relation or of the stream
        that ends first, since its tuples are the fewest.
        """
        source = self.facts.branch.source(attribute.source)
        end = self.facts.finite_streams.get(source.alias, inf)
        return source.kind is not Kind.RELATION, end, source.table, attribute.column

    @cached_property
    def _projected(self) -> dict[Attribute, None]:
        """The attributes of the select list, in its order."""
        return dict.fromkeys(o.value for o in self.facts.branch.outputs if isinstance(o.value, Attribute))

    @cached_property
    def _wanted(self) -> dict[Attribute, frozenset[str]]:
        """The attributes that some table may keep, each with the sources that it is compared with.

        Those of types that cannot be compared are in no closure; they come last.
        """
        found: dict[Attribute, set[str]] = {
            a: {j.partner(a).source for j in js} for a, js in self.facts.joins_on.items()
        }
        for attribute, partners in self._unequal.items():
            found.setdefault(attribute, set()).update(partners)
        known = [a for a in self.facts.closure.nodes if a in found or a in self._projected]
        others = [a for a in self._projected if a not in self.facts.closure.nodes]
        return {a: frozenset(found.get(a, ())) for a in (*known, *others)}

    def _open_joins(self, members: list[Attribute], inside: frozenset[str]) -> list[Open]:
        """The joins of some attributes with sources outside that an extremum does not decide."""
        joins = [(a, j) for a in members for j in self.facts.joins_on.get(a, ()) if j.partner(a).source not in inside]
        return [(a, j) for a, j in joins if Reference(j.attribute, j.other, a) not in self._as_extremum]

    def _cuts(self, kept: Attribute, joins: list[Open]) -> tuple[Cut, ...]:
        """Over dense types, where the future compares with listed values only: the cuts that decide."""
        if kept not in self.facts.closure.nodes or self.facts.closure.sort(kept) is Sort.DISCRETE:
            return ()
        return () if any(join.equality for _, join in joins) else cuts(self.facts, kept, joins)

    def _exact(self, attribute: Attribute, inside: frozenset[str]) -> bool:
        """Whether every value of an attribute differs for the future: it is projected, or in an open ``<>``."""
        return attribute in self._projected or not self._unequal.get(attribute, set()) <= inside

    # --- ages --------------------------------------------------------------------------------------------------

    def _age(self, stream: str, inside: frozenset[str]) -> Age | None:
        """What a table keeps of a stream's timestamp: nothing where the streams outside only need it to be older."""
        expires = self._expires(stream, inside)
        waits = [wait for other, wait in self.times.waits[stream].items() if other not in inside]
        if expires is None and not waits:
            return None
        return Age(stream, expires, max(waits, default=None))

    def expiries(self, streams: tuple[str, ...]) -> dict[str, int]:
        """The ages from which on tuples in the table of some streams are of no use."""
        found = {stream: self._expires(stream, frozenset(streams)) for stream in streams}
        return {stream: age for stream, age in found.items() if age is not None}

    def _expires(self, stream: str, inside: frozenset[str]) -> int | None:
        """The age from which on a tuple is of no use, since a missing stream's would be too new for it."""
        if self._independence is not None:
            return self._independence.expires(inside.intersection(self.streams), stream)
        return min((lag for other, lag in self.times.windows[stream].items() if other not in inside), default=None)
