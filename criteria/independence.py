"""Which streams are independent: a set of streams that falls into independent parts needs no table of its own.

Two streams are *near* if one of them is never newer than the other, if they are joined with the same relations, or if a
window between them is narrower than the time for which their tables hold tuples. Others are independent: the matches of
a realisable set are those of its *parts*, the components that nearness makes, joined as the conditions between them say
(docs/theory.md, section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

Streams = frozenset[str]


@dataclass(frozen=True)
class Independence:
    """The sets of streams that need a table, and for how long each must hold its tuples.

    ``needs`` gives for every stream those that are never newer, itself among them; ``windows`` how much newer than it
    each other one may be, as far as that is limited; ``linked`` the pairs that are near for other reasons. More than
    ``most`` sets are not looked for.
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
    def near(self) -> frozenset[Streams]:
        """The pairs of streams that are not independent."""
        return self._found[0]

    @cached_property
    def _found(self) -> tuple[frozenset[Streams], set[Streams] | None]:
        """Nearness grows until no window is narrower than what tables hold, and with it the sets that need a table."""
        near = frozenset(
            frozenset((x, y))
            for x in self.streams
            for y in self.streams
            if x != y and (x in self.needs[y] or self.linked(x, y))
        )
        while True:
            sets = self._connected(near)
            narrow = frozenset(self._narrow(near, sets or ()))
            if sets is None or not narrow:
                return near, sets
            near |= narrow

    def _connected(self, near: frozenset[Streams]) -> set[Streams] | None:
        found = {self.needs[stream] for stream in self.streams}
        frontier = list(found)
        while frontier:
            larger = {
                members | self.needs[stream]
                for members in frontier
                for stream in self.streams
                if stream not in members and _touches(near, members, self.needs[stream])
            } - found
            found |= larger
            if len(found) > self.most + 1:
                return None
            frontier = list(larger)
        return found

    def _narrow(self, near: frozenset[Streams], sets: Iterable[Streams]) -> Iterator[Streams]:
        """The pairs of which a table may hold a tuple of one when the other is too new for it."""
        held: dict[str, float] = {}
        for members in (members for members in sets if len(members) < len(self.streams)):
            for stream in members:
                held[stream] = max(held.get(stream, 0), _least_age(self._expires(near, members, stream)))
        for older in self.streams:
            for newer, window in self.windows[older].items():
                if frozenset((older, newer)) not in near and held.get(older, inf) > window:
                    yield frozenset((older, newer))

    def expires(self, members: Streams, stream: str) -> int | None:
        """The age from which on a table of some streams need not hold a tuple of one of them; None for never."""
        return self._expires(self.near, members, stream)

    def _expires(self, near: frozenset[Streams], members: Streams, stream: str) -> int | None:
        """Streams near the set are missing whenever it is a part; of the others, one at least."""
        outside = [other for other in self.streams if other not in members]
        missing = [other for other in outside if _touches(near, members, frozenset((other,)))]
        windows = self.windows[stream]
        if missing:
            return min((windows[other] for other in missing if other in windows), default=None)
        return max(windows[other] for other in outside) if all(other in windows for other in outside) else None

    def parts(self, members: Iterable[str]) -> tuple[tuple[str, ...], ...]:
        """The parts of some streams, in the order of FROM."""
        rest = sorted(members, key=self.streams.index)
        found = []
        while rest:
            part, frontier = {rest[0]}, {rest[0]}
            while frontier:
                frontier = {x for x in rest if x not in part and any(frozenset((x, y)) in self.near for y in frontier)}
                part |= frontier
            found.append(tuple(stream for stream in rest if stream in part))
            rest = [stream for stream in rest if stream not in part]
        return tuple(found)


def _least_age(age: int | None) -> float:
    return inf if age is None else age


def _touches(near: frozenset[Streams], members: Streams, others: Streams) -> bool:
    """Whether two sets share a stream or have near ones."""
    return not members.isdisjoint(others) or any(frozenset((x, y)) in near for x in members for y in others)
