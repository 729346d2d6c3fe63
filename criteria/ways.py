"""The ways in which partial matches grow: which streams' tuples arrive together, and which tables they are joined with.

A match of a set of streams is found at its newest timestamp: the tuples of that timestamp arrive, the others are
remembered (docs/theory-bounds.md). A way is a choice of which arrive that the conditions on timestamps allow. As each
of them concerns two streams, all ways are found without looking at sets that are none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice

from msgspec import Struct

from streambound.analyzer.boundedness import Facts
from streambound.analyzer.work import spend

MOST_WAYS = 4096
"""Ways beyond which none are listed, and no job is written: its text would be too long to read or run."""

_STEPS_AT_ONCE = 8
"""Consequences that are looked at in the time of a step."""

Parts = Callable[[tuple[str, ...]], tuple[tuple[str, ...], ...]]
"""The sets of streams whose tables together hold the matches of some streams."""


class Part(Struct, frozen=True):
    """Streams whose partial matches a table holds; ``now`` counts those of the arriving timestamp, too."""

    streams: tuple[str, ...]
    now: bool = False


class Way(Struct, frozen=True):
    """New partial matches of ``target``: tuples of ``arriving``, all of one timestamp, with entries of each part.

    There is no part when all the target's tuples arrive together, and one where its table holds what is remembered.
    """

    target: tuple[str, ...]
    arriving: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def before(self) -> tuple[str, ...]:
        """All the streams that are remembered, in the order of FROM."""
        return tuple(stream for stream in self.target if stream not in self.arriving)


class Ways(Struct, frozen=True, dict=True):
    """The ways to complete a target whose remembered streams fall into ``parts``."""

    facts: Facts
    parts: Parts

    def of(self, target: tuple[str, ...]) -> Iterator[Way]:
        """All ways for a target, those with the fewest arriving streams first."""
        parts = self.parts(target)
        yield from self._of_one(target) if len(parts) == 1 else self._of_several(target, parts)

    def _of_several(self, target: tuple[str, ...], parts: tuple[tuple[str, ...], ...]) -> Iterator[Way]:
        """A match of independent parts is found by the last part that has a tuple of the arriving timestamp."""
        for place, part in enumerate(parts):
            others = [Part(other, now=number < place) for number, other in enumerate(parts) if number != place]
            for way in self.of(part):
                yield Way(target, way.arriving, _in_order(target, [*way.parts, *others]))

    def _of_one(self, target: tuple[str, ...]) -> Iterator[Way]:
        """What is independent of the other remembered streams is read with its new tuples, where it may have any."""
        newest = [s for s in target if all(self.facts.never_newer(other, s) for other in target if other != s)]
        remembered = self.parts(tuple(s for s in target if s not in newest)) if newest else ()
        free = [part for part in remembered if len(remembered) > 1 and self._free(part, newest)]
        given = {stream for part in free for stream in part}
        choosing = tuple(stream for stream in target if stream not in given)
        found = list(islice(self._arriving(choosing), MOST_WAYS + 1))
        for arriving in sorted(found, key=lambda streams: (len(streams), [target.index(s) for s in streams])):
            older = self.parts(tuple(s for s in choosing if s not in arriving))
            parts = [*(Part(part) for part in older), *(Part(part, now=True) for part in free)]
            yield Way(target, arriving, _in_order(target, parts))

    def _arriving(self, streams: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """The sets of streams that may arrive while all the others are remembered."""
        yield from (
            tuple(s for s in streams if chosen[s]) for chosen in self._choices(streams, {}) if any(chosen.values())
        )

    def _choices(self, streams: tuple[str, ...], chosen: dict[str, bool]) -> Iterator[dict[str, bool]]:
        """All that complete a choice. What follows from it is chosen at once, so that hardly any is in vain."""
        stream = next((s for s in streams if s not in chosen), None)
        if stream is None:
            yield chosen
            return
        for arrives in (True, False):
            more = self._with(streams, chosen, stream, arrives)
            if more is not None:
                yield from self._choices(streams, more)

    def _with(
        self, streams: tuple[str, ...], chosen: dict[str, bool], stream: str, arrives: bool
    ) -> dict[str, bool] | None:
        """A choice with one more stream and what follows; None for a contradiction."""
        more, new = {**chosen, stream: arrives}, [stream]
        inside = {*streams}
        while new:
            one = new.pop()
            follows = self._follows(one, more[one])
            spend(1 + len(follows) / _STEPS_AT_ONCE)
            for other, choice in follows:
                if other in inside and other not in more:
                    more[other] = choice
                    new.append(other)
                elif more.get(other, choice) != choice:
                    return None
        return more

    def _follows(self, stream: str, arrives: bool) -> list[tuple[str, bool]]:
        """What a choice for a stream says of others: whether they arrive, too."""
        if (stream, arrives) not in self._followed:
            self._followed[stream, arrives] = [
                (source.alias, not choice)
                for source in self.facts.branch.streams
                for choice in (True, False)
                if source.alias != stream and not self._fit(stream, arrives, source.alias, choice)
            ]
        return self._followed[stream, arrives]

    @cached_property
    def _followed(self) -> dict[tuple[str, bool], list[tuple[str, bool]]]:
        return {}

    def _fit(self, x: str, x_arrives: bool, y: str, y_arrives: bool) -> bool:
        """Whether two streams may arrive or be remembered so."""
        if x_arrives and y_arrives:
            return self._together(x, y)
        if x_arrives != y_arrives:
            return self._may_follow(x, y) if x_arrives else self._may_follow(y, x)
        return True

    def _together(self, x: str, y: str) -> bool:
        """Whether two tuples of one timestamp may match."""
        return all(lag is None or lag >= 0 for lag in (self.facts.lag(x, y), self.facts.lag(y, x)))

    def _may_follow(self, new: str, old: str) -> bool:
        """Whether a tuple may be newer than another one that it matches."""
        lag = self.facts.lag(new, old)
        return lag is None or lag >= 1

    def _free(self, part: tuple[str, ...], newest: list[str]) -> bool:
        """Whether each of some streams may be as new as the newest ones, and older."""
        return all(self._together(new, old) and self._may_follow(new, old) for new in newest for old in part)


def _in_order(target: tuple[str, ...], parts: list[Part]) -> tuple[Part, ...]:
    return tuple(sorted(parts, key=lambda part: target.index(part.streams[0])))


def ways(facts: Facts, parts: Parts, targets: tuple[tuple[str, ...], ...]) -> tuple[Way, ...] | None:
    """The ways to complete some targets; None for more than `MOST_WAYS`."""
    every = Ways(facts, parts)
    found = tuple(islice((way for target in targets for way in every.of(target)), MOST_WAYS + 1))
    return None if len(found) > MOST_WAYS else found
