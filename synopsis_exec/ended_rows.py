"""Punctuations of keys in recorded and generated rows: which rows count, and streams that keep their promises.

This is a reading of the catalog of its own, row by row; a job's is `streambound_runtime.operators.ended_keys`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from streambound.analyzer.changes import KeyPunctuation, StreamKey
from streambound.synopsis_exec.plan_ir import Input

Row = dict[str, Any]
T = TypeVar("T")
Item = tuple[T, str, Row]
"""A row of a stream, by its name, with something that it is of."""
_OFTEN, _SELDOM = 0.7, 0.2


@dataclass(frozen=True, slots=True)
class _Promise:
    """A punctuation that a plan uses: the stream that brings it, and the streams that have the key."""

    stream: Input
    of: KeyPunctuation
    keys: dict[str, StreamKey]
    times: dict[str, str]

    def key(self, stream: str, row: Row) -> tuple[Any, ...]:
        """The key of a stream's row."""
        return tuple(row.get(name) for name in self.keys[stream].attributes)

    def marks(self, row: Row) -> bool:
        """Whether a row of the stream is such a punctuation."""
        return bool(row.get(self.of.column) == self.of.value)


def _promises(streams: Sequence[Input]) -> list[_Promise]:
    """The promises of all streams whose punctuations a plan uses."""
    times = {stream.name: str(stream.timestamp) for stream in streams}
    found = []
    for stream in (stream for stream in streams if stream.ends_keys):
        for one in stream.punctuations:
            keys = {
                other.name: key
                for other in streams
                for key in other.ending
                if (key.stream, key.marked) == (stream.name, one.attributes)
            }
            found.append(_Promise(stream, one, keys, times))
    return found


def is_punctuation(stream: Input, row: Row) -> bool:
    """Whether a record ends a key, and so is no row."""
    return any(row.get(one.column) == one.value for one in stream.punctuations)


def counting(inputs: Sequence[Input], rows: Sequence[Item[T]]) -> list[Item[T]]:
    """The rows that are no punctuations, nor after that of a key that is known to have ended, nor one too many of it.

    Punctuations end keys where the plan uses them; known are the `max_open` keys that have ended last.
    """
    known = {item.name: item for item in inputs}
    left = [item for item in rows if not is_punctuation(known[item[1]], item[2])]
    for one in _promises([item for item in inputs if item.timestamp is not None]):
        marks = [row for _, name, row in rows if name == one.stream.name and one.marks(row)]
        left = _within(one, left, marks)
    return left


def _within(one: _Promise, rows: list[Item[T]], marks: list[Row]) -> list[Item[T]]:
    """The rows that come before their key ends, as far as that is remembered; in their order."""
    ended, had, bad = list[tuple[Any, ...]](), set[tuple[str, tuple[Any, ...]]](), set[int]()
    mark_time = one.times[one.stream.name]
    by_time: dict[Any, list[int]] = {row[mark_time]: [] for row in marks}
    for place, (_, name, row) in enumerate(rows):
        if name in one.keys:
            by_time.setdefault(row[one.times[name]], []).append(place)
    for now in sorted(by_time):
        for place in sorted(by_time[now], key=lambda place: _ordered(rows[place][2])):
            _, name, row = rows[place]
            key = one.key(name, row)
            if key in ended or (one.keys[name].once and (name, key) in had):
                bad.add(place)
            had.add((name, key))
        over = {one.key(one.stream.name, row) for row in marks if row[mark_time] == now} - {*ended}
        had = {(name, key) for name, key in had if key not in over}
        ended += sorted(over, key=lambda key: [(value is not None, value) for value in key])
        ended = ended[max(0, len(ended) - (one.of.max_open or 0)) :]
    return [item for place, item in enumerate(rows) if place not in bad]


def _ordered(row: Row) -> list[tuple[str, bool, Any]]:
    """Rows in order of their values, by the names of their columns, NULL first."""
    return [(name, row[name] is not None, row[name]) for name in sorted(row)]


def with_punctuations(streams: Sequence[Input], rows: Sequence[tuple[str, Row]], random: Random) -> list[Item[None]]:
    """Rows in order of time, without those that would break a promise, with punctuations among them.

    Most keys end with their last row; after some comes one that is too late.
    """
    known = {stream.name: stream for stream in streams}
    left: list[Item[None]] = [
        (None, name, row) for name, row in rows if name not in known or not is_punctuation(known[name], row)
    ]
    marks: list[Item[None]] = []
    for one in _promises(streams):
        left, more = _ended(one, left, random)
        marks += more
    times = {stream.name: str(stream.timestamp) for stream in streams}
    return sorted([*left, *marks], key=lambda item: int(item[2][times[item[1]]]) if item[1] in times else -1)


def _ended(one: _Promise, rows: list[Item[None]], random: Random) -> tuple[list[Item[None]], list[Item[None]]]:
    mine = [(name, row) for _, name, row in rows if name in one.keys]
    kept: list[Item[None]] = [item for item in rows if item[1] not in one.keys]
    last = {one.key(name, row): row[one.times[name]] for name, row in mine}
    open_keys, marks = dict[tuple[Any, ...], set[str]](), list[Item[None]]()
    over: tuple[str, Row] | None = None
    for now in sorted({row[one.times[name]] for name, row in mine}):
        if over is not None and one.of.max_open is not None and random.random() < _SELDOM:
            kept.append((None, over[0], {**over[1], one.times[over[0]]: now}))
        over = None
        for name, row in ((name, row) for name, row in mine if row[one.times[name]] == now):
            key = one.key(name, row)
            if one.keys[name].once and name in open_keys.get(key, ()):
                continue
            if key in open_keys or one.of.max_open is None or len(open_keys) < one.of.max_open:
                open_keys.setdefault(key, set()).add(name)
                kept.append((None, name, row))
        for key in sorted((key for key in open_keys if last[key] == now), key=repr):
            if random.random() < _OFTEN:
                del open_keys[key]
                over = next((n, row) for _, n, row in reversed(kept) if n in one.keys and one.key(n, row) == key)
                nothing = dict.fromkeys(column.name for column in one.stream.declared)
                ends = dict(zip(one.of.attributes, key, strict=True))
                record = {**nothing, **ends, one.of.column: one.of.value, one.times[one.stream.name]: now}
                marks.append((None, one.stream.name, record))
    return kept, marks
