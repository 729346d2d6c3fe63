"""Punctuations of keys in recorded and generated rows: which rows count, and streams that keep their promises.

This is a reading of the catalog of its own, row by row; a job's is `streambound_runtime.operators.ended_keys`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any, NamedTuple, TypeVar

from streambound.analyzer.calendar_text import MICROSECONDS
from streambound.analyzer.changes import KeyPunctuation, StreamKey
from streambound.analyzer.columns import Column
from streambound.analyzer.errors import UsageError
from streambound.analyzer.types import Family
from streambound.criteria.contract import fits_column
from streambound.synopsis_exec.plan_ir import Input

Row = dict[str, Any]
T = TypeVar("T")
Item = tuple[T, str, Row]
"""A row of a stream, by its name, with something that it is of."""
_OFTEN, _SELDOM = 0.7, 0.2
_OPEN = 100
"""Keys that are open at a time where nothing is promised."""
_ROWS = 3
"""The average number of rows of each stream until a key ends."""


@dataclass(frozen=True, slots=True)
class _Promise:
    """A punctuation that a plan uses: the stream that brings it, and the streams that have the key."""

    streams: dict[str, Input]
    of: KeyPunctuation
    keys: dict[str, StreamKey]
    times: dict[str, str]
    marking: dict[str, KeyPunctuation]
    """The streams that end the key together, with their punctuations."""

    def key(self, stream: str, row: Row) -> tuple[Any, ...]:
        """The key of a stream's row."""
        return tuple(row.get(name) for name in self.keys[stream].attributes)

    def over(self, name: str, row: Row) -> _Ended:
        """The keys that a punctuation ends."""
        *others, last = map(_in_order, self.key(name, row))
        if self.marking[name].since is None:
            return _Ended((*others, last), (0,), (3,))
        low = row[str(self.marking[name].since)]
        if last == (0,):
            return _Ended(tuple(others), (0,) if low is None else (2, low), (3,))
        return _Ended(tuple(others), (1,) if low is None else (2, low), last)

    def records(self, key: tuple[Any, ...], now: Any, from_beginning: bool = False) -> Iterator[tuple[str, Row]]:
        """The punctuations of a key, or of all up to it, one in each stream."""
        for name, of in self.marking.items():
            nothing: Row = dict.fromkeys(column.name for column in self.streams[name].declared)
            since = {} if of.since is None else {of.since: None if from_beginning else key[-1]}
            ends = {**dict(zip(of.attributes, key, strict=True)), **since, of.column: of.value}
            yield name, {**nothing, **ends, self.times[name]: now}

    def marks(self, name: str, row: Row) -> bool:
        """Whether a row of a stream is such a punctuation."""
        return name in self.marking and bool(row.get(self.marking[name].column) == self.marking[name].value)


class _Ended(NamedTuple):
    """Keys that are over: these values, and a range of the last one, which all have their place in order."""

    others: tuple[tuple[Any, ...], ...]
    low: tuple[Any, ...]
    high: tuple[Any, ...]

    def has(self, key: tuple[Any, ...]) -> bool:
        """Whether a key is one of them."""
        values = tuple(map(_in_order, key))
        return self.others == values[: len(self.others)] and all(
            self.low <= one <= self.high for one in values[len(self.others) :]
        )

    def beside(self, ended: list[_Ended]) -> list[_Ended]:
        """Others with these as the last ones, together with those that they touch."""
        near = [
            one
            for one in ended
            if one.others == self.others and one.low <= _after(self.high) and self.low <= _after(one.high)
        ]
        whole = self._replace(low=min(one.low for one in (self, *near)), high=max(one.high for one in (self, *near)))
        return ended if whole in ended else [*(one for one in ended if one not in near), whole]


def _in_order(value: Any) -> tuple[Any, ...]:
    """NULL is the first of all values."""
    return (0,) if value is None else (2, value)


def _after(end: tuple[Any, ...]) -> tuple[Any, ...]:
    return (2, end[1] + 1) if end[0] == 2 and isinstance(end[1], int) else end


def _promises(streams: Sequence[Input]) -> list[_Promise]:
    """The promises of all streams whose punctuations a plan uses."""
    times = {stream.name: str(stream.timestamp) for stream in streams}
    known = {stream.name: stream for stream in streams}
    found = []
    for stream in (stream for stream in streams if stream.ends_keys):
        for one in stream.punctuations:
            keys = {
                other.name: key
                for other in streams
                for key in other.ending
                if (key.stream, key.marked) == (stream.name, one.attributes)
            }
            marking = {
                name: p
                for name, attributes in ((stream.name, one.attributes), *one.together)
                for p in known[name].punctuations
                if p.attributes == attributes
            }
            if keys:  # or its records only end keys together with others
                found.append(_Promise(known, one, keys, times, marking))
    return found


def is_punctuation(stream: Input, row: Row) -> bool:
    """Whether a record ends a key, and so is no row."""
    return any(row.get(one.column) == one.value for one in stream.punctuations)


def counting(inputs: Sequence[Input], rows: Sequence[Item[T]]) -> list[Item[T]]:
    """The rows that are no punctuations, nor after that of a key that is known to have ended, nor one too many of it.

    Punctuations end keys where the plan uses them; known are the `max_open` keys, or ranges, that have ended last.
    """
    known = {item.name: item for item in inputs}
    left = [item for item in rows if not is_punctuation(known[item[1]], item[2])]
    for one in _promises([item for item in inputs if item.timestamp is not None]):
        marks = [(name, row) for _, name, row in rows if one.marks(name, row)]
        left = _within(one, left, marks)
    return _once(known, left)


def _once(inputs: Mapping[str, Input], rows: list[Item[T]]) -> list[Item[T]]:
    """The rows whose keys come once while they are remembered; in their order."""
    came, bad = dict[tuple[str, int, tuple[Any, ...]], int](), set[int]()

    def moment(place: int) -> int:
        _, name, row = rows[place]
        time = inputs[name].timestamp
        return 0 if time is None else int(row[time])

    def order(place: int) -> list[tuple[bool, Any]]:
        _, name, row = rows[place]
        values = [moment(place), *(row.get(one.name) for one in inputs[name].declared)]
        return [(value is not None, value) for value in values]

    several = [place for place, (_, name, _) in enumerate(rows) if inputs[name].unique]
    for place in sorted(several, key=lambda place: (rows[place][1], order(place))):
        _, name, row = rows[place]
        now, unique = moment(place), inputs[name].unique
        keys = [(name, n, tuple(row[column] for column in key.columns)) for n, key in enumerate(unique)]
        past = [came.get(key) for key in keys]
        if any(t is not None and (u.within is None or now - t < u.within) for t, u in zip(past, unique, strict=True)):
            bad.add(place)
        else:
            came |= dict.fromkeys(keys, now)
    return [item for place, item in enumerate(rows) if place not in bad]


def _within(one: _Promise, rows: list[Item[T]], marks: list[tuple[str, Row]]) -> list[Item[T]]:
    """The rows that come before their key ends, as far as that is remembered; in their order."""
    ended = {name: list[_Ended]() for name in one.marking}
    had, bad = set[tuple[str, tuple[Any, ...]]](), set[int]()
    by_time: dict[Any, list[int]] = {row[one.times[name]]: [] for name, row in marks}

    def is_over(key: tuple[Any, ...], name: str = "") -> bool:
        told = [ended[name]] if name in ended else ended.values()
        return all(any(part.has(key) for part in parts) for parts in told)

    for place, (_, name, row) in enumerate(rows):
        if name in one.keys:
            by_time.setdefault(row[one.times[name]], []).append(place)
    for now in sorted(by_time):
        for place in sorted(by_time[now], key=lambda place: _ordered(rows[place][2])):
            _, name, row = rows[place]
            key = one.key(name, row)
            if is_over(key, name) or (one.keys[name].once and (name, key) in had):
                bad.add(place)
            had.add((name, key))
        new = set[_Ended]()
        for marking in one.marking:
            mine = {one.over(name, row) for name, row in marks if name == marking and row[one.times[name]] == now}
            for part in sorted(mine):
                more = part.beside(ended[marking])
                ended[marking] = more[max(0, len(more) - (one.of.max_open or 0)) :]
            new |= mine
        over = {key for _, key in had if any(part.has(key) for part in new) and (len(ended) == 1 or is_over(key))}
        had = {(name, key) for name, key in had if key not in over}
    return [item for place, item in enumerate(rows) if place not in bad]


def _ordered(row: Row) -> list[tuple[str, bool, Any]]:
    """Rows in order of their values, by the names of their columns, NULL first."""
    return [(name, row[name] is not None, row[name]) for name in sorted(row)]


def with_punctuations(
    streams: Sequence[Input], rows: Sequence[tuple[str, Row]], random: Random, all_end: bool = False
) -> list[Item[None]]:
    """Rows in order of time, without those that would break a promise, with punctuations among them.

    Most keys end with their last row, or ``all_end`` do; after some comes one that is too late.
    """
    known = {stream.name: stream for stream in streams}
    left: list[Item[None]] = [
        (None, name, row) for name, row in rows if name not in known or not is_punctuation(known[name], row)
    ]
    marks: list[Item[None]] = []
    for one in _promises(streams):
        left, more = _ended(one, left, random, all_end)
        marks += more
    times = {stream.name: str(stream.timestamp) for stream in streams}
    return sorted([*left, *marks], key=lambda item: int(item[2][times[item[1]]]) if item[1] in times else -1)


class EndlessKeys:
    """Replaces the keys of rows by ever new ones, and puts punctuations among the rows.

    As many keys are open as allowed. Without ``random`` they come in turn, and each ends after some rows. Raises
    UsageError for keys with finitely many values.
    """

    def __init__(self, streams: Sequence[Input], random: Random | None) -> None:
        known = {stream.name: stream for stream in streams}
        self._promises = [_Renewed(one, known, random) for one in _promises(streams)]

    def pass_on(self, rows: Iterator[tuple[str, Row]]) -> Iterator[tuple[str, Row]]:
        """The rows, which come in order of time and without an end."""
        for one in self._promises:
            rows = one.pass_on(rows)
        return rows

    def endings(self) -> Iterator[tuple[str, Row]]:
        """Punctuations of the keys that are open after the rows that were passed on."""
        for one in self._promises:
            yield from one.endings(range(len(one.keys)))


class _Renewed:
    """As `EndlessKeys`, for one promise."""

    def __init__(self, one: _Promise, streams: Mapping[str, Input], random: Random | None) -> None:
        self.one, self.streams, self.random = one, streams, random
        self.new = (_key(one, streams, number) for number in count())
        self.keys = [next(self.new) for _ in range(one.of.max_open or _OPEN)]
        self.had: list[Counter[str]] = [Counter() for _ in self.keys]
        self.now: Any = None

    def pass_on(self, rows: Iterator[tuple[str, Row]]) -> Iterator[tuple[str, Row]]:
        """A key's punctuation comes at the end of a timestamp."""
        one, turns, over = self.one, Counter[str](), set[int]()
        for name, row in rows:
            if row[one.times[name]] != self.now:
                yield from self.endings(sorted(over))
                over, self.now = set(), row[one.times[name]]
            if one.marks(name, row):  # by chance
                row = {**row, one.marking[name].column: None}
            if name not in one.keys or is_punctuation(self.streams[name], row):
                yield name, row
                continue
            place = turns[name] % len(self.keys) if self.random is None else self.random.randrange(len(self.keys))
            turns[name] += 1
            had = self.had[place]
            if not (one.keys[name].once and had[name]):
                had[name] += 1
                yield name, {**row, **dict(zip(one.keys[name].attributes, self.keys[place], strict=True))}
            if had.total() >= _ROWS * len(one.keys) or all(key.once and had[other] for other, key in one.keys.items()):
                over.add(place)

    def endings(self, places: Iterable[int]) -> Iterator[tuple[str, Row]]:
        """The punctuations of those keys; others replace them."""
        one = self.one
        for place in places:
            if self.had[place]:
                yield from one.records(self.keys[place], self.now)
                self.keys[place], self.had[place] = next(self.new), Counter()


def _key(one: _Promise, streams: Mapping[str, Input], number: int) -> tuple[Any, ...]:
    """A key that has not come; raises UsageError where there are no more."""
    columns = {name: {column.name: column for column in stream.declared} for name, stream in streams.items()}
    mine = [columns[next(iter(one.marking))][name] for name in one.of.attributes]
    free = any(column.domain is None for column in mine)
    key = tuple(_value(column, 0 if free and column.domain is not None else number) for column in mine)
    for name, own in one.keys.items():
        for attribute, value in zip(own.attributes, key, strict=True):
            if value is None or not fits_column(columns[name][attribute], value):
                message = f"{name}.{attribute} has too few values: those that have ended do not come again"
                raise UsageError(message, remedy="measure fewer tuples")
    return key


def _value(column: Column, number: int) -> Any:
    """One of the values of a column, each of which has a number; None where it has fewer."""
    domain = column.domain
    if domain is not None and domain.values:
        return domain.values[number] if number < len(domain.values) else None
    if domain is not None and domain.low is not None:
        return int(domain.low) + number
    match column.type.family:
        case Family.STRING:
            return f"k{number}"
        case Family.FLOAT:
            return number / 2
        case Family.TIMESTAMP:
            return number * MICROSECONDS
    return number


def _ended(
    one: _Promise, rows: list[Item[None]], random: Random, all_end: bool
) -> tuple[list[Item[None]], list[Item[None]]]:
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
            if (
                key in open_keys
                and (random.random() < _OFTEN or all_end)
                and (one.of.since is None or key[-1] is not None)
            ):
                below = [
                    k for k in last if one.of.since and k[:-1] == key[:-1] and k[-1] is not None and k[-1] <= key[-1]
                ]
                whole = bool(below) and random.random() < _SELDOM and all(last[k] <= now for k in below)
                for ended in below if whole else [key]:
                    open_keys.pop(ended, None)
                over = next((n, row) for _, n, row in reversed(kept) if n in one.keys and one.key(n, row) == key)
                marks += [(None, name, row) for name, row in one.records(key, now, whole)]
    return kept, marks
