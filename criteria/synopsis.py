"""The synopsis of a bounded branch: one table per realisable set of streams (docs/theory-bags.md).

A set D of streams is *realisable* if no stream outside is forced to be at most as new as one inside. Its table maps the
values that the future still needs of a partial match of D (clipped where only an interval matters) and the timestamps
that a window outside still needs, to a number of partial matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from streambound.analyzer.connected import components
from streambound.analyzer.work import spend
from streambound.criteria.contents import Contents
from streambound.criteria.extremum import extrema
from streambound.criteria.tables import Age, SynopsisTable
from streambound.criteria.ways import Way, ways

Streams = frozenset[str]

Neighbours = dict[str, Streams]
"""For every stream the others that it is not independent of."""

_STEPS_AT_ONCE = 8
"""Streams that are looked up in the time of a step."""


class Independence(Struct, frozen=True, dict=True):
    """The sets of streams that need a table, and for how long each must hold its tuples.

    Two streams are *neighbours* if one of them is never newer than the other, if they are joined with the same
    relations, or if a window between them is narrower than the time for which their tables hold tuples. Others are
    independent: the matches of a realisable set are those of its *parts*, the components of neighbours, joined as the
    conditions between them say (docs/theory-bounds.md).

    ``needs`` gives for every stream those that are never newer, itself among them; ``windows`` how much newer than it
    each other one may be, as far as that is limited; ``linked`` the pairs that are neighbours for other reasons. More
    than ``most`` sets are not looked for.
    """

    streams: tuple[str, ...]
    needs: dict[str, Streams]
    windows: dict[str, dict[str, int]]
    linked: Callable[[str, str], bool]
    most: int

    @cached_property
    def sets(self) -> set[Streams] | None:
        """The connected realisable sets, perhaps the full one among them; None for too many."""
        return self._found[1]

    @property
    def neighbours(self) -> Neighbours:
        """For every stream those that it is not independent of."""
        return self._found[0]

    @cached_property
    def _found(self) -> tuple[Neighbours, set[Streams] | None]:
        """The neighbours and the sets that need a table: both grow till no window is narrower than what tables hold."""
        neighbours = {
            x: frozenset(
                y
                for y in self.streams
                if x != y and (x in self.needs[y] or y in self.needs[x] or self.linked(x, y) or self.linked(y, x))
            )
            for x in self.streams
        }
        while True:
            sets = self._connected(neighbours)
            narrow = list(self._narrow(neighbours, sets or ()))
            if sets is None or not narrow:
                return neighbours, sets
            for x, y in narrow:
                neighbours |= {x: neighbours[x] | {y}, y: neighbours[y] | {x}}

    def _connected(self, neighbours: Neighbours) -> set[Streams] | None:
        found = {self.needs[stream] for stream in self.streams}
        frontier = list(found)
        while frontier:
            larger = {
                members | self.needs[stream]
                for members, around in ((members, _with_neighbours(neighbours, members)) for members in frontier)
                for stream in self.streams
                if stream not in members and not around.isdisjoint(self.needs[stream])
            } - found
            found |= larger
            if len(found) > self.most + 1:
                return None
            frontier = list(larger)
        return found

    def _narrow(self, neighbours: Neighbours, sets: Iterable[Streams]) -> Iterator[tuple[str, str]]:
        """The pairs of which a table may hold a tuple of one when the other is too new for it."""
        held: dict[str, float] = {}
        for members in (members for members in sets if len(members) < len(self.streams)):
            for stream, age in self._ages(neighbours, members).items():
                held[stream] = max(held.get(stream, 0), inf if age is None else age)
        for older in self.streams:
            for newer, window in self.windows[older].items():
                if newer not in neighbours[older] and held.get(older, inf) > window:
                    yield older, newer

    def expires(self, members: Streams, stream: str) -> int | None:
        """The age from which on a table of some streams need not hold a tuple of one of them; None for never."""
        if members not in self._expiring:
            self._expiring[members] = self._ages(self.neighbours, members)
        return self._expiring[members][stream]

    @cached_property
    def _expiring(self) -> dict[Streams, dict[str, int | None]]:
        return {}

    def _ages(self, neighbours: Neighbours, members: Streams) -> dict[str, int | None]:
        """For each of some streams the age from which on no match needs its tuple; None for never.

        Neighbours of the set are missing whenever it is a part; of the others, one at least.
        """
        around = _with_neighbours(neighbours, members)
        outside = [other for other in self.streams if other not in members]
        missing = [other for other in outside if other in around]
        spend(len(members) * len(missing or outside) / _STEPS_AT_ONCE)
        ages: dict[str, int | None] = {}
        for stream in members:
            windows = self.windows[stream]
            if missing:
                ages[stream] = min((windows[other] for other in missing if other in windows), default=None)
            else:
                limited = all(other in windows for other in outside)
                ages[stream] = max(windows[other] for other in outside) if limited else None
        return ages

    def parts(self, members: Iterable[str]) -> tuple[tuple[str, ...], ...]:
        """The parts of some streams, in the order of FROM."""
        return components(sorted(members, key=self.streams.index), self.neighbours.__getitem__)


def _with_neighbours(neighbours: Neighbours, members: Streams) -> Streams:
    """Some streams and their neighbours."""
    spend(1 + sum(len(neighbours[stream]) for stream in members) / _STEPS_AT_ONCE)
    return members.union(*(neighbours[stream] for stream in members))


# --- independent streams ----------------------------------------------------------------------------------------------


MOST_WHOLE = 12
"""Realisable sets of streams up to which each has a table of its own, whatever streams are independent: so many tables
may be folded by executors (`synopsis_exec.range_choice`)."""
_STEPS_A_TABLE = 100
MOST_TABLES = 1024
"""Tables beyond which no plan is made."""


class Synopsis(Contents, frozen=True, dict=True):
    """The tables and transitions of one branch."""

    @cached_property
    def sets(self) -> tuple[tuple[str, ...], ...] | None:
        """The sets of streams that have a table, smallest first; None beyond `MOST_TABLES`.

        >>> # X.ts > Y.ts > Z.ts gives {Z} and {Y, Z}
        """
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
        """One table per set; none beyond `MOST_TABLES`."""
        return tuple(self._table(members) for members in self.sets or ())

    @cached_property
    def transitions(self) -> tuple[Way, ...] | None:
        """All ways to complete a partial match at one timestamp, targets smallest first; None beyond `MOST_WAYS`."""
        return ways(self.facts, self.parts, (*(self.sets or ()), self.streams))

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
        """The age that a table keeps for a stream; None where the streams outside only need it to be older."""
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
