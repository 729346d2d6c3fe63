"""Which streams are independent: a set of streams that falls into independent parts needs no table of its own.

Two streams are *neighbours* if one of them is never newer than the other, if they are joined with the same relations,
or if a window between them is narrower than the time for which their tables hold tuples. Others are independent: the
matches of a realisable set are those of its *parts*, the components of neighbours, joined as the conditions between
them say (docs/theory.md, section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

from streambound.analyzer.connected import components
from streambound.analyzer.work import spend

Streams = frozenset[str]

Neighbours = dict[str, Streams]
"""For every stream the others that it is not independent of."""

_STEPS_AT_ONCE = 8
"""Streams that are looked up in the time of a step."""


@dataclass(frozen=True)
class Independence:
    """The sets of streams that need a table, and for how long each must hold its tuples.

    ``needs`` gives for every stream those that are never newer, itself among them; ``windows`` how much newer than it
    each other one may be, as far as that is limited; ``linked`` the pairs that are neighbours for other reasons. More
    than ``most`` sets are not looked for.
    """

    streams: tuple[str, ...]
    needs: dict[str, Streams]
    windows: dict[str, dict[str, int]]
    linked: Callable[[str, str], bool] = field(repr=False)
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
