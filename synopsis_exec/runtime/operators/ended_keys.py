"""Keys that punctuations end: which are open, and which have ended last, so that a row after its punctuation is known.

A key may be in several streams: it is open from the first row that any of them brings to the punctuation, which comes
in one of them and ends it in all.

A punctuation holds from its own timestamp on: rows of the same timestamp are before it (Tucker, Maier, Sheard, Fegaras,
TKDE 15(3), 2003: a stream is grammatical if no row matches an earlier punctuation). To know of every key that it has
ended would take a memory of all keys; the `max_open` keys, or ranges of keys, that ended last are remembered, so that
rows that come a little too late are found, and a key that comes again after that is a new one (K0, K5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from streambound_runtime.arrays import Mask
from streambound_runtime.decoding.reasons import AFTER_KEY, AGAIN
from streambound_runtime.errors import JobError
from streambound_runtime.operators.by_tick import Changes, RejectedRow, Row, Ticks
from streambound_runtime.operators.circuit_plan import EndedKeysNode
from streambound_runtime.operators.delta import Delta, one_by_one, places_in_order
from streambound_runtime.operators.ended_ranges import EVERYTHING, EndedRanges, Range, place_of, values_between
from streambound_runtime.operators.entries import State, arrow_of_pairs, pairs_of_arrow
from streambound_runtime.row_values import Value

OPEN = "open"


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
        self.open: dict[Row, int] = {}
        """The keys, each with those streams that have brought its one row, as bits."""
        self.ended = EndedRanges(plan.max_open or 0)

    def entries(self) -> int:
        """The keys that are open, and the keys, or ranges of them, that have ended last."""
        return len(self.open) + len(self.ended)

    def parts(self, key: Row) -> tuple[Row, Value]:
        """The attributes of which a record names one value, and the one of which it names a range; NULL: of none."""
        return (key, None) if self.plan.since is None else (key[:-1], key[-1])

    def ranges(self, rows: Delta) -> list[Range]:
        """The ranges that records name."""
        if self.plan.since is None:
            return [EVERYTHING] * rows.size
        return list(map(values_between, rows.values(self.plan.since), rows.values(self.plan.attributes[-1])))

    def marks(self, rows: Delta) -> Mask:
        """Which rows of the stream are punctuations."""
        found: Mask = np.array([value == self.plan.value for value in rows.values(self.plan.column)], dtype=bool)
        return found

    def step_of(self, rows: Mapping[str, Delta], marks: Mask, gone: Mapping[str, Mask], ticks: Ticks) -> EndedRows:
        """Close timestamps of the streams' rows.

        ``marks`` are this promise's punctuations among its stream's rows, ``gone`` the rows that are none, or bad.
        """
        ends = Changes(self.plan.attributes)
        members = [one for one in self.plan.members if one.stream in rows]
        found = [_Arrived(rows[one.stream], one.attributes, ticks) for one in members]
        records = rows.get(self.plan.stream)
        marked = None if records is None else _Arrived(records, self.plan.attributes, ticks)
        ranges = [] if records is None else self.ranges(records)
        bad = EndedRows({one.stream: _none(rows[one.stream]) for one in members}, {})
        bad.again.update({one.stream: _none(rows[one.stream]) for one in members if one.once})
        for number, now in enumerate(ticks.times.tolist()):
            for member, arrived in zip(members, found, strict=True):
                bit = 1 << self.plan.members.index(member) if member.once else 0
                for place in arrived.in_order(number) if member.once else arrived.at(number):
                    if gone[member.stream][place]:
                        continue
                    key = arrived.keys[place]
                    late = self.parts(key) in self.ended
                    bad.after[member.stream][place] = late
                    if not late and not self._comes(key, bit):
                        bad.again[member.stream][place] = True
            told = [place for place in marked.at(number) if marks[place]] if marked else []
            patterns = {(self.parts(marked.keys[place])[0], ranges[place]) for place in told} if marked else set()
            ends.add(now, dict.fromkeys(self._over(patterns), 1).items())
            self._check(now)
        bad.ends = ends.delta
        return bad

    def _comes(self, key: Row, bit: int) -> bool:
        """Take in a row's key; whether it may have the row."""
        if self.plan.max_open is None:
            return True
        known = self.open.get(key, 0)
        self.open[key] = known | bit
        return not known & bit

    def _over(self, patterns: Iterable[tuple[Row, Range]]) -> list[Row]:
        """Take in what records say, in order; which keys are over."""
        new, keys = EndedRanges(), list[Row]()
        for others, named in sorted(patterns, key=lambda one: ([*map(place_of, one[0])], one[1])):
            new.add(others, named)
            keys.append(others)
            if self.plan.max_open is not None:
                self.ended.add(others, named)
        if self.plan.since is not None:
            keys = [key for key in self.open if self.parts(key) in new] if keys else []
        for key in keys:
            self.open.pop(key, None)
        return keys

    def _check(self, now: int) -> None:
        most = self.plan.max_open
        if most is not None and len(self.open) > most:
            named = ", ".join(self.plan.attributes)
            streams = " and ".join(one.stream for one in self.plan.members)
            what = f"at timestamp {now} {len(self.open)} values of {named} are open in {streams}"
            raise JobError("contract", f"{what}, more than the catalog's max_open = {most}", 1)

    def dump(self) -> State:
        """The keys that are open, and those that have ended."""
        return {OPEN: arrow_of_pairs(list(self.open.items()), self.plan.attributes)} | self.ended.dump()

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.open = dict(pairs_of_arrow(state[OPEN]))
        self.ended.load(state)

    def returning(self, deltas: Mapping[str, Delta]) -> Iterator[int]:
        """Timestamps at which keys have ended of which there are rows at a later one."""
        records = deltas.get(self.plan.stream)
        marks = [] if records is None else np.flatnonzero(self.marks(records)).tolist()
        if records is None or not marks:
            return
        ranges, ended, last = self.ranges(records), EndedRanges(), 0
        keys = list(zip(*(records.values(name) for name in self.plan.attributes), strict=True))
        times = records.time.tolist()
        came = [(times[place], 1, place, keys[place]) for place in marks]
        for member in self.plan.members:
            if (rows := deltas.get(member.stream)) is not None:
                theirs = zip(*(rows.values(name) for name in member.attributes), strict=True)
                later = zip(rows.time.tolist(), theirs, strict=True)
                came += [(time, 0, 0, key) for time, key in later if time > times[marks[0]]]
        for time, is_record, place, key in sorted(came, key=lambda one: one[:3]):
            others, value = self.parts(key)
            if is_record:
                ended.add(others, ranges[place])
                last = time
            elif (others, value) in ended:
                yield last


class WatchedStreams:
    """The streams whose punctuations a plan uses: their rows without them, and without those that break a promise."""

    def __init__(self, nodes: Sequence[EndedKeysNode]) -> None:
        self.operators = {node.name: EndedKeys(node) for node in nodes}
        self.rejected: list[RejectedRow] = []
        """The rows of the last step that break a promise."""

    def step(self, deltas: dict[str, Delta], ticks: Ticks) -> dict[str, Delta]:
        """Close timestamps: the rows that are left take the place of their stream's; returns the keys that end."""
        found: dict[str, Delta] = {}
        self.rejected = []
        nodes = [operator.plan for operator in self.operators.values()]
        names = dict.fromkeys(name for node in nodes for name in (node.stream, *(one.stream for one in node.members)))
        once = {one.stream for node in nodes for one in node.members if one.once}
        rows = {n: one_by_one(deltas[n]) if n in once else deltas[n] for n in names if n in deltas}
        gone, marked = {name: _none(delta) for name, delta in rows.items()}, dict[str, Mask]()
        for name, operator in self.operators.items():
            stream = operator.plan.stream
            marked[name] = operator.marks(rows[stream]) if stream in rows else np.zeros(0, dtype=bool)
            if stream in rows:
                gone[stream] = gone[stream] | marked[name]
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
