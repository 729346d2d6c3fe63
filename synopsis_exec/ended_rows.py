"""Punctuations of keys in recorded and generated rows: which rows count, and streams that keep their promises.

This is a reading of the catalog of its own, row by row; a job's is `streambound_runtime.operators.ended_keys`.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

from streambound.analyzer.changes import KeyPunctuation
from streambound.synopsis_exec.plan_ir import Input

Row = dict[str, Any]
T = TypeVar("T")
_OFTEN, _SELDOM = 0.7, 0.2


def is_punctuation(stream: Input, row: Row) -> bool:
    """Whether a record ends a key, and so is no row."""
    return any(row.get(one.column) == one.value for one in stream.punctuations)


def counting(stream: Input, rows: Sequence[tuple[T, Row]]) -> list[tuple[T, Row]]:
    """The rows of a stream that are no punctuations, nor after that of a key that is known to have ended.

    Punctuations end keys where the plan uses them; known are the `max_open` keys that have ended last.
    """
    left = [pair for pair in rows if not is_punctuation(stream, pair[1])]
    if not stream.ends_keys:
        return left
    for one in stream.punctuations:
        marks = [row for _, row in rows if row.get(one.column) == one.value]
        left = _within(one, str(stream.timestamp), left, marks)
    return left


def _within(one: KeyPunctuation, time: str, rows: list[tuple[T, Row]], marks: list[Row]) -> list[tuple[T, Row]]:
    """The rows that come before their key ends, as far as that is remembered; in their order."""
    ended, kept = list[tuple[Any, ...]](), set[int]()
    for now in sorted({row[time] for row in [*(row for _, row in rows), *marks]}):
        kept |= {n for n, (_, row) in enumerate(rows) if row[time] == now and key_of(one, row) not in ended}
        over = {key_of(one, row) for row in marks if row[time] == now} - {*ended}
        ended += sorted(over, key=lambda key: [(value is not None, value) for value in key])
        ended = ended[max(0, len(ended) - (one.max_open or 0)) :]
    return [pair for n, pair in enumerate(rows) if n in kept]


def key_of(one: KeyPunctuation, row: Row) -> tuple[Any, ...]:
    """The values of a row that a punctuation may end."""
    return tuple(row.get(name) for name in one.attributes)


def with_punctuations(stream: Input, rows: list[Row], random: Random) -> list[Row]:
    """Rows in order of time, without those that would break a promise, with punctuations among them.

    Most keys end with their last row; after some comes one that is too late.
    """
    time = str(stream.timestamp)
    left = [row for row in rows if not is_punctuation(stream, row)]
    marks: list[Row] = []
    for one in stream.punctuations:
        left, more = _ended(stream, one, left, random)
        marks += more
    return sorted([*left, *marks], key=lambda row: int(row[time]))


def _ended(stream: Input, one: KeyPunctuation, rows: list[Row], random: Random) -> tuple[list[Row], list[Row]]:
    time = str(stream.timestamp)
    last = {key_of(one, row): row[time] for row in rows}
    open_keys, kept, marks = set[tuple[Any, ...]](), list[Row](), list[Row]()
    over: Row | None = None
    for now in sorted({row[time] for row in rows}):
        if over is not None and one.max_open is not None and random.random() < _SELDOM:
            kept.append({**over, time: now})
        over = None
        for row in (row for row in rows if row[time] == now):
            key = key_of(one, row)
            if key in open_keys or one.max_open is None or len(open_keys) < one.max_open:
                open_keys.add(key)
                kept.append(row)
        for key in sorted((key for key in open_keys if last[key] == now), key=repr):
            if random.random() < _OFTEN:
                open_keys.remove(key)
                over = next(row for row in reversed(kept) if key_of(one, row) == key)
                nothing = dict.fromkeys(column.name for column in stream.declared)
                ends = dict(zip(one.attributes, key, strict=True))
                marks.append({**nothing, **ends, one.column: one.value, time: now})
    return kept, marks
