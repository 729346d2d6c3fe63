"""The synopsis of a bounded branch: one table per realisable set of streams (theory §4, "Why it suffices").

A set D of streams is *realisable* if no stream outside is forced to be at most as new as one inside. Its table maps the
values that the future still needs of a partial match of D (clipped where only an interval matters) and the timestamps
that a window outside still needs, to a number of partial matches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from streambound.analyzer.work import spend
from streambound.criteria.contents import Contents
from streambound.criteria.extremum import extrema
from streambound.criteria.family import families, least_with
from streambound.criteria.independence import Independence
from streambound.criteria.tables import Age, SynopsisTable
from streambound.criteria.ways import Way, ways, ways_between

MOST_WHOLE = 12
"""Realisable sets of streams up to which each has a table of its own, whatever streams are independent: so many tables
may be folded by executors (`synopsis_exec.range_choice`)."""
_STEPS_A_TABLE = 100
MOST_TABLES = 1024
"""Tables beyond which no plan is made."""


@dataclass(frozen=True)
class Synopsis(Contents):
    """The tables and transitions of one branch. ``in_one`` says that a family holds all sets, however few."""

    in_one: bool = False

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
    def _independence(self) -> Independence | None:
        """Which streams are independent, where otherwise there would be many tables; None where all sets have one.

        A finite stream's end empties all tables that it is missing in. Extrema are joined where there is no other way.
        """
        most = MOST_TABLES if self.references else MOST_WHOLE
        if self.facts.finite_streams or self._realisable(most) is not None:
            return None
        return Independence(self.streams, self.needs, self.times.windows, self.neighbours, MOST_TABLES)

    @property
    def each_alone(self) -> bool:
        """Whether each of the realisable sets, which are not many, has a table of its own."""
        return self.sets is not None and self._independence is None and len(self.sets) <= MOST_WHOLE

    def parts(self, streams: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """The sets of streams whose tables together hold the matches of a realisable set."""
        if self._independence is not None:
            return self._independence.parts(streams)
        return (streams,) if streams else ()

    @cached_property
    def tables(self) -> tuple[SynopsisTable, ...]:
        """One table per set; beyond `MOST_TABLES` families, and a table of each component's full set."""
        if self.sets is not None:
            return tuple(self._table(members) for members in self.sets)
        several = tuple(family for family in self.families if len(family.members) > 1)
        if len(self.families) == 1:
            return several
        return (*several, *(self._table(family.streams) for family in self.families))

    @cached_property
    def families(self) -> tuple[SynopsisTable, ...]:
        """The tables of all sets of each component, where each set cannot have one; else none."""
        return families(self) if self.sets is None else ()

    @cached_property
    def transitions(self) -> tuple[Way, ...] | None:
        """All ways to complete a partial match at one timestamp, targets smallest first; None beyond `MOST_WAYS`.

        The entries of a family grow by a stream at a time instead.
        """
        if self.families:
            grown = {family.streams: len(family.members) > 1 for family in self.families}
            return ways_between(self.streams, grown) if len(grown) > 1 else ()
        return ways(self.facts, self.parts, (*(self.sets or ()), self.streams))

    def late_relations(self, stream: str) -> frozenset[str]:
        """The relations that are not joined yet in every match with a stream: a family may join them later, too."""
        if not self.families:
            return self.late
        family = next(family for family in self.families if stream in family.streams)
        relations = (alias for group in self.relation_groups for alias in group)
        return frozenset(relations).difference(least_with(self.facts, family, stream).relations)

    def _table(self, streams: tuple[str, ...]) -> SynopsisTable:
        spend(_STEPS_A_TABLE)
        relations = self.relations_of(streams)
        inside = frozenset((*streams, *relations))
        ages = tuple(age for stream in streams if (age := self._age(stream, inside)) is not None)
        ends = [
            self.facts.finite_streams[s] for s in self.streams if s not in inside and s in self.facts.finite_streams
        ]
        table = SynopsisTable(streams, relations, self.key(inside), ages, min(ends, default=None))
        return replace(table, extrema=extrema(self.facts, self.references, inside, table.exact))

    def part(self, streams: tuple[str, ...], relations: tuple[str, ...]) -> SynopsisTable:
        """The table of matches of some streams and relations alone, whichever the others, older or newer, are.

        A value is clipped as in a table: whether a join is harmless does not depend on which side is newer.
        """
        inside = frozenset((*streams, *relations))
        return SynopsisTable(streams, relations, self.key(inside), (), None)

    # --- ages --------------------------------------------------------------------------------------------------

    def _age(self, stream: str, inside: frozenset[str]) -> Age | None:
        """What a table keeps of a stream's timestamp: nothing where the streams outside only need it to be older."""
        expires = self._expires(stream, inside)
        waits = [wait for other, wait in self.times.waits[stream].items() if other not in inside]
        if expires is None and stream in self.timed:
            return Age(stream, None, None)
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
