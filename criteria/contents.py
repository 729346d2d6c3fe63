"""What the tables of a branch keep of partial matches: the values that the future still needs (docs/theory-bags.md).

Relations are joined as soon as a stream that they are joined with has a tuple, so that a stream's attribute compared
with a relation need not be remembered for that comparison; or, if they are `Contents.late`, when a second one has.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import inf

from msgspec import Struct

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.closure import Sort
from streambound.analyzer.query import Attribute, Kind
from streambound.criteria.clipping import Open, clip, clipped_to
from streambound.criteria.cuts import Cut, cuts
from streambound.criteria.order_search import Reference
from streambound.criteria.projected_time import timed
from streambound.criteria.tables import Stored


class TimeLimits(Struct, frozen=True, dict=True):
    """The windows of one branch."""

    facts: Facts

    @cached_property
    def _streams(self) -> tuple[str, ...]:
        return tuple(source.alias for source in self.facts.branch.streams)

    @cached_property
    def windows(self) -> dict[str, dict[str, int]]:
        """For every stream how much newer each other one can be, as far as that is limited."""
        pairs = {s: {other: self.window(other, s) for other in self._streams if other != s} for s in self._streams}
        return {s: {other: lag for other, lag in lags.items() if lag is not None} for s, lags in pairs.items()}

    @cached_property
    def waits(self) -> dict[str, dict[str, int]]:
        """For every stream how much older than each other one it must be, where that is more than older."""
        pairs = {s: {other: self.stated_lag(s, other) for other in self._streams if other != s} for s in self._streams}
        return {s: {o: -lag for o, lag in lags.items() if lag is not None and lag <= -2} for s, lags in pairs.items()}

    def window(self, newer: str, older: str) -> int | None:
        """The largest ``newer.ts − older.ts``, where it does not follow from the end of a finite stream alone."""
        matrix, i = self.facts.closure.node(self.facts.time(newer))
        j = self.facts.closure.nodes[self.facts.time(older)][1]
        return None if matrix.implied_through(i, 0, j) else matrix.bound(i, j)

    def stated_lag(self, newer: str, older: str) -> int | None:
        """The largest ``newer.ts − older.ts``, where it does not follow through a third stream or constants."""
        matrix, i = self.facts.closure.node(self.facts.time(newer))
        j = self.facts.closure.nodes[self.facts.time(older)][1]
        if not matrix.finite(i, j) or matrix.implied_through(i, 0, j) or matrix.redundant(i, j):
            return None
        return matrix.bound(i, j)

    def age_checks(self, new: str, old: str) -> tuple[int | None, int | None]:
        """What to check when ``new`` arrives and ``old`` is remembered: the least and greatest age of ``old``.

        Both are None where being older is enough, as it always is without windows.
        """
        least = self.stated_lag(old, new)
        greatest = self.stated_lag(new, old)
        return (-least if least is not None and least <= -2 else None), greatest


class Contents(Struct, frozen=True, dict=True):
    """What partial matches of a branch are made of, whose facts are given.

    ``references`` are the joins for which a set query keeps extrema; a bag has none, and keeps values. With ``linking``
    tables also keep what their own sources are joined by, where it has finitely many values: the matches that agree in
    it may have a best one where all of them have none. ``late`` relations are joined when two of the streams joined
    with them are there, or all streams: before, what is compared with them is kept. So no table relates two of its
    streams by a relation that it lacks.
    """

    facts: Facts
    references: tuple[Reference, ...] = ()
    linking: bool = False
    late: frozenset[str] = frozenset()

    @cached_property
    def streams(self) -> tuple[str, ...]:
        """All streams of the branch, in FROM order."""
        return tuple(source.alias for source in self.facts.branch.streams)

    @cached_property
    def timed(self) -> frozenset[str]:
        """The streams whose times entries hold as they are: the select list has them."""
        return timed(self.facts)

    @cached_property
    def times(self) -> TimeLimits:
        """What the timestamps of the streams have to do with each other."""
        return TimeLimits(self.facts)

    @cached_property
    def needs(self) -> dict[str, frozenset[str]]:
        """Every stream with those that are never newer."""
        return {s: frozenset(t for t in self.streams if t == s or self.facts.never_newer(t, s)) for s in self.streams}

    def neighbours(self, x: str, y: str) -> bool:
        """Whether streams are joined with the same relations, or their values may be kept as places among others."""
        shared = (group for group in self.relation_groups if any(self.linked(x, member) for member in group))
        if any(self.linked(y, member) for group in shared for member in group):
            return True
        return any(
            join.partner(own).source == y and not join.equality and self.facts.closure.sort(own) is not Sort.DISCRETE
            for own, join in self.facts.joins_of(x, (y,))
        )

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
        return tuple(alias for group in self.relation_groups if self._is_joined(group, streams) for alias in group)

    def _is_joined(self, group: tuple[str, ...], streams: tuple[str, ...]) -> bool:
        linked = (stream for stream in streams if any(self.linked(stream, member) for member in group))
        first = next(linked, None)
        return first is not None and (self.late.isdisjoint(group) or next(linked, None) is not None)

    # --- keys --------------------------------------------------------------------------------------------------

    def key(self, inside: frozenset[str]) -> tuple[Stored, ...]:
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

    def _stored(self, inside: frozenset[str], limiting: frozenset[Attribute]) -> Iterator[Stored]:
        """What is kept of each class of equal attributes; ``limiting`` are kept as they are."""
        for members in self._classes(inside, limiting):
            exact = any(member in limiting or self._exact(member, inside) for member in members)
            joins = self._open_joins(members, inside)
            if not exact and not joins:
                continue
            kept, rest = members[0], members[1:]
            low, high = ((), ()) if exact else clip(self.facts, kept, joins, limiting)
            equal = tuple((other, self.facts.difference(other, kept)) for other in rest)
            yield Stored(kept, low, high, equal, () if exact else self._cuts(kept, joins))

    def _classes(self, inside: frozenset[str], limiting: frozenset[Attribute]) -> Iterator[list[Attribute]]:
        """The attributes that may be kept, those that are equal together, the one to keep first."""
        classes: dict[Attribute, list[Attribute]] = {}
        for attribute, partners in {**self._wanted, **{a: frozenset() for a in limiting - self._wanted.keys()}}.items():
            wanted = attribute in self._projected or attribute in limiting or not partners <= inside
            if attribute.source in inside and wanted:
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
        return dict.fromkeys(self.facts.branch.projected)

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
