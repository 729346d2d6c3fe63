"""Keys that punctuations end: which are open, and which have ended last, so that a row after its punctuation is known.

A key may be in several streams: it is open from the first row that any of them brings to the punctuation, which comes
in one of them and ends it in all.

A punctuation holds from its own timestamp on: rows of the same timestamp are before it (Tucker, Maier, Sheard, Fegaras,
TKDE 15(3), 2003: a stream is grammatical if no row matches an earlier punctuation). To know of every key that it has
ended would take a memory of all keys; the `max_open` that ended last are remembered, so that rows that come a little
too late are found, and a key that comes again after that is a new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from streambound_runtime.arrays import Mask
from streambound_runtime.decoding.reasons import AFTER_KEY, AGAIN
from streambound_runtime.errors import JobError
from streambound_runtime.operators.by_tick import Changes, RejectedRow, Row, Ticks, in_order
from streambound_runtime.operators.circuit_plan import EndedKeysNode
from streambound_runtime.operators.delta import Delta, one_by_one, places_in_order
from streambound_runtime.operators.entries import State, arrow_of_pairs, pairs_of_arrow

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
        self.open: dict[Row, int] = {}
        """The keys, each with those streams that have brought its one row, as bits."""
        self.ended: dict[Row, None] = {}

    def entries(self) -> int:
        """The keys that are open, and those that have ended last."""
        return len(self.open) + len(self.ended)

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
        marked = _Arrived(rows[self.plan.stream], self.plan.attributes, ticks) if self.plan.stream in rows else None
        bad = EndedRows({one.stream: _none(rows[one.stream]) for one in members}, {})
        bad.again.update({one.stream: _none(rows[one.stream]) for one in members if one.once})
        for number, now in enumerate(ticks.times.tolist()):
            for member, arrived in zip(members, found, strict=True):
                bit = 1 << self.plan.members.index(member) if member.once else 0
                for place in arrived.in_order(number) if member.once else arrived.at(number):
                    if gone[member.stream][place]:
                        continue
                    key = arrived.keys[place]
                    bad.after[member.stream][place] = key in self.ended
                    if key not in self.ended and not self._comes(key, bit):
                        bad.again[member.stream][place] = True
            over = {marked.keys[place]: 1 for place in marked.at(number) if marks[place]} if marked else {}
            for key, _ in in_order(over):
                self._ends(key)
            ends.add(now, over.items())
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

    def _ends(self, key: Row) -> None:
        """A key is over: it is remembered until ``max_open`` more are."""
        if self.plan.max_open is None or key in self.ended:
            return
        self.open.pop(key, None)
        self.ended[key] = None
        if len(self.ended) > self.plan.max_open:
            del self.ended[next(iter(self.ended))]

    def _check(self, now: int) -> None:
        most = self.plan.max_open
        if most is not None and len(self.open) > most:
            named = ", ".join(self.plan.attributes)
            streams = " and ".join(one.stream for one in self.plan.members)
            what = f"at timestamp {now} {len(self.open)} values of {named} are open in {streams}"
            raise JobError("contract", f"{what}, more than the catalog's max_open = {most}", 1)

    def dump(self) -> State:
        """The keys, those that have ended in their order."""
        names = self.plan.attributes
        ended = [(key, place) for place, key in enumerate(self.ended)]
        return {OPEN: arrow_of_pairs(list(self.open.items()), names), ENDED: arrow_of_pairs(ended, names)}

    def load(self, state: State) -> None:
        """Take over what `dump` returned."""
        self.open = dict(pairs_of_arrow(state[OPEN]))
        self.ended = {key: None for key, _ in pairs_of_arrow(state[ENDED])}


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
        """The timestamps at which a key is over of which there are rows at a later one."""
        found = set[int]()
        for operator in self.operators.values():
            plan, ends = operator.plan, dict[Row, int]()
            if plan.stream not in deltas:
                continue
            rows = deltas[plan.stream]
            marks = operator.marks(rows)
            keys = zip(*(rows.values(name) for name in plan.attributes), strict=True)
            for key, now, mark in zip(keys, rows.time.tolist(), marks.tolist(), strict=True):
                if mark:
                    ends.setdefault(key, now)
            for member in plan.members:
                given = deltas.get(member.stream)
                if given is None:
                    continue
                for key, now in zip(
                    zip(*(given.values(n) for n in member.attributes), strict=True), given.time.tolist(), strict=True
                ):
                    if ends.get(key, now) < now:
                        found.add(ends[key])
        return found

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
