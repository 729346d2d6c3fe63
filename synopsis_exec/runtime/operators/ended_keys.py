"""Keys that punctuations end: which are open, and which have ended last, so that a row after its punctuation is known.

A key may be in several streams: it is open from the first row that any of them brings to the punctuation, which comes
in one of them and ends it in all.

A punctuation holds from its own timestamp on: rows of the same timestamp are before it (Tucker, Maier, Sheard, Fegaras,
TKDE 15(3), 2003: a stream is grammatical if no row matches an earlier punctuation). To know of every key that it has
ended would take a memory of all keys; the `max_open` keys, or ranges of keys, that ended last are remembered, so that
rows that come a little too late are found, and a key that comes again after that is a new one (K0, K5).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from streambound_runtime.arrays import Mask
from streambound_runtime.decoding.reasons import AFTER_KEY, AGAIN
from streambound_runtime.errors import JobError
from streambound_runtime.operators.by_tick import Changes, RejectedRow, Row, Ticks
from streambound_runtime.operators.circuit_plan import EndedKeysNode
from streambound_runtime.operators.delta import Delta, one_by_one, places_in_order
from streambound_runtime.operators.ended_ranges import (
    EndedPattern,
    EndedRanges,
    Pattern,
    common,
    place_of,
    values_between,
)
from streambound_runtime.operators.entries import State, arrow_of_pairs, pairs_of_arrow
from streambound_runtime.row_values import Value

OPEN, ENDED = "open", "ended"


@dataclass
class EndedRows:
    """The keys that end, and by streams which rows come after their punctuation or are one too many of their key."""

    after: dict[str, Mask]
    again: dict[str, Mask]
    ends: Delta = field(default_factory=lambda: Changes(()).delta)


class EndedKeys:
    """The operator of an `EndedKeysNode`: it takes the rows that break the promise out of its streams."""

    def __init__(self, plan: EndedKeysNode) -> None:
        self.plan = plan
        self.of_ranges = plan.records[0].since is not None
        self.open: dict[Row, int] = {}
        """The keys, each with those streams that have brought its one row, as bits."""
        self.ended = {one.stream: EndedRanges(plan.max_open or 0) for one in plan.records}
        """What each stream has ended."""
        self.passed: set[Pattern] = set()
        """What is over since the last step, by the punctuations of all streams."""

    def entries(self) -> int:
        """The keys that are open, and the keys, or ranges of them, that have ended last."""
        return len(self.open) + sum(map(len, self.ended.values()))

    def parts(self, key: Row) -> tuple[Row, Value]:
        """The attributes of which a record names one value, and the one of which it names a range; NULL: of none."""
        return (key[:-1], key[-1]) if self.of_ranges else (key, None)

    def is_over(self, key: Row, stream: str = "") -> bool:
        """Whether a stream has ended a key, or all have whose records tell of it."""
        parts = self.parts(key)
        return parts in self.ended[stream] if stream in self.ended else all(parts in one for one in self.ended.values())

    def marks(self, rows: Mapping[str, Delta]) -> dict[str, Mask]:
        """Which rows of its streams are punctuations."""
        return {
            one.stream: np.array([value == one.value for value in rows[one.stream].values(one.column)], dtype=bool)
            for one in self.plan.records
            if one.stream in rows
        }

    def told(self, rows: Mapping[str, Delta], marks: Mapping[str, Mask]) -> dict[str, dict[int, set[Pattern]]]:
        """The patterns of the punctuations among the rows of each stream, by timestamp."""
        found = dict[str, dict[int, set[Pattern]]]()
        for one in self.plan.records:
            if one.stream not in rows:
                continue
            named, by_time = rows[one.stream].take(marks[one.stream]), dict[int, set[Pattern]]()
            since = [None] * named.size if one.since is None else named.values(one.since)
            keys = zip(*(named.values(name) for name in one.attributes), strict=True)
            for now, low, key in zip(named.time.tolist(), since, keys, strict=True):
                others, high = self.parts(key)
                by_time.setdefault(now, set()).add((others, values_between(low, high)))
            found[one.stream] = by_time
        return found

    def step_of(
        self, rows: Mapping[str, Delta], marks: Mapping[str, Mask], gone: Mapping[str, Mask], ticks: Ticks
    ) -> EndedRows:
        """Close timestamps of the streams' rows.

        ``marks`` masks this promise's punctuations among the rows of its streams, ``gone`` punctuations and bad rows.
        """
        ends = Changes(self.plan.records[0].attributes)
        members = [one for one in self.plan.members if one.stream in rows]
        found = [_Arrived(rows[one.stream], one.attributes, ticks) for one in members]
        told = self.told(rows, marks)
        bad = EndedRows({one.stream: _none(rows[one.stream]) for one in members}, {})
        self.passed = set()
        bad.again.update({one.stream: _none(rows[one.stream]) for one in members if one.once})
        for number, now in enumerate(ticks.times.tolist()):
            for member, arrived in zip(members, found, strict=True) if self.plan.max_open is not None else ():
                bit = 1 << self.plan.members.index(member) if member.once else 0
                for place in arrived.in_order(number) if member.once else arrived.at(number):
                    if gone[member.stream][place]:
                        continue
                    key = arrived.keys[place]
                    late = self.is_over(key, member.stream)
                    bad.after[member.stream][place] = late
                    if not late and not self._comes(key, bit):
                        bad.again[member.stream][place] = True
            over = self._over({stream: patterns.get(now, ()) for stream, patterns in told.items()})
            ends.add(now, dict.fromkeys(over, 1).items())
            self._check(now)
        bad.ends = ends.delta
        return bad

    def _comes(self, key: Row, bit: int) -> bool:
        """Take in a row's key; whether it may have the row."""
        known = self.open.get(key, 0)
        self.open[key] = known | bit
        return not known & bit

    def _over(self, patterns: Mapping[str, Iterable[Pattern]]) -> list[Row]:
        """Take in what records of streams say, in order; which keys are over."""
        new, keys = EndedRanges(), list[Row]()
        for stream, named in patterns.items():
            for others, one in sorted({*named}, key=lambda pattern: ([*map(place_of, pattern[0])], pattern[1])):
                new.add(others, one)
                keys.append(others)
                over = [one]
                for ranges in (ranges for other, ranges in self.ended.items() if other != stream):
                    over = [both for part in over for both in common(part, ranges.by_others.get(others, ()))]
                self.passed |= {(others, part) for part in over}
                if self.plan.max_open is not None:
                    self.ended[stream].add(others, one)
        if self.of_ranges:
            keys = [key for key in self.open if self.parts(key) in new] if keys else []
        if len(self.ended) > 1:
            keys = [key for key in keys if self.is_over(key)]
        for key in keys:
            self.open.pop(key, None)
        return keys

    def _check(self, now: int) -> None:
        most = self.plan.max_open
        if most is not None and len(self.open) > most:
            named = ", ".join(self.plan.records[0].attributes)
            streams = " and ".join(one.stream for one in self.plan.members)
            what = f"at timestamp {now} {len(self.open)} values of {named} are open in {streams}"
            raise JobError("contract", f"{what}, more than the catalog's max_open = {most}", 1)

    def told_on(self, ticks: Ticks) -> list[EndedPattern]:
        """What is over since the last step, in order, as records say it: no row of it follows the tick."""
        name = self.plan.name
        ranges = sorted(self.passed, key=lambda one: ([*map(place_of, one[0])], one[1]))
        if self.of_ranges:
            told = [((*others, high), low) for others, ((_, low), (_, high)) in ranges]
        else:
            told = [(others, None) for others, _ in ranges]
        return [EndedPattern(name, int(ticks.times[-1]), values, low) for values, low in told]

    def dump(self) -> State:
        """The keys that are open, and those that have ended."""
        names = self.plan.records[0].attributes
        return {OPEN: arrow_of_pairs(list(self.open.items()), names)} | {
            f"{ENDED} {stream}": ranges.dump() for stream, ranges in self.ended.items()
        }

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.open = dict(pairs_of_arrow(state[OPEN]))
        for stream, ranges in self.ended.items():
            ranges.load(state[f"{ENDED} {stream}"])

    def returning(self, deltas: Mapping[str, Delta]) -> Iterator[int]:
        """Timestamps at which streams have ended keys of which there are rows at a later one."""
        marks = self.marks(deltas)
        named = dict[int, set[Pattern]]()
        for patterns in self.told(deltas, marks).values():
            for now, some in patterns.items():
                named.setdefault(now, set()).update(some)
        if not named:
            return
        ended, moments, last = EndedRanges(), deque(sorted(named)), 0
        came = list[tuple[int, Row]]()
        for member in self.plan.members:
            if (rows := deltas.get(member.stream)) is not None:
                keys = zip(*(rows.values(name) for name in member.attributes), strict=True)
                came += [(now, key) for now, key in zip(rows.time.tolist(), keys, strict=True) if now > moments[0]]
        for now, key in sorted(came, key=lambda one: one[0]):
            while moments and moments[0] < now:
                last = moments.popleft()
                for others, one in named[last]:
                    ended.add(others, one)
            if self.parts(key) in ended:
                yield last


class WatchedStreams:
    """The streams whose punctuations a plan uses: their rows without them, and without those that break a promise."""

    def __init__(self, nodes: Sequence[EndedKeysNode]) -> None:
        self.operators = {node.name: EndedKeys(node) for node in nodes}
        self.rejected: list[RejectedRow] = []
        """The rows of the last step that break a promise."""
        self.passed: list[EndedPattern] = []
        """What is over since the last step."""

    def step(self, deltas: dict[str, Delta], ticks: Ticks) -> dict[str, Delta]:
        """Close timestamps: the rows that are left take the place of their stream's; returns the keys that end."""
        found: dict[str, Delta] = {}
        self.rejected = []
        nodes = [operator.plan for operator in self.operators.values()]
        names = dict.fromkeys(one.stream for node in nodes for one in node.records)
        names |= dict.fromkeys(one.stream for node in nodes for one in node.members)
        once = {one.stream for node in nodes for one in node.members if one.once}
        rows = {n: one_by_one(deltas[n]) if n in once else deltas[n] for n in names if n in deltas}
        gone = {name: _none(delta) for name, delta in rows.items()}
        marked = {name: operator.marks(rows) for name, operator in self.operators.items()}
        for marks in marked.values():
            gone |= {stream: gone[stream] | which for stream, which in marks.items()}
        for name, operator in self.operators.items():
            judged = operator.step_of(rows, marked[name], gone, ticks)
            found[name] = judged.ends
            for reason, words, bad in (
                ("after-punctuation", AFTER_KEY, judged.after),
                ("repeated-key", AGAIN, judged.again),
            ):
                for stream, which in bad.items():
                    gone[stream] = gone[stream] | which
                    self._reject(stream, rows[stream].take(which), reason, words)
        deltas |= {name: delta.take(~gone[name]) for name, delta in rows.items()}
        self.passed = [one for operator in self.operators.values() for one in operator.told_on(ticks)]
        return found

    def returning(self, deltas: Mapping[str, Delta]) -> set[int]:
        """Timestamps at which keys have ended of which there are rows at a later one."""
        return {time for operator in self.operators.values() for time in operator.returning(deltas)}

    def _reject(self, stream: str, bad: Delta, reason: str, words: str) -> None:
        for time, weight, row in zip(bad.time.tolist(), bad.weights().tolist(), bad.rows(), strict=True):
            values = dict(zip(bad.columns, row, strict=True))
            self.rejected.append(RejectedRow(stream, reason, words, time, values, int(weight)))


class _Arrived:
    """The rows of a stream by the timestamps that a step closes, with their keys."""

    def __init__(self, rows: Delta, names: tuple[str, ...], ticks: Ticks) -> None:
        self.rows = rows
        self.keys: list[Row] = list(zip(*(rows.values(name) for name in names), strict=True))
        self.bounds = [0, *np.searchsorted(rows.time, ticks.times, side="right").tolist()]

    def at(self, number: int) -> range:
        """The places of those of a timestamp, by its number."""
        return range(self.bounds[number], self.bounds[number + 1])

    def in_order(self, number: int) -> list[int]:
        """The same in order of the rows' values, NULL first: of two rows of a key the first one is the one."""
        places = self.at(number)
        rows = self.rows.take(slice(places.start, places.stop))
        return (
            [places.start + place for place in places_in_order(rows, sorted(rows.columns))]
            if len(places) > 1
            else list(places)
        )


def _none(rows: Delta) -> Mask:
    return np.zeros(rows.size, dtype=bool)
